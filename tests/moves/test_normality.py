"""The test that a cluster leaves nothing to be divided: what it finds, and what heeds it."""

import tracemalloc
from functools import cache
from itertools import combinations
from math import factorial

import naive
import numpy as np
import pytest
from cases import POWERS, build, empirical_prior, needs_kernels, problems
from families import CASES
from hypothesis import assume, example, given
from hypothesis import strategies as st
from mpmath import mp
from numpy.polynomial.hermite_e import hermeval

from dpmlite import MAPDPM, families, moves, neg_log_joint
from dpmlite.core.threads import use_threads
from dpmlite.datasets import planted_gaussians, unequal_gaussians
from dpmlite.partition import Partition
from dpmlite.search import samples, search
from dpmlite.search.reseeding import Reseeding

EDGES = np.arange(-2.25, 2.3, 0.5)


def wide_prior(X):
    """Of a table that is twenty times as long and three times as wide."""
    return {
        "m0": X.mean(axis=0) + X.std(axis=0),
        "c0": 0.5 / len(X),
        "a0": 1.0,
        "b0": 9 * X.var(axis=0),
    }


def family(twin, prior, gaps=False):
    if gaps:
        return twin.incomplete_normal_gamma.IncompleteNormalGamma(**prior)
    return twin.normal_gamma.NormalGamma(**prior)


def beside(twin, X, group, prior, alpha=1.0, gaps=False):
    """A partition of one cluster, of the rows of X and those of an absorbed group."""
    component = family(twin, prior, gaps)
    absorbed = component.like()
    absorbed.resize(1)
    for row in group:
        absorbed.add(row, 0)
    labels, home = np.zeros(len(X), dtype=np.intp), np.zeros(1, dtype=np.intp)
    return twin.partition.Partition(X, labels, component, alpha, None, absorbed, home)


def looks_normal(twin, X, prior=None, alpha=1.0, group=(), weights=None, gaps=False):
    rows = X if weights is None else twin.rows.Rows(X, weights)
    if len(group):
        partition = beside(twin, rows, group, prior or wide_prior(group), alpha, gaps)
    else:
        component = family(twin, prior or wide_prior(X), gaps)
        partition = twin.partition.Partition(
            rows, np.zeros(len(X), dtype=np.intp), component, alpha
        )
    return twin.normality.look_normal(partition, [0]) == [True]


def explained(z, w):
    """What moments and bins of a column's cells are above chance: bins from numpy."""
    n, hermite = len(z), [hermeval(z, np.eye(5)[i]).mean() for i in range(5)]
    if w:
        moments = n * sum(hermite[i] ** 2 / factorial(i) for i in range(1, 5)) - 2 * (1 + w)
    else:
        skewness, kurtosis = (z**3).mean(), (z**4).mean() - 3
        between = np.sqrt(np.clip((skewness**2 - kurtosis) / 2, 0, None))
        parts = np.clip(-np.log(np.clip(1 - between, 1e-12, None)) / 2 - 0.6, 0, None)
        moments = n * (skewness**2 / 6 + kurtosis**2 / 24 + parts) - 2
    chances = np.diff([0.0, *(float(mp.ncdf(edge)) for edge in EDGES), 1.0])
    rows = np.bincount(np.digitize(z, EDGES), minlength=len(chances))
    bins = 2 * (rows * np.log(np.maximum(rows, 1) / (n * chances))).sum()
    return moments, bins - (len(chances) - 3 + 2 * w)


@cache
def psi(order, x):
    return float(mp.psi(order, x))


def explained_by_pairs(z, w):
    """What correlations explain, pair by pair; infinite if two columns hardly meet in a row."""
    there = ~np.isnan(z)
    n, total = there.sum(axis=0), 0.0
    for d, e in combinations(range(z.shape[1]), 2):
        both = there[:, d] & there[:, e]
        if both.sum() < n[d] * n[e] / len(z) / 2:
            return np.inf
        if both.any():
            r = (z[both, d] * z[both, e]).mean()
            square = r**2 if w[d] or w[e] else -np.log(max(1 - r**2, 1e-12))
            total += both.sum() * square - 1
    return total


