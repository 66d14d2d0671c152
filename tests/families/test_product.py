"""Products of components: sums over parts, rows that a part cannot give back, checks."""

from collections import Counter

import chains
import naive
import numpy as np
import pytest
from families import CASES
from slots import CLOSE, fill, spread

NAN = np.nan


def numbers(twin, power=1.0):
    return twin.normal_gamma.NormalGamma([0.0, 1.0], 0.5, 2.0, [1.0, 3.0], power)


def levels(twin, power=1.0):
    return twin.categorical.Categorical([[0.5, 1.0, 1.5]], power)


def table(rng, n_rows):
    return np.column_stack([rng.normal(size=(n_rows, 2)), rng.integers(3, size=n_rows)])


def test_log_densities_are_sums_over_parts(twin):
    """Parts that hold the cells by themselves give the same, for any weight."""
    X = table(np.random.default_rng(0), 30)
    X[::7, 2] = NAN
    product, _ = spread(twin.product.Product([numbers(twin), levels(twin)]), X)
    first, _ = spread(numbers(twin), np.ascontiguousarray(X[:, :2]))
    second, _ = spread(levels(twin), np.ascontiguousarray(X[:, 2:]))
    for weight in (1.0, 0.3, 4.0):
        for row in X:
            cells = np.ascontiguousarray(row[:2]), np.ascontiguousarray(row[2:])
            for call in ("log_predictive", "log_predictive_member", "expected_log_density"):
                expected = getattr(first, call)(cells[0], 1, weight)
                expected += getattr(second, call)(cells[1], 1, weight)
                assert getattr(product, call)(row, 1, weight) == pytest.approx(
                    expected, nan_ok=True, **CLOSE
                )
    for call, slots in (("log_marginal", (1,)), ("log_marginal_merged", (0, 1))):
        expected = getattr(first, call)(*slots) + getattr(second, call)(*slots)
        assert getattr(product, call)(*slots) == pytest.approx(expected, **CLOSE)
    assert product.statistics(0) == [15.0, *first.statistics(0), *second.statistics(0)]
    parts = [first.posterior(0), second.posterior(0)]
    assert product.posterior(0) == {"n": 15.0, "parts": parts}
    assert product.log_scale == first.log_scale


@pytest.mark.parametrize("reverse", [False, True])
def test_a_row_is_removed_from_all_parts_or_from_none(twin, reverse):
    """Without the far row, hardly anything of the numbers' sum of squares would be left."""
    parts = [levels(twin), numbers(twin)]
    X = np.array([[1.0, 0.1, 0.2], [0.0, 1e9, 1.0], [2.0, 0.3, 1.5]])
    if reverse:
        parts, X = parts[::-1], np.ascontiguousarray(np.roll(X, -1, axis=1))
    product = fill(twin.product.Product(parts), X, [0, 0, 0])
    before = product.statistics(0)
    assert np.isnan(product.log_predictive_member(X[1], 0))
    assert not product.remove(X[1], 0)
    np.testing.assert_allclose(product.statistics(0), before, rtol=1e-12)
    assert product.remove(X[0], 0)
    assert product.counts == [2.0, 0.0, 0.0]
    assert [part.counts[0] for part in product.parts] == [2.0, 2.0]


def test_parts_are_not_shared(twin):
    part = fill(numbers(twin), np.zeros((1, 2)), [0])
    product = twin.product.Product([part, part])
    assert (product.n_slots, product.n_columns) == (0, 4)
    product.resize(1)
    product.add(np.ones(4), 0)
    assert part.counts == [1.0, 0.0, 0.0]
    assert product.like().n_slots == 0


def test_a_product_of_products(twin):
    inner = twin.product.Product([levels(twin), numbers(twin)])
    X = table(np.random.default_rng(1), 12)
    X = np.ascontiguousarray(X[:, [2, 0, 1, 0, 1]])
    nested, _ = spread(twin.product.Product([inner, numbers(twin)]), X)
    flat, _ = spread(twin.product.Product([levels(twin), numbers(twin), numbers(twin)]), X)
    for row in X:
        expected = flat.log_predictive_all(row)
        assert nested.log_predictive_all(row) == pytest.approx(expected, **CLOSE)
    assert nested.log_marginal(0) == pytest.approx(flat.log_marginal(0), **CLOSE)


def test_the_power_is_that_of_all_parts(twin):
    product = twin.product.Product([numbers(twin), levels(twin)]).with_power(0.25)
    assert (product.power, product.like().power) == (0.25, 0.25)
    assert [part.power for part in product.parts] == [0.25, 0.25]
    bits = twin.beta_bernoulli.BetaBernoulli([1.0], [1.0])
    with pytest.raises(ValueError, match=r"power must be 1 for BetaBernoulli, got 0\.5"):
        twin.product.Product([levels(twin), bits]).with_power(0.5)


def test_expected_log_densities_need_those_of_all_parts(twin):
    part = twin.incomplete_normal_gamma.IncompleteNormalGamma([0.0], 1.0, 1.0, [1.0])
    product = twin.product.Product([levels(twin), part])
    product.resize(1)
    with pytest.raises(NotImplementedError):
        product.expected_log_density(np.zeros(2), 0)


