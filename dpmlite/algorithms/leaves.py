"""Leaves of trees, each of which is a group of rows."""

from dpmlite.core.protocols import Values


def rows_of_leaves(leaves: Values, n_rows: int) -> list[list[int]]:
    """Rows of each leaf, in ascending order.

    Parameters
    ----------
    leaves : sequence of int, length N
        The leaf of each row.
    n_rows : int
        N.

    Returns
    -------
    list of lists of int, length M
        Indices of the rows.

    Raises
    ------
    ValueError
        If there is no row, `leaves` has another length than N, or its values are not 0..M-1.
    """
    if n_rows == 0:
        raise ValueError("X must have at least one row, got 0")
    if len(leaves) != n_rows:
        raise ValueError(f"leaves must have {n_rows} values, got {len(leaves)}")
    numbers = list(map(int, leaves))  # Python ints, made once
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
