"""Runs: the best division of rows into intervals of a column.

Many clusters side by side are worth dividing where no two of them are: under a wide prior, half of
the clusters have no lower joint than all of them. But the joint of runs of rows in the order of a
column is a sum over runs, so dynamic programming finds its minimum: the best division of the first
rows is the best division of the rows before some last run, and that run (Bellman 1961; Jackson et
al. 2005). Rows are first cut into slices of about equal numbers, each cut in the widest gap nearby;
a run is one slice or several in a row.

With a discount, the cost of a run depends on the number of runs: each is taken to be the first. So
the division is only a start, which is swept and judged by its joint.

Columns are chosen by Sarle's bimodality coefficient: (g^2 + 1) / k for skewness g and kurtosis k.
"""

from itertools import pairwise
from math import inf, isnan, isqrt, log

from dpmlite.core.constants import (
    BIMODALITY_TIE,
    MAX_RUN_COLUMNS,
    MAX_SLICES,
    MIN_BIMODALITY,
    SLICE_FACTOR,
    TIE,
    UNPLACED,
)
from dpmlite.core.special import log_gamma
from dpmlite.partition.partition import Partition


def best_runs(partition: Partition, members: list[int], step: int = 1) -> list[int] | None:
    """Labels of the division of some rows into runs that has the least joint.

    Parameters
    ----------
    partition : Partition
    members : sequence of int
        Positions of rows.
    step : int, default 1
        Members are every `step`-th of some rows; see `Partition.part`.

    Returns
    -------
    list of int or None
        Labels 0, 1, ... in the order of the column; -1 where its cell is missing. None if one run
        is best along every column chosen, or rows are sparse.
    """
    if partition.X.is_sparse:
        return None
    rows = [partition.X.values(i) for i in partition.rows_of(members)]
    best, most = None, 0.0
    for column in _most_bimodal(rows, [partition.weight(i) for i in members]):
        labels, gain = _runs_along(partition, members, [row[column] for row in rows], step)
        if gain > most + TIE:
            best, most = labels, gain
    return best


def _most_bimodal(rows: list[list[float]], weights: list[float]) -> list[int]:
    """The columns of greatest bimodality, greatest first; of equal ones the first column first."""
    found = {}
    for column in range(len(rows[0])):
        cells = [(row[column], w) for row, w in zip(rows, weights, strict=True)]
        found[column] = _bimodality([(x, w) for x, w in cells if not isnan(x)])
    columns: list[int] = []
    while (
        len(columns) < MAX_RUN_COLUMNS and (most := max(found.values(), default=0)) > MIN_BIMODALITY
    ):
        columns.append(
            next(column for column, each in found.items() if each > most - BIMODALITY_TIE)
        )
        del found[columns[-1]]
    return columns


def _bimodality(cells: list[tuple[float, float]]) -> float:
    """The bimodality of values with weights; 0 if all are equal, or their range overflows."""
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
    partition: Partition, members: list[int], values: list[float], step: int
) -> tuple[list[int], float]:
    """Labels of the best runs in the order of some values, and their nats below one run."""
    present = [i for i, x in enumerate(values) if not isnan(x)]
    order = sorted(present, key=lambda i: values[i])
    starts = _starts([values[i] for i in order], partition.component.n_columns)
    labels = [UNPLACED] * len(members)
    for k, (start, end) in enumerate(pairwise([*starts, len(order)])):
        for i in order[start:end]:
            labels[i] = k
    run, gain = _runs_of_slices(partition.part(members, labels, step=step), len(starts))
    return [run[k] if k != UNPLACED else UNPLACED for k in labels], gain


def _starts(values: list[float], n_columns: int) -> list[int]:
    """Where slices of ascending values begin: at the first of the widest gaps near even spacing."""
    n = len(values)
    n_slices = min(MAX_SLICES, SLICE_FACTOR * isqrt(n // n_columns), n // 2)
    starts = [0]
    for i in range(1, n_slices):
        nearby = range((2 * i - 1) * n // (2 * n_slices), (2 * i + 1) * n // (2 * n_slices))
        start = max(nearby, key=lambda j: values[j] - values[j - 1])
        if values[start] > values[start - 1]:
            starts.append(start)
    return starts


def _runs_of_slices(slices: Partition, n: int) -> tuple[list[int], float]:
    """The run number of each slice in the best division, and its nats below one run."""
    least = [0.0] + [inf] * n  # the joint of the first 0, 1, ... n slices, divided best
    first = [0] * (n + 1)  # the first slice of the last run of that division
    whole = inf
    of_one = log_gamma(1.0 - slices.discount) if slices.discount > 0.0 else 0.0
    run = slices.component.like()
    run.resize(2)
    for i in range(n):
        run.copy(0, slices.component, i)
        for end in range(i + 1, n + 1):
            if end > i + 1:
                run.copy(1, slices.component, end - 1)
                run.merge(0, 1)
            prior = log(slices.alpha * run.power)
            prior += log_gamma(run.power * run.counts[0] - slices.discount) - of_one
            cost = -prior / run.power - run.log_marginal(0)
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
