"""mapdpm_native with what is built on a learner, and what it refuses: `check(n)` on a board.

All of it must be as with mapdpm_int. `viper_check` compares what they learn.
"""

from array import array

import mapdpm_int
import mapdpm_native
from mapdpm_alarm import Alarm
from mapdpm_batch import dump, fit, load
from mapdpm_split import Ring
from viper_check import Numbers, clusters, equal, same_state, uniform

LEARNERS = mapdpm_int.MAPDPM, mapdpm_native.MAPDPM
SIZES = 3, 8, (0, 10, -20), (12000, 12000, 900)


def rows(stream, n):
    numbers = Numbers(5)
    return [[stream(numbers, i, d) for d in range(3)] for i in range(n)]


def batches(n):
    """`fit`, and dumps that are loaded by the other."""
    table = array("h", [value for x in rows(clusters, n) for value in x])
    labels = [array("b", [-1] * n) for _ in LEARNERS]
    a, b = [kind(*SIZES) for kind in LEARNERS]
    sweeps = [fit(m, table, z, 20) for m, z in zip((a, b), labels)]  # noqa: B905  (MicroPython)
    equal("sweeps", *sweeps)
    equal("labels", *labels)
    same_state(a, b)
    equal("dump", dump(a), dump(b))
    a, b = load(dump(b)), load(dump(a), mapdpm_native.MAPDPM)
    equal("loaded", dump(a), dump(b))
    for x in rows(uniform, n):
        equal("learned on", a.learn(x), b.learn(x))
    same_state(a, b)


def alarms(n):
    a, b = [Alarm(kind(*SIZES), 64, n // 2, 20) for kind in LEARNERS]
    raised = 0
    for i, x in enumerate(rows(clusters, n)):
        if i > n * 2 // 3:
            x[i % 3] = 2000
        equal("step", a.step(x), b.step(x))
        equal("alarm", (a.on, a.limit, a.surprise), (b.on, b.limit, b.surprise))
        raised += a.on
    if not raised:
        raise ValueError("no alarm")


def splits(n):
    """A cluster of rows from anywhere, which rows of two places then join until it is divided."""
    a, b = [Ring(kind(*SIZES), 16) for kind in LEARNERS]
    table = rows(uniform, 16) + [x for i, x in enumerate(rows(clusters, n)) if i % 7 < 2]
    divided = 0
    for ring in a, b:
        ring.learner.k = 1
        for x in table[:16]:
            ring.learner.update(x, 0, 1)
    for x in table[16:]:
        equal("learned", a.learner.learn(x), b.learner.learn(x))
        equal("full", a.add(x), b.add(x))
        equal("divided", a.split(), b.split())
        same_state(a.learner, b.learner)
        divided = max(divided, a.learner.k)
    equal("clusters", True, divided > 1)


def error(call, *args, **named):
    try:
        call(*args, **named)
    except Exception as raised:
        return type(raised)


def refused():
    for wrong in (
        (0, 3, [], []),
        (1, 0, [0], [1]),
        (1, 128, [0], [1]),
        (161, 1, [0] * 161, [1] * 161, (1, 32)),
        (1, 3, [2048], [1]),
        (1, 3, [1 << 40], [1]),
        (1, 3, [0], [0]),
        (1, 3, [0], [1, 1]),
        (6, 3, [0] * 6, [1] * 6, (1, 1)),
        (1, 3, [0], [1], (33, 1)),
        (1, 3, [0], [1], (1, 2, 3)),
        (1, 3, [0], [1], (1, 10), (65, 1)),
        (1, 3, [0], [1], (1, 10), (1, 1), (1024, 1)),
        (1, 3, [0], [1], (1, 10), (1, 1), (1 << 60, 1)),
        (1, 3, [0], [1], (1, 10), (1, 1), (1, 1), 63),
    ):
        for kind in LEARNERS:
            equal(wrong, ValueError, error(kind, *wrong))
    for named in {"a0": (1, 0)}, {"alpha": (1, 0)}, {"beta": 1}:
        equal(named, *[error(kind, *SIZES, **named) for kind in LEARNERS])
    m = mapdpm_native.MAPDPM(*SIZES)
    for call in m.mean, lambda k: m.update([0, 0, 0], k, 1):
        for k in 10, -2, 1 << 40:
            equal(k, ValueError, error(call, k))
    m.counts.pop()
    equal("counts", ValueError, error(m.learn, [0, 0, 0]))


def check(n):
    """Compare all, with `n` rows for an alarm."""
    batches(n // 5)
    alarms(n)
    splits(n)
    refused()
    print("native ok")
