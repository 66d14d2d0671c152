"""What weights of rows and missing cells cost: fits of the same planted normals with and without.

`python3 asv_benchmarks/benchmarks/weights_and_gaps.py` prints a line for each prior, shape and
separation of clusters: milliseconds of the processor of a plain fit on one thread, its clusters, and
how many times as long the other fits take, each with its clusters. All are the least of some fits in
turn, in one process.
"""

import argparse
import time

import numpy as np

from dpmlite import MAPDPM
from dpmlite.datasets import planted_gaussians

SHAPES = ((20_000, 8), (100_000, 8))  # rows, columns
SEPARATIONS = (2.0, 6.0)
N_CLUSTERS = 12
N_FITS = 5


def problems(n_rows, n_columns, separation):
    """Names, and the table, weights and option of each fit."""
    rng = np.random.default_rng(0)
    X, _ = planted_gaussians(n_rows, n_columns, N_CLUSTERS, separation=separation, random_state=rng)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    return {
        "plain": (X, None, False),
        "0.5 to 1.5": (X, rng.uniform(0.5, 1.5, n_rows), False),
        "1, 2 or 3": (X, rng.integers(1, 4, n_rows).astype(float), False),
        "no gap": (X, None, True),
        "10 % gaps": (gaps, None, True),
    }


def fit(prior, X, weights, allow_missing):
    """Seconds of a fit, and its clusters."""
    model = MAPDPM(prior=prior, allow_missing=allow_missing, random_state=0, n_jobs=1)
    begin = time.process_time()
    model.fit(X, sample_weight=weights)
    return time.process_time() - begin, model.n_clusters_


def measure(prior, n_rows, n_columns, separation, n_fits):
    """The line of a prior, a shape and a separation."""
    best = {}
    chosen = problems(n_rows, n_columns, separation)
    for _ in range(n_fits):
        for name, problem in chosen.items():
            found = fit(prior, *problem)
            best[name] = min(best.get(name, found), found)
    plain, n_clusters = best.pop("plain")
    cells = [f"{seconds / plain:>6.2f} {k:>3}" for seconds, k in best.values()]
    return (
        f"{prior:<6} {n_rows:>7,} {separation:>6} {1e3 * plain:>7.0f} {n_clusters:>3}  "
        + "   ".join(cells)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=N_FITS)
    args = parser.parse_args()
    print("prior     rows  apart      ms   K  0.5-1.5  K    1-2-3   K   no gap   K     10 %   K")
    for prior in ("auto", "paper"):
        for shape in SHAPES:
            for separation in SEPARATIONS:
                print(measure(prior, *shape, separation, args.fits), flush=True)


if __name__ == "__main__":
    main()
