"""Statistics that no rows have are not loaded: kernels index tables by counts."""

import numpy as np
import pytest
from families import CASES

from dpmlite.core.statistics_checks import RATES, UNITS, WEIGHT, check_statistics

IMPOSSIBLE = (np.nan, np.inf, -np.inf, 1e308, -1e308)


@pytest.fixture(params=CASES)
def loaded(request, twin):
    """A component with one cluster, and its statistics."""
    case, rng = CASES[request.param], np.random.default_rng(0)
    component = case.component(twin, case.prior(rng, 3))
    component.resize(2)
    for row in case.draw(rng, 6, 3):
        component.add(row, 0)
    return component, component.statistics(0)


def test_what_a_slot_holds_is_loaded(loaded):
    component, statistics = loaded
    for k, held in ((1, statistics), (0, component.like())):
        if k == 0:
            held.resize(1)
            held = held.statistics(0)  # of an empty slot
        component.load(k, held)
        assert component.statistics(k) == held


@pytest.mark.parametrize("value", IMPOSSIBLE)
def test_no_statistic_may_be_impossible(loaded, value):
    component, statistics = loaded
    before = component.log_marginal(0)
    is_product = type(component).__name__ == "Product"  # its first number is that of its first part
    for at in range(is_product, len(statistics)):
        wrong = [*statistics]
        wrong[at] = value
        with pytest.raises(ValueError, match=r"^statistics must have .* from .* to .*, got"):
            component.load(0, wrong)
    assert component.statistics(0)[0] == statistics[0]
    if not is_product:
        assert component.log_marginal(0) == before


def test_weights_must_not_be_negative(loaded):
    component, statistics = loaded
    is_product = type(component).__name__ == "Product"
    with pytest.raises(
        ValueError, match=r"statistics must have weights from 0 to 1.80144e\+16, got"
    ):
        component.load(0, [*statistics[:is_product], -1.0, *statistics[1 + is_product :]])


def test_ranges_have_both_ends():
    parts = (WEIGHT, 1), (UNITS, 1), (RATES, 1)
    for least in (True, False):
        ends = [quantity.least if least else quantity.most for quantity, _ in parts]
        check_statistics(ends, *parts)
        for at in range(3):
            beyond = [*ends]
            beyond[at] = np.nextafter(beyond[at], -np.inf if least else np.inf)
            with pytest.raises(ValueError, match="statistics must have"):
                check_statistics(beyond, *parts)


def test_their_number_is_checked_first():
    with pytest.raises(ValueError, match="statistics must have 3 values, got 2"):
        check_statistics([1.0, np.nan], (WEIGHT, 1), (UNITS, 2))
