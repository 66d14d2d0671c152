"""Which rows a visit would leave where they are: what screening may say, and no more."""

from dpmlite.core.constants import TIE, UNPLACED


def would_stay(partition, first, last):
    """Whether a visit, eq. (15), would leave each of the rows first..last-1 where it is."""
    return [_stays(partition, i) for i in range(first, last)]


def _stays(partition, i):
    own = partition.labels[i]
    if own == UNPLACED:
        return False
    costs = partition.costs(i)
    return all(q >= costs[own] - TIE for k, q in enumerate(costs) if k != own)
