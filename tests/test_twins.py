"""Both implementations do the same: labels, traces and errors, on ties and duplicates above all."""

import numpy as np
import pytest
from cases import POWERS, STARTS, problems, start
from hypothesis import example, given, settings
from hypothesis import strategies as st


def descend(twin, X, prior, alpha, kind, seed):
    """A whole search, with everything that can be seen of it."""
    labels = start(kind, len(X))
    rng = np.random.default_rng(seed)
    partition = twin.partition.Partition(X, labels, twin.normal_gamma.NormalGamma(**prior), alpha)
    counts, trace = [], [partition.neg_log_joint]
    for _ in range(5):
        counts.append(twin.map_dpm.sweep(partition))
        counts.append(twin.merges.merge(partition))
        for move, shape in (("split", (2, 2)), ("exchange", (2, 2, 2))):
            uniforms = rng.random((partition.component.n_slots, *shape))
            counts.append(getattr(getattr(twin, f"{move}s"), move)(partition, uniforms))
        trace.append(partition.neg_log_joint)
        trace.append(twin.prediction.neg_log_loo(partition))
    n_changed = split_memory_of(twin, partition).n_changed
    return labels.tolist(), counts, n_changed, partition.component.counts, trace


@settings(max_examples=60, deadline=None)
@given(
    problem=problems(max_rows=20, powers=POWERS),
    kind=st.sampled_from(STARTS),
    seed=st.integers(0, 9),
)
def test_whole_searches_agree(twins, problem, kind, seed):
    plain, kernel = (descend(twin, *problem, kind, seed) for twin in twins)
    assert plain[:-1] == kernel[:-1]
    np.testing.assert_allclose(plain[-1], kernel[-1], rtol=1e-9, atol=1e-7)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n_columns=st.integers(1, 20))
