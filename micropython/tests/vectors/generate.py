"""Write the streams of rows that every learner is fed, and what mapdpm_int.py answers on CPython.

    python3 micropython/tests/vectors/generate.py

A file's first line holds the learner's arguments, with semicolons between them, the second the
number of rows, a rolling hash of all answers (surprise, predict and learn of every row, of every
other one without a scan; merge after every 64th) and the counts at the end; then comes a row a
line.
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from check import answers  # noqa: E402  (found through the line above, as is the next)
from mapdpm_int import MAPDPM  # noqa: E402


def blobs(rng, n_rows, centres, sd):
    """Rows of round clusters."""
    centres = np.asarray(centres)
    rows = centres[rng.integers(len(centres), size=n_rows)] + rng.normal(
        0, sd, (n_rows, centres.shape[1])
    )
    return np.clip(np.rint(rows), -2047, 2047).astype(int)


def sensor(rng):
    """Three states of a machine, with spikes, a stuck stretch and saturation."""
    rows = blobs(rng, 260, [[0, 0, 250], [300, -200, 100], [-400, 500, 0]], [20, 40, 15])
    rows[rng.integers(260, size=12), rng.integers(3, size=12)] = 2047
    rows[100:120] = rows[100]
    rows[200:210] = -2047
    return rows


def strays(rng):
    """Four tight places fill the table; then one row in two lies between them.

    It would found a cluster, and joins the best there is where no merge is worth it.
    """
    places = 700 * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    rows = blobs(rng, 160, places, 6)
    rows[:4] = places
    rows[60::2] = rows[60::2] * rng.uniform(0.4, 0.95, (50, 1))
    return rows


def streams():
    """Name, arguments of the learner, rows."""
    rng = np.random.default_rng(5)
    three = ([0] * 3, [20000] * 3)
    yield "two", (2, 8, [0] * 2, [9000] * 2), blobs(rng, 200, rng.normal(0, 500, (6, 2)), 60)
    yield "sensor", (3, 8, *three), sensor(rng)
    yield "extremes", (3, 4, *three), rng.choice([-2047, -1, 0, 1, 2047], size=(150, 3))
    yield "uniform", (3, 8, *three), rng.integers(-2047, 2048, size=(150, 3))
    yield "constant", (3, 8, *three), np.tile([2047, -2047, 5], (300, 1))
    yield "full", (2, 2, [0] * 2, [40000] * 2), blobs(rng, 150, rng.normal(0, 700, (6, 2)), 15)
    yield "one", (1, 1, [-2047], [1], (32, 1), (1, 2), (1, 1000)), blobs(rng, 60, [[9]], 300)
    prior = ([100, -100, 2047, 0], [4194304, 1000, 77, 1], (7, 32), (3, 2), (5, 3))
    yield "rationals", (4, 6, *prior), blobs(rng, 120, rng.normal(0, 600, (4, 4)), 50)
    spread = blobs(rng, 1200, [[-300] * 2, [200, 100]], 70)
    yield "halved", (2, 4, [0] * 2, [9000] * 2, (1, 32)), spread
    firm = blobs(rng, 120, [[0] * 10, [1900] * 10, [-1900] * 10], 20)
    yield "dear", (10, 2, [0] * 10, [6400] * 10, (1, 2), (64, 1)), firm
    moves = np.vstack([blobs(rng, 140, rng.normal(0, 700, (3, 2)), 50) for _ in range(2)])
    yield "forgetting", (2, 8, [0] * 2, [20000] * 2, (1, 10), (8, 1), (1, 1), 64), moves
    yield "unscanned", (2, 4, [0] * 2, [9000] * 2, (1, 32), (8, 1)), strays(rng)


def texts():
    """Name and text of every file."""
    found = {}
    for name, arguments, rows in streams():
        learner = MAPDPM(*arguments)
        value = answers(learner, rows.tolist())
        lines = [";".join(map(repr, arguments)), repr((len(rows), value, learner.counts))]
        lines += [" ".join(map(str, row)) for row in rows]
        found[f"{name}.txt"] = "\n".join(lines) + "\n"
    return found


if __name__ == "__main__":
    for name, text in texts().items():
        (HERE / name).write_text(text)
