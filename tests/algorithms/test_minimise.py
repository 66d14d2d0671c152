"""Minima of functions whose minima are known, with lower bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def minimum(twin, objective, start, lower):
    """Where `minimise` ends, and its value, of an objective that returns its gradient."""

    def writing(x, gradient):
        value, slopes = objective(np.array(x))
        gradient[:] = slopes
        return value

    x = np.array(start, dtype=float)
    return x, twin.minimise.minimise(writing, x, np.array(lower))


def quadratic(rng, n_variables, condition):
    """A convex quadratic function, its matrix and its minimum without bounds."""
    Q, _ = np.linalg.qr(rng.normal(size=(n_variables, n_variables)))
    A = (Q * np.geomspace(1.0, condition, n_variables)) @ Q.T
    centre = rng.normal(size=n_variables)

    def objective(x):
        return 0.5 * (x - centre) @ A @ (x - centre), A @ (x - centre)

    return objective, A, centre


def rosenbrock(x):
    a, b = x
    value = (1.0 - a) ** 2 + 100.0 * (b - a**2) ** 2
    return value, np.array([-2.0 * (1.0 - a) - 400.0 * a * (b - a**2), 200.0 * (b - a**2)])


@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from([1.0, 10.0, 1000.0]))
@settings(max_examples=50)
def test_a_quadratic_function_has_its_minimum_at_its_centre(twin, seed, n_variables, condition):
    rng = np.random.default_rng(seed)
    objective, _, centre = quadratic(rng, n_variables, condition)
    start, free = rng.normal(scale=5.0, size=n_variables), np.full(n_variables, -np.inf)
    x, value = minimum(twin, objective, start, free)
    assert value == objective(x)[0] < 1e-4
    assert x == pytest.approx(centre, abs=0.02)


@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from([1.0, 10.0]))
@settings(max_examples=50)
def test_with_bounds_no_variable_gains_where_it_may_go(twin, seed, n_variables, condition):
    """The conditions of Karush, Kuhn and Tucker: sufficient where the function is convex."""
    rng = np.random.default_rng(seed)
    objective, _, _ = quadratic(rng, n_variables, condition)
    lower = rng.normal(size=n_variables)
    x, value = minimum(twin, objective, rng.normal(scale=5.0, size=n_variables), lower)
    assert (x >= lower).all()
    gradient = objective(x)[1]
    at_bound = x == lower
    assert np.abs(gradient[~at_bound]).max(initial=0.0) < 0.05
    assert (gradient[at_bound] > -0.05).all()
    for _ in range(50):
        other = np.maximum(x + rng.normal(scale=0.3, size=n_variables), lower)
        assert value <= objective(other)[0] + 1e-4


@pytest.mark.parametrize("start", [(-1.2, 1.0), (3.0, -3.0), (0.0, 0.0), (-5.0, 20.0)])
def test_the_valley_of_rosenbrock_leads_to_its_minimum(twin, start):
    x, value = minimum(twin, rosenbrock, np.array(start), np.full(2, -np.inf))
    assert value < 1e-4
    assert x == pytest.approx([1.0, 1.0], abs=0.05)


def test_the_valley_of_rosenbrock_ends_at_a_bound(twin):
    """For a >= 1.5, the minimum is at (1.5, 2.25)."""
    x, value = minimum(twin, rosenbrock, np.array([3.0, 0.0]), np.array([1.5, -np.inf]))
    assert x == pytest.approx([1.5, 2.25], abs=0.01)
    assert value == pytest.approx(0.25, abs=1e-4)


@given(st.integers(0, 10**6), st.floats(0.1, 100.0))
@settings(max_examples=50)
def test_the_value_is_never_above_that_at_the_start(twin, seed, size):
    """Even where the function has many minima, and is infinite beyond a limit."""
    rng = np.random.default_rng(seed)
    frequency, start = rng.exponential(scale=3.0, size=3), rng.normal(size=3)

    def objective(x):
        if (np.abs(x) > 4.0).any():
            return np.inf, np.full(3, np.nan)
        return size * np.sin(frequency * x).sum(), size * frequency * np.cos(frequency * x)

    x, value = minimum(twin, objective, start, np.full(3, -4.5))
    assert value == objective(x)[0] <= objective(start)[0]


def test_a_start_below_its_bounds_is_moved_there(twin):
    x, _ = minimum(twin, lambda x: (x.sum(), np.ones(2)), np.zeros(2), np.array([1.0, -3.0]))
    assert x.tolist() == [1.0, -3.0]


def test_a_minimum_at_the_start_stays(twin):
    start = np.array([0.5, -0.5])
    x, value = minimum(twin, lambda x: (7.0, np.zeros(2)), start, np.full(2, -np.inf))
    assert x.tolist() == start.tolist()
    assert value == 7.0


def test_vectors_of_unlike_lengths_are_an_error(twin):
    with pytest.raises(ValueError, match="lower must have the length of x, 2, got 3"):
        twin.minimise.minimise(lambda x, gradient: 0.0, np.zeros(2), np.zeros(3))


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=20)
def test_both_twins_begin_alike_and_end_alike(twins, seed, n_variables):
    rng = np.random.default_rng(seed)
    objective, _, _ = quadratic(rng, n_variables, 100.0)
    start, lower = rng.normal(scale=3.0, size=n_variables), rng.normal(size=n_variables)
    paths, values = [], []
    for twin in twins:
        path = []

        def recorded(x, path=path):
            path.append(x)
            return objective(x)

        values.append(minimum(twin, recorded, start, lower)[1])
        paths.append(np.array(path[:5]))
    n_steps = min(len(path) for path in paths)
    assert paths[0][:n_steps] == pytest.approx(paths[1][:n_steps], rel=1e-8, abs=1e-8)
    assert values[0] == pytest.approx(values[1], abs=1e-4)
