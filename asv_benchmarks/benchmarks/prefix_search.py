"""Searches among clusterings of prefixes: rows a second, and what beams gain and cost.

`python3 asv_benchmarks/benchmarks/prefix_search.py` prints microseconds a row of beams of several
widths beside a first MAP-DPM sweep, which places row after row too.
"""

import time

import numpy as np

from dpmlite import DPSearch, algorithms, families, sweeps
from dpmlite.datasets import planted_gaussians
from dpmlite.partition import Partition

BEAMS = (1, 10, 100)
SHAPES = ((10_000, 8, 20), (10_000, 50, 20))


def model(n_columns):
    """A component of round clusters."""
    ones = np.ones(n_columns)
    return families.NormalKnownVariance(0.0 * ones, ones, 16.0 * ones)


def table(shape):
    X, _ = planted_gaussians(*shape, random_state=0)
    return X - X.mean(axis=0)


def search(X, scoring, beam):
    order = np.arange(len(X), dtype=np.intp)
    found = algorithms.PrefixSearch(X, model(X.shape[1]), 1.0, order, scoring, beam)
    while not found.run(10_000):
        pass
    return found


class Beam:
    """Beam searches with the inadmissible score."""

    params = (SHAPES, BEAMS)
    param_names = ("rows, columns, clusters", "beam")

    def setup(self, shape, beam):
        self.X = table(shape)[: shape[0] // beam]

    def time_search(self, shape, beam):
        search(self.X, "inadmissible", beam)

    def peakmem_search(self, shape, beam):
        search(self.X, "inadmissible", beam)

    def track_neg_log_joint(self, shape, beam):
        return search(self.X, "inadmissible", beam).neg_log_joint


class AStar:
    """Full searches that prove the optimum."""

    params = ("trivial", "tight")
    param_names = ("scoring",)

    def setup(self, scoring):
        self.X = np.random.default_rng(0).normal(0.0, 3.0, size=(11, 1))

    def time_search(self, scoring):
        search(self.X, scoring, None)

    def track_n_expanded(self, scoring):
        return search(self.X, scoring, None).n_expanded


class Words:
    """Sparse counts, as of documents."""

    def setup(self):
        rng = np.random.default_rng(0)
        topics = rng.dirichlet(np.full(500, 0.05), size=8)
        labels = rng.integers(8, size=1000)
        self.X = np.array([rng.multinomial(200, topics[k]) for k in labels])

    def time_fit(self):
        DPSearch(component="dirichlet-multinomial", refine=False).fit(self.X)


def main():
    print("   rows  columns  clusters   sweep us/row" + "".join(f"   beam {b:>3}" for b in BEAMS))
    for shape in SHAPES:
        X = table(shape)
        start = time.process_time()
        labels = np.full(len(X), -1, dtype=np.intp)
        sweeps.sweep(Partition(X, labels, model(shape[1]), 1.0))
        times = [time.process_time() - start]
        for beam in BEAMS:
            start = time.process_time()
            search(X, "inadmissible", beam)
            times.append(time.process_time() - start)
        per_row = [1e6 * seconds / len(X) for seconds in times]
        print(
            f"{shape[0]:>7} {shape[1]:>8} {shape[2]:>9} {per_row[0]:>14.2f}"
            + "".join(f" {value:>10.2f}" for value in per_row[1:])
        )


if __name__ == "__main__":
    main()