def explained_by_widths(z, w):
    """What rows nearer to the mean or farther from it explain, row by row."""
    there = ~np.isnan(z)
    away = variance = 0.0
    shares = np.zeros(z.shape[1])
    for row, cells in zip(z, there, strict=True):
        if z.shape[1] > 1 and cells.any():
            half = cells.sum() / 2
            away += psi(0, half) - np.log((row[cells] ** 2).sum() / 2)
            variance += psi(1, half)
            shares[cells] += 1 / half
    if not variance:
        return 0.0
    variance -= ((1 - w) * shares**2 / 2 / np.maximum(there.sum(axis=0), 1)).sum()
    return away**2 / variance - 1


def verdict(X, prior, alpha, group=()):
    """The rule once more, column by column, pair by pair and row by row; NaN is a missing cell."""
    everything = np.concatenate([group, X]) if len(group) else X
    n_all = np.maximum((~np.isnan(everything)).sum(axis=0), 1)
    mean = np.nansum(everything, axis=0) / n_all
    width = np.sqrt(np.nansum((everything - mean) ** 2, axis=0) / n_all)
    expected = prior["b0"] / prior["a0"] * np.where(prior["a0"] > 0.02 * n_all, 1.5, np.inf)
    if (width**2 > expected).any():
        return False
    z = (X - mean) / np.where(width > 0, width, 1)
    there = ~np.isnan(z)
    n = there.sum(axis=0)
    w = 1 - n / n_all
    if not there.any(axis=1).all():
        return False
    each = [explained(z[there[:, d], d], w[d]) for d in np.flatnonzero(n)]
    total = np.max(np.sum(each, axis=0)) if each else 0.0
    total += explained_by_pairs(z, w) + explained_by_widths(z, w)
    price = np.log1p(n / max(prior["c0"], 1)) + np.log1p(n / 2 / max(prior["a0"], 0.5))
    return total < price.sum() / 2 - np.log(max(alpha, 1))


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(5, 80),
    n_columns=st.integers(1, 10),
    apart=st.sampled_from([0.0, 0.5, 2.0]),
    alpha=st.sampled_from([0.5, 1.0, 4.0]),
    a0=st.sampled_from([0.3, 1.0]),
)
def test_the_verdict_is_that_of_the_rule_in_numpy(twin, seed, n, n_columns, apart, alpha, a0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)) + apart * rng.integers(2, size=(n, 1))
    prior = wide_prior(X) | {"c0": 1e-4, "a0": a0}
    assert looks_normal(twin, X, prior, alpha) == verdict(X, prior, alpha)


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(10, 60),
    n_columns=st.integers(1, 10),
    apart=st.sampled_from([0.0, 0.0, 0.5, 2.0]),
    has_group=st.booleans(),
)
@example(seed=905, n=10, n_columns=10, apart=0.0, has_group=True)  # a column has two cells
def test_the_verdict_on_missing_cells_is_that_of_the_rule_in_numpy(
    twin, seed, n, n_columns, apart, has_group
):
    """Of some columns hardly any, of others most or all; at some prior each verdict changes."""
    rng = np.random.default_rng(seed)
    group = rng.normal(size=((n + 30) * has_group, n_columns))
    X = rng.normal(size=(n, n_columns)) + apart * rng.integers(2, size=(n, 1))
    for table in (X, group):
        table[rng.random(table.shape) < rng.choice([0.01, 0.1, 0.6, 1.0], n_columns)] = np.nan
    everything = np.concatenate([group, X])
    assume(((~np.isnan(everything)).sum(axis=0) != 1).all())  # a width of 0 says nothing
    for c0 in np.geomspace(1e-1, 1e3, 12):
        prior = {"m0": np.ones(n_columns), "c0": c0, "a0": 1.0, "b0": np.full(n_columns, 9.0)}
        found = looks_normal(twin, X, prior, group=group, gaps=True)
        assert found == verdict(X, prior, 1.0, group)


