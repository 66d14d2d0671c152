"""Eight streams of rows that boards meet, with the place of every row: drift, bursts, rare places,
seasons, stuck and saturated sensors, one column and six.

    python3 micropython/tests/streams.py [ROWS]

prints, for each, the normalised mutual information of places and labels in every tenth of the
stream and its mean; that of sequential k-means and of emlearn-micropython's, which are told how
many places there are; then the slots in use at the end, and the alarms that were raised, as one in
so many rows. Rows are ints of -2048..2047.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from mapdpm_alarm import Alarm
from mapdpm_int import MAPDPM

SD = 60


def places(rng, n_places, dim):
    """Centres at least twelve standard deviations apart."""
    while True:
        centres = rng.uniform(-1300, 1300, (n_places, dim))
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + 1e9 * np.eye(n_places)
        if gaps.min() > 12 * SD:
            return centres


def rows_at(rng, centres, z):
    return centres[z] + rng.normal(0, SD, (len(z), centres.shape[1]))


def drift(rng, n):
    """Three places that wander by half of their range."""
    centres, z = places(rng, 3, 3), rng.integers(3, size=n)
    return rows_at(rng, centres, z) + 600 * np.sin(np.linspace(0, 6, n))[:, None], z


def bursts(rng, n):
    """Two places; ten rows in a thousand are shaken."""
    centres, z = places(rng, 2, 3), rng.integers(2, size=n)
    shaken = np.arange(n) % 1000 >= 990
    return rows_at(rng, centres, z) + shaken[:, None] * rng.normal(0, 300, (n, 3)), z


def rare(rng, n):
    """Five places, two of them with one row in a hundred."""
    z = rng.choice(5, size=n, p=[0.4, 0.3, 0.28, 0.01, 0.01])
    return rows_at(rng, places(rng, 5, 3), z), z


def seasons(rng, n):
    """Three places for 50,000 rows, or a quarter of the stream, then three others."""
    season = np.arange(n) // min(50000, n // 4)
    z = rng.integers(3, size=n) + 3 * season
    return rows_at(rng, np.vstack([places(rng, 3, 3) for _ in range(season[-1] + 1)]), z), z


def stuck(rng, n):
    """Three places; the sensor repeats a row for five hundred rows in ten thousand."""
    z = rng.integers(3, size=n)
    rows = rows_at(rng, places(rng, 3, 3), z)
    for start in range(5000, n, 10000):
        rows[start : start + 500] = rows[start]
        z[start : start + 500] = 3
    return rows, z


def saturated(rng, n):
    """Three places; two of three columns are cut at their range for one row in fifty."""
    z = rng.integers(3, size=n)
    rows = rows_at(rng, places(rng, 3, 3), z)
    cut = rng.random(n) < 0.02
    rows[cut, :2] = 5000
    z[cut] = 3
    return rows, z


def one(rng, n):
    """One column."""
    z = rng.integers(3, size=n)
    return rows_at(rng, places(rng, 3, 1), z), z


def six(rng, n):
    """Six columns."""
    z = rng.integers(6, size=n)
    return rows_at(rng, places(rng, 6, 6), z), z


STREAMS = drift, bursts, rare, seasons, stuck, saturated, one, six


def stream(make, n, seed=0):
    """Rows of ints, as lists, and their places."""
    rows, z = make(np.random.default_rng(seed), n)
    return np.clip(np.rint(rows), -2048, 2047).astype(int).tolist(), z


def learner(dim, kind=MAPDPM):
    """A learner with the README's start values."""
    return kind(dim, 12, [0] * dim, [8 * SD * SD] * dim, a0=(8, 1))


def nmi(one, other):
    """Normalised mutual information of two labellings."""
    _, one = np.unique(one, return_inverse=True)
    _, other = np.unique(other, return_inverse=True)
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1 / len(one))
    rows, columns = table.sum(1), table.sum(0)
    used = table > 0
    shared = (table[used] * np.log(table[used] / np.outer(rows, columns)[used])).sum()
    entropy = -(rows * np.log(rows)).sum() - (columns * np.log(columns)).sum()
    return 2 * shared / entropy if entropy > 0 else 1.0


def squares(rows, centres):
    """Squared distances of rows, one a line, from centres."""
    return sum((x[:, None] - c) ** 2 for x, c in zip(rows.T, centres.T, strict=True))


def far_apart(rows, k):
    """Centres to start from: k of the first rows, each the farthest from those before it."""
    centres = rows[:1]
    while len(centres) < k:
        farthest = squares(rows[:300], centres).min(1).argmax()
        centres = np.vstack([centres, rows[farthest]])
    return centres


def emlearn(rows, k):
    """Labels by `cluster` of emlearn-micropython: ten sweeps of k-means (Lloyd 1982) in bytes.

    It is for rows in memory. The centres are those of the first thousand here, and the others join
    the nearest.
    """
    rows = np.asarray(rows) + 2048 >> 4
    first = rows[:1000]
    centres = far_apart(rows, k)
    for _ in range(10):
        nearest = squares(first, centres).argmin(1)
        for j in set(nearest):
            centres[j] = first[nearest == j].sum(0) // (nearest == j).sum()
    return squares(rows, centres).argmin(1)


def k_means(rows, k):
    """Labels of sequential k-means (MacQueen 1967), from k of the first rows, far apart."""
    rows = np.asarray(rows, float)
    centres, counts, labels = far_apart(rows, k), np.ones(k), []
    for x in rows:
        nearest = int(((centres - x) ** 2).sum(1).argmin())
        counts[nearest] += 1
        centres[nearest] += (x - centres[nearest]) / counts[nearest]
        labels.append(nearest)
    return np.array(labels)


def nmi_over_time(z, labels):
    """NMI in every tenth of a stream."""
    return [nmi(z[part], labels[part]) for part in np.array_split(np.arange(len(z)), 10)]


def told(rows, z):
    """Mean NMI of those that are told how many places there are, as two columns of a table."""
    found = [np.mean(nmi_over_time(z, f(rows, z.max() + 1))) for f in (k_means, emlearn)]
    return "".join(f"{mean:>8.2f} " for mean in found)


def raised(alarm, rows):
    """Whether an alarm began with each row."""
    found = []
    for x in rows:
        was = alarm.on
        alarm.step(x)
        found.append(alarm.on and not was)
    return np.array(found)


def main(n):
    print(f"{'stream':<10} {'NMI in every tenth of the stream':<49}", end="")
    print(" mean  k-means  emlearn  slots  alarms: 1 in")
    for make in STREAMS:
        rows, z = stream(make, n)
        m = learner(len(rows[0]))
        labels = np.array([m.learn(x) for x in rows])
        parts = nmi_over_time(z, labels)
        begun = raised(Alarm(learner(len(rows[0]))), rows)
        shown = " ".join(f"{part:.2f}" for part in parts)
        print(f"{make.__name__:<10} {shown} {np.mean(parts):.2f} {told(rows, z)}", end="")
        print(f"{m.k:>7} {n / begun.sum():>13.0f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100000)
