"""The best division of rows into runs along a column.

Clusters that lie side by side hide from proposals that begin with a few rows: beside a wide prior
these tell little, and half of such clusters are worth no more than all. But where clusters are runs
of rows in order, the joint is a sum over runs, and its least value is found exactly: the best
division of the first rows ends with some run, before which there is the best division of the rows
before it (Bellman 1961; Jackson et al. 2005). Runs begin where slices of about as many rows do, in
the widest gap nearby.

The columns that are asked are those that fall into parts most clearly, by their bimodality: of
skewness g and kurtosis k it is (g^2 + 1) / k, 1 of two values, 5/9 of a uniform density and 1/3 of
a normal one.
"""

from itertools import pairwise
from math import inf, isnan, isqrt, log

from dpmlite.models.partition import TIE, UNPLACED, Partition
from dpmlite.models.special import log_gamma

# So many columns are asked at most, and none that looks as whole as this.
COLUMNS = 3
WHOLE = 0.45

# Slices have two rows or more in the mean. They are so few that all runs of them take about as long
# as to read the rows a few times: SLICES^2 / 2 cells a row.
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
        is best along any column that is asked, or rows are sparse.
    """
    if partition.X.is_sparse:
        return None
    rows = [partition.X.values(i) for i in partition.rows_of(members)]
    best, most = None, 0.0
    for column in _clearest(rows, [partition.weight(i) for i in members]):
        labels, gain = _runs_along(partition, members, [row[column] for row in rows])
        if gain > most + TIE:
            best, most = labels, gain
    return best


def _clearest(rows: list[list[float]], weights: list[float]) -> list[int]:
    """Columns by their bimodality, the first of those that are alike first."""
    found = {}
    for column in range(len(rows[0])):
        cells = [(row[column], w) for row, w in zip(rows, weights, strict=True)]
        found[column] = _bimodality([(x, w) for x, w in cells if not isnan(x)])
    columns: list[int] = []
    while len(columns) < COLUMNS and found and (most := max(found.values())) > WHOLE:
        columns.append(next(column for column, each in found.items() if each > most - SAME))
        del found[columns[-1]]
    return columns


def _bimodality(cells: list[tuple[float, float]]) -> float:
    """Of values with weights; 0 if they do not differ, or by more than can be told."""
    width = max((x for x, _ in cells), default=0.0) - min((x for x, _ in cells), default=0.0)
    if not 0.0 < width < inf:
        return 0.0
    n = sum(w for _, w in cells)
    mean = sum(w * x for x, w in cells) / n
    second = third = fourth = 0.0
    for x, w in cells:
        z = (x - mean) / width
        second += w * z * z
        third += w * z * z * z
        fourth += w * z * z * z * z
    found = (third * third / second + second * second / n) / fourth
    return found if found < inf else 0.0


def _runs_along(
    partition: Partition, members: list[int], values: list[float]
) -> tuple[list[int], float]:
    """Labels of the best runs in the order of some values, and what they gain beside one run."""
    present = [i for i, x in enumerate(values) if not isnan(x)]
    order = sorted(present, key=lambda i: values[i])
    starts = _starts([values[i] for i in order], partition.component.n_columns)
    labels = [UNPLACED] * len(members)
    for k, (start, end) in enumerate(pairwise([*starts, len(order)])):
        for i in order[start:end]:
            labels[i] = k
    run, gain = _runs_of_slices(partition.part(members, labels), len(starts))
    return [run[k] if k != UNPLACED else UNPLACED for k in labels], gain


def _starts(values: list[float], n_columns: int) -> list[int]:
    """Where slices of ascending values begin: of those nearby, the first of the widest gaps."""
    n = len(values)
    n_slices = min(MOST_SLICES, SLICES * isqrt(n // n_columns), n // 2)
    starts = [0]
    for i in range(1, n_slices):
        nearby = range((2 * i - 1) * n // (2 * n_slices), (2 * i + 1) * n // (2 * n_slices))
        start = max(nearby, key=lambda j: values[j] - values[j - 1])
        if values[start] > values[start - 1]:
            starts.append(start)
    return starts


def _runs_of_slices(slices: Partition, n: int) -> tuple[list[int], float]:
    """The number of each slice's run, for the runs of the least joint, and what these gain."""
    least = [0.0] + [inf] * n  # of the slices before each,
    first = [0] * (n + 1)  # and of their last run
    whole = inf
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
            if end - i == n:
                whole = cost
    bounds = [n]
    while bounds[-1] > 0:
        bounds.append(first[bounds[-1]])
    runs = enumerate(pairwise(reversed(bounds)))
    numbers = [number for number, (start, end) in runs for _ in range(start, end)]
    return numbers, whole - least[n]
