"""A search: which moves its descents make."""

import numpy as np
import pytest

from dpmlite import families
from dpmlite.core import Rows
from dpmlite.search.context import Problem
from dpmlite.search.progress import Progress
from dpmlite.search.search import Search

MOVES = {
    "brief": {"merge", "split"},
    "quick": {"merge", "split", "exchange", "reseed"},
}


@pytest.mark.parametrize("kind", MOVES)
def test_a_descent_makes_the_moves_of_its_search(kind):
    X = np.exp(np.random.default_rng(0).normal(size=(300, 2)))  # unlike normals
    prior = families.NormalGamma(np.zeros(2), 0.1, 1.0, np.ones(2))
    steps = set()

    def record(step, objective, n_clusters):
        steps.add(step.removeprefix("test "))

    search = Search(progress=Progress(callback=record), **{kind: True})
    search.go_on(Problem(Rows(X), prior, 1.0), np.zeros(300, dtype=np.intp), 0, "test")
    assert steps == {"start", "sweep"} | MOVES[kind]
