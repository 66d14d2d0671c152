"""What it costs not to be told the number of clusters: MAPDPM beside its peers.

Each fit runs in a fresh process on one thread, a peer's under a time limit; all models take the
same rows, one after the other, in each round with another seed. Times are medians over the rounds,
other figures means. Rows that no model has seen give the density.

- KMeans is told the true K: k-means++, n_init=1;
- BayesianGM, BayesianGaussianMixture, has diagonal covariances and twice the true K components. Its
  `score_samples` is the expectation of the log density under its variational posterior;
- HDBSCAN is scikit-learn's, with its defaults; rows that it calls noise count as one cluster;
- pdc-dp-means is told the price of a cluster that finds about K. Its last release, 0.0.8, needs
  scikit-learn 1.2 and numpy 1: DPMLITE_PDC_PYTHON may name an interpreter that has them. Where its
  wheel does not fit them, it writes a traceback whenever a cluster is empty, which costs it time.

By hand, `python asv_benchmarks/benchmarks/peers.py` prints the tables. MNIST is read from the
folder DPMLITE_DATA: `mnist_train.npz` with `X` (60,000 x 784) and `y`.
"""

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_mutual_info_score

from dpmlite.datasets import planted_gaussians, unequal_gaussians

if __package__:
    from .machine import machine
else:  # as a script
    from machine import machine

OURS = "MAPDPM"
PEERS = ("KMeans", "BayesianGM", "HDBSCAN", "pdc-dp-means")
CHILD = Path(__file__).with_name("peer_fit.py")
PYTHONS = {"pdc-dp-means": os.environ.get("DPMLITE_PDC_PYTHON", sys.executable)}
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
ROUNDS = 3
LIMIT = 180.0  # seconds of a process
MOST_TEST_ROWS = 10_000


class Table(NamedTuple):
    """Rows to fit and rows to test on, the labels of the former, and how many labels there are."""

    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray
    n_clusters: int


class LeftOutError(Exception):
    """There is no such table or figure here, and why."""


def split(X, labels, n_test, n_clusters):
    """The last rows are for testing; columns that are constant in the others are dropped."""
    train, test = X[:-n_test], X[-n_test:]
    varies = np.ptp(train, axis=0) > 0
    return Table(
        np.ascontiguousarray(train[:, varies]),
        np.ascontiguousarray(test[:, varies]),
        labels[:-n_test],
        n_clusters,
    )


def planted(n_rows, n_columns, n_clusters):
    """Round clusters of equal probability."""
    n_test = min(n_rows // 5, MOST_TEST_ROWS)
    X, labels = planted_gaussians(n_rows + n_test, n_columns, n_clusters, random_state=0)
    return split(X, labels, n_test, n_clusters)


def unequal(n_rows, n_columns, n_clusters):
    """Overlapping clusters of very unequal sizes and widths."""
    n_test = min(n_rows // 5, MOST_TEST_ROWS)
    mixture = unequal_gaussians(n_columns, n_clusters, random_state=0)
    X, labels = mixture.sample(n_rows + n_test, random_state=1)
    return split(X, labels, n_test, n_clusters)


def shuffled(X, labels, n_test):
    order = np.random.default_rng(0).permutation(len(X))
    return split(X[order], labels[order], n_test, len(np.unique(labels)))


def digits():
    """1,797 images of 8 x 8, which scikit-learn ships."""
    return shuffled(*load_digits(return_X_y=True), 360)


def mnist():
    """MNIST's 60,000 training images in their first 50 principal components."""
    if "DPMLITE_DATA" not in os.environ:
        raise LeftOutError("set DPMLITE_DATA to a folder with mnist_train.npz")
    with np.load(Path(os.environ["DPMLITE_DATA"]) / "mnist_train.npz") as file:
        X, labels = file["X"] / 255.0, file["y"]
    return shuffled(PCA(50, random_state=0).fit_transform(X), labels, MOST_TEST_ROWS)


TABLES = {
    "10k x 2, K = 20": functools.partial(planted, 10_000, 2, 20),
    "10k x 8, K = 20": functools.partial(planted, 10_000, 8, 20),
    "100k x 16, K = 50": functools.partial(planted, 100_000, 16, 50),
    "1M x 8, K = 100": functools.partial(planted, 1_000_000, 8, 100),
    "unequal, 10k x 8, K = 20": functools.partial(unequal, 10_000, 8, 20),
    "unequal, 100k x 16, K = 50": functools.partial(unequal, 100_000, 16, 50),
    "digits, 1.4k x 61": digits,
    "MNIST, 50k x 50": mnist,
}


def fit_once(table, folder, name, seed, limit):
    """The figures of one fit; a LeftOutError says why there are none. Ours may take its time."""
    folder = Path(folder)
    python = PYTHONS.get(name, sys.executable)
    command = [python, CHILD, folder, name, str(table.n_clusters), str(seed)]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **ONE_THREAD},
            capture_output=True,
            text=True,
            timeout=None if name == OURS else limit,
        )
    except subprocess.TimeoutExpired:
        raise LeftOutError(f"more than {limit:g} s") from None
    if done.returncode:
        raise LeftOutError((done.stderr.strip().splitlines() or ["killed"])[-1])
    labels = np.load(folder / "labels.npy")
    figures = json.loads(done.stdout)
    figures["ami"] = float(adjusted_mutual_info_score(table.labels, labels))
    figures["clusters"] = len(np.unique(labels[labels >= 0]))
    return figures