@given(seed=st.integers(0, 2**32), n=st.integers(5, 60), n_columns=st.integers(1, 10))
def test_complete_rows_have_one_verdict_whether_or_not_cells_may_be_missing(
    twin, seed, n, n_columns
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)) + rng.integers(2, size=(n, 1)) * (seed % 3)
    weights = rng.integers(1, 3, size=n).astype(float) if seed % 2 else None
    group = rng.normal(size=((2 * n + 30) * (seed % 5 == 0), n_columns))
    verdicts = {
        looks_normal(twin, X, wide_prior(X), 1.0, group, weights, gaps) for gaps in (False, True)
    }
    assert len(verdicts) == 1


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 30),
    n_columns=st.integers(1, 10),
    apart=st.sampled_from([0.0, 0.0, 0.5, 2.0]),
    alpha=st.sampled_from([0.5, 4.0]),
)
def test_so_it_is_of_rows_that_join_an_absorbed_group(twin, seed, n, n_columns, apart, alpha):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)) + apart * rng.integers(2, size=(n, 1))
    group = rng.normal(size=(n + rng.integers(3, 30), n_columns))
    prior = wide_prior(group) | {"c0": 1e-4}
    assert looks_normal(twin, X, prior, alpha, group) == verdict(X, prior, alpha, group)


@pytest.mark.parametrize("absorbed", [False, True])
@pytest.mark.parametrize("n_columns", [1, 2, 9])
def test_repeated_rows_that_pass_do_with_weights(twin, n_columns, absorbed):
    """Weights tell that equal rows are no chance: then some others pass, too."""
    verdicts = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, n_columns))
        weights = np.where(rng.random(40) < 0.1, 3, 1)
        group, prior = rng.normal(size=(200 * absorbed, n_columns)), wide_prior(X)
        found = looks_normal(twin, X, prior, group=group, weights=weights.astype(float))
        repeated = looks_normal(twin, np.repeat(X, weights, axis=0), prior, group=group)
        assert found or not repeated
        verdicts.add((found, repeated))
    assert verdicts >= {(False, False), (True, True)}


