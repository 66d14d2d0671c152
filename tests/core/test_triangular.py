"""Scatter matrices held by what is left of each column, against numpy."""

import numpy as np
import pytest

SIZES = (1, 2, 7, 8, 9, 20)


def scatter(n, seed=0):
    """A positive definite matrix whose columns vary together."""
    half = np.random.default_rng(seed).normal(size=(n, n + 2))
    return half @ half.T


def held(W, d):
    """The matrix that W and d hold."""
    L = np.linalg.inv(np.array(W))
    return L @ np.diag(d) @ L.T


@pytest.mark.parametrize("n", SIZES)
def test_the_factors_make_the_matrix_diagonal(twin, n):
    A = scatter(n)
    W, d = twin.triangular.factorise(A.tolist(), 1e-9)
    np.testing.assert_array_equal(np.triu(W), np.eye(n))
    np.testing.assert_allclose(np.array(W) @ A @ np.array(W).T, np.diag(d), atol=1e-9)
    assert np.log(d).sum() == pytest.approx(np.linalg.slogdet(A)[1], rel=1e-10)


def test_what_a_column_adds_has_a_floor(twin):
    assert twin.triangular.factorise([[4.0, 4.0], [4.0, 4.0]], 0.5) == (
        [[1.0, 0.0], [-1.0, 1.0]],
        [4.0, 0.5],
    )


@pytest.mark.parametrize("n", SIZES)
def test_residuals_give_the_quadratic_form(twin, n):
    A, x = scatter(n), np.random.default_rng(1).normal(size=n)
    W, d = twin.triangular.factorise(A.tolist(), 1e-9)
    z = twin.triangular.residuals(W, x.tolist())
    np.testing.assert_allclose(z, np.array(W) @ x, rtol=1e-9, atol=1e-9)
    assert np.sum(np.square(z) / d) == pytest.approx(x @ np.linalg.solve(A, x), rel=1e-8)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("weight", [2.5, -0.5])
def test_an_update_is_the_factorisation_of_the_sum(twin, n, weight):
    x = np.random.default_rng(2).normal(size=n)
    A = scatter(n) + np.outer(x, x)
    W, d = twin.triangular.factorise(A.tolist(), 1e-9)
    z = twin.triangular.residuals(W, x.tolist())
    ratios = twin.triangular.determinant_ratios(d, z, weight)
    twin.triangular.update(W, d, z, weight)
    changed = A + weight * np.outer(x, x)
    np.testing.assert_allclose(held(W, d), changed, rtol=1e-8, atol=1e-8)
    for i, ratio in enumerate(ratios, 1):
        expected = np.linalg.det(changed[:i, :i]) / np.linalg.det(A[:i, :i])
        assert ratio == pytest.approx(expected, rel=1e-8)


def test_a_huge_update_leaves_the_other_directions(twin):
    """Column 2 less column 1 is what it was, to the last bit: no difference of large numbers."""
    W, d = twin.triangular.identity(2), [1.0, 1.0]
    twin.triangular.update(W, d, [2.0**29, 2.0**29], 1.0)
    assert d == [2.0**58 + 1.0, 2.0]
    assert W == [[1.0, 0.0], [-1.0, 1.0]]
