"""MAP-DPM: coordinate sweeps (Raykov, Boukouvalas & Little 2014, Algorithms 1 and 2)."""

from math import inf

from dpmlite.core.checks import check_order
from dpmlite.core.constants import TIE, UNPLACED
from dpmlite.core.protocols import Values
from dpmlite.partition.partition import Partition


def sweep(partition: Partition, order: Values | None = None) -> int:
    """Visit every row once and move it to its best cluster, eq. (15).

    A row moves only if that lowers the joint by more than `TIE`; among clusters that are
    equally good, the one in the lowest slot gets it. A row without a label is placed.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    order : sequence of int, length n_rows, optional
        The rows in the order of visits: each number from 0 to n_rows - 1. Default: 0, 1, 2, ...

    Returns
    -------
    int
        Rows that moved. 0 means that a fixed point is reached.

    Raises
    ------
    ValueError
        If `order` lacks a row.
    """
    n_rows, moves = partition.n_rows, 0
    if order is not None:
        check_order(order, n_rows)
    for i in range(n_rows) if order is None else order:
        own = partition.labels[i]
        costs = partition.costs(i)
        stay = inf if own == UNPLACED else costs[own]
        best = min(q for k, q in enumerate(costs) if k != own)
        if best < stay - TIE:
            k = next(k for k, q in enumerate(costs) if k != own and q <= best + TIE)
            partition.move(i, k, costs[k] if own == UNPLACED else costs[k] - stay)
            moves += 1
    if moves:
        partition.tidy()
    return moves


def converge(partition: Partition, max_sweeps: int) -> int:
    """Sweep until no row moves, or `max_sweeps` times.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    max_sweeps : int
        Sweeps at most.

    Returns
    -------
    int
        Sweeps done.
    """
    for n_sweeps in range(1, max_sweeps + 1):
        if sweep(partition) == 0:
            return n_sweeps
    return max_sweeps
