"""The Chinese restaurant process against enumeration and its own definition."""

from math import exp, lgamma, log

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


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("power", [0.01, 0.3, 1.0])
def test_a_power_of_the_likelihood_weighs_rows(twin, power, alpha):
    labels = [0, 0, 1, 0, 2, 1, 3, 3, 0]
    counts = np.bincount(labels).tolist()
    expected = naive.log_crp(labels, alpha, power)
    assert twin.crp.log_prob_counts(counts, alpha, power) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("power", [0.0, -1.0, 1.1, float("nan")])
def test_a_power_is_not_above_one(twin, power):
    for call in (
        lambda: twin.crp.log_prob_counts([1.0], 1.0, power),
        lambda: twin.normal_gamma.NormalGamma([0.0], 1.0, 1.0, [1.0], power),
        lambda: twin.normal_inverse_wishart.NormalInverseWishart([0.0], 1.0, 1.0, [[1.0]], power),
    ):
        with pytest.raises(ValueError, match=f"power must be above 0 and at most 1, got {power}"):
            call()


def test_counts_must_be_positive(twin):
    with pytest.raises(ValueError, match=r"counts must be positive, got 0\.0"):
        twin.crp.log_prob_counts([1.0, 0.0], 1.0)


def actions(sizes):
    """Every vector of sizes that one row more can make."""
    yield tuple(sorted([*sizes, 1]))
    for k in range(len(sizes)):
        yield tuple(sorted([*sizes[:k], sizes[k] + 1, *sizes[k + 1 :]]))


def completions(sizes, n_left):
    """Every vector of sizes that so many rows can make."""
    reached = {tuple(sorted(sizes))}
    for _ in range(n_left):
        reached = {after for before in reached for after in actions(before)}
    return reached


def multiplicities(sizes):
    return {int(n): int(m) for n, m in zip(*np.unique(sizes, return_counts=True), strict=True)}


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 2.5, 4.0, 30.0])
@pytest.mark.parametrize("sizes", [(1,), (3,), (1, 1, 2), (5, 4), (2, 2, 2), (1, 7)])
@pytest.mark.parametrize("n_left", [0, 1, 2, 5, 7])
def test_the_best_completion_of_a_partition_is_one_of_two(twin, sizes, n_left, alpha):
    """Of the numerator of eq. (1), whose denominator is the same for all."""
    before = twin.crp.log_prob_counts(sizes, alpha)
    after = [twin.crp.log_prob_counts(s, alpha) for s in completions(sizes, n_left)]
    n = sum(sizes)
    constant = twin.special.log_rising(alpha, n + n_left) - twin.special.log_rising(alpha, n)
    expected = max(after) - before + constant
    found = twin.crp.log_best_completion(max(sizes), n_left, alpha)
    assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 6.0])
@pytest.mark.parametrize("n", [1, 4, 7])
def test_antoniaks_probabilities_add_up_those_of_partitions(twin, n, alpha):
    totals = {}
    for labels in naive.partitions(n):
        key = tuple(sorted(np.bincount(labels)))
        totals[key] = totals.get(key, 0.0) + exp(twin.crp.log_prob(labels, alpha))
    for sizes, p in totals.items():
        found = twin.crp.log_prob_multiplicities(multiplicities(sizes), alpha)
        assert found == pytest.approx(log(p), abs=1e-10)


def greedy(m, n_left, alpha):
    """Eq. (6) to the letter: no early stop, no cache."""
    m = dict(m)
    for _ in range(n_left):
        worth = {0: alpha / (m.get(1, 0) + 1)}
        for size in sorted(size for size in m if size and m[size]):
            worth[size] = size * m[size] / ((size + 1) * (m.get(size + 1, 0) + 1))
        best = max(worth, key=lambda size: worth[size])
        m[best] = m.get(best, 0) - 1
        m[best + 1] = m.get(best + 1, 0) + 1
    return {size: count for size, count in m.items() if size and count}


