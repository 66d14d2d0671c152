"""What the README promises of a micro:bit V1; `budget.py` prints the figures."""

import pytest
from budget import budget
from needs import needs_runtime


@pytest.fixture(scope="module")
def figures():
    needs_runtime("microbit")
    return budget()


def test_heap(figures):
    assert figures["heap left"] >= 4608
    assert figures["heap left with mapdpm_batch too"] >= 3072
    assert figures["heap left with features_int, 4 columns"] >= 2560
    learner = figures["heap of a learner, 8 clusters, 3 columns"]
    assert learner <= 800
    assert figures["heap of mapdpm_int"] + learner <= 3900


def test_time(figures):
    """With all slots taken, when it is longest."""
    assert figures["clusters while times are taken"] == 8
    assert figures["microseconds of learn, worst"] <= 25010


def test_a_sample_takes_little_of_the_fifty_milliseconds_between_two(figures):
    assert figures["microseconds of a sample of features_int"] <= 10000


def test_nothing_is_allocated(figures):
    assert figures["bytes that 200 calls of learn allocate"] == 0
