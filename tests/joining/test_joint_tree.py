"""The tree of components by what a union loses of the joint."""

from itertools import combinations

import numpy as np
import pytest

from dpmlite import families
from dpmlite.joining import labels_of_level, tree_by_joint

PRIOR = ([0.0, 0.0], 0.1, 2.0, [1.0, 1.0])


def filled(X, labels, n_empty=0):
    component = families.NormalGamma(*PRIOR)
    component.resize(int(labels.max()) + 1 + n_empty)
    for row, k in zip(X.tolist(), labels.tolist(), strict=True):
        component.add(np.array(row), k)
    return component


def log_marginal(X, labels, members):
    return filled(X[np.isin(labels, members)], np.zeros(np.isin(labels, members).sum(), int))


@pytest.mark.parametrize("seed", range(5))
def test_each_join_is_the_one_that_loses_least(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(5), 6)
    X = rng.normal(size=(30, 2)) + 3.0 * rng.normal(size=(5, 2))[labels]
    tree = tree_by_joint(filled(X, labels, n_empty=1))
    groups = [(k,) for k in range(5)]
    height = 0.0
    for i in range(4):
        losses = {}
        for one, other in combinations(groups, 2):
            parts = [log_marginal(X, labels, g).log_marginal(0) for g in (one, other, one + other)]
            losses[one, other] = parts[0] + parts[1] - parts[2]
        one, other = min(losses, key=losses.get)
        height = max(height, losses[one, other])
        assert tree[i, 2] == pytest.approx(height, abs=1e-9)
        groups = [g for g in groups if g not in (one, other)] + [one + other]
        assert tree[i, 3] == len(one + other)
        found = labels_of_level(tree, i + 1)
        for group in groups:
            assert len({found[k] for k in group}) == 1
        assert len(set(found)) == len(groups)


def test_one_component_has_no_joins():
    assert tree_by_joint(filled(np.zeros((3, 2)), np.zeros(3, int))).shape == (0, 4)