@pytest.mark.parametrize("n_left", [0, 1, 2, 5])
@pytest.mark.parametrize("alpha", [0.2, 1.0, 2.0, 7.3])
@pytest.mark.parametrize("sizes", [(1,), (1, 1), (2, 1), (4, 2, 2)])
def test_no_sizes_grow_by_more_than_their_bound(twin, sizes, n_left, alpha):
    """Against every completion; old clusters without the factorials of their multiplicities."""

    def product(sizes):
        return sum(log(alpha / n) for n in sizes)

    n_rows = sum(sizes) + n_left
    bound = twin.crp.log_best_growth(max(sizes), n_left, twin.crp.log_best_sizes(n_rows, alpha))
    for after in completions(sizes, n_left):
        assert product(after) - log_repeats(after) - product(sizes) <= bound + 1e-12


@pytest.mark.parametrize("alpha", [0.4, 1.0, 2.5, 4.0])
def test_the_best_sizes_are_those_of_all(twin, alpha):
    of_all = max(
        sum(log(alpha / n) for n in sizes) - log_repeats(sizes)
        for n in range(1, 13)
        for sizes in completions((), n)
    )
    assert twin.crp.log_best_sizes(12, alpha) == pytest.approx(of_all, abs=1e-12)


def log_repeats(sizes):
    """Log of the product of m_i!, where m_i clusters have i rows."""
    return sum(lgamma(sizes.count(n) + 1) for n in set(sizes))


@pytest.mark.parametrize("alpha", [0.1, 1.0, 2.0, 9.0])
def test_greedy_completions_are_those_of_eq_6(twin, alpha):
    completion = twin.crp.GreedyCompletion(alpha)
    for m in ({}, {1: 1}, {2: 3}, {1: 5}, {1: 2, 2: 1, 7: 1}, {3: 2, 4: 1}, {1: 1, 9: 1, 10: 1}):
        for n_left in (0, 1, 2, 3, 6, 40, 3):
            expected = greedy(m, n_left, alpha)
            assert completion.complete(m, n_left) == expected
            completion.complete(m, n_left).clear()  # the caller's own
            assert completion.complete(m, n_left) == expected


def test_greedy_completions_stop_early(twin):
    """A million rows join the largest cluster at once."""
    assert twin.crp.GreedyCompletion(1.0).complete({1: 1, 50: 1}, 10**6) == {1: 1, 50 + 10**6: 1}


def test_greedy_completions_need_not_be_the_best(twin):
    sizes = (2, 2, 2)
    found = twin.crp.GreedyCompletion(1.0).complete(multiplicities(sizes), 3)
    assert found == {1: 1, 2: 2, 4: 1}
    best = max(
        twin.crp.log_prob_multiplicities(multiplicities(after), 1.0)
        for after in completions(sizes, 3)
    )
    loss = best - twin.crp.log_prob_multiplicities(found, 1.0)
    assert loss == pytest.approx(log(4.0 / 3.0), abs=1e-12)


def test_completions_refuse_what_has_no_meaning(twin):
    for call, message in (
        (lambda: twin.crp.log_best_completion(1.0, 1.0, 0.0), "alpha must be positive, got 0.0"),
        (lambda: twin.crp.log_best_completion(0.0, 1.0, 1.0), "x must be positive, got 0.0"),
        (lambda: twin.crp.log_best_completion(1.0, -1.0, 1.0), "n must not be negative, got -1.0"),
        (lambda: twin.crp.log_prob_multiplicities({0: 1}, 1.0), "sizes must be positive, got 0"),
        (lambda: twin.crp.log_prob_multiplicities({1: 0}, 1.0), "multiplicities must be positive"),
        (lambda: twin.crp.GreedyCompletion(-1.0), "alpha must be positive, got -1.0"),
        (lambda: twin.crp.GreedyCompletion(1.0).complete({}, -1), "n_left must not be negative"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
