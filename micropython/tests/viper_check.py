"""mapdpm_viper against mapdpm_int, on a MicroPython that has viper: `check(rows)` of every stream.

With the module's name replaced, it is the check of mapdpm_native.

Labels, surprise, counts, means and the whole state must be equal after every row, and a row must
not allocate. One line per case says what was compared.
"""

import mapdpm_int
import mapdpm_viper

import micropython


class Numbers:
    """A linear congruential generator: the same numbers on every machine."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = self.state * 75 % 65537
        return self.state % n


def extremes(numbers, i, d):
    return 2047 if numbers.below(2) else -2047


def constant(numbers, i, d):
    return 1234


def uniform(numbers, i, d):
    return numbers.below(4095) - 2047


def clusters(numbers, i, d):
    return (i % 7 * 1931 + d * 977) % 3600 - 1800 + numbers.below(300) - 150


def drift(numbers, i, d):
    return (i // 4 + 512 * d) % 4000 - 2000 + numbers.below(41) - 20


STREAMS = extremes, constant, uniform, clusters, drift
SIZES = (1, 1), (2, 16), (3, 8), (4, 5), (5, 2), (6, 12), (7, 3), (8, 16)
PRIORS = (
    {"m0": 0, "b0": 20000},
    {"m0": -2047, "b0": 1, "c0": (32, 1), "a0": (64, 1), "alpha": (1, 1024)},
    {"m0": 2047, "b0": 1, "c0": (1, 32), "a0": (1, 2), "alpha": (1023, 1)},
    {"m0": 100, "b0": 1 << 22, "c0": (1, 1), "a0": (3, 2), "alpha": (1, 3), "memory": 64},
    {"m0": -7, "b0": 300, "c0": (1, 32), "a0": (2, 1), "alpha": (2, 1), "memory": 100},
)


def learners(dim, slots, m0, b0, **named):
    sizes = dim, slots, [m0] * dim, [b0] * dim
    return mapdpm_int.MAPDPM(*sizes, **named), mapdpm_viper.MAPDPM(*sizes, **named)


def equal(what, wanted, got):
    if wanted != got:
        raise ValueError(f"{what}: mapdpm_int {wanted}, mapdpm_viper {got}")


def same_state(a, b):
    equal("k", a.k, b.k)
    equal("counts", a.counts, b.counts)
    equal("slots", a._slots, b._slots[: len(a._slots)])  # mapdpm_native has more words behind them
    equal("scan", (a._best, a._second, a._gap), (b._best, b._second, b._gap))


def results(learner, x, into):
    into[0] = learner.surprise(x)
    into[1] = learner.predict(x)
    into[2] = learner.learn(x)


def without_heap(learner, x, into):
    micropython.heap_lock()
    try:
        results(learner, x, into)
    finally:
        micropython.heap_unlock()


def rows_held(m):
    """Rows whose sums a learner has."""
    return sum(m._slots[k * m._width + 2] for k in range(len(m.counts)))


def compare(stream, dim, slots, prior, rows):
    a, b = learners(dim, slots, **prior)
    numbers = Numbers(dim * slots + rows)
    x = [0] * dim
    wanted = [0] * 3
    got = [0] * 3
    merged = forgotten = halved = 0
    for i in range(rows):
        for d in range(dim):
            x[d] = stream(numbers, i, d)
        k = a.k
        n = sum(a.counts)
        held = rows_held(a)
        results(a, x, wanted)
        without_heap(b, x, got)
        equal(("row, with its surprise, predicted and learned label", i), wanted, got)
        same_state(a, b)
        merged += a.k < k or (k == slots and a.counts[wanted[2]] == 1)
        forgotten += sum(a.counts) <= n
        halved += rows_held(a) <= held and sum(a.counts) > n
    for k in range(slots):
        equal("mean", a.mean(k), b.mean(k))
    print(stream.__name__, dim, slots, rows, "rows", merged, forgotten, halved, "clusters", a.k)
    return merged, forgotten, halved


def taken_away():
    """A row less, down to none."""
    a, b = learners(3, 4, 5, 900)
    numbers = Numbers(3)
    rows = [[numbers.below(600) for _ in range(3)] for _ in range(40)]
    for learner in a, b:
        for x in rows:
            learner.update(x, 2, 1)
        for i, x in enumerate(rows):
            learner.update(x, 2, -1)
            if i % 10 == 9:
                learner.surprise(x)
    same_state(a, b)
    equal("rows left", [0, 0, 0, 0], b.counts)
    print("taken away", len(rows))


def refused():
    a, b = learners(2, 4, 0, 900)
    for learner in a, b:
        learner.learn((7, -7))
    bad = [], [1], [1, 2, 3], [-2049, 0], [0, 2048], [5000, 5000], (0, -(1 << 31)), (1 << 20, 0)
    for x in bad:
        messages = []
        for learner in a, b:
            for call in learner.learn, learner.predict, learner.surprise:
                try:
                    call(x)
                    messages.append("nothing")
                except ValueError as error:
                    messages.append(str(error))
        equal(x, messages[:3], messages[3:])
        equal(x, messages[0], "x: dim ints of -2048..2047")
        same_state(a, b)
    for x in (2047, -2048), [-2047, 2047]:
        equal(x, a.learn(x), b.learn(x))
    print("refused", len(bad))


def check(rows):
    """Compare all; raise ValueError where they differ.

    Or where no clusters were merged, no weights were halved, or no cluster's sums alone.
    """
    seen = [0] * 3
    for stream in STREAMS:
        for dim, slots in SIZES:
            for prior in PRIORS:
                if dim > 5 * prior.get("c0", (1, 10))[1]:
                    continue  # more columns than such a c0 has room for
                for i, times in enumerate(compare(stream, dim, slots, prior, rows)):
                    seen[i] += times
    if not all(seen):
        raise ValueError(("merged, forgotten, halved", seen))
    # So long that the weight reaches its cap, c = 16000.
    compare(constant, 1, 1, {"m0": 1200, "b0": 300, "c0": (1, 32)}, 1100)
    taken_away()
    refused()


if __name__ == "__main__":
    check(100)
