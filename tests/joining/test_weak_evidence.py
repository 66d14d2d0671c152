"""Evidence between components against exact joints, and which components join by it."""

import numpy as np
import pytest

from dpmlite import MAPDPM, neg_log_joint
from dpmlite.estimators.fitted.partitions import fitted_mixture
from dpmlite.joining import weak_evidence, weak_joins

PRIOR = {"m0": 0.0, "c0": 0.1, "a0": 2.0, "b0": 2.0}


def rows_of(gap, n_small=1):
    """A normal cluster of 100 rows, a few rows that are a gap away from it, and their labels."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 3)), gap + 0.1 * rng.normal(size=(n_small, 3))])
    return X, np.repeat([0, 1], [100, n_small])


def mixture_of(X, labels, alpha=1.0):
    """The components of given labels."""
    model = MAPDPM(prior=PRIOR, component="normal-gamma", init=labels, alpha=alpha)
    model.set_params(split_merge=False, callback=lambda *_: True)
    model.fit(X)
    assert sorted(model.counts_) == sorted(np.bincount(labels))
    return fitted_mixture(model)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 20.0])
def test_evidence_is_the_difference_of_exact_joints(alpha):
    X, labels = rows_of(4.0, 3)
    components = mixture_of(X, labels, alpha)
    marginals = {k: components.log_marginal(k) for k in (0, 1)}
    apart, together = (
        neg_log_joint(X, each, component="normal-gamma", alpha=alpha, prior=PRIOR)
        for each in (labels, np.zeros_like(labels))
    )
    ((evidence, k),) = weak_evidence._evidence(components, marginals, 1)
    assert k == 0
    assert evidence + np.log(alpha) == pytest.approx(together - apart, rel=1e-9)


@pytest.mark.parametrize(
    ("gap", "n_small", "joins"), [(2.0, 1, [(1, 0)]), (9.0, 1, []), (9.0, 9, [])]
)
def test_rows_of_a_tail_join_and_outliers_do_not(gap, n_small, joins):
    assert weak_joins(mixture_of(*rows_of(gap, n_small)), 0.0) == joins


def test_only_small_components_join():
    X, _ = rows_of(0.0)
    labels = np.arange(len(X)) % 2
    assert weak_joins(mixture_of(X, labels), 0.0) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_column_that_tells_nothing_adds_no_cluster_of_a_tail(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=200)
    X = np.column_stack([rng.normal(6 * labels), rng.normal(-6 * labels), rng.normal(size=200)])
    model = MAPDPM(random_state=0).fit(X)
    assert model.n_clusters_ == 2
    assert (model.labels_ == model.labels_[0]).tolist() == (labels == labels[0]).tolist()
