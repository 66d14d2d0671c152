"""What weights of rows and missing cells cost: fits of the same planted normals with and without.

`python3 asv_benchmarks/benchmarks/weights_and_gaps.py` prints a line for each model, shape and
separation of clusters: milliseconds of the processor of a plain fit on one thread, its clusters,
and how many times as long the other fits take, each with its clusters. The last lines are of mixed
tables: data frames of which half of the columns are made text of five levels. All are the least of
some fits in turn, in one process.
"""

import argparse
import time

import numpy as np
import pandas as pd

from dpmlite import MAPDPM
from dpmlite.datasets import planted_gaussians

SHAPES = ((20_000, 8), (100_000, 8))  # rows, columns
SEPARATIONS = (2.0, 6.0)
N_CLUSTERS = 12
FULL = "normal-inverse-wishart"
MODELS = (  # a prior and a family of all columns
    ("auto", "normal-gamma"),
    ("auto", FULL),
    ("paper", "normal-gamma"),
)
MIXED_SHAPE = (100_000, 20)
LEVELS = np.array(list("abcde"), dtype=object)
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
        "both": (gaps, rng.uniform(0.5, 1.5, n_rows), True),
    }


def mixed_problems(n_rows, n_columns, separation):
    """Names, and the table, weights and option of each fit; the first is of numbers alone."""
    rng = np.random.default_rng(0)
    X, _ = planted_gaussians(n_rows, n_columns, N_CLUSTERS, separation=separation, random_state=rng)
    mixed, half = pd.DataFrame(X), n_columns // 2
    for j in range(half, n_columns):
        at = np.searchsorted(np.quantile(X[:, j], [0.2, 0.4, 0.6, 0.8]), X[:, j])
        mixed[j] = LEVELS[at]
    gaps = mixed.copy()
    gaps.iloc[:, :half] = mixed.iloc[:, :half].mask(rng.random((n_rows, half)) < 0.05)
    weights = rng.uniform(0.5, 1.5, n_rows)
    return {
        "plain": (X, None, False),
        "mixed": (mixed, None, False),
        "5 % gaps": (gaps, None, True),
        "0.5 to 1.5": (mixed, weights, False),
        "both": (gaps, weights, True),
    }


def fit(model, X, weights, allow_missing):
    """Seconds of a fit, and its clusters."""
    prior, component = model
    model = MAPDPM(
        prior=prior, component=component, allow_missing=allow_missing, random_state=0, n_jobs=1
    )
    begin = time.process_time()
    model.fit(X, sample_weight=weights)
    return time.process_time() - begin, model.n_clusters_


def measure(model, n_rows, n_columns, separation, n_fits, draw=problems):
    """The line of a model, a shape and a separation."""
    best = {}
    chosen = draw(n_rows, n_columns, separation)
    for _ in range(n_fits):
        for name, problem in chosen.items():
            if model[1] == FULL and problem[2]:  # which has no gaps
                continue
            found = fit(model, *problem)
            best[name] = min(best.get(name, found), found)
    plain, n_clusters = best.pop("plain")
    cells = [f"{seconds / plain:>6.2f} {k:>3}" for seconds, k in best.values()]
    return (
        f"{model[0]:<5} {model[1]:<22} {n_rows:>7,} {separation:>5} {1e3 * plain:>6.0f} "
        f"{n_clusters:>3}  " + "  ".join(cells)
    )


def heading(*titles):
    first = f"{'prior and family':<28} {'rows':>7} apart     ms   K  "
    return first + "   K  ".join(titles) + "   K"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=N_FITS)
    args = parser.parse_args()
    print(heading("0.5-1.5", "1, 2, 3", " no gap", "   10 %", "   both"))
    for model in MODELS:
        for shape in SHAPES:
            for separation in SEPARATIONS:
                print(measure(model, *shape, separation, args.fits), flush=True)
    print("\n" + heading("  mixed", "    5 %", "0.5-1.5", "   both"))
    for separation in SEPARATIONS:
        line = measure(("auto", "auto"), *MIXED_SHAPE, separation, args.fits, mixed_problems)
        print(line, flush=True)


if __name__ == "__main__":
    main()
