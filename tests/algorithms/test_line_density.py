"""Kernel estimates of densities on a line, against sums of numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def estimate(twin, values, shares, points):
    density, squares = np.empty(len(points)), np.empty(len(points))
    twin.line_density.density_on_line(values, shares, points, density, squares)
    return density, squares


@given(st.integers(0, 10**6), st.integers(0, 40), st.integers(1, 9))
@settings(max_examples=30)
def test_sums_of_kernels_and_of_their_squares(twin, seed, n_values, n_points):
    rng = np.random.default_rng(seed)
    values, points = rng.normal(scale=5.0, size=n_values), rng.normal(scale=5.0, size=n_points)
    shares = rng.uniform(0.1, 3.0, size=n_values)
    kernels = shares * np.exp(-0.5 * (points[:, None] - values) ** 2)
    density, squares = estimate(twin, values, shares, points)
    assert density == pytest.approx(kernels.sum(axis=1), rel=1e-12, abs=1e-300)
    assert squares == pytest.approx((kernels**2).sum(axis=1), rel=1e-12, abs=1e-300)


def test_kernels_far_away_are_zero(twin):
    density, squares = estimate(twin, np.array([0.0, 1e9]), np.ones(2), np.array([0.0, 50.0]))
    assert density.tolist() == squares.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("wrong", ["shares", "density", "squares"])
def test_vectors_of_unlike_lengths_are_an_error(twin, wrong):
    sizes = {"values": 3, "shares": 3, "points": 2, "density": 2, "squares": 2}
    arrays = {name: np.zeros(size + (name == wrong)) for name, size in sizes.items()}
    with pytest.raises(ValueError, match=f"{wrong} must have {sizes[wrong]} values"):
        twin.line_density.density_on_line(*arrays.values())
