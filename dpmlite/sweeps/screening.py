"""Which rows stay where they are, so that a sweep need not visit them."""

from dpmlite.core.constants import TIE, UNPLACED
from dpmlite.partition.partition import Partition


def screen(partition: Partition, first: int, last: int) -> list[bool]:
    """Whether a visit, eq. (15), would leave each of the rows first..last-1 where it is.

    The kernel knows it from bounds in single precision, of many rows at once. It may say False of
    a row that stays, but never True of one that moves.

    Parameters
    ----------
    partition : Partition
        As it is when the rows are visited: only until a row moves.
    first, last : int
        The rows, 0 <= first <= last <= N.

    Returns
    -------
    list of bool
        One answer a row.

    Raises
    ------
    IndexError
        If there are no such rows.
    """
    if not 0 <= first <= last <= partition.n_rows:
        raise IndexError(f"rows must be in 0..{partition.n_rows}, got {first}..{last}")
    return [_stays(partition, i) for i in range(first, last)]


def _stays(partition: Partition, i: int) -> bool:
    own = partition.labels[i]
    if own == UNPLACED:
        return False
    costs = partition.costs(i)
    return all(q >= costs[own] - TIE for k, q in enumerate(costs) if k != own)
