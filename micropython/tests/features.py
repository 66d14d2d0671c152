"""What window features are worth on stm32_har: activities that a learner tells apart, unasked.

    DPMLITE_DATA=FOLDER python3 micropython/tests/features.py

92 recordings of a sensor that people carry, at 26 Hz, one after the other in random orders. A row
has the normalised mutual information of activities (still, walking, running) and labels as they are
given out: of the magnitude's windows of a second; of the same by sequential k-means, which is told
that there are three; and of x, y and z as they are read.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "papers"))

from features_int import Window, magnitude
from mapdpm_int import MAPDPM
from real_tables import table_path
from streams import k_means, nmi

# A sample is a quarter of the magnitude in mg. About 30 mg mean nothing.
SHIFT, NOISE, RATE = 2, 8, 26
# Standard deviations inside a cluster: 160 mg of means, an octave, four crossings.
START = (256, 640, 640, 512), (8 * 40**2, *[8 * 128**2] * 3)


def recordings():
    """Readings of every recording, whole seconds, and its activity."""
    table = np.loadtxt(table_path("stm32_har.csv"), delimiter=",", skiprows=1).astype(int)
    for number in np.unique(table[:, 0]):
        rows = table[table[:, 0] == number]
        rows = rows[: len(rows) // RATE * RATE]
        yield rows[:, 1:4], int(rows[0, 4])


def in_order(parts, seed):
    """All readings in a random order of the recordings, and the activity of each."""
    order = np.random.default_rng(seed).permutation(len(parts))
    readings = np.vstack([parts[i][0] for i in order])
    return readings, np.concatenate([[parts[i][1]] * len(parts[i][0]) for i in order])


def windows(readings):
    """Features of every second of a stream of readings, through one window."""
    window = Window(RATE, 0, NOISE)
    return [
        list(window.values)
        for x, y, z in readings.tolist()
        if window.add(magnitude(x, y, z) >> SHIFT)
    ]


def labels_of_windows(rows):
    """What a learner calls each of them as it comes."""
    learner = MAPDPM(4, 12, *START, a0=(8, 1))
    return np.array([learner.learn(x) for x in rows])


def labels_of_readings(readings):
    """What a learner calls readings as they are, of half a mg."""
    learner = MAPDPM(3, 12, (0, 0, 0), (8 * 150**2,) * 3, a0=(8, 1))
    return np.array([learner.learn(x) for x in np.clip(readings // 2, -2047, 2047).tolist()])


def main():
    parts = list(recordings())
    print("order   windows   3-means of windows   x, y, z")
    scores = []
    for seed in range(8):
        readings, z = in_order(parts, seed)
        rows = windows(readings)
        of_windows = z[RATE - 1 :: RATE]
        learned = nmi(of_windows, labels_of_windows(rows))
        told = nmi(of_windows, k_means(rows, 3))
        scores.append((learned, told, nmi(z, labels_of_readings(readings))))
        show(seed, scores[-1])
    show("mean", np.mean(scores, axis=0))


def show(name, scores):
    print(f"{name:>5} {scores[0]:>9.2f} {scores[1]:>20.2f} {scores[2]:>9.2f}")


if __name__ == "__main__":
    main()
