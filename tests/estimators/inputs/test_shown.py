"""Values in messages of errors: one line, whatever a caller passes or a file has."""

import numpy as np
import pandas as pd
import pytest

from dpmlite import MAPDPM, VariationalDPM
from dpmlite.estimators.inputs.shown import shown

LONG = {
    "column": np.zeros((5, 1)),
    "short column": np.zeros((2, 1)),
    "frame": pd.DataFrame({"a": [1, 2]}),
    "digits": 10**5000,
    "lines": "a\n" * 1000,
    "list": [np.zeros((2, 2))] * 1000,
}


@pytest.mark.parametrize("value", LONG.values(), ids=LONG)
def test_any_value_takes_one_line(value):
    assert len(shown(value).splitlines()) == 1
    assert len(shown(value)) < 2000


@pytest.mark.parametrize(
    ("value", "text"),
    [(-1.0, "-1.0"), ("auto", "'auto'"), (None, "None"), (("a", 2), "('a', 2)"), ([1.0], "[1.0]")],
)
def test_plain_values_are_as_python_writes_them(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(MAPDPM, "n_init"), (MAPDPM, "discount"), (VariationalDPM, "n_components")],
)
def test_numbers_beyond_all_bounds_are_refused(estimator, name):
    with pytest.raises(ValueError, match=f"^{name} must be "):
        estimator(**{name: LONG["digits"]}).fit(np.arange(8.0).reshape(4, 2))


@pytest.mark.parametrize("value", LONG.values(), ids=LONG)
def test_parameters_are_refused_in_one_line(value):
    X, said = np.arange(8.0).reshape(4, 2), {}
    for name in set(MAPDPM().get_params()) - {"verbose", "random_state"}:
        try:
            MAPDPM(**{name: value}).fit(X)
        except (ValueError, TypeError) as error:
            said[name] = str(error)
    assert len(said) > 10
    assert {name: text for name, text in said.items() if len(text.splitlines()) > 1} == {}
