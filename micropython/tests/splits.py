"""What a ring is worth (`mapdpm_split`): clusters that were taken for one, and those that are one.

    python3 micropython/tests/splits.py [SEEDS [ROWS]]

prints, worst of all seeds: after how many rows two places are divided whose cluster also has 300
rows from anywhere; how far apart two places are when they are divided that were one, and move away
from each other; how many clusters are divided of one place's ROWS rows. Then, for the streams of
streams.py, normalised mutual information of places and labels without a ring and with one.
Distances are in standard deviations.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from mapdpm_split import Ring
from streams import SD, STREAMS, learner, nmi, nmi_over_time, stream


def as_ints(rows):
    return np.clip(np.rint(rows), -2048, 2047).astype(int).tolist()


def two_places(rng, n, dim, apart, share=0.5):
    """Rows of two places and their places; `apart` is one distance, or one for every row."""
    z = (rng.random(n) < share).astype(int)
    step = np.broadcast_to(apart, n) * SD / dim**0.5
    rows = rng.normal(0, SD, (n, dim)) + ((2 * z - 1) * step / 2)[:, None]
    return as_ints(rows), z


def broad(rng, dim):
    """A learner whose one cluster has 300 rows from anywhere."""
    m = learner(dim)
    m.k = 1
    for x in as_ints(rng.normal(0, 6 * SD, (300, dim))):
        m.update(x, 0, 1)
    return m


def learned(m, rows, size=64):
    """Labels by a learner with a ring of that size, and after how many rows it divided any."""
    ring = Ring(m, size)
    labels, divided = [], []
    for i, x in enumerate(rows):
        labels.append(m.learn(x))
        if ring.add(x) and ring.split():
            divided.append(i + 1)
    return np.array(labels), divided


def taken_for_one(dim, apart, share, seed, size=64, n=2000):
    """Rows until they are divided, n if they are not; NMI of the last 1000 with a ring, without."""
    rows, z = two_places(np.random.default_rng(seed), n, dim, apart, share)
    m, alone = [broad(np.random.default_rng(seed), dim) for _ in range(2)]
    labels, divided = learned(m, rows, size)
    without = [alone.learn(x) for x in rows]
    last = slice(n - 1000, n)
    return [*divided, n][0], nmi(z[last], labels[last]), nmi(z[last], without[last])


def moving_apart(dim, seed, size=64, n=10000):
    """Distance when they are divided, how often any cluster was, NMI in the last tenth."""
    apart = np.linspace(0, 12, n)
    rows, z = two_places(np.random.default_rng(seed), n, dim, apart)
    labels, divided = learned(learner(dim), rows, size)
    return apart[[*divided, n][0] - 1], len(divided), nmi_over_time(z, labels)[-1]


def one_place(dim, seed, n=100000):
    """How often a cluster was divided, and clusters of more than 30 rows at the end."""
    m = learner(dim)
    rows = as_ints(np.random.default_rng(seed).normal(0, SD, (n, dim)))
    _, divided = learned(m, rows)
    return len(divided), sum(weight > 30 for weight in m.counts)


def print_taken_for_one(seeds):
    print("columns  ring  share  apart  rows until divided: median, worst  NMI: least  without")
    for dim, size, share in ((1, 64, 0.5), (3, 64, 0.5), (3, 64, 0.1), (3, 128, 0.1)):
        for apart in (5, 6, 8, 12):
            found = np.array([taken_for_one(dim, apart, share, s, size) for s in range(seeds)])
            rows, told, without = found.T
            print(f"{dim:>7} {size:>5} {share:>6} {apart:>6} {np.median(rows):>27.0f}", end="")
            print(f" {rows.max():>6.0f} {told.min():>11.2f} {abs(without).max():>8.2f}", flush=True)


def print_moving_apart(seeds):
    print("\ncolumns  ring  distance when divided: median, worst  divided  NMI at the end: least")
    for dim, size in ((1, 64), (3, 64), (3, 128)):
        found = np.array([moving_apart(dim, s, size) for s in range(seeds)])
        apart, times, told = found.T
        print(f"{dim:>7} {size:>5} {np.median(apart):>29.1f} {apart.max():>6.1f}", end="")
        print(f" {times.min():>5.0f}..{times.max():.0f} {told.min():>22.2f}", flush=True)


def print_one_place(seeds, n):
    print("\ncolumns  rows of one place  streams  divided  clusters at the end")
    for dim in (1, 3):
        found = np.array([one_place(dim, s, n=n) for s in range(seeds)])
        divided, clusters = found.T
        print(f"{dim:>7} {n:>18,} {seeds:>8} {divided.sum():>8} {clusters.max():>20}", flush=True)


def print_streams(n=20000):
    print("\nstream      NMI, mean: without  with a ring  divided")
    for make in STREAMS:
        rows, z = stream(make, n)
        alone = learner(len(rows[0]))
        without = np.mean(nmi_over_time(z, np.array([alone.learn(x) for x in rows])))
        labels, divided = learned(learner(len(rows[0])), rows)
        with_ring = np.mean(nmi_over_time(z, labels))
        print(f"{make.__name__:<10} {without:>19.2f} {with_ring:>12.2f}", end="")
        print(f" {len(divided):>8}", flush=True)


def main(seeds, n):
    print_taken_for_one(seeds)
    print_moving_apart(seeds)
    print_one_place(seeds, n)
    print_streams()


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*given, *(20, 100000)[len(given) :])
