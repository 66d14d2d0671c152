"""Markov chains: a Gibbs sweep beside a MAP-DPM sweep, split-merge proposals, whole fits.

`python3 asv_benchmarks/benchmarks/gibbs.py` prints nanoseconds a row of both sweeps on the same
tables, at the labels where MAP-DPM stays. Sweeps of MAP-DPM are first sweeps, of partitions made
for them: those that follow remember which rows stay.
"""

import time

import numpy as np

from dpmlite import CollapsedGibbs, families, moves, sweeps
from dpmlite.datasets import planted_gaussians
from dpmlite.partition import Partition

TABLES = ((10_000, 2, 20), (10_000, 8, 20), (100_000, 2, 50), (100_000, 8, 50), (100_000, 16, 50))
REPEATS = 7


def settled(n_rows, n_columns, n_clusters):
    """A partition that MAP-DPM sweeps have settled, from the labels that drew the rows."""
    X, labels = planted_gaussians(n_rows, n_columns, n_clusters, random_state=0)
    prior = {"m0": X.mean(axis=0), "c0": 10.0 / n_rows, "a0": 1.0, "b0": X.var(axis=0)}
    partition = Partition(X, labels, families.NormalGamma(**prior), 1.0)
    sweeps.converge(partition, 100)
    return partition


def made_anew(partition):
    """The same labels, and no memory of sweeps."""
    labels = np.array(partition.labels)
    return Partition(partition.X, labels, partition.component.like(), partition.alpha)


class GibbsSweep:
    """One sweep after five others."""

    params = (TABLES[:2],)
    param_names = ("rows, columns, clusters",)

    def setup(self, shape):
        self.partition = settled(*shape)
        rng = np.random.default_rng(0)
        for _ in range(5):
            sweeps.gibbs_sweep(self.partition, rng.random(shape[0]))
        self.uniforms = rng.random(shape[0])

    def time_sweep(self, shape):
        sweeps.gibbs_sweep(self.partition, self.uniforms)

    def time_map_sweep(self, shape):
        sweeps.sweep(self.partition)

    def time_proposal(self, shape):
        moves.propose_split_merge(self.partition, 5, np.tile(self.uniforms, 8))


class Fit:
    """The default sampler on a thousand rows, under the prior of the paper."""

    def setup(self):
        self.X, _ = planted_gaussians(1000, 4, 8, random_state=0)

    def time_fit(self):
        CollapsedGibbs(prior="paper", n_samples=100, random_state=0).fit(self.X)


def _best(run, arguments):
    """The least of several times, in nanoseconds, and what the runs returned."""
    times = []
    for argument in arguments:
        start = time.perf_counter()
        run(argument)
        times.append(time.perf_counter() - start)
    return 1e9 * min(times)


def main():
    print("   rows  columns  clusters   MAP ns/row  Gibbs ns/row  ratio")
    for shape in TABLES:
        partition, rng = settled(*shape), np.random.default_rng(0)
        ours = _best(sweeps.sweep, [made_anew(partition) for _ in range(REPEATS)])
        uniforms = rng.random((REPEATS, shape[0]))
        theirs = _best(lambda u, state=partition: sweeps.gibbs_sweep(state, u), uniforms)
        per_row = ours / shape[0], theirs / shape[0]
        print(
            f"{shape[0]:>7} {shape[1]:>8} {shape[2]:>9} {per_row[0]:>12.1f} {per_row[1]:>13.1f} "
            f"{theirs / ours:>6.2f}"
        )


if __name__ == "__main__":
    main()
