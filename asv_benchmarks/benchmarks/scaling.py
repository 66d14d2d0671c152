"""How the time of a default fit grows with the rows, and what a second thread takes off it.

`python3 asv_benchmarks/benchmarks/scaling.py` prints it, for planted tables of 8 columns: fits on
each number of threads in turn, and the least times of all rounds.
"""

import time

from dpmlite import MAPDPM

if __package__:
    from .common import planted_table
else:  # as a script
    from common import planted_table

SHAPES = ((10_000, 20), (100_000, 50), (1_000_000, 50), (1_000_000, 100))  # rows, clusters
N_COLUMNS = 8
THREADS = (1, 2)
ROUNDS = 15


class Scaling:
    params = (SHAPES, THREADS)
    param_names = ("rows, clusters", "threads")
    number, repeat, warmup_time = 1, 3, 0.0
    timeout = 600

    def setup(self, shape, n_jobs):
        n_rows, n_clusters = shape
        self.X, _ = planted_table(n_rows, N_COLUMNS, n_clusters)

    def time_fit(self, shape, n_jobs):
        MAPDPM(prior="paper", random_state=0, n_jobs=n_jobs).fit(self.X)


def seconds(X, n_jobs):
    begin = time.perf_counter()
    MAPDPM(prior="paper", random_state=0, n_jobs=n_jobs).fit(X)
    return time.perf_counter() - begin


def measure(n_rows, n_clusters, rounds=ROUNDS):
    """Seconds of a fit on each number of threads."""
    X, _ = planted_table(n_rows, N_COLUMNS, n_clusters)
    times = [[seconds(X, n_jobs) for n_jobs in THREADS] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def main():
    print("     rows  clusters  1 thread  2 threads  ratio")
    for n_rows, n_clusters in SHAPES:
        one, two = measure(n_rows, n_clusters)
        print(f"{n_rows:>9,} {n_clusters:>9} {one:>7.4f} s {two:>8.4f} s {two / one:>6.2f}")


if __name__ == "__main__":
    main()
