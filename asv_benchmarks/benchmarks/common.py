"""What the benchmarks share: tables, partitions of them, and both twins of an algorithm."""

import functools
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from dpmlite.datasets import crp_mixture, planted_gaussians

TWINS = ("python", "cython")

#: The prior that section 4.1 of the paper draws its tables from.
PAPER_PRIOR = {"m0": np.full(2, 1.0), "c0": 0.1, "a0": 1.0, "b0": np.full(2, 10.0)}
PAPER_ALPHA = 3.0


@functools.cache
def paper_table(random_state=0):
    """600 rows of section 4.1, and the labels that drew them."""
    return crp_mixture(alpha=PAPER_ALPHA, random_state=random_state)


@functools.cache
def planted_table(n_rows, n_columns, n_clusters):
    """Round clusters, and the labels that drew them."""
    return planted_gaussians(n_rows, n_columns, n_clusters, random_state=0)


PACKAGES = ("core", "families", "partition", "sweeps", "moves", "algorithms")


def with_gaps(X, share=0.1):
    """The table without a share of its cells."""
    return np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X)


def empirical_prior(X):
    """The default prior of `MAPDPM`: section 4.2 of the paper."""
    return {"m0": X.mean(axis=0), "c0": 10.0 / len(X), "a0": 1.0, "b0": X.var(axis=0)}


def load_twin(module, implementation):
    """A module of one implementation: `dpmlite.PACKAGE.x`, or its kernel `dpmlite.PACKAGE._x`."""
    prefix = "" if implementation == "python" else "_"
    package = next(name for name in PACKAGES if find_spec(f"dpmlite.{name}.{module}"))
    return import_module(f"dpmlite.{package}.{prefix}{module}")


def partition(X, labels, prior, alpha=1.0, implementation="cython"):
    """A partition of one implementation, with labels of its own."""
    family = load_twin("normal_gamma", implementation).NormalGamma
    state = load_twin("partition", implementation).Partition
    return state(X, np.array(labels, dtype=np.intp), family(**prior), alpha)
