"""Components with rows in their slots, and what tests of every family ask of them."""

import numpy as np
import pytest

CLOSE = {"rel": 1e-9, "abs": 1e-9}


def labels_of(start, rng, near):
    """Labels from which a sweep starts, of the kind that is named; `near` are those of rows."""
    n = len(near)
    return {
        "random": rng.integers(12, size=n),
        "unplaced": np.full(n, -1),
        "single": np.zeros(n),
        "near": near,
        "many": np.arange(n) // 3,
    }[start]


def fill(component, X, labels, n_slots=3, weights=None):
    """The component, with each row of X in the slot that its label names."""
    component.resize(n_slots)
    weights = [1.0] * len(X) if weights is None else weights
    for row, k, weight in zip(np.asarray(X), labels, weights, strict=True):
        component.add(row, k, weight)
    return component


def spread(component, X, n_slots=3, weights=None):
    """The same with the rows over all slots but the last, and the labels."""
    labels = np.arange(len(X)) % (n_slots - 1)
    return fill(component, X, labels, n_slots, weights), labels


def others_of(i, X, labels):
    """The rows that share a slot with row i."""
    return X[(labels == labels[i]) & (np.arange(len(X)) != i)]


def check_scores(component, labels, X, prior, log_predictive, close=CLOSE):
    """Of the first row in every slot, against `log_predictive(row, rows of the slot, prior)`."""
    scores = component.log_predictive_all(X[0])
    for k in range(component.n_slots):
        expected = log_predictive(X[0], X[labels == k], prior)
        assert component.log_predictive(X[0], k) == pytest.approx(expected, **close)
        assert scores[k] == pytest.approx(expected, **close)


def check_scores_of_members(component, labels, X, prior, log_predictive):
    """Each row is scored as if its slot had only the others, and no slot changes."""
    before = [component.statistics(k) for k in range(component.n_slots)]
    for i, row in enumerate(X):
        expected = log_predictive(row, others_of(i, X, labels), prior)
        assert component.log_predictive_member(row, labels[i]) == pytest.approx(expected, **CLOSE)
    assert [component.statistics(k) for k in range(component.n_slots)] == before
