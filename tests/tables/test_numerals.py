"""Numbers as people write them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.tables import parse_table
from dpmlite.tables.numerals import (
    AmbiguousDecimalError,
    is_number,
    parse_at_once,
    parse_each,
    sniff_decimal,
)

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("cells", "decimal"),
    [
        (["1", "2.5"], "."),
        (["1,5", "2"], ","),
        (["0,123"], ","),
        (["1234,567"], ","),
        (["1.234,5"], ","),
        (["1,234", "2,5"], ","),
        (["1,234", "2.5"], "."),
        (["1,234.5"], "."),
        (["1,234,567"], "."),
        (["1'234,50"], ","),
        (["left, right", "1.5"], "."),
        (["x" * 5] * 2000 + ["1,5"], ","),
    ],
)
def test_the_decimal_sign_is_found(cells, decimal):
    assert sniff_decimal([cells], ";") == decimal


def test_ambiguous_commas():
    with pytest.raises(AmbiguousDecimalError, match="'1,234' may be a decimal number"):
        sniff_decimal([["1", "1,234"]], ";")
    # Where commas separate cells, those within a quoted number separate thousands.
    assert sniff_decimal([["1", "1,234"]], ",") == "."


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        ("1,234", ".", 1234.0),
        ("-1,234,567.25", ".", -1234567.25),
        ("1'234.5", ".", 1234.5),
        ("1 234 567", ".", 1234567.0),
        ("1\u00a0234,5", ",", 1234.5),
        ("1.234", ",", 1234.0),
        ("1.234.567,8", ",", 1234567.8),
        (".5", ".", 0.5),
        ("5.", ".", 5.0),
        ("+5e-3", ".", 0.005),
        ("1,5e3", ",", 1500.0),
    ],
)
def test_every_form_of_a_number_is_read(cell, decimal, value):
    assert is_number(cell, decimal)
    values, bad = parse_each([cell, "NA"], decimal)
    assert values[0] == value
    assert math.isnan(values[1])
    assert not bad.any()


@pytest.mark.parametrize(
    ("cell", "decimal"),
    [
        ("1,23", "."), ("1,2345", "."), ("12,34,567", "."), ("1,234 567", "."), ("0,123", "."),
        ("1.5", ","), ("1_000", "."), ("--1", "."), ("1e", "."), ("0x10", "."), ("1.2.3", "."),
        ("x", "."), (",", ","), (".", "."), ("1234,567", "."),
    ],
)  # fmt: skip
def test_other_cells_are_no_numbers(cell, decimal):
    assert not is_number(cell, decimal)
    assert parse_each(["1", cell], decimal)[1].tolist() == [False, True]
    assert parse_at_once(["1", cell], decimal) is None


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.sampled_from([".", ","]),
)
def test_the_fast_and_the_strict_way_agree(numbers, decimal):
    cells = [repr(x).replace(".", decimal) for x in numbers] + ["", "NA", "n/a"]
    fast, (strict, bad) = parse_at_once(cells, decimal), parse_each(cells, decimal)
    assert not bad.any()
    assert np.array_equal(fast, strict, equal_nan=True)
    assert fast[: len(numbers)].tolist() == numbers


@given(st.integers(-(10**15), 10**15), st.sampled_from([",", "'", " ", "\u00a0"]))
def test_groups_of_thousands(number, sign):
    text = f"{number:,}".replace(",", sign)
    assert parse_each([text], ".")[0].tolist() == [number]


def test_money_and_percent():
    table = parse_table("price;share\n$1,200.50;5%\n$3;NA\n")
    assert table.kinds == {"price": "number", "share": "number"}
    assert table["price"].tolist() == [1200.5, 3.0]
    assert table["share"][0] == 5.0
    assert table.source.notes[1:] == ["price: numbers with $", "share: numbers with %"]
    mixed = parse_table("price;n\n$1;1\n3 €;2\nx;3\n")
    assert mixed.kinds["price"] == "text"


def test_a_column_is_text_if_most_cells_are():
    table = parse_table("code,n\nA1,1\n2,2\nB,3\n")
    assert table["code"].tolist() == ["A1", "2", "B"]
    with pytest.raises(ValueError, match="text in column 'code', row 2: 'A1' is not a number"):
        parse_table("code,n\nA1,1\n2,2\n3,3\n")
