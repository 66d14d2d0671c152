"""Every component family: one sweep of a partition that has converged, and whole fits."""

import functools
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from dpmlite import MAPDPM, sweeps
from dpmlite.datasets import dpm_sample
from dpmlite.estimators.priors import FAMILIES
from dpmlite.partition import Partition

from .common import with_gaps

N_ROWS, ALPHA, ROW_TOTAL = 2_000, 3.0, 40
MAX_SWEEPS = 1000


class Table(NamedTuple):
    """A family, the prior that draws rows from it, and how they are stored."""

    component: str
    n_columns: int
    prior: dict
    missing: bool = False
    sparse: bool = False


REAL = {"m0": 0.0, "c0": 0.1, "a0": 2.0, "b0": 2.0}
BINARY = {"a0": 0.5, "b0": 0.5}
TABLES = {
    "normal-gamma": Table("normal-gamma", 8, REAL),
    "normal-gamma, missing cells": Table("normal-gamma", 8, REAL, missing=True),
    "normal-inverse-wishart": Table(
        "normal-inverse-wishart", 8, {"m0": 0.0, "kappa0": 0.1, "nu0": 12.0, "psi0": 4 * np.eye(8)}
    ),
    "normal-known-variance": Table(
        "normal-known-variance", 8, {"m0": 0.0, "sigma2": 1.0, "tau2": 9.0}
    ),
    "dirichlet-multinomial": Table("dirichlet-multinomial", 30, {"beta0": 0.5}),
    "dirichlet-multinomial, sparse": Table(
        "dirichlet-multinomial", 1000, {"beta0": 0.05}, sparse=True
    ),
    "beta-bernoulli": Table("beta-bernoulli", 30, BINARY),
    "beta-bernoulli, missing cells": Table("beta-bernoulli", 30, BINARY, missing=True),
}


@functools.cache
def drawn(name):
    """A table as users have it, and the labels that drew it."""
    table = TABLES[name]
    X, labels = dpm_sample(
        N_ROWS,
        table.n_columns,
        component=table.component,
        alpha=ALPHA,
        prior=table.prior,
        row_total=ROW_TOTAL,
        random_state=0,
    )
    X = with_gaps(X) if table.missing else X
    return csr_array(X) if table.sparse else X, labels


WEIGHTS = np.random.default_rng(0).integers(1, 4, N_ROWS)


class Families:
    params = (tuple(TABLES),)
    param_names = ("table",)

    def setup(self, name):
        self.table = TABLES[name]
        self.X, self.labels = drawn(name)

    def partition(self):
        """The rows with the labels that drew them."""
        family, missing = FAMILIES[self.table.component], self.table.missing
        prior = family.full_prior(self.table.prior, self.table.n_columns)
        rows = family.read(self.X, missing).rows()
        return Partition(rows, self.labels.copy(), family.component(prior, missing), ALPHA)


class Sweep(Families):
    """A sweep that moves no row, so that it can be repeated."""

    def setup(self, name):
        super().setup(name)
        self.state = self.partition()
        sweeps.converge(self.state, MAX_SWEEPS)
        if sweeps.sweep(self.state):
            raise RuntimeError(f"rows still move after {MAX_SWEEPS} sweeps")

    def time_sweep(self, name):
        sweeps.sweep(self.state)


class Fit(Families):
    def fit(self, weights=None):
        model = MAPDPM(
            component=self.table.component,
            alpha=ALPHA,
            prior=self.table.prior,
            allow_missing=self.table.missing,
            random_state=0,
        )
        return model.fit(self.X, sample_weight=weights)

    def time_fit(self, name):
        self.fit()

    def time_weighted_fit(self, name):
        self.fit(WEIGHTS)

    def track_neg_log_joint(self, name):
        return self.fit().neg_log_joint_

    track_neg_log_joint.unit = "nats"
