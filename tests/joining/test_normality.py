"""Whether a mixture of normals describes the rows."""

import math

import numpy as np
import pytest

from dpmlite.joining import NormalComponents
from dpmlite.joining.normality import Misfit, chi_squared_distribution


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
    drawn = [two_normals(600, gap, rng, n_columns) for _ in range(50)]
    fits = [Misfit.of(components, X) for X, components in drawn]
    assert np.mean([fit.is_chance for fit in fits]) >= 0.9
    assert np.mean([fit.excludes_other_shapes for fit in fits]) >= 0.8


@pytest.mark.parametrize("full", [False, True])
def test_the_statistics_are_those_of_scipy_for_one_normal(full):
    """The line of a lone component is that of the first column."""
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(5)
    root = rng.normal(size=(3, 3)) if full else np.diag([1.0, 4.0, 2.0])
    covariance = root @ root.T
    X = rng.uniform(-1.5, 1.5, size=(300, 3)) @ root.T
    spread = covariance if full else np.diag(covariance)
    found = Misfit.of(NormalComponents(np.ones(1), np.zeros((1, 3)), spread[np.newaxis]), X)
    squares = np.einsum("ni,ij,nj->n", X, np.linalg.inv(covariance), X)
    # Of the jumps of the distribution of the rows, scipy looks at both sides, and we at one.
    expected = stats.kstest(squares, "chi2", (3,)).statistic
    assert found.distances == pytest.approx(expected, abs=0.004)
    on_line = X[:, 0] ** 2 / np.mean(X[:, 0] ** 2)
    expected = stats.kstest(on_line, "chi2", (1,)).statistic
    assert found.coordinates == pytest.approx(expected, abs=0.004)
    assert found.n_rows == 300


@pytest.mark.parametrize("full", [False, True])
def test_coordinates_are_along_the_discriminant_to_the_nearest_component(full):
    rng = np.random.default_rng(6)
    means = np.array([[0.0, 0.0], [3.0, 1.0], [9.0, 0.0]])
    covariances = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])
    if full:
        covariances = np.array([np.diag(each) + 0.3 for each in covariances])
    components = NormalComponents(np.full(3, 1.0 / 3.0), means, covariances)
    X = rng.normal(size=(10, 2))
    matrices = covariances if full else np.array([np.diag(each) for each in covariances])
    for k, other in enumerate([1, 0, 1]):
        line = np.linalg.solve(matrices[k] + matrices[other], means[other] - means[k])
        expected = (X - means[k]) @ line / np.sqrt(line @ matrices[k] @ line)
        np.testing.assert_allclose(np.abs(components.coordinates(X)[:, k]), np.abs(expected))


def test_arcs_of_a_ring_of_few_rows_are_told_by_their_lengths():
    """Their distances are mostly as those of normals: half of the coordinates have no tails."""
    rng, ways = np.random.default_rng(0), []
    for _ in range(20):
        angle = rng.uniform(0.0, 2.0 * np.pi, 300)
        X = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(scale=0.05, size=(300, 2))
        labels = (8 * angle / (2.0 * np.pi)).astype(int)
        arcs = [X[labels == k] for k in range(8)]
        components = NormalComponents(
            np.bincount(labels) / 300,
            np.array([rows.mean(axis=0) for rows in arcs]),
            np.array([np.cov(rows.T) for rows in arcs]),
        )
        ways.append(Misfit.of(components, X))
    assert np.mean([np.sqrt(300) * fit.distances < 1.5 for fit in ways]) > 0.5
    assert not any(fit.is_chance for fit in ways)


def test_halves_of_a_rectangle_do_not_fit():
    X = np.random.default_rng(0).random((1000, 2)) * [2.0, 1.0]
    halves = NormalComponents(
        np.array([0.5, 0.5]), np.array([[0.5, 0.5], [1.5, 0.5]]), np.full((2, 2), 1.0 / 12.0)
    )
    assert not Misfit.of(halves, X).is_chance


def test_heavy_tails_do_not_fit():
    X = np.random.default_rng(0).standard_t(2, size=(1000, 2))
    one = NormalComponents(np.ones(1), np.zeros((1, 2)), X.var(axis=0)[None])
    assert not Misfit.of(one, X).is_chance


def test_variances_are_diagonal_covariances():
    X, components = two_normals(500, 3.0, np.random.default_rng(1))
    matrices = NormalComponents(
        components.weights, components.means, np.array([np.diag(v) for v in components.covariances])
    )
    np.testing.assert_allclose(
        matrices.squared_distances(X), components.squared_distances(X), rtol=1e-12
    )
    of_matrices, of_variances = Misfit.of(matrices, X), Misfit.of(components, X)
    assert of_matrices.distances == pytest.approx(of_variances.distances, rel=1e-9)


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
    assert Misfit.of(halves, X) == Misfit.of(halves, X[1::2])
    none = Misfit.of(halves, np.full((5, 2), np.nan))
    assert none.is_chance
    assert not none.excludes_other_shapes


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