def summary(rounds):
    """The median of the times, the means of all else."""
    means = {
        key: None if rounds[0][key] is None else statistics.fmean(r[key] for r in rounds)
        for key in rounds[0]
    }
    return means | {"seconds": statistics.median(r["seconds"] for r in rounds)}


def measure(make, *, models=(OURS, *PEERS), rounds=ROUNDS, limit=LIMIT, report=lambda *_: None):
    """Figures of each model on one table, or a LeftOutError; fits of a round follow each other."""
    table, found = make(), {name: [] for name in models}
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "train.npy", table.train)
        np.save(Path(folder) / "test.npy", table.test)
        for seed in range(rounds):
            for name in [name for name in models if isinstance(found[name], list)]:
                try:
                    found[name].append(fit_once(table, folder, name, seed, limit))
                except LeftOutError as reason:
                    found[name] = reason
                report(name, seed, found[name])
    return {
        name: summary(rounds) if isinstance(rounds, list) else rounds
        for name, rounds in found.items()
    }


class Peers:
    """A small part of the table, for asv."""

    tables = ("10k x 2, K = 20", "10k x 8, K = 20", "digits, 1.4k x 61")
    peers = ("KMeans", "BayesianGM")
    params = (tables, peers)
    param_names = ("table", "peer")
    timeout = 900

    def setup_cache(self):
        return {table: measure(TABLES[table], models=(OURS, *self.peers)) for table in self.tables}

    def track_time_ratio(self, measured, table, peer):
        return measured[table][OURS]["seconds"] / measured[table][peer]["seconds"]

    def track_ami_above(self, measured, table, peer):
        return measured[table][OURS]["ami"] - measured[table][peer]["ami"]

    def track_memory_ratio(self, measured, table, peer):
        return measured[table][OURS]["megabytes"] / measured[table][peer]["megabytes"]

    setup_cache.timeout = 900
    track_time_ratio.unit = "time of MAPDPM / time of the peer"
    track_ami_above.unit = "adjusted mutual information, less the peer's"
    track_memory_ratio.unit = "peak above the rows / the peer's"


def number(value):
    """Three digits, and no more than there is room for."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def grid(title, measured, cell):
    """A line for each table, a column for each model."""
    print(f"\n{title}\n{'':<26}" + "".join(f"{name:>13}" for name in (OURS, *PEERS)))
    for table, figures in measured.items():
        cells = [
            "-" if isinstance(figures[name], LeftOutError) else cell(name, figures)
            for name in (OURS, *PEERS)
        ]
        print(f"{table:<26}" + "".join(f"{text:>13}" for text in cells))


def ratio(name, figures):
    """Our seconds, and our time as a multiple of a peer's."""
    if isinstance(figures[OURS], LeftOutError):
        return "-"
    seconds = figures[OURS]["seconds"]
    return f"{number(seconds)} s" if name == OURS else number(seconds / figures[name]["seconds"])


def figure(key):
    return lambda name, figures: number(figures[name][key])


def density(name, figures):
    value = figures[name]["density"]
    return "-" if value is None else f"{value:.2f}"


def left_out(measured, absent):
    """Each reason once, with the tables that it holds for."""
    tables = {}
    for table, figures in measured.items():
        for name, found in figures.items():
            if isinstance(found, LeftOutError):
                tables.setdefault(f"{name}: {found}", []).append(table)
    for table, reason in absent.items():
        tables.setdefault(f"all models: {reason}", []).append(table)
    for reason, names in tables.items():
        print(f"left out: {reason}: {'; '.join(names)}")


def progress(table):
    def report(name, seed, found):
        last = found if isinstance(found, LeftOutError) else found[-1]
        print(f"{table}, {name}, round {seed + 1}: {last}", file=sys.stderr, flush=True)

    return report


def main():
    """Print the tables, and what was left out."""
    parser = argparse.ArgumentParser(description="MAPDPM beside its peers.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of one process")
    parser.add_argument("--tables", default="", help="only those whose name has this part")
    arguments = parser.parse_args()
    measured, absent = {}, {}
    for table, make in TABLES.items():
        if arguments.tables in table:
            try:
                measured[table] = measure(
                    make, rounds=arguments.rounds, limit=arguments.limit, report=progress(table)
                )
            except LeftOutError as reason:
                absent[table] = reason
    print(machine())
    grid("time of MAPDPM / time of the peer", measured, ratio)
    grid("adjusted mutual information with the true labels", measured, figure("ami"))
    grid("mean log density of new rows", measured, density)
    grid("peak memory above the rows, MB", measured, figure("megabytes"))
    grid("clusters", measured, figure("clusters"))
    print()
    left_out(measured, absent)


if __name__ == "__main__":
    main()
