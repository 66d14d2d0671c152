"""Warnings about columns name them, and tell of those that number the rows."""

import warnings

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import MAPDPM, Table

pytestmark = needs_kernels  # fits of the default model


def warnings_of(columns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MAPDPM(random_state=0).fit(Table(columns))
    return [str(warning.message) for warning in caught]


@pytest.fixture
def columns():
    rng = np.random.default_rng(0)
    return {
        "city": rng.choice(["Oslo", "Rome"], 200).astype(object),
        "height": rng.normal(size=200),
        "visits": rng.poisson(3.0, size=200),
    }


def test_ordinary_columns_give_no_warning(columns):
    assert warnings_of(columns) == []
    assert warnings_of({**columns, "when": np.arange(200.0) ** 2}) == []


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("column 1", np.arange(200)),
        ("n", np.random.default_rng(1).permutation(200) + 7),
        ("customer_id", np.arange(200) ** 2),
    ],
)
def test_a_column_that_numbers_the_rows_is_told(columns, name, cells):
    (message,) = warnings_of({**columns, name: cells})
    assert message.startswith(f"column {name!r} numbers the rows")


def test_categories_that_all_differ_number_nothing(columns):
    names = np.array([f"guest {i}" for i in range(200)], dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MAPDPM(random_state=0, component={"guest": "categorical"})
        model.fit(Table({**columns, "guest": names}))


@pytest.mark.parametrize("kept", [["city", "height", "visits"], ["height"]])
def test_warnings_name_columns_of_mixed_tables(columns, kept):
    others = {name: columns[name] for name in kept}
    (message,) = warnings_of({**others, "width": np.full(200, 2.5)})
    assert message.startswith("1 column(s) of X are constant, column 'width' first")
    (message,) = warnings_of({**others, "money": np.append(columns["height"][1:], 1e6)})
    assert "of the variance of column 'money'" in message
