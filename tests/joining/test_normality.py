"""Where a mixture of normals describes the rows, none of its components are joined."""

import math

import numpy as np
import pytest

from dpmlite.joining import NormalComponents, fits_normals
from dpmlite.joining.normality import chi_squared_distribution


def two_normals(n_rows, gap, rng, n_columns=2):
    labels = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 0] += gap * labels
    means = np.zeros((2, n_columns))
    means[1, 0] = gap
    return X, NormalComponents(np.array([0.5, 0.5]), means, np.ones((2, n_columns)))


@pytest.mark.parametrize("gap", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("n_columns", [1, 2, 7])
def test_rows_of_normals_fit_however_much_these_overlap(gap, n_columns):
    rng = np.random.default_rng(0)
    kept = [
        fits_normals(c, X) for X, c in (two_normals(600, gap, rng, n_columns) for _ in range(50))
    ]
    assert np.mean(kept) >= 0.9  # 98 % are expected


def test_halves_of_a_rectangle_do_not_fit():
    X = np.random.default_rng(0).random((1000, 2)) * [2.0, 1.0]
    halves = NormalComponents(
        np.array([0.5, 0.5]), np.array([[0.5, 0.5], [1.5, 0.5]]), np.full((2, 2), 1.0 / 12.0)
    )
    assert not fits_normals(halves, X)


def test_heavy_tails_do_not_fit():
    X = np.random.default_rng(0).standard_t(2, size=(1000, 2))
    one = NormalComponents(np.ones(1), np.zeros((1, 2)), X.var(axis=0)[None])
    assert not fits_normals(one, X)


def test_variances_are_diagonal_covariances():
    X, components = two_normals(500, 3.0, np.random.default_rng(1))
    matrices = NormalComponents(
        components.weights, components.means, np.array([np.diag(v) for v in components.covariances])
    )
    np.testing.assert_allclose(
        matrices.squared_distances(X), components.squared_distances(X), rtol=1e-12
    )
    assert fits_normals(matrices, X) == fits_normals(components, X)


def test_distances_are_those_of_the_inverse_covariance():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(3, 4, 4))
    covariances = A @ np.swapaxes(A, 1, 2) + np.eye(4)
    components = NormalComponents(np.full(3, 1.0 / 3.0), rng.normal(size=(3, 4)), covariances)
    X = rng.normal(size=(20, 4))
    gaps = X[:, None] - components.means
    expected = np.einsum("nki,kij,nkj->nk", gaps, np.linalg.inv(covariances), gaps)
    np.testing.assert_allclose(components.squared_distances(X), expected, rtol=1e-9)


def test_rows_with_missing_cells_do_not_count():
    X = np.random.default_rng(0).random((1000, 2)) * [2.0, 1.0]
    halves = NormalComponents(
        np.array([0.5, 0.5]), np.array([[0.5, 0.5], [1.5, 0.5]]), np.full((2, 2), 1.0 / 12.0)
    )
    X[::2, 0] = np.nan
    assert fits_normals(halves, X) == fits_normals(halves, X[1::2])
    assert fits_normals(halves, np.full((5, 2), np.nan))


@pytest.mark.parametrize("degrees", [1, 2, 3, 8, 61, 1000])
def test_the_chi_squared_distribution_is_that_of_sums_of_squares(degrees):
    values = np.sort(np.random.default_rng(3).chisquare(degrees, 100_000))
    expected = (np.arange(100_000) + 0.5) / 100_000
    found = chi_squared_distribution(values, degrees)
    np.testing.assert_allclose(found, expected, atol=0.006)  # of draws, 0.2 % differ by more


@pytest.mark.parametrize("degrees", [1, 2, 5])
def test_the_chi_squared_distribution_has_its_closed_form(degrees):
    """Of one degree erf, of two an exponential, of five their sum."""
    x = np.linspace(0.0, 40.0, 101)
    one = np.array([math.erf(math.sqrt(each / 2.0)) for each in x])
    density_terms = np.sqrt(2.0 * x / np.pi) * np.exp(-0.5 * x)
    expected = {1: one, 2: 1.0 - np.exp(-0.5 * x), 5: one - density_terms * (1.0 + x / 3.0)}
    found = chi_squared_distribution(x, degrees)
    np.testing.assert_allclose(found, expected[degrees], atol=2e-4)
