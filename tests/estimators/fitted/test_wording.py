"""Numbers as people read them."""

import numpy as np
import pytest

from dpmlite.estimators.fitted.wording import number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.nan, "-"), (0.0, "0"), (0.04716, "0.04716"), (-2.5e-7, "-2.5e-07"), (1234.56, "1235"),
        (12036.4, "12040"), (-123456.0, "-123500"), (999999999.0, "1000000000"), (2e9, "2e+09"),
    ],
)  # fmt: skip
def test_numbers_for_people(value, text):
    assert number(value) == text
