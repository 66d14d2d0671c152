"""Bayesian hierarchical clustering: time, memory and bounds of whole trees.

`python3 asv_benchmarks/benchmarks/bhc.py` prints how the time grows, and how many times faster the
kernel is than its plain twin, whose time is extrapolated by N^2 from small tables.
"""

import time

import numpy as np

from dpmlite import BayesianHierarchicalClustering
from dpmlite.datasets import planted_gaussians

if __package__:
    from .common import load_twin
else:  # as a script
    from common import load_twin

N_COLUMNS, N_CLUSTERS = 8, 10
SIZES = (500, 2_000, 5_000)
SMALL, LARGE = 300, 2_000
METHODS = {
    "exact": None,
    "bayes-kmeans": "bayes-kmeans",
    "map-dpm": "map-dpm",
    "randomized": "randomized",
}
MAX_EXACT = 20_000


def table(n_rows):
    """Round clusters, and a prior that expects them."""
    X, _ = planted_gaussians(n_rows, N_COLUMNS, N_CLUSTERS, random_state=0)
    prior = {"m0": X.mean(axis=0), "c0": 10.0 / n_rows, "a0": 1.0, "b0": X.var(axis=0) / 16.0}
    return X, prior


def stretched_table(n_rows):
    """The clusters stretched along a common direction, and a prior that expects that."""
    X, _ = planted_gaussians(n_rows, N_COLUMNS, N_CLUSTERS, random_state=0)
    X = X + 2.0 * np.random.default_rng(1).normal(size=(n_rows, 1))
    psi0 = np.cov(X.T) / 16.0
    return X, {"m0": X.mean(axis=0), "kappa0": 10.0 / n_rows, "nu0": 10.0, "psi0": psi0}


def model(prior, method="exact", **parameters):
    return BayesianHierarchicalClustering(
        prior=prior, approximate=METHODS[method], random_state=0, **parameters
    )


def grow(n_rows, implementation):
    """Processor seconds of a whole tree by one implementation."""
    X, prior = table(n_rows)
    family = load_twin("normal_gamma", implementation).NormalGamma(**prior)
    forest = load_twin("bhc", implementation).Forest
    start = time.process_time()
    forest(X, np.arange(n_rows), family, 1.0).grow(2 * n_rows)
    return time.process_time() - start


def times_as_fast():
    """The plain twin's seconds at 2,000 rows, extrapolated, by the kernel's."""
    plain = grow(SMALL, "python") * (LARGE / SMALL) ** 2
    return plain / min(grow(LARGE, "cython") for _ in range(3))


class Fit:
    params = (tuple(METHODS), SIZES)
    param_names = ("approximate", "rows")
    timeout = 300

    def setup(self, method, n_rows):
        self.X, self.prior = table(n_rows)

    def time_fit(self, method, n_rows):
        model(self.prior, method).fit(self.X)

    def peakmem_fit(self, method, n_rows):
        model(self.prior, method).fit(self.X)

    def time_fit_with_alternative_trees(self, method, n_rows):
        model(self.prior, method, alternative_trees=True).fit(self.X)


class Quality:
    """What does not depend on the machine: a step in these is a change of the algorithm."""

    params = (tuple(METHODS),)
    param_names = ("approximate",)

    def setup(self, method):
        X, prior = table(LARGE)
        self.model = model(prior, method, alternative_trees=True).fit(X)

    def track_bound(self, method):
        return self.model.log_evidence_bound_

    def track_bound_with_alternative_trees(self, method):
        return self.model.log_evidence_bound_alternative_

    def track_n_clusters(self, method):
        return self.model.n_clusters_

    track_bound.unit = track_bound_with_alternative_trees.unit = "nats"
    track_n_clusters.unit = "clusters"


class TreeKernelSpeed:
    timeout = 300

    def track_ratio(self):
        return times_as_fast()

    track_ratio.unit = "times the plain twin"


def main():
    print(f"{N_COLUMNS} columns, {N_CLUSTERS} clusters: processor seconds, and bounds in nats\n")
    print(f"{'rows':>7}" + "".join(f"{method:>14}{'bound':>12}" for method in METHODS))
    for n_rows in (*SIZES, 10_000, 20_000, 100_000):
        X, prior = table(n_rows)
        print(f"{n_rows:>7}", end="")
        for method in METHODS:
            if method == "exact" and n_rows > MAX_EXACT:
                print(" " * 26, end="")
                continue
            start = time.process_time()
            bound = model(prior, method).fit(X).log_evidence_bound_
            print(f"{time.process_time() - start:>14.3f}{bound:>12.1f}", end="", flush=True)
        print()
    for method, n_rows in (("exact", LARGE), ("randomized", 100_000)):
        X, prior = stretched_table(n_rows)
        start = time.process_time()
        model(prior, method).fit(X)
        seconds = time.process_time() - start
        print(f"full covariance, {n_rows} rows, {method}: {seconds:.3f}")
    print(f"\n{LARGE} rows: {times_as_fast():.0f} times the plain twin")


if __name__ == "__main__":
    main()
