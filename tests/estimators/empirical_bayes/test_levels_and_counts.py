"""Hyperparameters of columns of levels and of counts: no others have a better joint."""

import numpy as np
import pytest
from mixed_tables import log_categorical, log_poisson_gamma

from dpmlite.estimators.empirical_bayes.categorical import LOG_MASS, LevelCounts, fit_categorical
from dpmlite.estimators.empirical_bayes.poisson_gamma import (
    LOG_A0,
    LOG_MEAN,
    CountSums,
    fit_poisson_gamma,
)
from dpmlite.estimators.inputs.data import Data

N_LEVELS = (2, 4)


def drawn(seed=0, n_rows=200, n_clusters=3):
    """Labels, columns of levels, and columns of counts; some cells are missing."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_clusters, n_rows)
    levels = np.empty((n_rows, len(N_LEVELS)))
    for j, size in enumerate(N_LEVELS):
        p = rng.dirichlet(np.ones(size), n_clusters)
        levels[:, j] = [rng.choice(size, p=p[k]) for k in labels]
    counts = rng.poisson(rng.gamma(2.0, 3.0, (n_clusters, 2))[labels]).astype(float)
    for cells in (levels, counts):
        cells[rng.random(cells.shape) < 0.1] = np.nan
    return labels, levels, counts


def penalty(x, prior):
    return 0.5 * ((x - prior[0]) / prior[1]) ** 2


@pytest.mark.parametrize("seed", range(3))
def test_no_other_concentration_of_levels_is_better(seed):
    labels, levels, _ = drawn(seed)
    sums = LevelCounts.of(Data(levels.shape, values=levels), labels, 1.0, N_LEVELS)
    frequencies = np.array([0.3, 0.7, 0.1, 0.2, 0.3, 0.4])
    prior, found = fit_categorical(sums, frequencies, None)
    parts = np.split(prior["beta0"], [N_LEVELS[0]])
    assert found == pytest.approx(sum(penalty(np.log(part.sum()), LOG_MASS) for part in parts))
    for j, (beta0, size) in enumerate(zip(parts, N_LEVELS, strict=True)):

        def cost(mass, j=j, beta0=beta0, size=size):
            total = penalty(np.log(mass), LOG_MASS)
            for k in range(3):
                cells = levels[labels == k, j]
                counts = [np.sum(cells == level) for level in range(size)]
                total -= log_categorical(counts, mass * beta0 / beta0.sum())
            return total

        best = beta0.sum()
        assert cost(best) <= min(cost(best * factor) for factor in (0.5, 0.95, 1.05, 2.0)) + 1e-6


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("exposed", [False, True])
def test_no_other_prior_of_counts_is_better(seed, exposed):
    labels, _, counts = drawn(seed)
    exposures = np.ones(len(counts))
    sums = CountSums.of(Data(counts.shape, values=counts), labels, 1.0)
    if exposed:
        exposures = np.exp(np.random.default_rng(seed).normal(size=len(counts)))
        table = np.column_stack([counts, exposures])
        sums = CountSums.with_exposures(Data(table.shape, values=table), labels, 1.0)
    means = np.nanmean(counts, axis=0) / exposures.mean()
    prior, _ = fit_poisson_gamma(sums, means, None)
    for j, (a0, b0) in enumerate(zip(prior["a0"], prior["b0"], strict=True)):

        def cost(a0, mean, j=j):
            total = penalty(np.log(a0), LOG_A0) + penalty(np.log(mean / means[j]), LOG_MEAN)
            for k in range(3):
                inside = labels == k
                total -= log_poisson_gamma(counts[inside, j], a0, a0 / mean, exposures[inside])
            return total

        best = cost(a0, a0 / b0)
        for one in (0.8, 1.0, 1.25):
            for other in (0.8, 1.0, 1.25):
                assert best <= cost(a0 * one, a0 / b0 * other) + 1e-6


def test_a_column_that_is_alike_in_all_clusters_has_a_strong_prior():
    rng = np.random.default_rng(0)
    labels, codes = rng.integers(0, 4, 2000), rng.integers(0, 3, (2000, 1)).astype(float)
    sums = LevelCounts.of(Data(codes.shape, values=codes), labels, 1.0, (3,))
    prior, _ = fit_categorical(sums, np.full(3, 1 / 3), None)
    assert prior["beta0"].sum() > 50.0
