"""Prediction: the kernels that score new rows against every cluster."""

import numpy as np

from .common import empirical_prior, load_twin, partition, planted_table

N_ROWS, N_CLUSTERS = 10_000, 50


class Score:
    """10,000 rows against 50 clusters and a new one."""

    params = ((2, 8, 16, 64),)
    param_names = ("columns",)

    def setup(self, n_columns):
        self.kernel = load_twin("inference", "prediction", "cython")
        self.X, labels = planted_table(N_ROWS, n_columns, N_CLUSTERS)
        self.clusters = partition(self.X, labels, empirical_prior(self.X)).component

    def time_assign(self, n_columns):
        self.kernel.assign(self.X, self.clusters, 1.0, np.empty(N_ROWS, dtype=np.intp))

    def time_log_density(self, n_columns):
        self.kernel.log_density(self.X, self.clusters, 1.0, np.empty(N_ROWS))