def test_costs_below_a_limit_are_those_of_all_slots(twins):
    """Parts that come first may rule a slot out only where the others add to its cost."""
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(3, size=80), rng.normal(size=(80, 2)) * 1e-3])
    X[:, 1:] += rng.integers(4, size=(80, 1))
    found = []
    for twin in twins:
        narrow = twin.normal_gamma.NormalGamma([1.0], 0.1, 2.0, [1e-6])
        product = twin.product.Product([levels(twin), narrow, levels(twin), narrow])
        rows = twin.rows.Rows(np.ascontiguousarray(X[:, [0, 1, 0, 2]]))
        labels = np.arange(80, dtype=np.intp) % 9
        partition = twin.partition.Partition(rows, labels, product, 1.0)
        moves = [twin.map_dpm.sweep(partition) for _ in range(5)]
        assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)
        found.append((moves, labels.tolist()))
    assert found[0] == found[1]
    assert len(set(found[0][1])) > 3
    assert found[0][0][0] > 20


CALLS = {
    "parts must not be empty": lambda twin: [],
    "parts must have the same power, got 1.0 and 0.5": lambda twin: [
        numbers(twin),
        levels(twin, 0.5),
    ],
}


@pytest.mark.parametrize("message", CALLS)
def test_errors_state_the_rule_that_is_broken(twin, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        twin.product.Product(CALLS[message](twin))
    assert str(caught.value) == message


def test_rows_must_be_dense(twin):
    indices, indptr = np.array([0], dtype=np.intp), np.array([0, 1], dtype=np.intp)
    rows = twin.rows.Rows.sparse(np.array([1.0]), indices, indptr, 3)
    product = twin.product.Product([levels(twin), numbers(twin)])
    with pytest.raises(ValueError, match="rows must be dense for Product"):
        twin.partition.Partition(rows, np.zeros(1, dtype=np.intp), product, 1.0)


def mixed(twin):
    counts = twin.poisson_gamma.PoissonGamma([1.0], [0.5])
    return twin.product.Product([numbers(twin), levels(twin), counts])


def mixed_joint(X, labels):
    """The objective, from the families' marginals as plainly as can be."""
    priors = {
        "normal-gamma": {"m0": np.array([0.0, 1.0]), "c0": 0.5, "a0": 2.0, "b0": [1.0, 3.0]},
        "categorical": {"beta0": [[0.5, 1.0, 1.5]]},
        "poisson-gamma": {"a0": [1.0], "b0": [0.5]},
    }
    total, columns = -naive.log_crp(labels, 0.8), (slice(0, 2), slice(2, 3), slice(3, 4))
    for k in set(labels):
        rows = X[np.asarray(labels) == k]
        for (name, prior), d in zip(priors.items(), columns, strict=True):
            total -= CASES[name].log_marginal(rows[:, d], prior)
    return total


MIXED_ROWS = np.array(
    [
        [0.2, 1.0, 0.0, 3.0],
        [1.9, 0.5, 1.0, 0.0],
        [-0.4, 1.8, NAN, 2.0],
        [1.2, -0.3, 1.0, NAN],
        [0.1, 0.9, 2.0, 9.0],
        [2.5, 0.1, 1.0, 1.0],
    ]
)


def mixed_posterior(X):
    """The probability of every partition."""
    joints = {tuple(z): mixed_joint(X, z) for z in naive.partitions(len(X))}
    least = min(joints.values())
    weights = {z: np.exp(least - joint) for z, joint in joints.items()}
    total = sum(weights.values())
    return {z: weight / total for z, weight in weights.items()}, np.log(total) - least


def test_sums_over_partitions_are_those_of_a_list(twin):
    X = MIXED_ROWS
    target, log_evidence = mixed_posterior(X)
    labels, proba, together = np.zeros(6, dtype=np.intp), np.empty(6), np.empty((6, 6))
    found, joint = twin.exact.sum_over_partitions(X, mixed(twin), 0.8, labels, proba, together)
    assert found == pytest.approx(log_evidence, **CLOSE)
    best = max(target, key=target.get)
    assert naive.canonical(labels.tolist()) == naive.canonical(best)
    assert joint == pytest.approx(mixed_joint(X, best), **CLOSE)
    expected, _ = chains.summary(target, 6)
    np.testing.assert_allclose(together, expected, atol=1e-9)


def test_the_long_run_of_gibbs_sweeps_is_the_posterior(twin):
    n, n_sweeps, tolerance = (6, 10_000, 0.03) if twin.implementation == "cython" else (4, 800, 0.1)
    X = MIXED_ROWS[:n]
    target, _ = mixed_posterior(X)
    state = twin.partition.Partition(X, np.zeros(n, dtype=np.intp), mixed(twin), 0.8)
    rng, visits = np.random.default_rng(0), Counter()
    for _ in range(n_sweeps):
        chains.gibbs(twin, state, rng)
        visits[tuple(naive.canonical(state.labels.tolist()))] += 1 / n_sweeps
    for seen, expected in zip(chains.summary(visits, n), chains.summary(target, n), strict=True):
        np.testing.assert_allclose(seen, expected, rtol=0.0, atol=tolerance)
