"""The price of k-means: one sweep beside one iteration of scikit-learn's Lloyd.

Both take the same 100,000 rows on one thread, 50 clusters. Lloyd starts from random rows; its
iterations 3 to 12 are timed, as the time of 12 less the time of 2. Sweeps 3 to 12 are timed from
two starts: "random", where each row is in the cluster of the nearest of the same random rows, and
"planted", the labels that drew the rows. Hardly a row moves from those, so that most clusters are
ruled out early; Lloyd's iteration costs the same everywhere.

By hand, `python asv_benchmarks/benchmarks/lloyd.py` prints the table.
"""

import argparse
import functools
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from threadpoolctl import threadpool_limits

import dpmlite
from dpmlite import families, sweeps
from dpmlite.datasets import planted_gaussians
from dpmlite.partition import Partition

if __package__:
    from .machine import machine
else:  # as a script
    from machine import machine

N_ROWS, N_CLUSTERS = 100_000, 50
COLUMNS = (2, 8, 16, 64)
STARTS = ("random", "planted")
FIRST, LAST = 2, 12  # iterations FIRST + 1 to LAST are timed
ROUNDS = 5
SEPARATION = 3.0


def seconds(function):
    """The time of one call."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def sweep_time(X, labels):
    """Seconds of one sweep, the mean of those from FIRST to LAST."""
    family = families.NormalGamma(X.mean(axis=0), 10.0 / len(X), 1.0, X.var(axis=0))
    state = Partition(X, labels.astype(np.intp), family, 1.0)
    for _ in range(FIRST):
        sweeps.sweep(state)
    return seconds(lambda: [sweeps.sweep(state) for _ in range(LAST - FIRST)]) / (LAST - FIRST)


def lloyd_time(X, centres, n_iterations):
    """Seconds of a whole fit that stops after `n_iterations`."""
    model = KMeans(
        len(centres), init=centres, n_init=1, max_iter=n_iterations, tol=0.0, algorithm="lloyd"
    )
    elapsed = seconds(lambda: model.fit(X))
    if model.n_iter_ != n_iterations:
        raise RuntimeError(f"Lloyd converged after {model.n_iter_} of {n_iterations} iterations")
    return elapsed


def measure(n_columns, separation=SEPARATION, rounds=ROUNDS):
    """Nanoseconds a row of one Lloyd iteration and of one sweep from each start.

    Each round measures everything once; the least of all rounds counts.
    """
    X, planted = planted_gaussians(
        N_ROWS, n_columns, N_CLUSTERS, separation=separation, random_state=0
    )
    centres = X[np.random.default_rng(0).choice(N_ROWS, N_CLUSTERS, replace=False)]
    tasks = {
        "short": functools.partial(lloyd_time, X, centres, FIRST),
        "random": functools.partial(sweep_time, X, pairwise_distances_argmin(X, centres)),
        "long": functools.partial(lloyd_time, X, centres, LAST),
        "planted": functools.partial(sweep_time, X, planted),
    }
    with threadpool_limits(1):
        times = [{name: task() for name, task in tasks.items()} for _ in range(rounds)]
    best = {name: min(t[name] for t in times) for name in tasks}
    best["lloyd"] = (best.pop("long") - best.pop("short")) / (LAST - FIRST)
    return {name: 1e9 * elapsed / N_ROWS for name, elapsed in best.items()}


def whole_fits(n_columns):
    """Seconds of a fit of KMeans, told the number of clusters, and of MAPDPM, not told."""
    X, _ = planted_gaussians(N_ROWS, n_columns, N_CLUSTERS, separation=SEPARATION, random_state=0)
    with threadpool_limits(1):
        kmeans = seconds(lambda: KMeans(N_CLUSTERS, n_init=1, random_state=0).fit(X))
        return kmeans, seconds(lambda: dpmlite.MAPDPM(prior="paper", random_state=0).fit(X))


class Lloyd:
    params = (COLUMNS, STARTS)
    param_names = ("columns", "start")
    timeout = 600

    def setup_cache(self):
        return {n_columns: measure(n_columns) for n_columns in COLUMNS}

    def track_ratio(self, measured, n_columns, start):
        return measured[n_columns][start] / measured[n_columns]["lloyd"]

    def track_sweep_ns_per_row(self, measured, n_columns, start):
        return measured[n_columns][start]

    def track_lloyd_ns_per_row(self, measured, n_columns, start):
        return measured[n_columns]["lloyd"]

    setup_cache.timeout = 600
    track_ratio.unit = "sweep / Lloyd iteration"
    track_sweep_ns_per_row.unit = "ns/row"
    track_lloyd_ns_per_row.unit = "ns/row"


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description="A sweep beside an iteration of Lloyd's.")
    parser.add_argument("--separation", type=float, default=SEPARATION, help="of the clusters")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="the least of them counts")
    arguments = parser.parse_args()
    print(
        f"{machine()}\n"
        f"{N_ROWS:,} rows, {N_CLUSTERS} clusters, separation {arguments.separation:g}; "
        "nanoseconds a row, ratio to Lloyd's\n\n"
        f"{'columns':>7} {'Lloyd':>8} {'random':>8} {'ratio':>6} {'planted':>8} {'ratio':>6}"
    )
    for n_columns in COLUMNS:
        ns = measure(n_columns, arguments.separation, arguments.rounds)
        cells = [f"{ns[start]:8.1f} {ns[start] / ns['lloyd']:6.2f}" for start in STARTS]
        print(f"{n_columns:>7} {ns['lloyd']:8.1f}", *cells, flush=True)
    kmeans, ours = whole_fits(16)
    print(f"\nwhole fits at 16 columns: KMeans told K {kmeans:.2f} s, MAPDPM {ours:.2f} s")


if __name__ == "__main__":
    main()