@pytest.mark.parametrize("low", [1, 1000])
def test_weights_without_a_power_leave_large_clusters_normal_and_parts_apart(twin, low):
    """Unless they are so large that chance is worth clusters."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    weights = rng.integers(low, 3 * low + 1, size=1000).astype(float)
    assert looks_normal(twin, X, wide_prior(X), weights=weights) == (low == 1)
    X[:500] += 3.0
    assert not looks_normal(twin, X, wide_prior(X), weights=weights)


def looks_normal_under_power(twin, X, weights, power):
    """The verdict on one cluster of weighted rows whose likelihood has a power."""
    component = twin.normal_gamma.NormalGamma(**wide_prior(X), power=power)
    labels = np.zeros(len(X), dtype=np.intp)
    partition = twin.partition.Partition(twin.rows.Rows(X, weights), labels, component, 1.0)
    return twin.normality.look_normal(partition, [0]) == [True]


@pytest.mark.parametrize("weight", [3.0, 64.0])
def test_rows_of_equal_weights_under_their_power_are_rows(twin, weight):
    verdicts = set()
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(40, 3)) ** (1 + seed % 2)
        found = looks_normal_under_power(twin, X, np.full(40, weight), 1.0 / weight)
        assert found == looks_normal(twin, X)
        verdicts.add(found)
    assert verdicts == {False, True}


def test_weights_that_vary_leave_clusters_normal_and_parts_apart(twin):
    """Under the power that counts a row of mean weight as one."""
    passed = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, weights = rng.normal(size=(300, 3)), rng.uniform(1.0, 10.0, size=300)
        passed.append(looks_normal_under_power(twin, X, weights, 1.0 / weights.mean()))
        X[:150] += 3.0
        assert not looks_normal_under_power(twin, X, weights, 1.0 / weights.mean())
    assert sum(passed) >= 10


@given(problem=problems(max_rows=40, powers=POWERS), data=st.data())
def test_twins_agree(twins, problem, data):
    X, prior, alpha = problem
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(X), max_size=len(X)))
    plain, kernel = (build(twin, X, labels, prior, alpha) for twin in twins)
    slots = data.draw(st.permutations(range(len(plain.sizes))))
    found = [
        twin.normality.look_normal(partition, slots)
        for twin, partition in zip(twins, (plain, kernel), strict=True)
    ]
    assert found[0] == found[1]
    assert twins[0].normality.all_look_normal(plain) == twins[1].normality.all_look_normal(kernel)


@needs_kernels
@pytest.mark.parametrize(("n_rows", "n_columns", "n_clusters"), [(70_000, 2, 30), (4000, 100, 9)])
def test_many_rows_or_wide_ones_are_asked_in_parts(twins, n_rows, n_columns, n_clusters):
    """On any number of threads; each cluster is told apart from the others."""
    kernel, rng = twins[1], np.random.default_rng(0)
    labels = rng.integers(n_clusters, size=n_rows)
    X = rng.normal(size=(n_rows, n_columns)) + 20.0 * labels[:, None]
    X[labels % 3 == 0, 0] = rng.uniform(-2.0, 2.0, size=(labels % 3 == 0).sum())
    X[-3:] += 9.0  # in the last part only
    prior = wide_prior(X)
    partition = build(kernel, X, labels, prior)
    expected = [verdict(X[labels == k], prior, 1.0) for k in range(n_clusters)]
    assert set(expected) == {False, True}
    for n_threads in (1, 2, 3):
        slots = np.append(rng.permutation(n_clusters), 0).tolist()
        with use_threads(n_threads):
            found = kernel.normality.look_normal(partition, slots)
        assert found == [expected[k] for k in slots]
    assert [kernel.normality.look_normal(partition, [k])[0] for k in slots] == found


def test_slots_that_do_not_exist_are_an_error_and_none_have_no_verdict(twin):
    partition = build(twin, NORMAL, np.zeros(200), wide_prior(NORMAL))
    with pytest.raises(IndexError, match="2"):
        twin.normality.look_normal(partition, [0, 2])
    assert twin.normality.look_normal(partition, []) == []


@pytest.mark.parametrize("n_columns", [1, 2, 8, 20])
@pytest.mark.parametrize("n", [60, 300, 3000])
def test_most_normal_clusters_pass(twin, n, n_columns):
    if twin.implementation == "python" and n * n_columns > 5000:
        pytest.skip("takes minutes on the plain twins, which smaller cases run")
    rng = np.random.default_rng(n + n_columns)
    passed = [looks_normal(twin, rng.normal(size=(n, n_columns))) for _ in range(20)]
    assert sum(passed) >= 11


def mixture(rng):
    """Rows of a few normals, from one on top of the other to far apart, of any size and width."""
    n_columns, n_parts = rng.choice([1, 2, 3, 5, 8, 16]), rng.integers(2, 5)
    n = int(np.exp(rng.uniform(np.log(8), np.log(1500))))
    labels = rng.choice(n_parts, n, p=rng.dirichlet(np.full(n_parts, rng.choice([0.3, 1.0, 5.0]))))
    means = rng.normal(size=(n_parts, n_columns)) * np.exp(rng.uniform(-1, 3.4))
    means[:, 1:] *= rng.random() < 0.6
    widths = np.exp(rng.normal(size=(n_parts, 1)) * rng.choice([0.0, 0.3, 1.0]))
    return means[labels] + widths[labels] * rng.normal(size=(n, n_columns)), labels


@needs_kernels
@pytest.mark.parametrize("kind", ["rows", "weighted", "with gaps"])
def test_what_is_worth_to_be_divided_does_not_pass(twins, kind):
    """Single rows that would be better alone are for sweeps: so few nats are left to them."""
    kernel, rng = twins[1], np.random.default_rng(0)
    n_worth = 0
    for _ in range(1500):
        X, labels = mixture(rng)
        prior = wide_prior(X)
        weights = np.exp(rng.normal(scale=rng.choice([0.0, 0.3, 1.0]), size=len(X)))
        if kind == "with gaps":
            X[rng.random(X.shape) < rng.choice([0.05, 0.3])] = np.nan
        rows = kernel.rows.Rows(X, weights) if kind == "weighted" else X
        divided, whole = (
            kernel.partition.Partition(
                rows, each.astype(np.intp), family(kernel, prior, kind == "with gaps"), 1.0
            )
            for each in (labels, np.zeros(len(X)))
        )
        kernel.map_dpm.converge(divided, 100)
        if divided.neg_log_joint < whole.neg_log_joint - 10.0:
            n_worth += 1
            assert kernel.normality.look_normal(whole, [0]) == [False], (
                X.shape,
                np.bincount(labels),
            )
    assert n_worth > 300


@pytest.mark.parametrize("n_columns", [1, 2, 8, 20])
@pytest.mark.parametrize("n", [1, 10, 100])
def test_most_rows_that_are_as_their_absorbed_group_pass(twin, n, n_columns):
    rng = np.random.default_rng(n + n_columns)
    passed = []
    for _ in range(20):
        rows = rng.normal(size=(n + 300, n_columns))
        passed.append(looks_normal(twin, rows[:n], group=rows[n:]))
    assert sum(passed) >= 11


@needs_kernels
def test_nor_do_rows_that_are_better_apart_from_their_absorbed_group(twins):
    kernel, rng = twins[1], np.random.default_rng(0)
    n_worth = 0
    for _ in range(1500):
        X, labels = mixture(rng)
        group = X[labels == labels[0]][0] + rng.normal(size=(len(X) + 50, X.shape[1]))
        prior = wide_prior(np.concatenate([X, group]))
        whole = beside(kernel, X, group, prior)
        divided = whole.part(np.arange(len(X)), (labels + 1).astype(np.intp), [0])
        kernel.map_dpm.converge(divided, 100)
        if divided.neg_log_joint < whole.neg_log_joint - 10.0:
            n_worth += 1
            assert not looks_normal(kernel, X, prior, group=group), (X.shape, np.bincount(labels))
    assert n_worth > 300


NORMAL = np.random.default_rng(0).normal(size=(200, 3))
HIDDEN = {
    "two parts": lambda X, rng: X + 4.0 * (np.arange(200) < 100)[:, None] * [1, 0, 0],
    "parts with the moments of a normal": lambda X, rng: (
        0.1 * X + np.repeat([-(3.0**0.5), 0, 3.0**0.5], [33, 134, 33])[:, None] * [1, 0, 0]
    ),
    "correlated columns": lambda X, rng: X @ [[1, 0.6, 0], [0, 0.8, 0], [0, 0, 1]],
    "a few rows far away": lambda X, rng: X + 8.0 * (np.arange(200) < 5)[:, None],
    "a narrow part in a wide one": lambda X, rng: (
        X * np.where(np.arange(200) < 40, 0.05, 1)[:, None]
    ),
}


@pytest.mark.parametrize("kind", HIDDEN)
def test_each_statistic_finds_what_it_is_for(twin, kind):
    assert looks_normal(twin, NORMAL)
    assert not looks_normal(twin, HIDDEN[kind](NORMAL, np.random.default_rng(1)))


def test_rows_without_cells_and_rows_that_share_no_cells_do_not_pass(twin):
    passing, empty, kinds = (NORMAL.copy() for _ in range(3))
    passing[np.random.default_rng(0).random((200, 3)) < 0.2] = np.nan
    empty[7] = np.nan
    kinds[:100, 0] = kinds[100:, 2] = np.nan
    passing[np.isnan(passing).all(axis=1)] = 0.0
    assert looks_normal(twin, passing, wide_prior(NORMAL), gaps=True)
    assert not looks_normal(twin, empty, wide_prior(NORMAL), gaps=True)
    assert not looks_normal(twin, kinds, wide_prior(NORMAL), gaps=True)
    kinds[:40, 0] = NORMAL[:40, 0]  # both columns together in 40 rows: 70 would be chance
    assert looks_normal(twin, kinds, wide_prior(NORMAL), gaps=True)


@needs_kernels
@pytest.mark.parametrize("kind", ["no cells", "two kinds"])
def test_rows_that_share_no_cells_are_with_the_larger_cluster(kind):
    """They gain hundreds of nats by it, all of them together; cells tell nothing of that."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        z = rng.permutation(np.repeat([0, 1], [600, 300]))
        X = rng.normal(size=(900, 8)) + 10.0 * z[:, None]
        if kind == "no cells":
            X, z = np.concatenate([X, np.full((1000, 8), np.nan)]), np.append(z, np.zeros(1000))
        else:
            first = rng.random(900) < 0.5
            X[first, :4] = X[~first, 4:] = np.nan
        found = MAPDPM(prior="paper", allow_missing=True, random_state=seed).fit(X).neg_log_joint_
        assert found <= neg_log_joint(X, z.astype(np.intp), alpha=1.0, allow_missing=True) + 1e-6


