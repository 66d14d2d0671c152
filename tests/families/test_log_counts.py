"""Rows of counts that are not scored where a bound tells enough: moves are those of the plain twin.

Bounds are the kernels' own, so they show in what sweeps and Gibbs sweeps do with many rows.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def topics(rng, n_rows, n_words, n_topics, length):
    """Rows of counts from topics that overlap, and the topic of each."""
    shares = rng.dirichlet(np.full(n_words, 0.3), size=n_topics)
    labels = rng.integers(n_topics, size=n_rows)
    lengths = rng.poisson(length, size=n_rows)
    return np.array(
        [rng.multinomial(n, shares[k]) for n, k in zip(lengths, labels, strict=True)], dtype=float
    ), labels


def partition(twin, X, labels, beta0, alpha=1.0, weights=None):
    rows = twin.rows.Rows(X) if weights is None else twin.rows.Rows(X, weights)
    component = twin.dirichlet_multinomial.DirichletMultinomial(beta0)
    return twin.partition.Partition(rows, np.array(labels, dtype=np.intp), component, alpha)


@st.composite
def tables(draw):
    """Counts, a prior, labels of which some are wrong or missing, and perhaps weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows, n_words = draw(st.integers(2, 30)), draw(st.integers(1, 40))
    X, labels = topics(rng, n_rows, n_words, 5, draw(st.sampled_from([2.0, 40.0, 400.0])))
    if draw(st.booleans()):  # beyond what has a bound, or beyond what is small
        X[rng.integers(n_rows), rng.integers(n_words)] = draw(st.sampled_from([33.0, 5e3]))
    beta = st.sampled_from([1e-11, 1e-3, 0.1, 1.0, 10.0, 1e6])
    beta0 = np.full(n_words, draw(beta))
    if draw(st.booleans()):
        beta0[:: draw(st.integers(1, 4))] = draw(beta)
    labels = np.where(rng.random(n_rows) < 0.3, rng.integers(-1, 7, size=n_rows), labels)
    weights = draw(st.sampled_from([None, 1.0, 2.0, 0.3]))
    weights = None if weights is None else rng.choice([1.0, weights], size=n_rows)
    return X, labels, list(beta0), weights


@settings(max_examples=150, deadline=None)
@given(table=tables())
def test_sweeps_are_those_of_the_plain_twin(twins, table):
    X, labels, beta0, weights = table
    plain, kernel = (partition(twin, X, labels, beta0, weights=weights) for twin in twins)
    rounding = 1e-8 + 1e-13 * X.sum()
    for _ in range(3):
        moves = [twin.map_dpm.sweep(p) for twin, p in zip(twins, (plain, kernel), strict=True)]
        assert moves[0] == moves[1]
        assert list(plain.labels) == list(kernel.labels)
        assert kernel.neg_log_joint == pytest.approx(plain.neg_log_joint, rel=1e-10, abs=rounding)


@settings(max_examples=30, deadline=None)
@given(table=tables(), seed=st.integers(0, 2**32))
def test_what_is_known_of_slots_follows_all_that_changes_them(twins, table, seed):
    """Between sweeps: merges, splits, rows that move, and slots that come and go."""
    X, labels, beta0, weights = table
    rng = np.random.default_rng(seed)
    both = [partition(twin, X, labels, beta0, weights=weights) for twin in twins]
    for _ in range(2):
        uniforms = rng.random((both[0].component.n_slots + len(X) + 1, 1, 2))
        for twin, p in zip(twins, both, strict=True):
            twin.map_dpm.sweep(p)
            twin.merges.merge(p)
            twin.map_dpm.sweep(p)
            twin.splits.split(p, uniforms[: p.component.n_slots].copy())
            if p.n_clusters < len(X):
                p.move(0, p.component.n_slots - 1, 0.0)
            twin.map_dpm.sweep(p)
        assert list(both[0].labels) == list(both[1].labels)


def test_gibbs_sweeps_are_those_of_the_plain_twin(twins):
    X, labels = topics(np.random.default_rng(0), 60, 80, 6, 60.0)
    both = [partition(twin, X, labels, [0.5] * 80) for twin in twins]
    uniforms = np.random.default_rng(1).random(60)
    for twin, p in zip(twins, both, strict=True):
        twin.gibbs.gibbs_sweep(p, uniforms)
    assert list(both[0].labels) == list(both[1].labels)


@pytest.mark.parametrize("beta", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("n_slots", [1, 15, 16, 17, 33, 49, 70, 130])
def test_every_number_of_slots(twins, beta, n_slots):
    """All widths of vectors: rows start in wrong slots, and find the right ones."""
    rng = np.random.default_rng(n_slots)
    X = np.vstack([40.0 * np.eye(n_slots + 1), rng.poisson(0.2, size=(40, n_slots + 1))])
    labels = np.concatenate([np.arange(n_slots), [0], rng.integers(n_slots, size=40)])
    both = [partition(twin, X, labels, [beta] * (n_slots + 1)) for twin in twins]
    for twin, p in zip(twins, both, strict=True):
        twin.map_dpm.sweep(p)
    assert list(both[0].labels) == list(both[1].labels)
