"""MAP-DPM: coordinate sweeps (Raykov, Boukouvalas & Little 2014, Algorithms 1 and 2)."""

from math import inf

from dpmlite.core.constants import TIE, UNPLACED
from dpmlite.partition.partition import Partition


def sweep(partition: Partition) -> int:
    """Visit every row once and move it to its best cluster, eq. (15).

    A row moves only if that lowers the joint by more than `TIE`; among clusters that are
    equally good, the one in the lowest slot gets it. A row without a label is placed.

    Parameters
    ----------
    partition : Partition
        Changed in place.

    Returns
    -------
    int
        Rows that moved. 0 means that a fixed point is reached.
    """
    moves = 0
    for i in range(partition.n_rows):
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
