"""What docs/papers.md says of sampling and descent with parameters, on a draw."""

import collapsed_experiment as experiment
import numpy as np
import pytest
from cases import needs_kernels

from dpmlite.datasets import crp_mixture


def test_autocorrelation_time_of_a_known_chain():
    """x_t = r x_{t - 1} + noise: (1 + r) / (1 - r)."""
    rng, chain = np.random.default_rng(0), [0.0]
    for noise in rng.normal(size=20_000):
        chain.append(0.8 * chain[-1] + noise)
    assert experiment.autocorrelation_time(np.array(chain)) == pytest.approx(9.0, rel=0.2)
    assert experiment.autocorrelation_time(rng.normal(size=20_000)) == pytest.approx(1.0, abs=0.2)


@needs_kernels
def test_units_decide_the_number_of_clusters_only_where_there_are_parameters():
    X, truth = crp_mixture(40, random_state=1)
    found = [experiment.optima(X, truth, unit) for unit in experiment.UNITS]
    with_parameters = [each["with parameters"] for each in found]
    assert with_parameters[-1] == 40 > with_parameters[0]
    assert len({each["collapsed"] for each in found}) == 1


@needs_kernels
def test_both_samplers_have_the_same_numbers_of_clusters():
    X, _ = crp_mixture(15, random_state=2)
    chains = experiment.numbers_of_clusters(X, 800, 0)
    means = [chain[100:].mean() for chain in chains.values()]
    assert means[0] == pytest.approx(means[1], abs=0.5)
