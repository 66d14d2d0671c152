"""Columns that are independent normals: the families that have them, and the moments of slots."""

import numpy as np
import pytest
from families import CASES, FAMILY_NAMES

PRIOR = {"m0": [1.0, -2.0, 0.0], "c0": 0.5, "a0": 2.0, "b0": [4.0, 1.0, 9.0]}


def rows():
    return np.random.default_rng(3).normal(2.0, 3.0, size=(12, 3))


def component(twin, gaps):
    module = twin.incomplete_normal_gamma if gaps else twin.normal_gamma
    kind = module.IncompleteNormalGamma if gaps else module.NormalGamma
    found = kind(**PRIOR)
    found.resize(2)
    return found


@pytest.mark.parametrize("name", FAMILY_NAMES)
def test_normal_gamma_families_alone_have_normal_columns(twin, name):
    prior = CASES[name].prior(np.random.default_rng(0), 3)
    found = CASES[name].component(twin, prior)
    found.resize(1)
    if "normal-gamma" in name:
        assert found.normal_prior() == (prior["c0"], prior["a0"])
        return
    assert found.normal_prior() is None
    with pytest.raises(NotImplementedError):
        found.normal_columns(0)
    with pytest.raises(NotImplementedError):
        found.standardise(np.zeros(found.n_columns))


@pytest.mark.parametrize("gaps", [False, True])
def test_a_row_is_standardised_by_the_prior(twin, gaps):
    found = component(twin, gaps).standardise(np.array([5.0, -2.0, 2.0**40]))
    assert found == pytest.approx([2.0, 0.0, 2.0**29])


def test_a_missing_cell_stays_missing(twin):
    assert np.isnan(component(twin, True).standardise(np.array([np.nan, 0.0, 0.0]))[0])


@pytest.mark.parametrize("gaps", [False, True])
def test_columns_have_the_moments_of_the_rows(twin, gaps):
    found, X, weights = component(twin, gaps), rows(), np.arange(1.0, 13.0)
    for row, weight in zip(X, weights, strict=True):
        found.add(row, 0, weight)
    u = (X - PRIOR["m0"]) / np.sqrt(PRIOR["b0"])
    mean = np.average(u, axis=0, weights=weights)
    variance = np.average((u - mean) ** 2, axis=0, weights=weights)
    rate = np.array(found.posterior(0)["b"]) / PRIOR["b0"]
    expected = np.column_stack([[weights.sum()] * 3, mean, variance, rate])
    np.testing.assert_allclose(found.normal_columns(0), expected, rtol=1e-10)


@pytest.mark.parametrize("gaps", [False, True])
def test_an_empty_slot_has_unit_moments(twin, gaps):
    assert component(twin, gaps).normal_columns(1) == [(0.0, 0.0, 1.0, 1.0)] * 3


def test_moments_are_those_of_the_cells_that_are_there(twin):
    found, X = component(twin, True), rows()
    X[::3, 1] = np.nan
    for row in X:
        found.add(row, 0)
    n, mean, variance, _ = found.normal_columns(0)[1]
    u = X[:, 1] + 2.0
    assert (n, mean, variance) == pytest.approx((8.0, np.nanmean(u), np.nanvar(u)))


@pytest.mark.parametrize("gaps", [False, True])
def test_a_slot_that_does_not_exist_is_an_error(twin, gaps):
    with pytest.raises(IndexError):
        component(twin, gaps).normal_columns(2)
