"""Values by their rank."""

from dpmlite.core.types import Values


def value_of_rank(values: Values, rank: int) -> float:
    """The value that would have this place if all were sorted.

    Parameters
    ----------
    values : sequence of float, length N
        None of them NaN, which has no rank.
    rank : int
        From 0, of the least, to N-1.

    Returns
    -------
    float

    Raises
    ------
    IndexError
        If there are not so many values.
    """
    if not 0 <= rank < len(values):
        raise IndexError(f"rank must be in 0..{len(values) - 1}, got {rank}")
    found: float = sorted(values)[rank]
    return found
