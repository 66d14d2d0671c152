"""The leaves that trees are built on: groups of rows."""

from dpmlite._types import Values


def rows_of_leaves(leaves: Values, n_rows: int) -> list[list[int]]:
    """The rows of each leaf, in their order.

    Parameters
    ----------
    leaves : sequence of int, length N
        The leaf of each row.
    n_rows : int
        N.

    Returns
    -------
    list of lists of int, length M

    Raises
    ------
    ValueError
        If there is no row, there are not as many leaves as rows, or they are not 0..M-1.
    """
    if n_rows == 0:
        raise ValueError("X must have at least one row, got 0")
    if len(leaves) != n_rows:
        raise ValueError(f"leaves must have {n_rows} values, got {len(leaves)}")
    numbers = list(map(int, leaves))  # of Python, each made once
    most = max(numbers)
    if min(numbers) < 0 or most >= n_rows:
        bad = next(k for k in numbers if not 0 <= k < n_rows)
        raise ValueError(f"leaves must be from 0 to {n_rows - 1}, got {bad}")
    members: list[list[int]] = [[] for _ in range(most + 1)]
    for i, k in enumerate(numbers):
        members[k].append(i)
    for k, rows in enumerate(members):
        if not rows:
            raise ValueError(f"leaves must each have a row, leaf {k} has none")
    return members
