"""Why the default model is what it is: benchmark tables under other choices, and with peers.

The tables are of Gagolewski's battery (2022, "A framework for benchmarking clustering algorithms"),
of its folders `fcps`, `other`, `sipu` and `uci`: two- and three-dimensional drawings, and real
tables. They are read from the folder `battery` of DPMLITE_DATA: `NAME.data.gz` has the rows, each
`NAME.labelsJ.gz` a labeling. Label 0 is noise: such rows are fitted, but not compared. Of several
labelings the one counts that a result agrees with best. Rows are given as they are, not scaled.

By hand, `python asv_benchmarks/benchmarks/battery.py` prints, for every choice,

- the mean adjusted mutual information (AMI) over the tables that all choices finish, and over those
  of each folder;
- the share of these tables where the number of clusters is that of the labeling;
- the sum and the median of the times, in seconds of the process, on one thread;

then what three choices find in each table. `--choices` and `--tables` take parts of names, and
`--missing` a fraction of the cells that are made missing at random, which only `MAPDPM` takes.

KMeans and GaussianMixture are told the number of clusters. HDBSCAN's noise counts as one cluster in
the AMI, and as none in the number of clusters. Each fit runs in a process of its own, and ends
after `--limit` seconds of the processor.
"""

import argparse
import functools
import multiprocessing
import os
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from dpmlite import MAPDPM
from dpmlite.joining import density_clusters

if __package__:
    from .machine import machine
else:  # as a script
    from machine import machine

FOLDERS = ("fcps", "other", "sipu", "uci")
LIMIT = 60  # seconds of a fit
MAX_COMPONENTS = 50  # of BayesianGaussianMixture

# Parameters of MAPDPM, and names of its module, that a choice changes.
OURS = {
    "default": ({}, {}),
    'prior="paper"': ({"prior": "paper"}, {}),
    'prior="nll"': ({"prior": "nll"}, {}),
    "columns apart": ({"component": "normal-gamma"}, {}),
    "full covariance": ({"component": "normal-inverse-wishart"}, {}),
    "never joined": ({"join": False}, {}),
    "always joined": ({"join": True}, {}),
    "valleys of 0.3 nats": ({}, {"VALLEY_DEPTH": 0.3}),
    "valleys of 0.8 nats": ({}, {"VALLEY_DEPTH": 0.8}),
    "robustness=500": ({"robustness": 500}, {}),
    "robustness=1000": ({"robustness": 1000}, {}),
    "robustness=4000": ({"robustness": 4000}, {}),
    "robustness=None": ({"robustness": None}, {}),
}


def bayesian_mixture(n_rows, n_clusters):
    n_components = min(MAX_COMPONENTS, n_rows)
    return BayesianGaussianMixture(n_components=n_components, random_state=0)


