"""Data that arrives in pieces: how near one pass of `partial_fit` comes to `fit`, and its price.

By hand, `python asv_benchmarks/benchmarks/pieces.py` prints a line for each table and size of
batches: the joint of the labels that `predict` gives all rows after one shuffled pass, less that of
`fit`, in percent of it (the worst of several shuffles); clusters; and the time of the pass in times
of `fit`. The joint is that of all rows under the prior that `fit` takes. Digits are those of the
folder DPMLITE_DATA (digits.csv), else those that scikit-learn ships. The last lines show the same
for `merge_models` of models of as many equal parts.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

import dpmlite
from dpmlite import MAPDPM, merge_models
from dpmlite.datasets import planted_gaussians, unequal_gaussians

BATCHES = (500, 5000)
N_PARTS = 4


def digits():
    """Pixels of handwritten digits, constant columns dropped."""
    folder = os.environ.get("DPMLITE_DATA")
    if folder:
        X = np.genfromtxt(Path(folder) / "digits.csv", delimiter=",", skip_header=1)[:, :-1]
    else:
        from sklearn.datasets import load_digits

        X = load_digits().data
    return np.ascontiguousarray(X[:, np.ptp(X, axis=0) > 0.0])


def planted(n_rows, n_columns, n_clusters):
    return planted_gaussians(n_rows, n_columns, n_clusters, random_state=0)[0]


TABLES = {
    "10,000 x 2, 20 clusters": lambda: planted(10_000, 2, 20),
    "10,000 x 8, 20 clusters": lambda: planted(10_000, 8, 20),
    "100,000 x 16, 50 clusters": lambda: planted(100_000, 16, 50),
    "digits": digits,
    "10,000 x 8, unequal": lambda: unequal_gaussians(8, 20, random_state=0).sample(
        10_000, random_state=0
    )[0],
}


def one_pass(X, size):
    """A model that has seen all rows in batches."""
    model = MAPDPM(prior="paper", random_state=0)
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size])
    return model


def in_parts(X, n_parts):
    """A model merged of models of equal parts."""
    parts = np.array_split(X, n_parts)
    return merge_models(*(MAPDPM(prior="paper", random_state=0).fit(part) for part in parts))


def joint(model, X):
    """The joint of the labels that a model predicts; each row of new clusters is one."""
    labels = model.predict(X)
    new = np.flatnonzero(labels < 0)
    labels[new] = labels.max() + 1 + np.arange(len(new))
    return dpmlite.neg_log_joint(X, labels, alpha=1.0)


def print_table(n_shuffles):
    print(f"{'':<26} {'':>8}  {'joint':>8} {'clusters':>9} {'(fit)':>6} {'time':>6}")
    ways = [(f"{size:,}", one_pass, size) for size in BATCHES]
    ways.append((f"{N_PARTS} models", in_parts, N_PARTS))
    for name, make in TABLES.items():
        X = make()
        begin = time.perf_counter()
        fitted = MAPDPM(prior="paper", random_state=0).fit(X)
        whole = time.perf_counter() - begin
        for label, learn, number in ways:
            above, clusters, seconds = [], [], []
            for seed in range(n_shuffles):
                shuffled = X[np.random.default_rng(seed).permutation(len(X))]
                begin = time.perf_counter()
                model = learn(shuffled, number)
                seconds.append(time.perf_counter() - begin)
                above.append(joint(model, X) / fitted.neg_log_joint_ - 1.0)
                clusters.append(model.n_clusters_)
            worst = int(np.argmax(above))
            print(
                f"{name:<26} {label:>8} {100.0 * above[worst]:>7.3f}% {clusters[worst]:>9} "
                f"{fitted.n_clusters_:>6} {np.median(seconds) / whole:>6.1f}",
                flush=True,
            )


class Pieces:
    """A pass in batches of 500."""

    def setup(self):
        self.X = planted(10_000, 8, 20)

    def time_pass(self):
        one_pass(self.X, 500)

    def track_joint_above_fit(self):
        return (
            joint(one_pass(self.X, 500), self.X)
            - MAPDPM(prior="paper", random_state=0).fit(self.X).neg_log_joint_
        )

    track_joint_above_fit.unit = "nats"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--shuffles", type=int, default=3, help="of each table (default: 3)")
    print_table(parser.parse_args().shuffles)
