"""Dates in ISO 8601 and in common forms."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.tables import parse_table
from dpmlite.tables.dates import parse_dates

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2024-01-05", "2024-01-05"),
        ("2024/1/5", "2024-01-05"),
        ("2024-01-05T13:04", "2024-01-05T13:04"),
        ("2024-01-05 13:04:09", "2024-01-05T13:04:09"),
        ("2024-01-05T13:04:09.25Z", "2024-01-05T13:04:09"),
        ("2024-01-05T13:04:09+02:00", "2024-01-05T13:04:09"),
        ("25.12.2024", "2024-12-25"),
        ("25/12/24", "2024-12-25"),
        ("12/25/2024", "2024-12-25"),
        ("12/25/1999 1:05 PM", "1999-12-25T13:05"),
        ("12/25/99 12:05 am", "1999-12-25T00:05"),
        ("5 Jan 2024", "2024-01-05"),
        ("05-Jan-24", "2024-01-05"),
        ("January 5, 2024", "2024-01-05"),
    ],
)
def test_every_form_of_a_date_is_read(cell, expected):
    dates, _ = parse_dates([cell, "", "NA"])
    assert dates[0] == np.datetime64(expected)
    assert np.isnat(dates[1:]).all()


@pytest.mark.parametrize(
    "cell",
    ["2024-13-01", "2024-02-30", "31/31/2024", "2024-01/05", "5 Foo 2024", "x", "20240105", "1.5"],
)
def test_other_cells_are_no_dates(cell):
    assert parse_dates(["2024-01-05", cell]) is None


def test_cells_without_any_value_are_no_dates():
    assert parse_dates(["", "NA"]) is None


@pytest.mark.parametrize(
    ("cells", "first", "order"),
    [
        (["03/04/2024", "13/04/2024"], "2024-04-03", "day first"),
        (["03/04/2024", "03/13/2024"], "2024-03-04", "month first"),
        (["03/04/2024", "03/05/2024"], "2024-03-04", "month first?"),
        (["03.04.2024", "03.05.2024"], "2024-04-03", "day first?"),
        (["2024-03-04"], "2024-03-04", ""),
    ],
)
def test_the_order_of_day_and_month_is_that_which_fits_all(cells, first, order):
    dates, found = parse_dates(cells)
    assert dates[0] == np.datetime64(first)
    assert found == order


@given(st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), min_size=1))
def test_iso_dates_are_read_back(moments):
    moments = [moment.replace(microsecond=0) for moment in moments]
    dates, order = parse_dates([moment.isoformat() for moment in moments])
    assert dates.tolist() == moments
    assert order == ""


def test_columns_of_dates():
    text = "when,n\n2024-01-05,1\n,2\n1970-01-02 12:00,3\n"
    table = parse_table(text)
    assert table.kinds == {"when": "date", "n": "number"}
    days = parse_table(text, kinds={"when": "number"})["when"]
    assert days[[0, 2]].tolist() == [(datetime(2024, 1, 5) - datetime(1970, 1, 1)).days, 1.5]
    assert np.isnan(days[1])
    ambiguous = parse_table("when,n\n3/4/2024,1\n").source.notes
    assert ambiguous[1:] == ["when: dates taken as month first"]
