"""How long a fit takes beside KMeans and GaussianMixture that are told how many clusters it found.

Tables are real ones and drawn ones that are no normal clusters: those of `peers.py` are. Columns
are standardised. A fit of MAPDPM finds K components; KMeans (n_init=1) and GaussianMixture, with
diagonal or full covariance as the components have, are told K. Times are those of the processor,
on one thread, the least of ROUNDS fits.

By hand, `python asv_benchmarks/benchmarks/told_k.py` prints a line for each table and each choice,
and the median of the ratios. Tables that are no part of scikit-learn are read from the folder
DPMLITE_DATA, of which `tests/papers/real_tables.py` has the list; those that are not there are
left out.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_sample_image
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from dpmlite import MAPDPM

if __package__:
    from .machine import machine
else:  # as a script
    from machine import machine

ROUNDS = 3
WINDOW = 20  # rows of a window of the recordings
CHOICES = {
    "default": {},
    'prior="paper"': {"prior": "paper"},
    "full covariance": {"component": "normal-inverse-wishart"},
}


def columns_of(name, first, last):
    """Some columns of a table of DPMLITE_DATA, counted from its first; None if it is not there."""
    path = Path(os.environ.get("DPMLITE_DATA", "")) / f"{name}.csv"
    if not path.exists():
        return None
    with path.open(encoding="utf-8") as file:
        used = range(len(file.readline().split(",")))[first:last]
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=used)


def windows():
    """Means, deviations and ranges of the accelerations in windows."""
    rows = columns_of("stm32_har", 1, 4)
    if rows is None:
        return None
    parts = rows.reshape(-1, WINDOW, rows.shape[1])
    return np.hstack([parts.mean(axis=1), parts.std(axis=1), np.ptp(parts, axis=1)])


def photograph():
    """Colours of every third pixel of every third line."""
    return load_sample_image("china.jpg")[::3, ::3].reshape(-1, 3).astype(float)


def lognormal():
    return np.exp(np.random.default_rng(0).normal(size=(10_000, 5)))


TABLES = {
    "digits": lambda: load_digits().data,
    "spambase": lambda: columns_of("spambase", 0, -1),
    "vehicle": lambda: columns_of("vehicle", 0, -1),
    "abalone": lambda: columns_of("abalone", 1, -1),
    "accelerations": lambda: columns_of("stm32_har", 1, 4),
    "their windows": windows,
    "lognormal": lognormal,
    "uniform": lambda: np.random.default_rng(0).random((10_000, 2)),
    "photograph": photograph,
}


def standardised(X):
    """The columns that vary, in units of their deviations."""
    X = X[:, np.ptp(X, axis=0) > 0.0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def least_time(make, X):
    """Seconds of the processor for a fit, the least of ROUNDS, and the last model."""
    times = []
    for _ in range(ROUNDS):
        model, begin = make(), time.process_time()
        model.fit(X)
        times.append(time.process_time() - begin)
    return min(times), model


def covariance_of(model):
    """The covariance of a GaussianMixture whose components are as those of a fitted model."""
    names = model.component_.values() if isinstance(model.component_, dict) else [model.component_]
    return "full" if "normal-inverse-wishart" in names else "diag"


def compare(X, parameters):
    """Components, their covariance, seconds, and ratios to KMeans and GaussianMixture told K."""
    seconds, model = least_time(lambda: MAPDPM(random_state=0, **parameters), X)
    n_components, covariance = len(model.component_counts_), covariance_of(model)
    k_means, _ = least_time(lambda: KMeans(n_components, n_init=1, random_state=0), X)
    mixture, _ = least_time(
        lambda: GaussianMixture(n_components, covariance_type=covariance, random_state=0), X
    )
    return n_components, covariance, seconds, seconds / k_means, seconds / mixture


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tables", nargs="*", default=[""], help="only those with these parts")
    parser.add_argument("--choices", nargs="*", default=[""], help="only those with these parts")
    arguments = parser.parse_args()
    print(machine())
    for choice, parameters in CHOICES.items():
        if any(part in choice for part in arguments.choices):
            print_choice(choice, parameters, arguments.tables)


def print_choice(choice, parameters, parts):
    """A line for each table, and the median ratios."""
    print(f"\n{choice:<16}{'rows x columns':>16}    K       s  / KMeans  / GaussianMixture")
    ratios = []
    for name, make in TABLES.items():
        X = make() if any(part in name for part in parts) else None
        if X is None:
            continue
        X = standardised(X)
        found, covariance, seconds, *both = compare(X, parameters)
        ratios.append(both)
        shape = f"{X.shape[0]:,} x {X.shape[1]}"
        print(f"{name:<16}{shape:>16}{found:>5}{seconds:>8.3f}", end="")
        print(f"{both[0]:>10.1f}{both[1]:>8.2f} ({covariance})", flush=True)
    if ratios:
        medians = np.median(ratios, axis=0)
        print(f"{'median':<45}{medians[0]:>10.1f}{medians[1]:>8.2f}")


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
