"""Why the default search is what it is: what other choices find, and at what price.

By hand, `python asv_benchmarks/benchmarks/search.py` prints a line for each choice:

- section 4.1: draws of the paper's section 4.1 under their own prior. The mean of the joint found
  less that of the labels that drew the rows, the share of draws where it is at or below the best
  of 2,000 collapsed Gibbs sweeps, swept to a mode, and the median time of a fit;
- tables: UCI tables from the folder DPMLITE_DATA (else those that scikit-learn ships), constant
  columns dropped, alpha 1, the paper's prior. Sum over the tables of the median joint over seeds
  less the best joint that any line found, and the sum of the median times;
- unequal: overlapping clusters of unequal sizes, 10,000 x 8. The mean of the joint less the best
  that any line or a start from the true parameters' labels found, and the mean time;
- bits: five clusters with chances drawn at random, 10,000 x 10, likewise.

All joints are in nats; lower is better.
"""

import argparse
import contextlib
import functools
import os
import time
from pathlib import Path

import numpy as np

from dpmlite import MAPDPM, families, moves, sweeps
from dpmlite.datasets import crp_mixture, unequal_gaussians
from dpmlite.partition import Partition
from dpmlite.search import (
    exchange,
    merge_and_split,
    reseeding,
    restart_from_sample,
    sampled_start,
    samples,
    seeded_descents,
)

PAPER = {
    "alpha": 3.0,
    "prior": {"m0": np.full(2, 1.0), "c0": 0.1, "a0": 1.0, "b0": np.full(2, 10.0)},
}
BITS = {"component": "beta-bernoulli"}
GIBBS_SWEEPS = 2000
UCI = ("iris", "wine", "wbc_original_683", "soybean_large_266", "parkinsons", "pima", "vehicle")
SHIPPED = ("iris", "wine", "breast_cancer")  # with scikit-learn
TABLE_SEEDS = 5
NO_SPLITS = {(moves, "split"): lambda partition, uniforms, thorough=False: 0}
NO_EXCHANGES = {(moves, "exchange"): lambda partition, uniforms: 0}

FEWER_DESCENTS = {
    (sampled_start, "MAX_FAILURES"): 1,
    (sampled_start, "MAX_FAILURES_PER_COLUMN"): 1,
    (sampled_start, "MOST_FAILURES"): 10,
}
MORE_DESCENTS = {
    (sampled_start, "MAX_FAILURES"): 4,
    (sampled_start, "MAX_FAILURES_PER_COLUMN"): 6,
    (sampled_start, "MOST_FAILURES"): 60,
    (sampled_start, "MAX_DESCENTS"): 120,
}

# What a line changes: parameters of MAPDPM, and names of modules.
CHOICES = {
    "algorithm 1 to the letter": ({"init": "single", "split_merge": False}, {}),
    "singletons, only sweeps": ({"init": "singletons", "split_merge": False}, {}),
    "from one cluster": ({"init": "single"}, {}),
    "from singletons": ({"init": "singletons"}, {}),
    "from one pass": ({"init": "sequential"}, {}),
    "from random labels": ({"init": "random"}, {}),
    "default": ({}, {}),
    "default, 10 restarts": ({"n_init": 10}, {}),
    "32 seeds": ({}, {(seeded_descents, "N_SEEDS"): 32}),
    "256 seeds": ({}, {(seeded_descents, "N_SEEDS"): 256}),
    "descents to their end": ({}, {(seeded_descents, "DESCENT_SWEEPS"): 1000}),
    "fewer descents": ({}, FEWER_DESCENTS),
    "twice the descents": ({}, MORE_DESCENTS),
    "sample of 4,000 rows": ({}, {(samples, "SAMPLE_ROWS"): 4000}),
    "twice the attempts to reseed": ({}, {(reseeding, "MAX_ATTEMPTS"): 12}),
    "no other samples": ({}, {(restart_from_sample, "MAX_FAILURES"): 0}),
    "no reseeding": ({}, {(reseeding, "MAX_ATTEMPTS"): 0}),
    "no splits": ({}, NO_SPLITS),
    "no exchanges": ({}, NO_EXCHANGES),
    "4 seeds of splits, 9 exchanges": (
        {},
        {
            (merge_and_split, "N_SPLIT_SEEDS"): 4,
            (exchange, "N_NEIGHBOURS"): 3,
            (exchange, "N_EXCHANGE_SEEDS"): 3,
        },
    ),
}


@contextlib.contextmanager
def changed(names):
    """Names of modules or classes set to other values for a while."""
    before = {key: getattr(*key) for key in names}
    try:
        for key, value in names.items():
            setattr(*key, value)
        yield
    finally:
        for key, value in before.items():
            setattr(*key, value)


@functools.cache
def paper_draw(seed):
    """Rows of section 4.1, and the joint of the labels that drew them."""
    X, labels = crp_mixture(alpha=PAPER["alpha"], random_state=seed)
    return X, paper_partition(X, labels).neg_log_joint


def paper_partition(X, labels):
    family = families.NormalGamma(**PAPER["prior"])
    return Partition(X, labels.astype(np.intp), family, PAPER["alpha"])


@functools.cache
def best_of_gibbs(seed):
    """The best joint of GIBBS_SWEEPS collapsed Gibbs sweeps from one cluster, swept to a mode.

    Returns that joint and the seconds of the sweeps.
    """
    X, _ = paper_draw(seed)
    rng = np.random.default_rng(seed)
    partition = paper_partition(X, np.zeros(len(X)))
    best, labels = np.inf, None
    uniforms = rng.random((GIBBS_SWEEPS, len(X)))
    begin = time.perf_counter()
    for u in uniforms:
        sweeps.gibbs_sweep(partition, u)
        if partition.neg_log_joint < best:
            best, labels = partition.neg_log_joint, np.array(partition.labels)
    elapsed = time.perf_counter() - begin
    mode = paper_partition(X, labels)
    sweeps.converge(mode, 1000)
    return mode.neg_log_joint, elapsed


