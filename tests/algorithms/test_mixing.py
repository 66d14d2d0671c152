"""Beliefs about labels, against sums over all labels."""

from math import exp, inf, lgamma, log

import mpmath
import naive_variational as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

KINDS = {
    "Sticks": naive.log_prior_sticks,
    "CollapsedSticks": naive.log_prior_sticks,
    "CollapsedDirichlet": naive.log_prior_dirichlet,
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def observed(twin, kind, responsibilities, alpha, weights=None):
    mixing = getattr(twin.mixing, kind)(alpha, responsibilities.shape[1])
    rows = twin.rows.Rows(np.zeros((len(responsibilities), 1)), weights)
    mixing.observe(rows, responsibilities)
    return mixing


def one_hot(z, n_components):
    return np.eye(n_components)[z]


def count(z, n_components):
    return np.bincount(z, minlength=n_components).tolist()


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_certain_labels_have_their_prior_probability(twin, kind, alpha):
    total = 0.0
    for z in naive.labellings(4, 3):
        mixing = observed(twin, kind, one_hot(z, 3), alpha)
        expected = KINDS[kind](count(z, 3), alpha)
        assert mixing.log_evidence() == pytest.approx(expected, rel=1e-12, abs=1e-12)
        total += exp(mixing.log_evidence())
    assert total == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("weights", [np.ones(6), np.array([3.0, 1.0, 0.5, 2.0, 1.0, 4.0])])
@pytest.mark.parametrize("kind", ["CollapsedSticks", "CollapsedDirichlet"])
def test_a_row_among_certain_ones_sees_conditional_probabilities(twin, kind, weights):
    z = np.array([0, 2, 2, 1, 2, 0])
    mixing = observed(twin, kind, one_hot(z, 4), 0.7, weights)
    mixing.leave(one_hot(z, 4)[0], weights[0])
    found = np.array(mixing.log_weights(weights[0]))
    joints = []
    for k in range(4):
        z[0] = k
        joints.append(KINDS[kind](np.bincount(z, weights, minlength=4).tolist(), 0.7))
    np.testing.assert_allclose(found - found[0], np.array(joints) - joints[0], rtol=1e-12)
    mixing.join(one_hot(z, 4)[0], weights[0])
    assert mixing.counts == pytest.approx(np.bincount(z, weights, minlength=4), rel=1e-14)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), alpha=st.sampled_from([0.2, 1.0, 3.0]), n=st.integers(1, 5))
def test_evidence_at_expected_counts_is_below_its_mean(twin, seed, alpha, n):
    """Jensen: of the truncated stick for "vb", of the unbroken one for every method."""
    r = np.random.default_rng(seed).dirichlet(np.full(3, 0.5), size=n)
    r = np.ascontiguousarray(r[:, np.argsort(-r.sum(axis=0))])
    mean = unbroken_mean = 0.0
    for z in naive.labellings(n, 3):
        q = r[np.arange(n), z].prod()
        mean += q * naive.log_prior_sticks(count(z, 3), alpha)
        unbroken_mean += q * naive.log_prior_sticks([*count(z, 3), 0], alpha)
    counts = r.sum(axis=0).tolist()
    assert observed(twin, "Sticks", r, alpha).log_evidence() <= mean + 1e-10
    unbroken = twin.mixing.unbroken_log_evidence(counts[::-1], alpha)
    assert unbroken <= unbroken_mean + 1e-10
    expected = naive.log_prior_sticks([*counts, 0.0], alpha)
    assert unbroken == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_means_to_second_order_are_close_for_many_rows(twin):
    """The number is binomial: 60 rows, each with probability 0.4."""
    n, p = 60, 0.4
    logs = [lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in range(n + 1)]
    q = np.exp(logs) * p ** np.arange(n + 1) * (1 - p) ** np.arange(n, -1, -1)
    mean, variance = n * p, n * p * (1 - p)
    exact_log = sum(q * np.log(1.0 + np.arange(n + 1)))
    exact_gamma = sum(q * naive.log_gamma(1.0 + np.arange(n + 1)))
    assert twin.mixing.mean_log_rising(1.0 + mean, variance, 1.0) == pytest.approx(
        exact_log, abs=1e-3
    )
    for w in (0.5, 3.0):
        exact = sum(q * (naive.log_gamma(1.0 + w + np.arange(n + 1))))
        exact -= exact_gamma
        found = twin.mixing.mean_log_rising(1.0 + mean, variance, w)
        assert found == pytest.approx(exact, abs=1e-2)
    assert twin.mixing.mean_log_rising(3.0, 0.0, 1.0) == pytest.approx(log(3.0), rel=1e-15)