@example(seed=330, n_columns=17)  # an exchange makes a cluster, next to another one
def test_twins_agree_on_continuous_data(twins, seed, n_columns):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, n_columns)) * rng.gamma(1.0, size=(30, 1))
    prior = {"m0": X.mean(axis=0), "c0": 0.3, "a0": 1.0, "b0": X.var(axis=0)}
    plain, kernel = (descend(twin, X, prior, 1.0, "sequential", seed) for twin in twins)
    assert plain[:-1] == kernel[:-1]
    np.testing.assert_allclose(plain[-1], kernel[-1], rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("component", ["dirichlet-multinomial", "normal-inverse-wishart"])
@pytest.mark.parametrize("seed", [0, 1, 16, 19])
def test_default_searches_agree_where_many_labels_are_as_good(estimators, component, seed):
    """Rows of few values: rounding must not choose among equals."""
    X = np.random.default_rng(seed).integers(2, size=(8, 3)).astype(float)
    plain, kernel = (
        estimator(component=component, alpha=10.0, n_init=2, random_state=seed).fit(X)
        for estimator in estimators
    )
    np.testing.assert_array_equal(plain.labels_, kernel.labels_)
    assert plain.n_sweeps_ == kernel.n_sweeps_
    np.testing.assert_allclose(
        plain.neg_log_joint_trace_, kernel.neg_log_joint_trace_, rtol=1e-9, atol=1e-7
    )


def split_memory_of(twin, partition):
    return twin.split_memory.split_memory_of(partition)


CALLS = {
    "row too long": lambda t, c, p: c.add(np.zeros(3), 0),
    "slot too high": lambda t, c, p: c.log_marginal(9),
    "slot below 0": lambda t, c, p: c.statistics(-1),
    "merge of a slot that is not there": lambda t, c, p: c.merge(0, 7),
    "posterior of a slot that is not there": lambda t, c, p: c.posterior(7),
    "statistics too short": lambda t, c, p: c.load(0, [0.0]),
    "copy from a slot that is not there": lambda t, c, p: c.copy(0, c, 5),
    "no row": lambda t, c, p: p.costs(99),
    "no such slot to move to": lambda t, c, p: p.move(0, 99, 0.0),
    "no such slot to mark as tried": lambda t, c, p: split_memory_of(t, p).mark_tried(99),
    "no such slot to mark as untried": lambda t, c, p: split_memory_of(t, p).mark_untried(99),
    "uniforms for too few slots": lambda t, c, p: t.splits.split(p, np.zeros((1, 2, 2))),
    "uniforms for too many slots": lambda t, c, p: t.exchanges.exchange(p, np.zeros((9, 1, 2, 2))),
    "rows narrower than the family": lambda t, c, p: t.partition.Partition(
        np.zeros((2, 1)), np.zeros(2, dtype=np.intp), c, 1.0
    ),
    "a label below -1": lambda t, c, p: t.partition.Partition(
        np.zeros((2, 2)), np.array([0, -2], dtype=np.intp), c, 1.0
    ),
    "a row that is not there": lambda t, c, p: t.partition.Partition(
        np.zeros((2, 2)), np.zeros(1, dtype=np.intp), c, 1.0, np.array([2], dtype=np.intp)
    ),
    "a label too high": lambda t, c, p: t.partition.Partition(
        np.zeros((2, 2)), np.array([0, 2**63 - 1], dtype=np.intp), c, 1.0
    ),
    "alpha of a partition": lambda t, c, p: t.partition.Partition(
        np.zeros((2, 2)), np.zeros(2, dtype=np.intp), c, -1.0
    ),
    "b0 of a prior": lambda t, c, p: t.normal_gamma.NormalGamma([0.0], 1.0, 1.0, [-1.0]),
    "c0 of a prior": lambda t, c, p: t.normal_gamma.NormalGamma([0.0], 0.0, 1.0, [1.0]),
    "less than no slot": lambda t, c, p: c.resize(-1),
    "copy from another width": lambda t, c, p: c.copy(
        0, t.normal_gamma.NormalGamma([0.0], 1.0, 1.0, [1.0]), 0
    ),
    "a merge with itself": lambda t, c, p: t.merging.merge_change(p, 0, 0),
    "a merge with nothing": lambda t, c, p: t.merging.merge_change(p, 0, 1),
    "a uniform of 1": lambda t, c, p: t.splits.split(p, np.ones((2, 1, 2))),
    "densities for too few rows": lambda t, c, p: t.prediction.log_density(
        np.zeros((2, 2)), c, 1.0, np.empty(1)
    ),
    "labels for too many rows": lambda t, c, p: t.assignment.assign(
        np.zeros((1, 2)), c, 1.0, np.empty(2, dtype=np.intp)
    ),
    "probabilities of too few clusters": lambda t, c, p: t.prediction.responsibilities(
        np.zeros((1, 2)), c, 1.0, np.empty((1, 1))
    ),
    "a replacement of other rows": lambda t, c, p: p.replace(
        [0], np.zeros(1, dtype=np.intp), p, 0.0
    ),
    "the likelihood of rows without labels": lambda t, c, p: t.prediction.neg_log_loo(
        t.partition.Partition(np.zeros((2, 2)), np.array([0, -1], dtype=np.intp), c, 1.0)
    ),
    "costs of rows without labels": lambda t, c, p: t.prediction.own_costs(
        t.partition.Partition(np.zeros((2, 2)), np.array([0, -1], dtype=np.intp), c, 1.0),
        np.empty(2),
        np.empty(2),
    ),
    "costs of too few rows": lambda t, c, p: t.prediction.own_costs(
        p, np.empty(1), np.empty(p.n_rows)
    ),
    "weights of too few rows": lambda t, c, p: t.prediction.own_costs(
        p, np.empty(p.n_rows), np.empty(1)
    ),
    "rising": lambda t, c, p: t.special.log_rising(1.0, -1.0),
    "alpha": lambda t, c, p: t.crp.log_prob([0], -1.0),
    "digamma": lambda t, c, p: t.special.digamma(-2.0),
    "rows of the wrong width": lambda t, c, p: t.prediction.log_density(
        np.zeros((1, 3)), c, 1.0, np.empty(1)
    ),
    "an abstract family": lambda t, c, p: t.component.Component(2).statistics(0),
}


@pytest.mark.parametrize("call", CALLS)
def test_twins_raise_the_same_errors(twins, call):
    errors = []
    for twin in twins:
        component = twin.normal_gamma.NormalGamma([0.0, 0.0], 1.0, 1.0, [1.0, 1.0])
        component.resize(2)
        labels = np.zeros(2, dtype=np.intp)
        partition = twin.partition.Partition(np.zeros((2, 2)), labels, component.like(), 1.0)
        with pytest.raises(Exception) as caught:  # noqa: PT011
            CALLS[call](twin, component, partition)
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


def test_twins_agree_where_proposals_settle_on_some_rows_first(twins):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1.0, size=(700, 1)) for c in (-6.0, 0.0, 6.0)])
    prior = {"m0": np.zeros(1), "c0": 0.01, "a0": 1.0, "b0": np.full(1, 4.0)}
    results = []
    for twin in twins:
        labels = np.zeros(len(X), dtype=np.intp)
        family = twin.normal_gamma.NormalGamma(**prior)
        partition = twin.partition.Partition(X, labels, family, 1.0)
        uniforms = np.random.default_rng(1).random((2, 1, 2))
        splits = twin.splits.split(partition, uniforms)
        n_changed = split_memory_of(twin, partition).n_changed
        results.append((splits, labels.tolist(), n_changed))
        assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), rel=1e-9)
    assert results[0] == results[1]
    assert results[0][0] == 1
