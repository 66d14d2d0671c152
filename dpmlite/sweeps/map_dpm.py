"""MAP-DPM: coordinate sweeps (Raykov, Boukouvalas & Little 2014, Algorithms 1 and 2)."""

from math import inf

from dpmlite.core.constants import TIE, UNPLACED
from dpmlite.partition.partition import Partition


def sweep(partition: Partition, n_threads: int = 1) -> int:
    """Visit every row once and move it to its best cluster, eq. (15).

    A row moves only if that lowers the joint by more than `TIE`; among clusters that are
    equally good, the one in the lowest slot gets it. A row without a label is placed.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    n_threads : int, default 1
        Threads of the kernel that find out, before, which rows stay. It changes no label.

    Returns
    -------
    int
        Rows that moved. 0 means that a fixed point is reached.

    Raises
    ------
    ValueError
        If `n_threads` is not positive.
    """
    check_n_threads(n_threads)
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


def converge(partition: Partition, max_sweeps: int, n_threads: int = 1) -> int:
    """Sweep until no row moves, or `max_sweeps` times.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    max_sweeps : int
        Sweeps at most.
    n_threads : int, default 1
        As of `sweep`.

    Returns
    -------
    int
        Sweeps done.

    Raises
    ------
    ValueError
        If `n_threads` is not positive.
    """
    check_n_threads(n_threads)
    for n_sweeps in range(1, max_sweeps + 1):
        if sweep(partition, n_threads) == 0:
            return n_sweeps
    return max_sweeps


def check_n_threads(n_threads: int) -> None:
    """Refuse less than one thread."""
    if n_threads < 1:
        raise ValueError(f"n_threads must be at least 1, got {n_threads}")
