"""Warnings of rows far out, and of values that may be codes for missing ones."""

import warnings

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import MAPDPM

pytestmark = needs_kernels


def told(cells, others):
    """What a fit of two columns warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        MAPDPM(max_seconds=60.0, random_state=0).fit(np.column_stack([others, cells]))
    return [str(warning.message) for warning in found]


@pytest.fixture
def ages():
    return np.random.default_rng(0).integers(18, 80, size=300).astype(float)


@pytest.mark.parametrize("code", [-9999.0, 999.0])
def test_a_value_far_from_all_others_is_told(ages, code):
    others = np.random.default_rng(1).normal(size=300)
    (message,) = told(np.where(np.arange(300) % 10 == 0, code, ages), others)
    assert message.startswith(f"10% of the cells of column 1 are {code:g}, far from all others")


def test_of_few_cells_the_variance_is_told(ages):
    others = np.random.default_rng(1).normal(size=300)
    (message,) = told(np.where(np.arange(300) % 150 == 0, -9999.0, ages), others)
    assert "of the variance of column 1" in message


def test_near_values_and_clusters_of_different_values_are_no_codes(ages):
    rng = np.random.default_rng(1)
    is_tenth = np.arange(300) % 10 == 0
    assert not told(np.where(is_tenth, 99.0, ages), rng.normal(size=300))
    assert not told(np.where(is_tenth, rng.normal(1e4, 1.0, 300), ages), rng.normal(size=300))
    assert not told(np.where(is_tenth, 1e4, ages > 40.0), rng.normal(size=300))
