"""The Chinese restaurant process against enumeration and its own definition."""

from math import exp, log

import naive
import numpy as np
import pytest

ALPHAS = [1e-3, 0.5, 1.0, 7.0, 1e4]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 7])
def test_probabilities_of_all_partitions_add_up_to_one(twin, n, alpha):
    total = sum(exp(twin.crp.log_prob(labels, alpha)) for labels in naive.partitions(n))
    assert total == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_eq_1_is_the_product_of_eq_2(twin, alpha):
    labels = [0, 0, 1, 0, 2, 1, 3, 3, 0]
    total, counts = 0.0, []
    for k in labels:
        probabilities = twin.crp.predictive(counts, alpha)
        assert sum(probabilities) == pytest.approx(1.0, rel=1e-14)
        total += log(probabilities[k])
        counts += [0.0] * (k == len(counts))
        counts[k] += 1.0
    assert twin.crp.log_prob(labels, alpha) == pytest.approx(total, rel=1e-12)
    assert twin.crp.log_prob_counts(counts, alpha) == pytest.approx(total, rel=1e-12)


def test_only_which_labels_are_equal_matters(twin):
    assert twin.crp.log_prob("abacb", 2.0) == twin.crp.log_prob([5, 9, 5, -1, 9], 2.0)


def test_draws_have_the_probabilities_of_eq_1(twin):
    rng, alpha, n_draws = np.random.default_rng(0), 1.3, 20_000
    seen = {}
    for _ in range(n_draws):
        key = tuple(twin.crp.sample(rng.random(4), alpha))
        seen[key] = seen.get(key, 0) + 1
    for labels in naive.partitions(4):
        p = exp(twin.crp.log_prob(labels, alpha))
        error = (p * (1.0 - p) / n_draws) ** 0.5
        assert seen.get(tuple(labels), 0) / n_draws == pytest.approx(p, abs=5.0 * error)


def test_sticks_are_broken_by_beta_parts(twin):
    uniforms, alpha = np.random.default_rng(1).random(50), 3.0
    weights = np.array(twin.crp.stick_breaking(uniforms, alpha))
    parts = 1.0 - (1.0 - uniforms) ** (1.0 / alpha)
    left = np.concatenate([[1.0], np.cumprod(1.0 - parts)[:-1]])
    np.testing.assert_allclose(weights, parts * left, rtol=1e-10)
    assert weights.sum() < 1.0


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan")])
def test_alpha_must_be_positive(twin, alpha):
    for call in (
        lambda: twin.crp.log_prob([0], alpha),
        lambda: twin.crp.log_prob_counts([1.0], alpha),
        lambda: twin.crp.predictive([1.0], alpha),
        lambda: twin.crp.sample(np.array([0.5]), alpha),
        lambda: twin.crp.stick_breaking(np.array([0.5]), alpha),
    ):
        with pytest.raises(ValueError, match=f"alpha must be positive, got {alpha}"):
            call()


def test_counts_must_be_positive(twin):
    with pytest.raises(ValueError, match=r"counts must be positive, got 0\.0"):
        twin.crp.log_prob_counts([1.0, 0.0], 1.0)