ABSORBED = np.random.default_rng(2).normal(size=(400, 3))
ELSEWHERE = HIDDEN | {
    "all in another place": lambda X, rng: X + np.array([0.8, 0, 0]),
    "wider in one column": lambda X, rng: X * [1.6, 1, 1],
    "narrower in one column": lambda X, rng: X * [0.4, 1, 1],
}


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_each_statistic_finds_what_it_is_for_beside_an_absorbed_group(twin, kind):
    assert looks_normal(twin, NORMAL, group=ABSORBED)
    found = ELSEWHERE[kind](NORMAL, np.random.default_rng(1))
    assert not looks_normal(twin, found, group=ABSORBED)


def test_rows_beside_a_small_group_or_several_do_not_pass(twin):
    prior = wide_prior(ABSORBED)
    assert looks_normal(twin, NORMAL, prior, group=ABSORBED[:200])
    assert not looks_normal(twin, NORMAL, prior, group=ABSORBED[:199])
    assert not looks_normal(twin, NORMAL[:0], prior, group=ABSORBED)
    component = twin.normal_gamma.NormalGamma(**prior)
    absorbed = component.like()
    absorbed.resize(3)
    for i, row in enumerate(ABSORBED):
        absorbed.add(row, i % 3)
    labels, group_labels = np.zeros(100, dtype=np.intp), np.array([0, 1, 1])
    partition = twin.partition.Partition(
        NORMAL[:100], labels, component, 1.0, None, absorbed, group_labels
    )
    assert twin.normality.look_normal(partition, [1, 0]) == [False, True]
    assert twin.normality.all_look_normal(partition)  # slot 1 has no rows
    partition.move(0, 1, 0.0)
    assert twin.normality.look_normal(partition, [1]) == [False]
    assert not twin.normality.all_look_normal(partition)