@functools.cache
def tables():
    """Name and rows of each table at hand."""
    folder = os.environ.get("DPMLITE_DATA")
    if folder:
        read = functools.partial(np.genfromtxt, delimiter=",", skip_header=1)
        found = {name: read(Path(folder) / f"{name}.csv")[:, :-1] for name in UCI}
    else:
        from sklearn import datasets

        found = {name: getattr(datasets, f"load_{name}")().data for name in SHIPPED}
    return {name: np.ascontiguousarray(X[:, np.ptp(X, axis=0) > 0.0]) for name, X in found.items()}


@functools.cache
def unequal(seed):
    """10,000 rows of a mixture, and the labels that its parameters give them."""
    mixture = unequal_gaussians(8, 20, random_state=seed)
    X, _ = mixture.sample(10_000, random_state=seed)
    return X, mixture.predict(X)


@functools.cache
def bits(seed):
    """10,000 rows of bits, and the labels that drew them."""
    rng = np.random.default_rng(seed)
    chances, labels = rng.random((5, 10)), rng.integers(5, size=10_000)
    return (rng.random((10_000, 10)) < chances[labels]).astype(float), labels


def fit(X, **parameters):
    """The joint found, and the seconds that took."""
    begin = time.perf_counter()
    model = MAPDPM(**{"random_state": 0, "prior": "paper", **parameters}).fit(X)
    return model.neg_log_joint_, time.perf_counter() - begin


def measure(name, n_draws, n_unequal, n_bits):
    """Joints and seconds of one choice: arrays by kind of table."""
    parameters, names = CHOICES[name]
    with changed(names):
        paper = [fit(paper_draw(seed)[0], **PAPER, **parameters) for seed in range(n_draws)]
        uci = [
            [fit(X, random_state=seed, **parameters) for seed in range(TABLE_SEEDS)]
            for X in tables().values()
        ]
        large = {
            "unequal": [fit(unequal(seed)[0], **parameters) for seed in range(n_unequal)],
            "bits": [fit(bits(seed)[0], **BITS, **parameters) for seed in range(n_bits)],
        }
    large = {kind: np.array(found) for kind, found in large.items()}
    return {"paper": np.array(paper), "tables": np.array(uci), **large}


def print_table(n_draws, n_unequal, n_bits):
    references = np.array([best_of_gibbs(seed) for seed in range(n_draws)])
    truth = np.array([paper_draw(seed)[1] for seed in range(n_draws)])
    by_truth = {
        "unequal": [fit(X, init=labels)[0] for X, labels in map(unequal, range(n_unequal))],
        "bits": [fit(X, init=labels, **BITS)[0] for X, labels in map(bits, range(n_bits))],
    }
    found = {name: measure(name, n_draws, n_unequal, n_bits) for name in CHOICES}
    best_tables = np.min([f["tables"][..., 0].min(axis=1) for f in found.values()], axis=0)
    best_large = {
        kind: np.min([joints, *(f[kind][:, 0] for f in found.values())], axis=0)
        for kind, joints in by_truth.items()
    }

    print(
        f"section 4.1: {n_draws} draws; tables: {', '.join(tables())}; "
        f"unequal: {n_unequal} draws; bits: {n_bits}"
    )
    print(f"{'':<31}  ------ section 4.1 ------  --- tables ----  --- unequal ---  ---- bits -----")
    print(f"{'':<31}    joint  <= Gibbs       ms" + 3 * "    joint       ms")
    gap = references[:, 0] - truth
    print(
        f"{'best of 2,000 Gibbs sweeps':<31} {gap.mean():>8.2f} {'':>9} "
        f"{1e3 * np.median(references[:, 1]):>8.1f}"
    )
    for name, f in found.items():
        joints, seconds = f["paper"].T
        no_worse = np.mean(joints <= references[:, 0] + 1e-6)
        lost = np.median(f["tables"][..., 0], axis=1) - best_tables
        print(
            f"{name:<31} {np.mean(joints - truth):>8.2f} {no_worse:>9.2f} "
            f"{1e3 * np.median(seconds):>8.1f} {lost.sum():>8.1f} "
            f"{1e3 * np.median(f['tables'][..., 1], axis=1).sum():>8.1f}",
            *(
                f"{np.mean(f[kind][:, 0] - best):>8.1f} {1e3 * f[kind][:, 1].mean():>8.1f}"
                for kind, best in best_large.items()
            ),
            flush=True,
        )


class Section41:
    """What the default finds on draws of section 4.1: a step is a change of the algorithm."""

    n_draws = 20

    def setup(self):
        self.draws = [paper_draw(seed) for seed in range(self.n_draws)]

    def time_fit(self):
        fit(self.draws[0][0], **PAPER)

    def track_joint(self):
        return float(np.mean([fit(X, **PAPER)[0] - truth for X, truth in self.draws]))

    track_joint.unit = "nats above the joint of the labels that drew the rows"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--draws", type=int, default=100, help="of section 4.1 (default: 100)")
    parser.add_argument("--unequal", type=int, default=12, help="mixtures (default: 12)")
    parser.add_argument("--bits", type=int, default=12, help="tables (default: 12)")
    arguments = parser.parse_args()
    print_table(arguments.draws, arguments.unequal, arguments.bits)
