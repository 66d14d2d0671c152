"""Rows under a discount: those known to stay do, and sweeps are those of visits one by one."""

import numpy as np
import pytest
from cases import needs_kernels
from hypothesis import given, settings
from hypothesis import strategies as st
from screening_checks import check_known_rows_stay, check_sweeps_in_an_order
from slots import CLOSE, labels_of

import dpmlite
from dpmlite.datasets import planted_gaussians

if dpmlite.implementation == "cython":
    from dpmlite.sweeps._screening import screen

WEIGHTS = {
    "none": lambda rng, n: np.ones(n),
    "uniform": lambda rng, n: rng.uniform(0.7, 5.0, n),
    "skewed": lambda rng, n: 0.7 + rng.lognormal(0.0, 1.5, n),
}
KINDS = ["plain", "gaps", "mixed"]
starts = st.sampled_from(["random", "unplaced", "single", "near", "many"])


def component(twin, kind, n_columns):
    numbers = ([0.0] * n_columns, 0.05, 2.0, [1.0] * n_columns)
    if kind == "gaps":
        return twin.incomplete_normal_gamma.IncompleteNormalGamma(*numbers)
    family = twin.normal_gamma.NormalGamma(*numbers)
    if kind == "plain":
        return family
    return twin.product.Product([family, twin.categorical.Categorical([[0.5] * 3])])


def table(rng, n_rows, n_columns, n_clusters, separation, kind):
    """Clusters of different widths, whose labels are mostly right."""
    X, labels = planted_gaussians(
        n_rows, n_columns, n_clusters, separation=separation, random_state=rng
    )
    if kind == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    if kind == "mixed":
        X = np.column_stack([X, (labels + rng.integers(2, size=n_rows)) % 3])
    labels[rng.random(n_rows) < 0.05] = 0
    return np.ascontiguousarray(X), labels


def partition(twin, X, labels, kind, discount, weights, alpha=1.0):
    rows = twin.rows.Rows(X, WEIGHTS[weights](np.random.default_rng(0), len(X)))
    family = component(twin, kind, X.shape[1] - (kind == "mixed"))
    labels = np.array(labels, dtype=np.intp)
    return twin.partition.Partition(rows, labels, family, alpha, discount=discount)


@needs_kernels
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(20, 1, 2), (300, 2, 5), (1000, 9, 4)]),
    separation=st.sampled_from([0.3, 2.0, 20.0]),
    kind=st.sampled_from(KINDS),
    weights=st.sampled_from(list(WEIGHTS)),
    discount=st.sampled_from([0.01, 0.6]),
    alpha=st.sampled_from([0.0, 1.0, 1e6]),
    start=starts,
)
def test_who_is_known_to_stay_stays(
    kernel, seed, shape, separation, kind, weights, discount, alpha, start
):
    rng = np.random.default_rng(seed)
    X, near = table(rng, *shape, separation, kind)
    labels = labels_of(start, rng, near)
    state = partition(kernel, X, labels, kind, discount, weights, max(alpha, 1e-9))
    check_known_rows_stay(screen(state, 0, len(X)), state)


@needs_kernels
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", ["none", "uniform"])
def test_where_clusters_are_apart_most_are_known(kernel, kind, weights):
    X, labels = table(np.random.default_rng(1), 3000, 4, 4, 12.0, kind)
    assert np.mean(screen(partition(kernel, X, labels, kind, 0.3, weights), 0, 3000)) > 0.7


@needs_kernels
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(20, 1, 2), (300, 2, 5), (1000, 9, 4), (300, 2, 60)]),
    separation=st.sampled_from([1.0, 6.0]),
    kind=st.sampled_from(KINDS),
    weights=st.sampled_from(list(WEIGHTS)),
    discount=st.sampled_from([0.01, 0.6]),
    start=starts,
)
def test_sweeps_are_those_of_visits_in_an_order(
    kernel, seed, shape, separation, kind, weights, discount, start
):
    """Rows that are visited in a given order are not screened."""
    rng = np.random.default_rng(seed)
    X, near = table(rng, *shape, separation, kind)
    labels = labels_of(start, rng, near)
    screened, visited = (partition(kernel, X, labels, kind, discount, weights) for _ in range(2))
    check_sweeps_in_an_order(kernel, screened, visited)
    assert screened.neg_log_joint == pytest.approx(screened.exact_neg_log_joint(), **CLOSE)