def test_a_prior_of_narrower_clusters_divides_what_is_normal(twin):
    """Into halves, if it expects a tenth of the variance; so it does not pass."""
    prior = wide_prior(NORMAL) | {"a0": 200.0, "b0": np.array([20.0, 200.0, 200.0])}
    halves = NORMAL[:, 0] > 0.0
    joints = [naive.neg_log_joint(NORMAL, labels, 1.0, prior) for labels in (halves * 0, halves)]
    assert joints[1] < joints[0]
    assert not looks_normal(twin, NORMAL, prior)


def test_clusters_of_few_rows_for_their_alpha_and_of_other_families_do_not_pass(twin):
    prior = wide_prior(NORMAL)
    labels = np.zeros(200, dtype=np.intp)
    component = twin.normal_gamma.NormalGamma(**prior)

    def verdict_of(X, *rest):
        partition = twin.partition.Partition(X, labels.copy(), *rest)
        return twin.normality.look_normal(partition, [0]) == [True]

    assert verdict_of(NORMAL, component, 1.0)
    assert not verdict_of(NORMAL, component, 201.0)
    assert verdict_of(twin.rows.Rows(NORMAL, np.full(200, 0.5)), component, 100.0)
    assert not verdict_of(twin.rows.Rows(NORMAL, np.full(200, 0.5)), component, 101.0)
    absorbed = component.like()
    absorbed.resize(1)
    absorbed.add(NORMAL[0], 0)
    home = np.zeros(1, dtype=np.intp)
    assert not verdict_of(NORMAL, component.like(), 1.0, None, absorbed, home)
    case = CASES["normal-known-variance"]
    other = case.component(twin, case.prior(np.random.default_rng(0), 3))
    assert not verdict_of(NORMAL, other, 1.0)


