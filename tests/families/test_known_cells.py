"""Rows with missing cells in clusters of full covariance: the density of their known cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slots import CLOSE

KAPPA0, POWER = 0.3, 0.6


def prior_of(n_columns, rng):
    half = rng.normal(size=(n_columns, n_columns))
    psi0 = half @ half.T + 0.1 * np.eye(n_columns)
    return {
        "m0": rng.normal(size=n_columns),
        "kappa0": KAPPA0,
        "nu0": n_columns + 1.5,
        "psi0": 0.5 * (psi0 + psi0.T),
    }


def marginal(prior, known):
    """The prior of some columns: Sigma_oo ~ IW(psi0_oo, nu0 - the number of others)."""
    return {
        "m0": prior["m0"][known],
        "kappa0": prior["kappa0"],
        "nu0": prior["nu0"] - (~known).sum(),
        "psi0": prior["psi0"][np.ix_(known, known)],
    }


@given(
    n_columns=st.integers(1, 9),
    seed=st.integers(0, 10**6),
    weight=st.sampled_from([1.0, 2.5, 0.4]),
    power=st.sampled_from([1.0, POWER]),
    scale=st.sampled_from([1.0, 1e-5, 1e4]),
)
def test_missing_columns_might_not_be_there(twin, n_columns, seed, weight, power, scale):
    rng = np.random.default_rng(seed)
    known = rng.random(n_columns) < 0.6
    if not known.any():
        known[rng.integers(n_columns)] = True
    prior, X = prior_of(n_columns, rng), rng.normal(size=(7, n_columns)) + 2.0
    prior = {**prior, "m0": scale * prior["m0"], "psi0": scale**2 * prior["psi0"]}
    component = twin.normal_inverse_wishart.NormalInverseWishart(**prior, power=power)
    others = twin.normal_inverse_wishart.NormalInverseWishart(**marginal(prior, known), power=power)
    for each, columns in ((component, slice(None)), (others, known)):
        each.resize(3)  # the last is empty
        for i, x in enumerate(scale * X[:-1]):
            each.add(np.ascontiguousarray(x[columns]), i % 2)
    row = np.where(known, scale * X[-1], np.nan)
    expected = others.log_predictive_all(row[known], weight)
    assert component.log_predictive_all(row, weight) == pytest.approx(expected, **CLOSE)
    assert component.log_predictive(row, 1, weight) == pytest.approx(expected[1], **CLOSE)


def test_a_row_without_known_cells_tells_nothing(twin):
    component = twin.normal_inverse_wishart.NormalInverseWishart(
        [1.0, 2.0], 0.5, 3.0, np.eye(2).tolist()
    )
    component.resize(2)
    component.add(np.array([1.5, 2.5]), 0)
    assert component.log_predictive_all(np.full(2, np.nan)) == [0.0, 0.0]


def test_densities_of_a_missing_cell_integrate_to_that_of_the_others(twin):
    rng = np.random.default_rng(3)
    prior, X = prior_of(3, rng), rng.normal(size=(20, 3))
    component = twin.normal_inverse_wishart.NormalInverseWishart(**prior)
    component.resize(1)
    for x in X:
        component.add(x, 0)
    row = X[0].copy()
    row[1] = np.nan
    grid = np.linspace(-60.0, 60.0, 40_001)
    filled = np.tile(row, (len(grid), 1))
    filled[:, 1] = grid
    density = np.exp([component.log_predictive(x, 0) for x in filled[::20]])
    integral = density.sum() * 20 * (grid[1] - grid[0])
    assert np.log(integral) == pytest.approx(component.log_predictive(row, 0), abs=1e-6)


@given(n=st.integers(1, 8), seed=st.integers(0, 10**6))
def test_the_projection_is_least_squares(twin, n, seed):
    rng = np.random.default_rng(seed)
    n_columns = int(rng.integers(0, n))
    z, d, columns = rng.normal(size=n), rng.uniform(0.5, 4.0, n), rng.normal(size=(n_columns, n))
    left, log_det = twin.known_cells.project_out(z.tolist(), d.tolist(), columns.tolist())
    A, b = (columns / np.sqrt(d)).T, z / np.sqrt(d)
    rest = b - A @ np.linalg.lstsq(A, b, rcond=None)[0]
    np.testing.assert_allclose(np.array(left) / np.sqrt(d), rest, atol=1e-7)
    assert log_det == pytest.approx(np.linalg.slogdet(A.T @ A)[1], abs=1e-7)
