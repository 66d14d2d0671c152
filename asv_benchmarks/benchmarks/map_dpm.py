"""Sweeps: the paper's algorithm to the letter on both twins, and one sweep of larger tables."""

import numpy as np

from .common import (
    PAPER_ALPHA,
    PAPER_PRIOR,
    TWINS,
    empirical_prior,
    load_twin,
    paper_table,
    partition,
    planted_table,
)

# Most draws of section 4.1 need one or two sweeps from one cluster. This one needs 12.
LONG_DRAW = 4

WARM_SWEEPS = 3


class LiteralFit:
    """Algorithm 1 on 600 rows of section 4.1: from one cluster until no row moves."""

    params = (TWINS,)
    param_names = ("implementation",)

    def setup(self, implementation):
        self.X, _ = paper_table(LONG_DRAW)
        self.converge = load_twin("map_dpm", implementation).converge

    def fit(self, implementation):
        start = np.zeros(len(self.X), dtype=np.intp)
        state = partition(self.X, start, PAPER_PRIOR, PAPER_ALPHA, implementation)
        return self.converge(state, 1000)

    def time_fit(self, implementation):
        self.fit(implementation)

    def track_sweeps(self, implementation):
        return self.fit(implementation)

    track_sweeps.unit = "sweeps"


class Sweep:
    """The fourth sweep of the kernel from the labels that drew the rows."""

    params = (((10_000, 2, 20), (10_000, 8, 20), (100_000, 16, 50), (100_000, 64, 50)),)
    param_names = ("rows, columns, clusters",)
    number = 1  # a sweep changes the labels: each sample has a partition of its own
    warmup_time = 0.0

    def setup(self, shape):
        X, labels = planted_table(*shape)
        self.sweep = load_twin("map_dpm", "cython").sweep
        self.state = partition(X, labels, empirical_prior(X))
        for _ in range(WARM_SWEEPS):
            self.sweep(self.state)

    def time_sweep(self, shape):
        self.sweep(self.state)


class Normality:
    """The test of which clusters need not be divided, on those that drew the rows."""

    params = (((10_000, 2, 20), (100_000, 16, 50), (100_000, 64, 50)),)
    param_names = ("rows, columns, clusters",)

    def setup(self, shape):
        X, labels = planted_table(*shape)
        self.all_look_normal = load_twin("normality", "cython").all_look_normal
        self.state = partition(X, labels, empirical_prior(X))

    def time_all_look_normal(self, shape):
        self.all_look_normal(self.state)
