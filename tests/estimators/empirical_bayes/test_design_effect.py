"""The design effect of values that rows share: against sums over pairs, and where it must be 1."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.estimators.empirical_bayes.design_effect import (
    MAX_JUDGED_ROWS,
    design_effect,
    intraclass_correlation,
    n_copies,
)
from dpmlite.estimators.empirical_bayes.equal_rows import MAX_SHARE, Grid


def in_groups(sizes, n_shared=3, n_own=2, seed=0):
    """Columns whose values are drawn once a group, and columns of each row alone."""
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.normal(size=(len(sizes), n_shared)), sizes, axis=0)
    return np.hstack([shared, rng.normal(size=(len(shared), n_own))])


@st.composite
def columns_on_grids(draw):
    """Two columns of a few even or uneven values, some missing."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_rows = draw(st.integers(30, 60))
    columns = []
    for _ in range(2):
        values = np.cumsum(rng.choice(draw(st.sampled_from([[1.0], [1.0, 1.2, 5.0]])), size=12))
        column = rng.choice(values, size=n_rows)
        column[rng.random(n_rows) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
        columns.append(column)
    return columns


def known_rows(columns):
    """The rows without missing cells, as tuples."""
    return [row for row in zip(*map(list, columns), strict=True) if not np.isnan(row).any()]


def step_of(column):
    gaps = np.diff(np.unique(column[~np.isnan(column)]))
    return np.quantile(gaps, 0.1, method="lower")


def rank_of(column, cell):
    return len(set(column[column < cell].tolist()))


def copies_by_pairs(columns):
    """The number of copies, with all places looked at one by one."""
    rows, n_rows = known_rows(columns), len(columns[0])
    counts = {row: rows.count(row) for row in rows}
    is_group = {row: count <= MAX_SHARE * n_rows for row, count in counts.items()}
    equal = sum(counts[row] - 1 for row in rows if is_group[row])
    ranks = {row: tuple(map(rank_of, columns, row)) for row in counts}
    steps = [1.5 * step_of(column) for column in columns]
    expected = []
    for offset in [(1,)] if len(columns) == 1 else [(1, 0), (0, 1), (1, 1), (1, -1)]:
        pairs = 0.0
        for row, other in itertools.product(counts, repeat=2):
            moved = tuple(b - a for a, b in zip(ranks[row], ranks[other], strict=True))
            gaps = [abs(a - b) for a, b in zip(row, other, strict=True)]
            if moved == offset and any(0 < g < step for g, step in zip(gaps, steps, strict=True)):
                of_groups = counts[row] * is_group[row] + counts[other] * is_group[other]
                pairs += 0.5 * of_groups * min(counts[row], counts[other])
        expected.append(pairs)
    if len(columns) > 1:
        by_chance = 0.0
        for row in counts:
            shares = [sum(r[j] == row[j] for r in rows) / len(rows) for j in range(len(columns))]
            by_chance += is_group[row] * counts[row] * min(counts[row], len(rows) * np.prod(shares))
        expected.append(by_chance)
    return (equal - max(expected)) / n_rows if equal > 3.0 * max(expected) else 0.0


@given(columns_on_grids(), st.sampled_from([1, 2]))
def test_copies_are_those_of_all_pairs_of_rows(columns, n_shared):
    shared = columns[:n_shared]
    assert n_copies([Grid.of(column) for column in shared], 0.0) == pytest.approx(
        copies_by_pairs(shared), rel=1e-12, abs=1e-12
    )


@given(columns_on_grids(), st.integers(0, 10**6))
def test_the_correlation_is_that_of_pairs_of_equal_rows(columns, seed):
    column = np.random.default_rng(seed).integers(0, 30, size=len(columns[0])).astype(float)
    ranks = np.searchsorted(np.unique(column), column)
    known = ~np.isnan(columns).any(axis=0)
    rows, ranks = known_rows(columns), ranks[known]
    squares = [
        (ranks[i] - ranks[k]) ** 2
        for i, row in enumerate(rows)
        for k, other in enumerate(rows)
        if i != k and row == other and rows.count(row) <= MAX_SHARE * len(known)
    ]
    expected = max(0.0, 1.0 - np.mean(squares) / (2.0 * ranks.var())) if squares else 0.0
    found = intraclass_correlation(Grid.of(column), [Grid.of(each) for each in columns])
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("size", [3, 6, 12])
def test_all_columns_shared_is_the_size_of_the_groups(size):
    n_groups = 400
    X = in_groups([size] * n_groups, n_own=0)
    by_chance = size / n_groups
    assert design_effect(list(X.T)) == pytest.approx(size - by_chance, abs=1e-9)


def test_sizes_count_as_in_kish():
    sizes = np.random.default_rng(0).integers(1, 15, size=400)
    effect = design_effect(list(in_groups(sizes, n_own=0).T))
    assert effect == pytest.approx((sizes**2).sum() / sizes.sum(), rel=0.01)


def test_columns_that_are_not_shared_count_with_their_correlation():
    X = in_groups([6] * 500, n_shared=3, n_own=3)
    assert design_effect(list(X.T)) == pytest.approx(1.0 + 5.0 * 0.5, rel=0.05)


@pytest.mark.parametrize("unit", [0.1, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("n_columns", [1, 2, 4])
@pytest.mark.parametrize("n_rows", [100, 1000, 5000])
def test_rounded_normals_have_no_groups(unit, n_columns, n_rows):
    rng = np.random.default_rng(n_rows + n_columns)
    centres = 30.0 * rng.normal(size=(8, n_columns))
    X = unit * np.round(
        (centres[rng.integers(8, size=n_rows)] + rng.normal(size=(n_rows, n_columns))) / unit
    )
    assert design_effect(list(X.T)) == 1.0


def test_heaped_columns_have_no_groups():
    """Round numbers in columns that have nothing to do with each other, and many zeros."""
    rng = np.random.default_rng(0)
    price = np.where(
        rng.random(2000) < 0.7, rng.integers(10, 200, 2000) * 10, rng.integers(100, 2000, 2000)
    )
    age = np.where(
        rng.random(2000) < 0.5, rng.integers(4, 16, 2000) * 5, rng.integers(20, 80, 2000)
    )
    paid = np.where(rng.random(2000) < 0.5, 0, rng.integers(1, 500, 2000) * 7)
    X = np.column_stack([price, age, paid, rng.normal(size=2000)]).astype(float)
    assert design_effect(list(X.T)) == 1.0


@pytest.mark.parametrize("second", ["copy", "logarithm", "other unit", "nearly a copy"])
def test_a_rounded_column_and_what_follows_from_it_have_no_groups(second):
    rng = np.random.default_rng(5)
    height = np.round(rng.normal(170.0, 10.0, size=2000))
    other = {
        "copy": height,
        "logarithm": np.log(height),
        "other unit": np.round(height / 2.54, 1),
        "nearly a copy": height + rng.integers(-1, 2, size=2000),
    }[second]
    assert design_effect([height, other, rng.normal(size=2000)]) == 1.0


def test_a_single_shared_column_is_enough_only_where_it_is_the_table():
    column = in_groups([10] * 60, n_shared=1, n_own=0)[:, 0]
    other = np.random.default_rng(1).normal(size=600)
    assert 5.0 < design_effect([column]) < 10.0  # a tenth of the gaps are steps, by definition
    assert design_effect([column, other]) == 1.0


def test_units_and_order_change_nothing():
    X = in_groups(np.random.default_rng(2).integers(1, 9, size=150))
    effect = design_effect(list(X.T))
    assert effect > 2.0
    assert design_effect(list(1000.0 - 7.0 * X.T)) == pytest.approx(effect, rel=1e-9)
    rng = np.random.default_rng(3)
    shuffled = X[rng.permutation(len(X))][:, rng.permutation(X.shape[1])]
    assert design_effect(list(shuffled.T)) == pytest.approx(effect, rel=1e-9)


def test_text_and_missing_columns_tell_nothing():
    X = in_groups([5] * 100)
    missing = np.full(len(X), np.nan)
    assert design_effect([None, *X.T, missing]) == pytest.approx(design_effect(list(X.T)))
    assert design_effect([None, None]) == design_effect([]) == design_effect([missing]) == 1.0


def test_few_rows_or_few_values_are_no_groups():
    assert design_effect(list(in_groups([3] * 8).T)) == 1.0
    assert design_effect(list(in_groups([40] * 20).T)) == 1.0


def test_a_sample_tells_the_effect_of_all_rows():
    X = in_groups([40] * 1000, n_own=0)
    assert len(X) > MAX_JUDGED_ROWS
    assert design_effect(list(X.T)) == pytest.approx(40.0, rel=0.1)
    sample = X[np.random.default_rng(4).choice(len(X), len(X) // 4, replace=False)]
    assert design_effect(list(sample.T), 4.0) == pytest.approx(40.0, rel=0.1)
