"""The best division of rows into runs along a column.

Clusters that lie side by side hide from proposals that begin with a few rows: beside a wide prior
these tell little, and half of such clusters are worth no more than all. But where clusters are runs
of rows in order, the joint is a sum over runs, and its least value is found exactly: the best
division of the first rows ends with some run, before which there is the best division of the rows
before it (Bellman 1961; Jackson et al. 2005). Runs begin where slices of about as many rows do, in
the widest gap nearby.

Rows are in the order of the column that falls into parts most clearly, by its bimodality: of
skewness g and kurtosis k it is (g^2 + 1) / k, 1 of two values, 5/9 of a uniform density and 1/3 of
a normal one.
"""

from itertools import pairwise
from math import inf, isnan, isqrt, log

from dpmlite.models.partition import TIE, UNPLACED, Partition
from dpmlite.models.special import log_gamma

# Slices: all runs of so many take as long as a few sweeps if that is SLICES times the root of the
# rows. One has two rows or more.
SLICES = 4
MOST_SLICES = 64

# By less, the bimodality of two columns differs by rounding, or by nothing that tells.
SAME = 1e-6


def best_runs(partition: Partition, members: list[int]) -> list[int] | None:
    """Labels of the runs of some rows whose joint is least.

    Parameters
    ----------
    partition : Partition
    members : sequence of int
        Positions of rows.

    Returns
    -------
    list of int or None
        Labels 0, 1, ... in the order of the column; -1 where its cell is missing. None if one run
        is best, no column has different values, or rows are sparse.
    """
    if partition.X.is_sparse:
        return None
    rows = [partition.X.values(i) for i in partition.rows_of(members)]
    weights = [partition.weight(i) for i in members]
    column = _most_bimodal(rows, weights)
    if column is None:
        return None
    present = [i for i, row in enumerate(rows) if not isnan(row[column])]
    order = sorted(present, key=lambda i: rows[i][column])
    starts = _starts([rows[i][column] for i in order])
    labels = [UNPLACED] * len(members)
    for k, (start, end) in enumerate(pairwise([*starts, len(order)])):
        for i in order[start:end]:
            labels[i] = k
    run = _run_of_slices(partition.part(members, labels), len(starts))
    if run[-1] == 0:
        return None
    return [run[k] if k != UNPLACED else UNPLACED for k in labels]


def _most_bimodal(rows: list[list[float]], weights: list[float]) -> int | None:
    """The first column of the greatest bimodality; None if none has different values."""
    best, most = None, 0.0
    for column in range(len(rows[0])):
        cells = [(row[column], w) for row, w in zip(rows, weights, strict=True)]
        found = _bimodality([(x, w) for x, w in cells if not isnan(x)])
        if found > most + SAME:
            best, most = column, found
    return best


def _bimodality(cells: list[tuple[float, float]]) -> float:
    """Of values with weights; 0 if they do not differ."""
    n = sum(w for _, w in cells)
    mean = sum(w * x for x, w in cells) / n if cells else 0.0
    reach = max((abs(x - mean) for x, _ in cells), default=0.0)
    if not 0.0 < reach < inf:
        return 0.0
    second = third = fourth = 0.0
    for x, w in cells:
        z = (x - mean) / reach
        second += w * z**2
        third += w * z**3
        fourth += w * z**4
    return (third**2 / second + second**2 / n) / fourth


def _starts(values: list[float]) -> list[int]:
    """Where slices of ascending values begin: of those nearby, the first of the widest gaps."""
    n = len(values)
    n_slices = min(MOST_SLICES, SLICES * isqrt(n), n // 2)
    starts = [0]
    for i in range(1, n_slices):
        nearby = range((2 * i - 1) * n // (2 * n_slices), (2 * i + 1) * n // (2 * n_slices))
        start = max(nearby, key=lambda j: values[j] - values[j - 1])
        if values[start] > values[start - 1]:
            starts.append(start)
    return starts


def _run_of_slices(slices: Partition, n: int) -> list[int]:
    """The number of each slice's run, for the runs of the least joint."""
    least = [0.0] + [inf] * n  # of the slices before each,
    first = [0] * (n + 1)  # and of their last run
    run = slices.component.like()
    run.resize(2)
    for i in range(n):
        run.copy(0, slices.component, i)
        for end in range(i + 1, n + 1):
            if end > i + 1:
                run.copy(1, slices.component, end - 1)
                run.merge(0, 1)
            cost = -log_gamma(run.counts[0]) - log(slices.alpha) - run.log_marginal(0)
            if least[i] + cost < least[end] - TIE:
                least[end], first[end] = least[i] + cost, i
    bounds = [n]
    while bounds[-1] > 0:
        bounds.append(first[bounds[-1]])
    runs = enumerate(pairwise(reversed(bounds)))
    return [number for number, (start, end) in runs for _ in range(start, end)]
