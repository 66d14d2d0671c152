"""Units of a prior, against numpy."""

import numpy as np
import pytest


def problem(n):
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, n + 1))
    scale = 10.0 ** rng.integers(-6, 7, size=n)
    return (half @ half.T) * np.outer(scale, scale), rng.normal(size=n) * scale


@pytest.mark.parametrize("n", [1, 2, 8, 11])
def test_the_prior_has_unit_scale(twin, n):
    psi0, x = problem(n)
    R = twin.whitening.whitening(psi0.tolist())
    np.testing.assert_array_equal(np.triu(R, 1), 0.0)
    np.testing.assert_allclose(np.array(R) @ psi0 @ np.transpose(R), np.eye(n), atol=1e-9)
    u = twin.whitening.whiten(R, [2.0] * n, (x + 2.0).tolist())
    np.testing.assert_allclose(u, np.array(R) @ ((x + 2.0) - 2.0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(twin.whitening.restore(R, u), (x + 2.0) - 2.0, rtol=1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_far_values_count_as_lying_at_the_edge(twin, correlation):
    R = twin.whitening.whitening([[1.0, correlation], [correlation, 1.0]])
    u = twin.whitening.whiten(R, [0.0, 0.0], [1e300, -1e300])
    assert u == [2.0**29, -(2.0**29)]


def test_columns_that_depend_on_one_another(twin):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        twin.whitening.whitening([[1.0, 2.0], [2.0, 4.0]])
    assert str(caught.value) == (
        "psi0 must be positive definite, got [2.0, 4.0] at the start of row 1"
    )
