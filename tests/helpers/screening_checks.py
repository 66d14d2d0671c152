"""What screening must not change: sweeps, assignments, and which rows are said to stay."""

import numpy as np
import pytest
from slots import CLOSE

from dpmlite.core.threads import use_threads

WEIGHTS = {
    "none": lambda rng, n: np.ones(n),
    "equal": lambda rng, n: np.full(n, 2.0),
    "nearly equal": lambda rng, n: 3.0 + 1e-12 * rng.random(n),
    "near one": lambda rng, n: rng.uniform(0.5, 1.5, n),
    "uniform": lambda rng, n: rng.uniform(0.1, 10.0, n),
    "whole": lambda rng, n: rng.integers(1, 5, n).astype(float),
    "light": lambda rng, n: rng.uniform(1e-3, 0.1, n),
    "skewed": lambda rng, n: rng.lognormal(0.0, 1.5, n),
    "one is heavy": lambda rng, n: np.where(np.arange(n) == 0, 1e9, 1.5),
}


def check_known_rows_stay(known, state):
    """Rows that are known to stay cost as little nowhere else, but for ties and rounding."""
    rows = np.flatnonzero(known)
    costs = np.array([state.costs(i) for i in rows]).reshape(len(rows), state.component.n_slots)
    own = costs[np.arange(len(rows)), np.array(state.labels)[rows]]
    assert np.all(costs.min(axis=1, initial=np.inf) >= own - 2e-8 - 1e-13 * np.abs(own))


def check_sweeps_of_twins(twins, partition_of):
    """Three sweeps of `partition_of(twin)` move the same rows on both twins."""
    found = []
    for twin in twins:
        state = partition_of(twin)
        moves = [twin.map_dpm.sweep(state) for _ in range(3)]
        assert state.neg_log_joint == pytest.approx(state.exact_neg_log_joint(), **CLOSE)
        found.append((moves, np.array(state.labels).tolist()))
    assert found[0] == found[1]


def check_sweeps_in_an_order(kernel, screened, visited):
    """Sweeps of two equal partitions agree: rows that are visited in an order are not screened."""
    order = np.arange(visited.n_rows, dtype=np.intp)
    for _ in range(4):
        assert kernel.map_dpm.sweep(screened) == kernel.map_dpm.sweep(visited, order)
        assert list(screened.labels) == list(visited.labels)
    assert screened.neg_log_joint == pytest.approx(visited.neg_log_joint, **CLOSE)


def check_assignment(kernel, component, X, weights, rows, n_threads=1):
    """Each of some rows is assigned to the first of its cheapest slots; -1 if that is empty."""
    found = np.empty(len(X), dtype=np.intp)
    with use_threads(n_threads):
        kernel.assignment.assign(kernel.rows.Rows(X, weights), component, 1.0, found)
    log_weights = np.array(kernel.assignment.log_weights(component, 1.0))
    for i in rows:
        weight = 1.0 if weights is None else weights[i]
        scores = component.log_predictive_all(X[i].copy(), weight)
        costs = -log_weights - np.array(scores)
        best = int(np.argmax(costs <= costs.min() + 1e-8))
        assert found[i] == (best if component.counts[best] else -1)
