"""What the tests of fitted hyperparameters of both normal families share."""

import numpy as np

from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
from dpmlite.estimators.empirical_bayes.column_scales import ColumnScales
from dpmlite.estimators.inputs.data import Data


def drawn_table(seed, missing=False, weighted=False):
    """Rows of three clusters of 3 columns, their labels and, maybe, gaps and weights."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(3), rng.integers(0, 3, size=rng.integers(5, 30))])
    centres, widths = rng.normal(scale=4.0, size=(3, 3)), rng.uniform(0.3, 2.0, size=3)
    X = centres[labels] + widths * rng.normal(size=(len(labels), 3))
    if missing:
        X[rng.random(X.shape) < 0.3] = np.nan
        X[:3] = centres  # no column is without a value
    weights = rng.uniform(0.5, 3.0, size=len(X)) if weighted else None
    return Data(X.shape, X, weights=weights), labels


def sums_and_scales(table, labels, power=1.0):
    return ClusterSums.of(table, labels, power), ColumnScales.of(table)


def marginals(component, table, labels, power=1.0):
    """Sum over clusters of log marginals, by placing their rows one after the other."""
    weights = np.ones(table.shape[0]) if table.weights is None else table.weights
    component.resize(1)
    total = 0.0
    for label in np.unique(labels):
        component.clear(0)
        for i in np.flatnonzero(labels == label):
            row = table.values[i].tolist()
            total += component.log_predictive(row, 0, power * weights[i])
            component.add(row, 0, power * weights[i])
    return total


def by_differences(objective, x):
    """The gradient by central differences."""
    steps = 1e-5 * np.eye(len(x))
    return np.array([objective(x + h)[0] - objective(x - h)[0] for h in steps]) / 2e-5


def with_gradient(function):
    """A function that returns its value and its gradient, of one that writes the gradient."""

    def evaluated(x):
        x = np.asarray(x, dtype=float)
        gradient = np.full(len(x), np.nan)
        return function(x, gradient), gradient

    return evaluated
