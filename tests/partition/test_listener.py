"""A partition tells its listeners of every change."""

import numpy as np
import pytest
from cases import build, empirical_prior
from twin_modules import load_twin

from dpmlite.partition.listener import PartitionListener
from dpmlite.partition.partition import Partition

X = np.random.default_rng(0).normal(size=(12, 2)) + 10.0 * (np.arange(12) % 3)[:, None]


class Recorder(PartitionListener):
    """A list of what it is told."""

    def __init__(self):
        self.events = []

    def row_moved(self, i, left, joined):
        self.events.append(("row moved", i, left, joined))

    def slots_merged(self, j, k):
        self.events.append(("merged", j, k))

    def slots_replaced(self, slots, targets, division):
        assert isinstance(division, Partition)
        self.events.append(("replaced", list(slots), list(targets)))

    def slots_renumbered(self, new_slot):
        self.events.append(("renumbered", dict(new_slot)))

    def slots_made(self, first, n_slots):
        self.events.append(("made", first, n_slots))

    def rebuilt(self):
        self.events.append(("rebuilt",))


@pytest.fixture
def plain():
    return load_twin("python")


def recorded(plain, labels):
    """A partition of the plain twin, with a listener that knows its slots."""
    partition, recorder = build(plain, X, labels, empirical_prior(X)), Recorder()
    partition.add_listener(recorder)
    assert partition.listeners == [recorder]
    assert recorder.events == [("made", 0, partition.component.n_slots)]
    recorder.events.clear()
    return partition, recorder.events


def test_every_change_is_told(plain):
    partition, events = recorded(plain, [0, 1, 2] * 3 + [0, 1, -1])
    partition.move(11, 2, 0.0)
    assert events == [("row moved", 11, -1, 2)]
    events.clear()
    partition.move(0, 3, 0.0)
    assert events == [("row moved", 0, 0, 3), ("made", 4, 5)]
    events.clear()
    partition.merge(2, 3, 0.0)
    assert events == [("row moved", 0, 3, 2), ("merged", 2, 3)]
    events.clear()
    partition.merge(1, 0, 0.0)
    assert events[-1] == ("merged", 1, 0)
    events.clear()
    partition.tidy()
    assert events == [("renumbered", {1: 0, 2: 1}), ("made", 2, 3)]
    events.clear()
    partition.rebuild()
    assert events == [("rebuilt",)]


def test_a_replacement_is_told_row_by_row_and_as_a_whole(plain):
    partition, events = recorded(plain, np.arange(12) % 2)
    members = np.array(partition.members(0), dtype=np.intp)
    partition.replace([0], members, partition.part(members, np.arange(6) % 3, [0]), 0.0)
    rows = [("row moved", i, 0, partition.labels[i]) for i in members]
    made = [("made", 3, 4), ("made", 4, 5)]
    assert events == [*made, *rows, ("replaced", [0], [0, 2, 3])]


@pytest.fixture
def memory_of(twin):
    return twin.split_memory.split_memory_of


def test_a_split_memory_is_found_again(twin, memory_of):
    partition = build(twin, X, np.zeros(12), empirical_prior(X))
    memory = memory_of(partition)
    assert memory_of(partition) is memory
    assert partition.listeners == [memory]
    assert memory.n_changed == [12, 12]
    assert memory.looked_normal == [False, False]


def test_a_split_memory_counts_rows_that_come_or_leave(twin, memory_of):
    partition = build(twin, X, [0, 1, 2] * 4, empirical_prior(X))
    memory = memory_of(partition)
    for k in range(3):
        memory.mark_tried(k, looked_normal=True)
    partition.move(0, 1, 0.0)
    partition.move(3, 1, 0.0)
    partition.move(2, 0, 0.0)
    assert memory.n_changed == [3, 2, 1, 12]
    assert memory.looked_normal == [True, True, True, False]
    memory.mark_untried(1)
    assert memory.n_changed == [3, 12, 1, 12]
    assert memory.looked_normal == [True, False, True, False]


def test_a_split_memory_follows_merges_and_new_numbers(twin, memory_of):
    partition = build(twin, X, [0, 1, 2] * 4, empirical_prior(X))
    memory = memory_of(partition)
    memory.mark_tried(2, looked_normal=True)
    partition.move(2, 0, 0.0)
    partition.merge(1, 0, 0.0)
    assert memory.n_changed == [12, 12, 1, 12]
    partition.tidy()
    assert memory.n_changed == [12, 1, 12]
    assert memory.looked_normal == [False, True, False]
    memory.mark_tried(0)
    partition.rebuild()  # the labels are the same, and so are the slots
    assert memory.n_changed == [0, 1, 12]


def test_a_split_memory_takes_over_what_is_known_of_a_division(twin, memory_of):
    partition = build(twin, X, np.zeros(12), empirical_prior(X))
    memory = memory_of(partition)
    memory.mark_tried(0)
    members = np.arange(12)
    division = partition.part(members, members % 3, [0])
    memory_of(division).mark_tried(1, looked_normal=True)
    partition.replace([0], members, division, 0.0)
    assert memory.n_changed == [12, 0, 12, 12]
    assert memory.looked_normal == [False, True, False, False]


def test_a_partition_has_no_listeners_unless_something_is_remembered(twin):
    partition = build(twin, X, [0, 1, 2] * 4, empirical_prior(X))
    partition.move(0, 1, 0.0)
    partition.tidy()
    assert partition.listeners == []
