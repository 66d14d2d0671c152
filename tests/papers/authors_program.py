"""MAP-DPM as the program of its authors runs it: three rules that the paper does not print.

What it does otherwise than Algorithm 1 is stated here anew; none of its code is:

1. In the first sweep the initial cluster counts as one row: its -log N_k is 0. So rows that the
   cluster fits badly leave it, however many others it has.
2. Each sweep visits rows in a new random order.
3. It ends when a sweep changes its likelihood by less than 1,000 times the machine's epsilon. The
   likelihood is a sum in the order of visits, so that rounding alone keeps it going: on average
   half of the sweeps move no row.

A cluster whose last row is visited is closed for good; the row founds another, or its own anew. All
of these count as empty clusters.

`MAPDPM(init="unreinforced", order="random", split_merge=False)` has the first two rules.
"""

from dataclasses import dataclass
from math import inf, log

import numpy as np

from dpmlite import core, families
from dpmlite.partition import Partition, log_prob_counts

LEAST_CHANGE = 1000.0 * np.finfo(float).eps
MAX_SWEEPS = 1000


@dataclass
class Run:
    """Where the program is: labels, what it has counted, and its likelihood."""

    labels: np.ndarray
    n_sweeps: int = 0
    n_empty: int = 0
    nll: float = inf


def run_program(X, alpha, prior, rng):
    """Sweep over the rows of `X` under a normal-gamma prior until the likelihood stays."""
    run = Run(np.zeros(len(X), dtype=np.intp))
    rows, change = core.Rows(np.ascontiguousarray(X)), inf
    while run.n_sweeps < 2 or (change >= LEAST_CHANGE and run.n_sweeps < MAX_SWEEPS):
        before, order = run.nll, rng.permutation(len(X)).astype(np.intp)
        labels = run.labels[order]
        partition = Partition(rows, labels, families.NormalGamma(**prior), alpha, order)
        sweep(run, partition)
        run.labels[order] = labels
        change = abs(run.nll - before)
    return run


def sweep(run, partition):
    """Visit all rows once."""
    nll, alpha = 0.0, partition.alpha
    for i in range(partition.n_rows):
        costs, sizes, own = np.array(partition.costs(i)), partition.sizes, partition.labels[i]
        counts = [n - (k == own) for k, n in enumerate(sizes)]
        run.n_empty += counts[own] == 0
        judged = costs.copy()
        if run.n_sweeps == 0 and counts[0] > 0:
            judged[0] += log(counts[0])
        k = int(judged.argmin())
        nll += costs[k] + log(counts[k] if counts[k] else alpha)
        if k != own:
            partition.move(i, k, costs[k] - costs[own])
    run.n_sweeps += 1
    run.nll = nll - log_prob_counts([n for n in partition.sizes if n], alpha)
