"""Kinds of tables on which a default fit takes long: seconds and memory of each.

`python3 asv_benchmarks/benchmarks/worst_cases.py` prints a line for each kind and shape, of fits on
one thread, each in a process of its own. Seconds are those of the processor. Memory is the peak
above that before the fit, in MB and in times of the rows. A fit that takes longer than `--limit`
seconds is ended, and says so. Names of kinds limit the lines.
"""

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from dpmlite import MAPDPM
from dpmlite.datasets import planted_gaussians

if __package__:
    from .peer_fit import forget_peak, megabytes
else:  # as a script
    from peer_fit import forget_peak, megabytes

SHAPES = ((5_000, 50), (20_000, 50))  # rows, columns
LIMIT = 300.0  # seconds


def lognormal(n, d, rng):
    return np.exp(rng.normal(size=(n, d)))


def three_factors(n, d, rng):
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + rng.normal(0.0, 0.3, size=(n, d))


def uniform(n, d, rng):
    return rng.random((n, d))


def cauchy(n, d, rng):
    return rng.standard_cauchy((n, d))


def spirals(n, d, rng):
    """Two arms in two columns, and noise in the others."""
    t, start = 12.0 * rng.random(n), np.pi * rng.integers(2, size=n)
    arms = (t * np.cos(t + start), t * np.sin(t + start))
    return np.column_stack([*arms, rng.normal(size=(n, d - 2))])


def small_integers(n, d, rng):
    return rng.integers(0, 6, size=(n, d)).astype(float)


def one_hot(n, d, rng):
    return np.eye(d)[rng.integers(d, size=n)]


def copies(n, d, rng):
    """A hundred copies of each row."""
    return rng.normal(size=(n // 100, d))[rng.integers(n // 100, size=n)]


def correlated(n, d, rng):
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def skewed_money(n, d, rng):
    """Amounts, with cents; three in ten are 0."""
    amounts = np.round(np.exp(rng.normal(4.0, 1.5, size=(n, d))), 2)
    return np.where(rng.random((n, d)) < 0.3, 0.0, amounts)


def ten_clusters(n, d, rng):
    return planted_gaussians(n, d, 10, random_state=rng)[0]


# Names, tables and the weight of all rows.
KINDS = {
    "lognormal": (lognormal, None),
    "three factors": (three_factors, None),
    "uniform": (uniform, None),
    "Cauchy": (cauchy, None),
    "spirals": (spirals, None),
    "small integers": (small_integers, None),
    "one-hot": (one_hot, None),
    "copies": (copies, None),
    "correlated": (correlated, None),
    "skewed money": (skewed_money, None),
    "ten clusters": (ten_clusters, None),
    "weights 0.1": (ten_clusters, 0.1),
}


def measure(kind, n_rows, n_columns, limit):
    """The line of a fit."""
    table, weight = KINDS[kind]
    X = table(n_rows, n_columns, np.random.default_rng(0))
    weights = None if weight is None else np.full(n_rows, weight)
    model = MAPDPM(random_state=0, max_seconds=limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MAPDPM(random_state=0).fit(X[:100])  # what is imported when it is first used is no part
        forget_peak()
        before, begin = megabytes("VmRSS"), time.process_time()
        model.fit(X, sample_weight=weights)
    seconds, peak = time.process_time() - begin, megabytes("VmHWM") - before
    ended = "" if model.stopped_ is None else "  ended by the limit"
    return (
        f"{kind:<15} {n_rows:>7,} {n_columns:>8} {seconds:>8.1f} {peak:>6.0f} "
        f"{1e6 * peak / X.nbytes:>9.1f} {model.n_clusters_:>5}{ended}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND")
    parser.add_argument("--limit", type=float, default=LIMIT)
    args = parser.parse_args()
    spawn = get_context("spawn")
    print("kind               rows  columns  seconds     MB  x rows      K")
    with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as processes:
        for shape in SHAPES:
            for kind in args.kinds:
                print(processes.submit(measure, kind, *shape, args.limit).result(), flush=True)


if __name__ == "__main__":
    main()
