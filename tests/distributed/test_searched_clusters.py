"""Which clusters count as searched already: by their statistics, whatever their order."""

import numpy as np

from dpmlite.distributed.searched_clusters import MAX_CHANGED_FRACTION, SearchedClusters

FIRST = np.array([[100.0, 50.0, -3.0], [40.0, -80.0, 2.0]])


def test_only_what_has_changed_is_searched_again():
    memory = SearchedClusters()
    assert memory.are_new(FIRST).tolist() == [True, True]
    assert memory.are_new(FIRST).tolist() == [False, False]
    other = FIRST.copy()
    other[1, 0] *= 1.0 + 2.0 * MAX_CHANGED_FRACTION
    assert memory.are_new(other).tolist() == [False, True]
    assert memory.are_new(other).tolist() == [False, False]


def test_clusters_may_change_places_and_come_and_go():
    memory = SearchedClusters()
    memory.are_new(FIRST)
    assert memory.are_new(FIRST[::-1]).tolist() == [False, False]
    assert memory.are_new(np.vstack([[[7.0, 7.0, 7.0]], FIRST[1:]])).tolist() == [True, False]
    assert memory.are_new(FIRST).tolist() == [True, False]


def test_slow_changes_add_up():
    memory = SearchedClusters()
    memory.are_new(FIRST)
    step = 1.0 + 0.6 * MAX_CHANGED_FRACTION
    assert memory.are_new(FIRST * step).tolist() == [False, False]
    assert memory.are_new(FIRST * step**2).tolist() == [True, True]
