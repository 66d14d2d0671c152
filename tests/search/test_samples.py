"""Samples of the rows of a table: how large they are, and which rows are in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.search import samples


@pytest.mark.parametrize(
    ("n_rows", "sizes"),
    [(511_999, []), (512_000, [32_000]), (2**27, [2**15, 2**19, 2**23])],
)
def test_samples_lie_between_the_first_and_a_large_table(n_rows, sizes):
    assert samples.sizes_between(2000, n_rows) == sizes


@given(n_rows=st.integers(1, 500), data=st.data())
def test_a_sample_has_one_row_of_each_stretch(n_rows, data):
    size = data.draw(st.integers(1, n_rows))
    rows = samples.one_of_each_stretch(n_rows, size, np.random.default_rng(n_rows))
    for i in range(size):
        assert i * n_rows // size <= rows[i] < (i + 1) * n_rows // size


def test_each_row_of_a_stretch_is_as_likely_in_a_sample():
    rng = np.random.default_rng(0)
    drawn = np.concatenate([samples.one_of_each_stretch(160, 10, rng) for _ in range(2000)])
    counts = np.bincount(drawn, minlength=160)
    assert abs(counts - 125.0).max() < 5.0 * np.sqrt(125.0)
