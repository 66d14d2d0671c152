"""Values by their rank."""

from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = st.floats(allow_nan=False) | st.integers(-2, 2).map(float)


@given(values=st.lists(NUMBERS, min_size=1), data=st.data())
def test_the_value_of_a_rank_is_that_of_a_sort(twin, values, data):
    rank = data.draw(st.integers(0, len(values) - 1))
    values, before = array("d", values), array("d", values)
    assert twin.quickselect.value_of_rank(values, rank) == np.sort(values)[rank]
    assert values == before


@pytest.mark.parametrize("order", [1, -1])
def test_of_many_in_order(twin, order):
    values = array("d", np.arange(30_000.0)[::order])
    assert [twin.quickselect.value_of_rank(values, rank) for rank in (0, 3_000, 29_999)] == [
        0.0,
        3_000.0,
        29_999.0,
    ]


def test_nan_do_no_harm(twin):
    nan = float("nan")
    for values in ([nan], [nan] * 5, [1.0, nan, 0.0, nan, 2.0]):
        for rank in range(len(values)):
            twin.quickselect.value_of_rank(array("d", values), rank)


@pytest.mark.parametrize("rank", [-1, 3])
def test_a_rank_beyond_the_values_is_an_error(twin, rank):
    with pytest.raises(IndexError, match=rf"rank must be in 0\.\.2, got {rank}"):
        twin.quickselect.value_of_rank(array("d", [1.0, 2.0, 3.0]), rank)