@pytest.mark.parametrize("alpha", [1e-9, 1e-3, 1e6, 1e9, 1e15])
def test_evidence_is_exact_where_alpha_is_extreme(twin, alpha):
    """Differences of log-gammas of 1e9 lose what few rows tell: the bound of a fit fell by it."""
    r = np.random.default_rng(0).dirichlet(np.full(3, 0.3), size=7)
    counts, exact = [mpmath.mpf(n) for n in r.sum(axis=0)], mpmath.mpf(0)
    with mpmath.workdps(60):
        for k in range(2):
            tail = mpmath.fsum(counts[k + 1 :])
            exact += mpmath.log(mpmath.beta(1 + counts[k], alpha + tail)) + mpmath.log(alpha)
        part = mpmath.mpf(alpha) / 3
        dirichlet = mpmath.loggamma(alpha) - mpmath.loggamma(alpha + mpmath.fsum(counts))
        dirichlet += sum(mpmath.loggamma(part + n) - mpmath.loggamma(part) for n in counts)
        v = r[:, :3] * (1.0 - r[:, :3])
        dirichlet += sum(
            mpmath.psi(1, part + n) * v_k / 2 for n, v_k in zip(counts, v.sum(axis=0), strict=True)
        )
    found = observed(twin, "Sticks", r, alpha).log_evidence()
    assert found == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
    found = observed(twin, "CollapsedDirichlet", r, alpha).log_evidence()
    assert found == pytest.approx(float(dirichlet), rel=1e-9, abs=1e-9)


def test_variances_are_those_of_sums_of_bernoullis(twin):
    """Second differences of log_weights tell them: compared with the expansion by hand."""
    r = np.random.default_rng(0).dirichlet(np.ones(3), size=9)
    n, v = r.sum(axis=0), (r * (1.0 - r)).sum(axis=0)
    mixing = observed(twin, "CollapsedDirichlet", r, 1.5)
    expected = np.log(0.5 + n) - 0.5 * v / (0.5 + n) ** 2
    np.testing.assert_allclose(mixing.log_weights(), expected, rtol=1e-13)
    mixing = observed(twin, "CollapsedSticks", r, 1.5)
    tail = r[:, 2]  # of the second of three

    def mean_log(a, p):
        return log(a + p.sum()) - 0.5 * (p * (1.0 - p)).sum() / (a + p.sum()) ** 2

    rest = r[:, 1] + r[:, 2]
    first = mean_log(1.0, r[:, 0]) - log(2.5 + 9.0)
    left = mean_log(1.5, rest) - log(2.5 + 9.0)
    second = left + mean_log(1.0, r[:, 1]) - mean_log(2.5, rest)
    third = left + mean_log(1.5, tail) - mean_log(2.5, rest)
    np.testing.assert_allclose(mixing.log_weights(), [first, second, third], rtol=1e-12)


def test_means_are_predictive_probabilities(twin, kind):
    """Of certain labels: p(z of the next row | labels)."""
    z = np.array([0, 1, 1, 0, 1])
    means = observed(twin, kind, one_hot(z, 3), 0.7).means()
    base = KINDS[kind](count(z, 3), 0.7)
    for k in range(3):
        joint = KINDS[kind](count(np.append(z, k), 3), 0.7)
        assert means[k] == pytest.approx(exp(joint - base), rel=1e-12)
    assert sum(means) == pytest.approx(1.0, rel=1e-14)


def test_weights_count_rows(twin):
    r = np.array([[0.25, 0.75], [1.0, 0.0]])
    mixing = observed(twin, "Sticks", r, 1.0, weights=np.array([2.0, 0.5]))
    assert mixing.counts == [1.0, 1.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.mixing.Sticks(0.0, 3), "alpha must be positive, got 0.0"),
        (lambda t: t.mixing.Sticks(float("nan"), 3), "alpha must be positive, got nan"),
        (lambda t: t.mixing.CollapsedSticks(1.0, 0), "n_components must be at least 1, got 0"),
        (
            lambda t: t.mixing.Sticks(1.0, 3).observe(
                t.rows.Rows(np.zeros((2, 1))), np.ones((2, 2))
            ),
            r"responsibilities must have shape \(2, 3\), got \(2, 2\)",
        ),
    ],
)
def test_errors_state_the_rule_that_is_broken(twin, call, message):
    with pytest.raises(ValueError, match=message):
        call(twin)


def test_an_interface_promises_nothing(twin):
    mixing = twin.mixing.Mixing(1.0, 2)
    with pytest.raises(NotImplementedError):
        mixing.means()


def test_one_component_has_all(twin, kind):
    mixing = observed(twin, kind, np.ones((4, 1)), 2.0)
    assert mixing.means() == pytest.approx([1.0])
    assert mixing.log_evidence() == pytest.approx(0.0, abs=1e-12)
    assert mixing.log_weights()[0] > -inf
