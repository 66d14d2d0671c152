"""Scoring: the kernels that compare rows with every cluster.

`python3 asv_benchmarks/benchmarks/prediction.py` prints nanoseconds for each row, slot and column.
"""

import functools
import time

import numpy as np

from dpmlite import algorithms, sweeps

if __package__:
    from .common import empirical_prior, load_twin, partition, planted_table
    from .machine import machine
else:  # as a script
    from common import empirical_prior, load_twin, partition, planted_table
    from machine import machine

N_ROWS, N_CLUSTERS = 10_000, 50
COLUMNS = (2, 8, 16, 64)
N_SLOTS = 64  # of the table
REPEATS = 15


class Score:
    """10,000 rows against 50 clusters and a new one."""

    params = (COLUMNS,)
    param_names = ("columns",)

    def setup(self, n_columns):
        self.kernel = load_twin("prediction", "cython")
        self.X, labels = planted_table(N_ROWS, n_columns, N_CLUSTERS)
        self.clusters = partition(self.X, labels, empirical_prior(self.X)).component

    def time_assign(self, n_columns):
        sweeps.assign(self.X, self.clusters, 1.0, np.empty(N_ROWS, dtype=np.intp))

    def time_log_density(self, n_columns):
        self.kernel.log_density(self.X, self.clusters, 1.0, np.empty(N_ROWS))


def empty_slot_first(component):
    """The same slots, the empty one first: rows are then scored one by one, in every slot."""
    other = component.like()
    other.resize(component.n_slots)
    for k in range(component.n_slots - 1):
        other.copy(k + 1, component, k)
    return other


def least_seconds(function, make=lambda: None):
    """The least time of REPEATS calls, each with what `make` makes."""
    times = []
    for _ in range(REPEATS):
        argument = make()
        begin = time.perf_counter()
        function(argument)
        times.append(time.perf_counter() - begin)
    return min(times)


def measure(n_columns):
    """Seconds of each way to compare all rows with 63 planted clusters and an empty one."""
    X, labels = planted_table(N_ROWS, n_columns, N_SLOTS - 1)
    anew = functools.partial(partition, X, labels, empirical_prior(X))
    clusters = anew().component
    apart = empty_slot_first(clusters)
    labels, densities = np.empty(N_ROWS, dtype=np.intp), np.empty(N_ROWS)
    return {
        "scores": least_seconds(lambda _: sweeps.assign(X, apart, 1.0, labels)),
        "log density": least_seconds(lambda _: algorithms.log_density(X, clusters, 1.0, densities)),
        "labels": least_seconds(lambda _: sweeps.assign(X, clusters, 1.0, labels)),
        "first sweep": least_seconds(sweeps.sweep, anew),
    }


def main():
    """Print the table."""
    print(f"{machine()}\n{N_ROWS:,} rows, {N_SLOTS} slots; nanoseconds a row, slot and column\n")
    for n_columns in COLUMNS:
        seconds = measure(n_columns)
        if n_columns == COLUMNS[0]:
            print("columns", *(f"{name:>12}" for name in seconds))
        cells = N_ROWS * N_SLOTS * n_columns
        print(f"{n_columns:>7}", *(f"{1e9 * s / cells:12.3f}" for s in seconds.values()))


if __name__ == "__main__":
    main()
