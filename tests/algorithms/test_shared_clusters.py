"""Clusterings that share clusters, against clusterings that share nothing."""

import numpy as np
import pytest
from families import CASES
from hypothesis import given, settings
from hypothesis import strategies as st

CASE = CASES["normal-known-variance"]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n_steps=st.integers(1, 60))
def test_clusters_are_those_of_their_own_rows(twin, seed, n_steps):
    rng = np.random.default_rng(seed)
    X, prior = rng.normal(size=(8, 2)), CASE.prior(rng, 2)
    component = CASE.component(twin, prior)
    shared = twin.shared_clusters.SharedClusters(component)
    held = [(shared.first(), [])]  # with the rows of each cluster
    for _ in range(n_steps):
        at = int(rng.integers(len(held)))
        c, clusters = held[at]
        action = rng.integers(4)
        if action == 0:
            shared.hold(c)
            held.append((c, clusters))
        elif action == 1 and len(held) > 1:
            shared.release(c)
            held.pop(at)
        else:
            k, i = int(rng.integers(len(clusters) + 1)), int(rng.integers(len(X)))
            grown = [*map(list, clusters)] + [[]] * (k == len(clusters))
            grown[k] = [*grown[k], i]
            held[at] = shared.grow(c, k, X[i]), grown
    for c, clusters in held:
        slots = shared.slots(c)
        assert len(slots) == len(clusters)
        for slot, members in zip(slots, clusters, strict=True):
            assert component.counts[slot] == len(members)
            expected = CASE.log_marginal(X[members], prior)
            assert component.log_marginal(slot) == pytest.approx(expected, abs=1e-9)
    assert shared.n_clusterings == len({c for c, _ in held})
    assert component.counts[0] == 0.0


def test_one_row_costs_one_slot(twin):
    """A clustering of many clusters that grows into another shares all but one of them."""
    X = np.arange(20.0).reshape(10, 2)
    component = CASE.component(twin, CASE.prior(np.random.default_rng(0), 2))
    shared = twin.shared_clusters.SharedClusters(component)
    c = shared.first()
    for k, row in enumerate(X):
        c = shared.grow(c, k, row)
    shared.hold(c)
    other = shared.grow(c, 4, X[0])
    differ = [a != b for a, b in zip(shared.slots(c), shared.slots(other), strict=True)]
    assert differ == [k == 4 for k in range(10)]
    slots = component.n_slots
    shared.release(other)
    shared.hold(c)
    shared.grow(c, 2, X[0])
    assert component.n_slots == slots  # that of the one that is gone


def test_errors_state_the_rule_that_is_broken(twin):
    component = CASE.component(twin, CASE.prior(np.random.default_rng(0), 2))
    shared = twin.shared_clusters.SharedClusters(component)
    c = shared.first()
    with pytest.raises(IndexError, match=r"cluster must be in 0\.\.0, got 1"):
        shared.grow(c, 1, np.zeros(2))
    with pytest.raises(ValueError, match="row must have 2 values, got 3"):
        shared.grow(c, 0, np.zeros(3))
    shared.release(c)
    for call in (shared.release, shared.hold, shared.slots):
        with pytest.raises(IndexError, match=f"there is no clustering {c}"):
            call(c)
