"""Sweeps and merges end, whatever a sweep or a merge claims to have changed."""

from dataclasses import replace

import numpy as np
import pytest
from cases import needs_kernels
from contexts import context_of

from dpmlite import moves, sweeps
from dpmlite.search.descent import descend
from dpmlite.search.result import SearchResult
from dpmlite.search.sweeps import JointFalls, sweep_and_merge

# A search that goes on after this many sweeps or moves does not end.
MANY = 1000

pytestmark = needs_kernels


@pytest.fixture
def counted():
    """`counted(name, answer)` is a function that gives this answer, and fails the `MANY`th time."""
    calls = {}

    def count(name, answer):
        def call(*_):
            calls[name] = calls.get(name, 0) + 1
            assert calls[name] < MANY
            return answer

        return call

    return count


@pytest.fixture
def context():
    rng = np.random.default_rng(0)
    return context_of(np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 4.0]))


def random_partition(context):
    rows = len(context.problem.rows)
    return context.partition(np.random.default_rng(1).integers(6, size=rows).astype(np.intp))


def test_rows_that_move_to_and_fro_end_the_sweeps(context, counted, monkeypatch):
    """A sweep that moves rows, and changes the joint by rounding, is the last before a merge."""
    monkeypatch.setattr(sweeps, "sweep", counted("sweep", 2))
    monkeypatch.setattr(moves, "merge", counted("merge", 0))
    assert sweep_and_merge(context, random_partition(context)).n_sweeps == 1


def test_merges_that_sweeps_take_back_end(context, counted, monkeypatch):
    monkeypatch.setattr(moves, "merge", counted("merge", 1))
    sweep_and_merge(context, random_partition(context))


def test_a_move_that_always_claims_to_help_ends_the_descent(context, counted):
    moving = replace(context, moves=(counted("move", True),))
    assert descend(moving, SearchResult(random_partition(context))).converged


def test_a_joint_falls_only_if_it_is_less_than_all_before(context):
    falls, partition = JointFalls(), random_partition(context)
    assert falls(partition)
    assert not falls(partition)
    before = partition.neg_log_joint
    assert sweeps.sweep(partition) > 0
    assert partition.neg_log_joint < before
    assert falls(partition)


def test_sweeps_end_when_few_rows_move(context):
    """By default no row moves at the end."""
    early = sweep_and_merge(context, random_partition(context), max_moved=1.0)
    late = sweep_and_merge(context, random_partition(context))
    assert early.n_sweeps < late.n_sweeps
    assert sweeps.sweep(late.partition) == 0