@pytest.mark.parametrize("layout", ["float32", "Fortran", "rows of a table"])
def test_rows_are_read_as_they_lie(twin, layout):
    X = NORMAL + 4.0 * (np.arange(200) < 3)[:, None]
    order = np.random.default_rng(0).permutation(200).astype(np.intp)
    table = {
        "float32": X.astype(np.float32),
        "Fortran": np.asfortranarray(X),
        "rows of a table": np.concatenate([X[order], 100 + X]),
    }[layout]
    rows = np.argsort(order).astype(np.intp) if layout == "rows of a table" else None
    for most in (200, 197):
        first = 200 - most  # with the outlying rows, and without
        some = np.arange(first, 200) if rows is None else rows[first:]
        family = twin.normal_gamma.NormalGamma(**wide_prior(X))
        partition = twin.partition.Partition(
            table, np.zeros(most, dtype=np.intp), family, 1.0, some.astype(np.intp)
        )
        assert twin.normality.look_normal(partition, [0]) == [most == 197]


def test_splits_leave_what_looks_normal_and_remember_it(twin):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1.0, size=(80, 2)) for c in (-90.0, 0.0, 90.0, 140.0)])
    labels = np.repeat([0, 1, 2, 2], 80)
    partition = build(twin, X, labels, empirical_prior(X))
    memory = twin.split_memory.split_memory_of(partition)
    assert memory.looked_normal == [False] * 4
    assert twin.splits.split(partition, rng.random((4, 1, 2))) == 1
    assert memory.looked_normal[:3] == [True, True, False]
    assert memory.n_changed[:2] == [0, 0]
    twin.splits.split(partition, rng.random((5, 1, 2)))
    assert memory.looked_normal == [True] * 4 + [False]
    assert twin.normality.all_look_normal(partition)

    partition.move(0, 1, 0.0)
    assert memory.looked_normal == [True] * 4 + [False]
    partition.merge(2, 3, 0.0)
    assert memory.looked_normal == [True, True, False, False, False]
    partition.tidy()
    assert memory.looked_normal == [True, True, False, False]
    members = np.array(partition.members(0), dtype=np.intp)
    partition.replace([0], members, partition.part(members, np.zeros_like(members), [0]), 0.0)
    assert memory.looked_normal == [False, True, False, False]


def test_thorough_splits_do_not_ask_what_looks_normal(twin):
    X = np.random.default_rng(0).normal(size=(80, 2))
    for thorough in (False, True):
        partition = build(twin, X, np.zeros(80), empirical_prior(X))
        assert twin.splits.split(partition, np.full((2, 1, 2), 0.5), thorough) == 0
        memory = twin.split_memory.split_memory_of(partition)
        assert (memory.n_changed[0], memory.looked_normal[0]) == (0, not thorough)


def test_replaced_slots_are_what_was_found_of_their_parts(twin):
    partition = build(twin, NORMAL, np.zeros(200), wide_prior(NORMAL))
    members = np.arange(200)
    parts = partition.part(members, (members < 100).astype(np.intp), [0])
    memory = twin.split_memory.split_memory_of(partition)
    twin.split_memory.split_memory_of(parts).mark_tried(1, True)
    partition.replace([0], members, parts, 0.0)
    assert memory.looked_normal == [False, True, False]


def test_rows_that_are_almost_equal_do_not_pass(twin):
    """A slot holds what is left of its prior's width, too: it hardly tells theirs."""
    prior = wide_prior(NORMAL)
    assert looks_normal(twin, NORMAL / 1e2, prior)
    assert not looks_normal(twin, NORMAL / 1e5, prior)


