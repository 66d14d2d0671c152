"""Statistics as arrays: whatever the family, they add as rows do."""

import numpy as np
import pytest
from families import CASES, FAMILY_NAMES

from dpmlite.distributed.statistics import (
    all_others,
    grouped,
    loaded,
    statistics_of,
    total,
)


def slots_of_rows(component, X, labels, n_clusters):
    """A component of clusters, row by row."""
    slots = component.like()
    slots.resize(n_clusters)
    for row, k in zip(X, labels, strict=True):
        slots.add(row, k)
    return slots


def of_rows(component, X, labels, n_clusters):
    """Statistics of clusters as an array."""
    return statistics_of(slots_of_rows(component, X, labels, n_clusters), n_clusters)


@pytest.fixture(params=FAMILY_NAMES)
def drawn(request, twin):
    """A component, rows, and labels of which some are used by no row."""
    case, rng = CASES[request.param], np.random.default_rng(0)
    X = case.draw(rng, 30, 4)
    return case.component(twin, case.prior(rng, 4)), X, rng.integers(4, size=30)


def close(statistics, expected):
    np.testing.assert_allclose(statistics, expected, rtol=1e-9, atol=1e-9)


def test_sums_over_chunks_are_those_of_all_rows(drawn):
    component, X, labels = drawn
    parts = np.array_split(np.arange(30), 3)
    chunks = [slots_of_rows(component, X[at], labels[at], 5) for at in parts]
    close(statistics_of(total(chunks), 5), of_rows(component, X, labels, 5))


def test_all_others_are_all_rows_but_those_of_a_chunk(drawn):
    component, X, labels = drawn
    parts = np.array_split(np.arange(30), 3)
    chunks = [slots_of_rows(component, X[at], labels[at], 5) for at in parts]
    for at, others in zip(parts, all_others(chunks), strict=True):
        rest = np.setdiff1d(np.arange(30), at)
        close(statistics_of(others, 5), of_rows(component, X[rest], labels[rest], 5))


def test_one_chunk_has_no_others(drawn):
    component, X, labels = drawn
    (others,) = all_others([slots_of_rows(component, X, labels, 5)])
    assert others.counts == [0.0] * 5
    close(statistics_of(others, 5), of_rows(component, X[:0], labels[:0], 5))


def test_groups_are_sums_of_clusters(drawn):
    component, X, labels = drawn
    numbers = np.array([1, 0, 1, 2, 1])
    groups = grouped(slots_of_rows(component, X, labels, 5), numbers, 4)
    close(statistics_of(groups, 4), of_rows(component, X, numbers[labels], 4))


def test_what_is_loaded_comes_back(drawn):
    component, X, labels = drawn
    statistics = of_rows(component, X, labels, 5)
    np.testing.assert_array_equal(statistics_of(loaded(component, statistics), 5), statistics)
