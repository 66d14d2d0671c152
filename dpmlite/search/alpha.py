"""Choice of the concentration: appendix A.3 of Raykov, Boukouvalas & Little (2014)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import algorithms
from dpmlite.partition import alpha_mode, log_prob_counts
from dpmlite.search.context import coarsened_alpha
from dpmlite.search.result import first_of_best

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from dpmlite import core
    from dpmlite.search.context import Problem
    from dpmlite.search.result import SearchResult
    from dpmlite.search.search import Search

    Chosen = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]
    Seeds = npt.NDArray[np.int64]

#: Concentrations that are tried by default.
ALPHAS = np.geomspace(0.01, 100.0, 13)

# Alternations of labels and alpha at most; a few are usual.
MAX_ROUNDS = 50

# Concentrations within this relative distance are equal, and so are mean densities within this
# distance, in nats.
ALPHA_RTOL = 1e-9
SCORE_ATOL = 1e-9

# `alpha_mode`'s power, rate and inverse rate of Rasmussen's prior, eq. (25).
INVERSE_GAMMA = (-0.5, 0.0, 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class AlphaResult:
    """The best search result, and the concentration under which it was found.

    Attributes
    ----------
    result : SearchResult
    alpha : float
    scores : ndarray or None
        What each concentration that was tried scored.
    """

    result: SearchResult
    alpha: float
    scores: Floats | None = None


def by_posterior(
    search: Search,
    problem: Problem,
    seeds: Seeds,
    n_rows: float,
    alpha_prior: tuple[float, float] | str,
    of_log: bool = True,
) -> AlphaResult:
    """The mode of labels and log alpha together, or of labels and alpha, one given the other.

    The density of alpha is eq. (25) or (26); that of log alpha is alpha times as large. Neither
    step raises minus the log of the joint density, and there are finitely many partitions, so that
    it ends. `n_rows` is the total weight of the rows; each counts with the power of the likelihood.

    Raises
    ------
    ValueError
        If there is no mode: under eq. (25), if the rows weigh less than there are clusters; under
        eq. (26), if the density of alpha is highest at 0.
    """
    power, *rates = INVERSE_GAMMA if isinstance(alpha_prior, str) else (*alpha_prior, 0.0)
    power -= 0.0 if of_log else 1.0
    n_rows *= problem.component.power
    result = search.best(problem, seeds)
    for _ in range(MAX_ROUNDS):
        n_clusters = result.partition.n_clusters
        _check_mode(n_clusters, n_rows, power, alpha_prior)
        alpha = alpha_mode(n_clusters, n_rows, power, *rates)
        if abs(alpha - problem.alpha) <= ALPHA_RTOL * alpha:
            break
        problem = replace(problem, alpha=alpha)
        result = search.go_on(problem, result.labels(), int(seeds[0]), "alpha")
    return AlphaResult(result, problem.alpha)


def _check_mode(
    n_clusters: int, n_rows: float, power: float, alpha_prior: tuple[float, float] | str
) -> None:
    """Raise ValueError if the posterior of alpha given K clusters has no mode."""
    if isinstance(alpha_prior, str):
        if not n_clusters + power < n_rows:
            raise ValueError(
                f"alpha_prior={alpha_prior!r} needs rows of a total weight above K - {-power:g}, "
                f"got {n_rows:g} for K = {n_clusters} clusters: raise sample_weight or give two "
                "numbers"
            )
    elif not n_clusters + power > 1.0:
        raise ValueError(
            f"alpha='mode' needs K + shape of alpha_prior above 2, got {n_clusters} + "
            f"{alpha_prior[0]:g}: the density of alpha is highest at 0; 'map' always has a mode"
        )


def by_joint(search: Search, problem: Problem, seeds: Seeds, alphas: Floats) -> AlphaResult:
    """The concentration of a grid under which labels are found with the least joint."""
    results = results_of_grid(search, problem, seeds, alphas)
    joints = np.array([[_joint_at(result, alpha) for result in results] for alpha in alphas])
    scores, slack = joints.min(axis=1), results[0].partition.least_gain
    i = first_of_best(scores.tolist(), slack)
    best = results[first_of_best(joints[i].tolist(), slack)]
    problem = replace(problem, alpha=float(alphas[i]))
    result = search.go_on(problem, best.labels(), int(seeds[0]), "alpha")
    return AlphaResult(result, problem.alpha, scores)


def by_leave_one_out(search: Search, problem: Problem, seeds: Seeds, alphas: Floats) -> AlphaResult:
    """The concentration of a grid under which the labels found have the least eq. (16)."""
    results = results_of_grid(search, problem, seeds, alphas)
    scores = [algorithms.neg_log_loo(result.partition) for result in results]
    best = first_of_best(scores, results[0].partition.least_gain)
    return AlphaResult(results[best], float(alphas[best]), np.array(scores))


def by_cross_validation(
    search: Search,
    problem_of: Callable[[Chosen], Problem],
    held_out_of: Callable[[Chosen], core.Rows],
    weights: Floats,
    seeds: Seeds,
    alphas: Floats,
    folds: Sequence[tuple[Chosen, Chosen]],
) -> AlphaResult:
    """The concentration of a grid with the greatest mean log density of rows left out, eq. (17).

    Parameters
    ----------
    search : Search
    problem_of : callable
        The problem of the chosen rows.
    held_out_of : callable
        The chosen rows, each of weight 1.
    weights : ndarray, shape (N,)
        Weights of all rows in the mean.
    seeds : ndarray of int
    alphas : ndarray
    folds : sequence
        Masks of the rows to learn from and of those left out.
    """
    sums = np.zeros(len(alphas))
    for learned, held_out in folds:
        rows = held_out_of(held_out)
        problem, part = problem_of(learned), search.of_rows(learned)
        density = np.empty(len(rows))
        for j, result in enumerate(results_of_grid(part, problem, seeds, alphas)):
            component, discount = result.partition.component, problem.discount
            algorithms.log_density(rows, component, float(alphas[j]), density, discount)
            sums[j] += weights[held_out] @ density
    scores = sums / sum(weights[held_out].sum() for _, held_out in folds)
    best = first_of_best((-scores).tolist(), SCORE_ATOL)
    problem = replace(problem_of(np.ones(len(weights), dtype=bool)), alpha=float(alphas[best]))
    return AlphaResult(search.best(problem, seeds), problem.alpha, scores)


def results_of_grid(
    search: Search, problem: Problem, seeds: Seeds, alphas: Floats
) -> list[SearchResult]:
    """A result for each concentration: the first of a search, the others from a neighbour's.

    The search is for the concentration next to the problem's; from there it goes both ways.
    """
    first = int(np.argmin(np.abs(np.log(alphas / problem.alpha))))
    results: dict[int, SearchResult] = {}
    for i in [*range(first, len(alphas)), *range(first - 1, -1, -1)]:
        at = replace(problem, alpha=float(alphas[i]))
        if i == first:
            results[i] = search.best(at, seeds)
        else:
            labels = results[i - 1 if i > first else i + 1].labels()
            results[i] = search.go_on(at, labels, int(seeds[0]), f"alpha {at.alpha:g}")
    return [results[i] for i in range(len(alphas))]


def _joint_at(result: SearchResult, alpha: float) -> float:
    """The joint of the labels of a result under another concentration."""
    counts = [n for n in result.partition.component.counts if n > 0.0]
    power, discount = result.partition.component.power, result.partition.discount
    before = log_prob_counts(counts, result.partition.alpha, power, discount)
    after = log_prob_counts(counts, coarsened_alpha(alpha, power), power, discount)
    return result.neg_log_joint + (before - after) / power