def starts_of(capsys, X):
    """How many descents a fit prints that it begins with."""
    MAPDPM(prior="paper", random_state=0, verbose=True).fit(X)
    return sum(line.startswith("start") for line in capsys.readouterr().out.splitlines())


@needs_kernels
def test_many_more_columns_than_rows_do_not_pass():
    """It never passed there, and its sums of all pairs of columns took 288 MB."""
    X = np.random.default_rng(0).normal(size=(20, 6000))
    state = Partition(
        X,
        np.zeros(20, dtype=np.intp),
        families.NormalGamma(X.mean(axis=0), 0.5, 1.0, X.var(axis=0)),
        1.0,
    )
    tracemalloc.start()
    assert not moves.all_look_normal(state)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes


@pytest.mark.parametrize("n", [200, *(pytest.param(n, marks=needs_kernels) for n in (500, 2500))])
def test_a_search_ends_when_all_clusters_look_normal(capsys, monkeypatch, n):
    reseeded = []
    monkeypatch.setattr(Reseeding, "_attempts", lambda *rest: iter(reseeded.append(rest) or ()))
    rng = np.random.default_rng(1)
    planted = rng.normal(size=(n, 6)) + 12.0 * rng.integers(3, size=(n, 1))
    assert starts_of(capsys, planted) <= 2
    assert not reseeded
    assert starts_of(capsys, rng.exponential(size=(n, 3))) >= 3
    assert reseeded


def test_batches_of_rows_that_were_expected_are_not_reseeded(monkeypatch):
    reseeded = []
    monkeypatch.setattr(Reseeding, "_attempts", lambda *rest: iter(reseeded.append(rest) or ()))
    X, _ = planted_gaussians(6400, 6, 3, separation=20.0, random_state=0)
    model = MAPDPM(prior="paper", random_state=0).fit(X[:6000])
    for batch in np.split(X[6000:], 4):
        model.partial_fit(batch)
    assert not reseeded
    model.partial_fit(np.random.default_rng(0).exponential(size=(100, 6)))
    assert reseeded


@needs_kernels
def test_only_samples_of_larger_tables_are_split_before_the_descent(monkeypatch):
    sizes = []
    split = moves.split
    monkeypatch.setattr(moves, "split", lambda p, *rest: sizes.append(p.n_rows) or split(p, *rest))
    X = np.random.default_rng(0).exponential(size=(2200, 2))
    MAPDPM(prior="paper", random_state=0).fit(X)
    assert samples.SAMPLE_ROWS in sizes
    sizes.clear()
    monkeypatch.setattr(search, "descend", lambda context, result: result)
    MAPDPM(prior="paper", random_state=0).fit(X[:300])
    assert not sizes


@needs_kernels
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("make", ["planted", "unequal"])
def test_no_division_of_a_cluster_that_passes_lowers_the_joint(twins, make, missing):
    """No division of a cluster that passes is better, of those that 20 pairs of rows lead to."""
    kernel, rng, n_asked = twins[1], np.random.default_rng(0), 0
    if make == "planted":
        X, _ = planted_gaussians(4000, 6, 12, random_state=0)
    else:
        X, _ = unequal_gaussians(8, 12, random_state=0).sample(4000, random_state=1)
    X[rng.random(X.shape) < missing] = np.nan
    model = MAPDPM(prior="paper", random_state=0, allow_missing=missing > 0.0).fit(X)
    component = family(kernel, model.prior_, missing > 0.0)
    partition = kernel.partition.Partition(X, model.labels_.copy(), component, 1.0)
    lists = kernel.division.member_lists(partition, range(model.n_clusters_))
    normal = kernel.normality.look_normal(partition, range(model.n_clusters_))
    for k in np.flatnonzero(normal):
        members = lists[k]
        n_asked += 1
        n = len(members[:: kernel.division.trial_step(len(members))])
        starts = []
        for _ in range(20):
            labels = np.full(n, -1, dtype=np.intp)
            labels[rng.choice(n, 2, replace=False)] = 0, 1
            starts.append(labels)
        assert kernel.division.divided(partition, [k], members, starts) is None
    assert n_asked >= 4
