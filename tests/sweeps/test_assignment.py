"""Assignment of rows to clusters that stay as they are: eq. (18)."""

import numpy as np
import pytest
from cases import empirical_prior, mixture, needs_kernels, problems
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.core.threads import use_threads


@given(problem=problems(), data=st.data())
def test_each_row_is_assigned_to_the_first_of_the_cheapest_slots(twin, problem, data):
    """As many rows as are screened together, and more, or some of them: too few for threads."""
    X, prior, alpha = problem
    labels = data.draw(st.lists(st.integers(0, 5), min_size=len(X), max_size=len(X)))
    component = mixture(twin, X, np.array(labels), prior)
    n, spread = data.draw(st.integers(1, 200)), data.draw(st.sampled_from([1.0, 10.0]))
    new = spread * X[np.random.default_rng(n).integers(len(X), size=n)]
    if data.draw(st.booleans()):
        new = np.asfortranarray(new)
    rows = data.draw(st.none() | st.just(np.arange(n, dtype=np.intp)[::-2].copy()))
    found = np.empty(n if rows is None else len(rows), dtype=np.intp)
    with use_threads(data.draw(st.integers(1, 3))):
        twin.assignment.assign(new, component, alpha, found, rows)
    counts = np.array(component.counts)
    log_n = np.log(np.where(counts > 0, counts, alpha))
    for i, k in zip(range(n) if rows is None else rows, found, strict=True):
        costs = -log_n - np.array(component.log_predictive_all(new[i].copy()))
        best = int(np.argmax(costs <= costs.min() + 1e-8))
        assert k == (best if counts[best] else -1)


@needs_kernels
@pytest.mark.parametrize("n_columns", [1, 3, 20])
def test_rows_between_large_clusters_are_assigned_exactly(kernel, n_columns):
    """Many of them are almost as near to another cluster: bounds must not be taken for costs."""
    rng = np.random.default_rng(n_columns)
    labels = np.repeat(np.arange(4), 1000)
    X = rng.normal(size=(4000, n_columns)) + 0.5 * labels[:, None] / n_columns**0.5
    component = mixture(kernel, X, labels, empirical_prior(X))
    new = 0.5 * (X + rng.permutation(X))
    found, probabilities = np.empty(4000, dtype=np.intp), np.empty((4000, 5))
    kernel.assignment.assign(new, component, 1.0, found)
    kernel.prediction.responsibilities(new, component, 1.0, probabilities)
    least, second = np.sort(-np.log(probabilities[:, :4]), axis=1)[:, :2].T
    assert np.mean(second - least < 0.1) > 0.1
    clear = second - least > 1e-7
    assert np.array_equal(found[clear], probabilities.argmax(axis=1)[clear])


def test_rows_to_assign_are_rows_of_the_table(twin):
    component = mixture(twin, np.eye(2), np.zeros(2, dtype=int), empirical_prior(np.eye(2)))
    for n, rows in ((2, [0, 2]), (1, [-1])):
        with pytest.raises(IndexError, match=rf"rows must be in 0\.\.1, got {rows[-1]}"):
            twin.assignment.assign(
                np.eye(2), component, 1.0, np.empty(n, np.intp), np.array(rows, np.intp)
            )


@pytest.mark.parametrize("n_slots", [1, 7, 8, 9, 16, 30])
def test_of_equal_slots_the_first_is_taken(twin, n_slots):
    """Wherever it is: the others are far away."""
    for first in range(n_slots):
        component = twin.normal_gamma.NormalGamma([0.0], 1e-3, 1.0, [1.0])
        component.resize(n_slots + 1)
        for k in range(n_slots):
            for _ in range(5):
                component.add(np.array([3.0 if k in {first, n_slots - 1} else -40.0 - k]), k)
        labels = np.empty(1, dtype=np.intp)
        twin.assignment.assign(np.array([[3.1]]), component, 1.0, labels)
        assert labels[0] == first
