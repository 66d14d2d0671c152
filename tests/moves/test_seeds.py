"""Starts from two random rows: which rows are seeds, and which labels the others get."""

import numpy as np
import pytest
from cases import build, problems
from hypothesis import assume, given
from hypothesis import strategies as st

UNIFORM = st.floats(0.0, 1.0, exclude_max=True)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_two_uniforms_choose_each_pair_of_numbers_equally_often(twin, n):
    grid = (np.arange(n * (n - 1)) + 0.5) / (n * (n - 1))
    pairs = [twin.seeds.two_of(n, u, v) for u in grid for v in grid]
    assert {first != second for first, second in pairs} == {True}
    assert set(np.unique(pairs, axis=0, return_counts=True)[1]) == {n * (n - 1)}


@pytest.mark.parametrize(("n", "u", "v"), [(1, 0.0, 0.0), (2, 1.0, 0.0), (2, 0.0, -0.1)])
def test_two_of_one_and_numbers_outside_the_unit_interval_are_refused(twin, n, u, v):
    with pytest.raises(ValueError, match=r"^(n must be at least 2|uniforms must be in \[0, 1\))"):
        twin.seeds.two_of(n, u, v)


@given(problem=problems(), u=UNIFORM, v=UNIFORM)
def test_rows_get_the_label_of_the_seed_that_predicts_them_better(twins, problem, u, v):
    X, prior, alpha = problem
    assume(len(X) > 1)
    members, labels = np.arange(len(X)), []
    for twin in twins:
        partition = build(twin, X, np.zeros(len(X)), prior, alpha)
        labels.append(list(twin.seeds.nearest_seed_labels(partition, members, u, v)))
    assert labels[0] == labels[1]
    first, _ = twins[0].seeds.two_of(len(X), u, v)
    assert (labels[0][first], set(labels[0])) == (0, {0, 1})
    plain = build(twins[0], X, np.zeros(len(X)), prior, alpha)
    scores = np.array([plain.scores_with(i, members.tolist()) for i in members])
    better = [
        all(
            (scores[second, i] > scores[first, i] + 1e-8) == label
            for i, label in enumerate(labels[0])
            if i not in (first, second)
        )
        for second in np.flatnonzero(labels[0])
    ]
    assert any(better)  # of whichever row is the second seed


def test_lone_seeds_are_the_only_rows_with_labels(twin):
    labels = list(twin.seeds.lone_seed_labels(5, 0.5, 0.99))
    assert labels == [-1, -1, 0, -1, 1]