def hdbscan(n_rows, n_clusters):
    return HDBSCAN(min_cluster_size=max(5, n_rows // 100), copy=True)


PEERS = {
    "KMeans, told K": lambda n_rows, n_clusters: KMeans(n_clusters, n_init=10, random_state=0),
    "GaussianMixture, told K": lambda n_rows, n_clusters: GaussianMixture(
        n_clusters, random_state=0
    ),
    "BayesianGaussianMixture": bayesian_mixture,
    "HDBSCAN": hdbscan,
    "HDBSCAN, scaled columns": lambda n_rows, n_clusters: make_pipeline(
        StandardScaler(), hdbscan(n_rows, n_clusters)
    ),
}
CHOICES = (*OURS, *PEERS)
SHOWN = ("default", 'prior="paper"', "HDBSCAN")  # in the list of tables


class Table(NamedTuple):
    """Rows, and their labelings."""

    X: np.ndarray
    labelings: list


class Found(NamedTuple):
    """What a fit found: the AMI and the true K of the best labeling, K, and seconds."""

    ami: float
    true: int
    clusters: int
    seconds: float


class LeftOutError(Exception):
    """There is no such figure, and why."""


def names_of_tables(part=""):
    """FOLDER/NAME of each table whose name has a part."""
    if "DPMLITE_DATA" not in os.environ:
        raise LeftOutError("set DPMLITE_DATA to a folder that has the folder battery")
    battery = Path(os.environ["DPMLITE_DATA"]) / "battery"
    paths = [path for name in FOLDERS for path in sorted((battery / name).glob("*.data.gz"))]
    names = [f"{path.parent.name}/{path.name.removesuffix('.data.gz')}" for path in paths]
    if not names:
        raise LeftOutError(f"there are no tables in {battery}")
    return [name for name in names if part in name]


@functools.cache
def table(name, missing=0.0):
    path = Path(os.environ["DPMLITE_DATA"]) / "battery" / f"{name}.data.gz"
    labelings = sorted(path.parent.glob(path.name.replace(".data.gz", ".labels*.gz")))
    X = np.loadtxt(path, ndmin=2)
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    return Table(X, [np.loadtxt(each).astype(np.intp) for each in labelings])


def estimator(choice, n_rows, n_clusters):
    if choice in PEERS:
        return PEERS[choice](n_rows, n_clusters)
    parameters, names = OURS[choice]
    vars(density_clusters).update(names)  # of this process only
    return MAPDPM(random_state=0, allow_missing=True, **parameters)


def labels_of(choice, X, n_clusters):
    """Labels, and the seconds that they took."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = np.random.default_rng(0).normal(size=(30, X.shape[1]))
        estimator(choice, len(first), 2).fit(first)  # loads what a fit needs
        model, begin = estimator(choice, len(X), n_clusters), time.process_time()
        labels = model.fit_predict(X)
        return labels, time.process_time() - begin


def compare(choice, name, missing=0.0):
    """What a choice finds in a table, by the labeling that it agrees with best."""
    X, labelings = table(name, missing)
    fits, found = {}, []
    for truth in labelings:
        n_clusters = len(np.unique(truth[truth > 0]))
        told = n_clusters if "told K" in choice else None
        if told not in fits:
            fits[told] = labels_of(choice, X, n_clusters)
        labels, seconds = fits[told]
        ami = adjusted_mutual_info_score(truth[truth > 0], labels[truth > 0])
        found.append(Found(ami, n_clusters, len(np.unique(labels[labels >= 0])), seconds))
    return max(found)


def _send(connection, limit, *what):
    import resource  # not on Windows

    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    try:
        connection.send(compare(*what))
    except Exception as error:  # what a fit refuses is a result
        connection.send(LeftOutError(f"{type(error).__name__}: {error}"))


def measure(choice, name, limit=LIMIT, missing=0.0):
    """`compare` in a process of its own, or a LeftOutError."""
    table(name, missing)  # read once, for all processes
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, limit, choice, name, missing))
    process.start()
    sender.close()
    try:
        found = receiver.recv()
    except EOFError:
        found = LeftOutError(f"more than {limit:g} s")
    process.join()
    return found


def print_summary(measured, names):
    """A line for each choice, over the tables that all of them finish."""
    finished = [
        name
        for name in names
        if not any(isinstance(found[name], LeftOutError) for found in measured.values())
    ]
    folders = [folder for folder in FOLDERS if any(name.startswith(folder) for name in finished)]
    print(f"{len(finished)} tables, which every choice finishes: mean AMI, K exact, seconds")
    print(f"{'':<24}   all" + "".join(f"{folder:>7}" for folder in folders), end="")
    print("   exact    total   median")
    for choice, found in measured.items():
        amis = {name: found[name].ami for name in finished}
        by_folder = [np.mean([amis[n] for n in finished if n.startswith(f)]) for f in folders]
        exact = np.mean([found[name].clusters == found[name].true for name in finished])
        seconds = [found[name].seconds for name in finished]
        print(
            f"{choice:<24} {np.mean(list(amis.values())):.3f}",
            "".join(f"{ami:>7.3f}" for ami in by_folder),
            f"{exact:>6.0%} {sum(seconds):>8.1f} {np.median(seconds):>8.3f}",
        )


def cell(found):
    return "-" if isinstance(found, LeftOutError) else f"{found.ami:.2f} ({found.clusters})"


def print_tables(measured, names):
    """What some choices find in each table."""
    shown = [choice for choice in SHOWN if choice in measured] or list(measured)[:3]
    print("\nAMI, and clusters found\n" + f"{'':<24}{'rows':>10}    K", end="")
    print("".join(f"{choice:>15}" for choice in shown))
    for name in names:
        X, labelings = table(name)
        sizes = sorted({len(np.unique(truth[truth > 0])) for truth in labelings})
        true = f"{sizes[0]}-{sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
        shape = f"{X.shape[0]} x {X.shape[1]}"
        cells = "".join(f"{cell(measured[choice][name]):>15}" for choice in shown)
        print(f"{name:<22}{shape:>12}{true:>5}{cells}")


def print_left_out(measured):
    print()
    for choice, found in measured.items():
        for name, reason in found.items():
            if isinstance(reason, LeftOutError):
                print(f"left out: {choice}, {name}: {reason}")


def main():
    """Print the tables, and what was left out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--choices", nargs="*", default=[""], help="only those with these parts")
    parser.add_argument("--tables", default="", help="only those whose name has this part")
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds of a fit (default: 60)")
    parser.add_argument("--missing", type=float, default=0.0, help="fraction of missing cells")
    arguments = parser.parse_args()
    chosen = [each for each in CHOICES if any(part in each for part in arguments.choices)]
    try:
        names = names_of_tables(arguments.tables)
    except LeftOutError as reason:
        sys.exit(f"left out: {reason}")
    measured = {choice: {} for choice in chosen}
    for name in names:
        for choice in chosen:
            measured[choice][name] = measure(choice, name, arguments.limit, arguments.missing)
            print(f"{name}, {choice}: {measured[choice][name]}", file=sys.stderr, flush=True)
    print(machine())
    print_summary(measured, names)
    print_tables(measured, names)
    print_left_out(measured)


class Battery:
    """What the default finds in the small tables, for asv."""

    max_rows = 1000

    def setup(self):
        try:
            names = names_of_tables()
        except LeftOutError as reason:
            raise NotImplementedError(reason) from None  # asv skips it
        self.names = [name for name in names if len(table(name).X) <= self.max_rows]

    def track_ami(self):
        return float(np.mean([compare("default", name).ami for name in self.names]))

    track_ami.unit = "mean adjusted mutual information"


if __name__ == "__main__":
    main()
