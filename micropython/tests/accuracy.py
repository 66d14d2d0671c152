"""How near the integer learner's costs and decisions are to those of float64. Prints a table.

    DPMLITE_DATA=FOLDER python3 micropython/tests/accuracy.py

Rows come in an order of chance, those of stm32_har recording after recording; 256 units are the
standard deviation of a column. Every decision is taken from the same state: the integer learner's
clusters.
"""

import math
import sys
from pathlib import Path

import numpy as np

from dpmlite import datasets

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "papers"))

from mapdpm_int import MAPDPM
from real_tables import MissingTableError, table_path
from reference import Reference

NATS = math.log(2) / 2**17
SHIPPED = ("draws", "sensors")
TABLES = ("iris", "wine", "quakes", "stm32_har")


def int_costs(learner, x):
    """Costs of all slots that are used, as the learner has them, in nats; -1: a new cluster."""
    # It leaves out what all slots share, and scales weights by 2^10, a too.
    shared = learner._dim * math.log(1024 * math.pi) / 2 + math.log(1024)
    clusters = len(learner.counts)
    found = {}
    for k in range(clusters + 1):
        i = k * learner._width
        n = learner._slots[i + 2]
        if n or k == clusters:
            cost = learner._cost(x, i, n)
            found[k if k < clusters else -1] = cost * NATS + shared
    return found


def state(learner, k):
    """Rows, sums and sums of squares that the learner holds of a cluster."""
    dim, i = learner._dim, k * learner._width
    sums = np.array(learner._slots[i + 3 : i + 3 * dim + 3], float).reshape(dim, 3)
    return learner._slots[i + 2], sums[:, 0], sums[:, 1]


def synchronise(reference, learner):
    """Give the reference the learner's clusters."""
    used = [k for k, n in enumerate(learner.counts) if n]
    reference.weights = {k: learner.counts[k] for k in used}
    reference.clusters = {k: state(learner, k) for k in used}


def rows_of(name):
    """Rows of a table or of draws, in an order of chance, as ints."""
    rng = np.random.default_rng(1)
    if name == "draws":
        X = datasets.crp_mixture(600, random_state=3)[0]
    elif name == "sensors":
        X = datasets.load_sensors()[0]
    else:
        columns = {"iris": range(4), "wine": range(4), "quakes": range(3), "stm32_har": range(4)}
        X = np.loadtxt(
            table_path(f"{name}.csv"),
            delimiter=",",
            skiprows=1,
            usecols=columns[name],
        )
    if name == "stm32_har":
        recordings = rng.permutation(np.unique(X[:, 0]))
        X = np.vstack([X[X[:, 0] == recording, 1:] for recording in recordings])[:5000]
    else:
        X = X[rng.permutation(len(X))]
    return np.clip(np.rint((X - X.mean(0)) / X.std(0) * 256), -2047, 2047).astype(int)


def accuracy(name):
    """Rows, share of equal decisions, mean and worst error of costs (nats), of surprise (bits)."""
    rows = rows_of(name)
    dim = rows.shape[1]
    prior = [0] * dim, [9000] * dim
    learner, reference = MAPDPM(dim, 60, *prior), Reference(*prior)
    equal, errors, surprises = 0, [], []
    for x in rows.tolist():
        costs, found = reference.costs(x), int_costs(learner, x)
        equal += learner.predict(x) == min(costs, key=costs.get)
        errors += [abs(found[k] - costs[k]) for k in costs]
        surprises.append(abs(learner.surprise(x) / 256 - reference.surprise(x)))
        k = learner.learn(x)
        reference.add(x, k)
        if learner._slots[k * learner._width + 2] < reference.clusters[k][0]:
            synchronise(reference, learner)  # it has forgotten half
    n = len(surprises)
    return n, equal / n, np.mean(errors), max(errors), np.mean(surprises), max(surprises)


if __name__ == "__main__":
    print("rows of         rows   equal   cost: mean    worst   surprise: mean    worst")
    for name in SHIPPED + TABLES:
        try:
            n, equal, *errors = accuracy(name)
        except MissingTableError as error:
            print(f"{name:<12} is left out: {error}")
            continue
        print(
            f"{name:<12} {n:>7} {equal:>7.1%}",
            "{:>12.4f} {:>8.3f} {:>16.4f} {:>8.3f}".format(*errors),
        )
