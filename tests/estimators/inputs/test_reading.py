"""Columns of objects are read by their different cells, as cell by cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.estimators.inputs.reading import read_column

TEXT = st.sampled_from(["a", "b", "c d", "1"])
OTHERS = st.sampled_from([True, False, 1, 0, 1.0, 2.5, None, float("nan"), np.nan])


def column_of(cells):
    column = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        column[i] = cell
    return column


def is_known(cell):
    return cell is not None and cell == cell


def truths_or_texts(cells):
    """Text and truth values as they are, if there are only one kind; else all cells as text."""
    known = [cell for cell in cells if is_known(cell)]
    as_they_are = {type(cell) for cell in known} in ({str}, {bool})
    return [(cell if as_they_are else str(cell)) if is_known(cell) else None for cell in cells]


@given(st.lists(TEXT | OTHERS, max_size=20))
def test_cells_beside_text_are_read_one_by_one(cells):
    cells = ["a", *cells]  # no column of numbers
    found = read_column("x", column_of(cells))
    assert found.kind == "category"
    expected = truths_or_texts(cells)
    assert list(map(type, found.cells)) == list(map(type, expected))
    assert found.cells.tolist() == expected


@given(st.lists(st.sampled_from([True, False, None]), min_size=1).filter(any))
def test_truth_values_are_not_read_as_text(cells):
    assert read_column("x", column_of(cells)).cells.tolist() == cells


def test_true_is_another_level_than_1():
    assert read_column("x", column_of([1, True, 1.0, 0])).cells.tolist() == [
        "1",
        "True",
        "1.0",
        "0",
    ]


@pytest.mark.parametrize("blank", [None, np.nan, "", "NA"])
def test_numbers_as_text_are_numbers(blank):
    found = read_column("x", column_of(["1", "2.5", blank, "1"]))
    assert found.kind == "number"
    np.testing.assert_array_equal(found.cells, [1.0, 2.5, np.nan, 1.0])


class Unhashable:
    __hash__ = None


def test_cells_without_a_hash_are_text_too():
    cell = Unhashable()
    assert read_column("x", column_of(["a", cell])).cells.tolist() == ["a", str(cell)]
