"""Selection: the value of a given rank."""

from dpmlite.core.protocols import Values


def value_of_rank(values: Values, rank: int) -> float:
    """The value at an index of the sorted values.

    Parameters
    ----------
    values : sequence of float, length N
        None of them NaN, which has no rank.
    rank : int
        The index, from 0 (the least value) to N - 1.

    Returns
    -------
    float

    Raises
    ------
    IndexError
        If `rank` is not in 0..N-1.
    """
    if not 0 <= rank < len(values):
        raise IndexError(f"rank must be in 0..{len(values) - 1}, got {rank}")
    found: float = sorted(values)[rank]
    return found
