"""The queue of a search, against a sorted list."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(-4, 4), st.integers(0, 2)),
        st.tuples(st.sampled_from(["best", "worst"]), st.just(0), st.just(0)),
    ),
    max_size=80,
)


@settings(max_examples=150, deadline=None)
@given(steps=STEPS)
def test_items_come_as_from_a_sorted_list(twin, steps):
    queue, expected = twin.max_queue.MaxQueue(), []
    for number, (step, score, depth) in enumerate(steps):
        if step == "push":
            key = (score / 3.0, depth, -number)
            if expected:
                beats = key[:2] > min(expected)[:2]
                assert queue.beats_worst(score / 3.0, depth) == beats
            queue.push(score / 3.0, depth, number)
            expected.append(key)
        elif expected:
            chosen = max(expected) if step == "best" else min(expected)
            expected.remove(chosen)
            taken = queue.pop_best() if step == "best" else queue.pop_worst()
            assert taken == -chosen[2]
        assert len(queue) == len(expected)


def test_thousands_of_items_from_both_ends(twin):
    scores = np.random.default_rng(0).normal(size=3000)
    queue = twin.max_queue.MaxQueue()
    for number, score in enumerate(scores):
        queue.push(score, 0, number)
    order = np.argsort(scores).tolist()
    while order:
        assert queue.pop_worst() == order.pop(0)
        assert queue.pop_best() == order.pop()


def test_rounding_decides_nothing(twin):
    queue = twin.max_queue.MaxQueue()
    queue.push(1.0, 3, 0)
    queue.push(1.0 + 1e-12, 3, 1)
    queue.push(1.0 - 1e-12, 4, 2)
    assert [queue.pop_best() for _ in range(3)] == [2, 0, 1]


@pytest.mark.parametrize("call", ["pop_best", "pop_worst"])
def test_an_empty_queue_says_so(twin, call):
    with pytest.raises(IndexError, match="the queue is empty"):
        getattr(twin.max_queue.MaxQueue(), call)()
    with pytest.raises(IndexError, match="the queue is empty"):
        twin.max_queue.MaxQueue().beats_worst(0.0, 0)
