"""DP-means (Kulis & Jordan 2012, Algorithm 1): k-means that opens a cluster at a price.

It lowers the sum of squared distances of rows from their centres plus lam for each cluster. All
distances are squared, and so is the unit of lam.
"""

from collections.abc import Callable

from dpmlite.core.constants import DISTANCE_TIE, ORIGIN_DISTANCE_TIE
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows, as_rows


def fit_centres(
    X: Rows | Values,
    lam: float,
    labels: Buffer,
    max_iter: int,
    order: Values | None = None,
    after_pass: Callable[[float, int], object] | None = None,
) -> tuple[list[list[float]], float, list[float], bool]:
    """Cluster rows, from one cluster at their mean until no row moves.

    A row whose nearest centre is farther than `lam` becomes the centre of a new cluster. Any
    other row joins its nearest centre: among equally near ones its own, else the first. After each
    pass, centres move to the means of their rows, and empty clusters are dropped.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        The data. A row of weight w counts as w rows; a row of weight below 1 opens a cluster only
        if that lowers the objective.
    lam : float
        Price of a cluster, in squared units of the data; 0 or more.
    labels : mutable sequence of int, length N
        OUT: the cluster of each row, 0..K-1 in the order in which they were opened.
    max_iter : int
        Number of passes, at most.
    order : sequence of int, length N, optional
        The order in which passes visit the rows. Default: 0..N-1.
    after_pass : callable, optional
        Called after each pass, with the objective and the number of clusters. A true result ends
        the passes.

    Returns
    -------
    centres : list of list of float, (K, D)
        Means of the clusters.
    inertia : float
        Sum of squared distances of the rows from them, by weight.
    trace : list of float
        The objective before the first pass and after each pass; it never rises.
    converged : bool
        Whether no row moved in the last pass.

    Raises
    ------
    ValueError
        If there is no row or column, `lam` is negative, there are not as many labels as rows, or
        `order` does not hold every row once.
    """
    rows = as_rows(X)
    n = len(rows)
    _check_table(rows)
    if not lam >= 0.0:
        raise ValueError(f"lam must not be negative, got {float(lam)}")
    if len(labels) != n:
        raise ValueError(f"labels must have {n} values, got {len(labels)}")
    order = list(range(n) if order is None else order)
    if sorted(order) != list(range(n)):
        raise ValueError(f"order must hold each of {n} rows once")
    mean = _mean(rows)
    points = [_difference(rows.values(i), mean) for i in range(n)]
    weights = [rows.weight(i) for i in range(n)]
    centres = [[0.0] * rows.n_columns]
    for i in range(n):
        labels[i] = 0
    inertia = _inertia(points, weights, labels, centres)
    trace = [inertia + lam]
    moves, ended = 1, False
    while moves > 0 and len(trace) <= max_iter and not ended:
        moves = 0
        for i in order:
            k = _best_cluster(points[i], weights[i], lam, labels[i], centres)
            if k == len(centres):
                centres.append(points[i])
            moves += k != labels[i]
            labels[i] = k
        centres = _new_centres(points, weights, labels, len(centres))
        inertia = _inertia(points, weights, labels, centres)
        trace.append(inertia + lam * len(centres))
        ended = after_pass is not None and bool(after_pass(trace[-1], len(centres)))
    found = [[m + c for m, c in zip(mean, centre, strict=True)] for centre in centres]
    return found, inertia, trace, moves == 0


def farthest_first(X: Rows | Values, n_clusters: int) -> float:
    """Choose the price of a cluster at which `fit_centres` finds about `n_clusters`.

    A set starts with the mean of all rows; `n_clusters` times, the row farthest from the set is
    added. The squared distance of the last row is the price (Kulis & Jordan 2012).

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        The data.
    n_clusters : int
        From 1 to N.

    Returns
    -------
    float
        `lam`, in squared units of the data; 0 if there are fewer distinct rows.

    Raises
    ------
    ValueError
        If there is no row or column, or `n_clusters` is out of range.
    """
    rows = as_rows(X)
    n = len(rows)
    _check_table(rows)
    if not 1 <= n_clusters <= n:
        raise ValueError(f"n_clusters must be from 1 to {n}, got {n_clusters}")
    mean = _mean(rows)
    points = [_difference(rows.values(i), mean) for i in range(n)]
    nearest = [_squared_norm(x) for x in points]
    for _ in range(n_clusters - 1):
        most = max(nearest)
        far = next(i for i in range(n) if nearest[i] >= most - DISTANCE_TIE * most)
        for i in range(n):
            nearest[i] = min(nearest[i], _squared_norm(_difference(points[i], points[far])))
    return max(nearest)


def squared_distances(X: Rows | Values, centres: Values, out: Values) -> None:
    """Compute the squared distance of every row from every centre.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    centres : sequence of rows (K, D)
    out : sequence of mutable sequences of float, (N, K)
        OUT.

    Raises
    ------
    ValueError
        If there is no row or column, widths of `X` and `centres` differ, or `out` has the wrong
        shape.
    """
    rows = as_rows(X)
    _check_table(rows)
    n_columns = len(centres[0]) if len(centres) else 0
    if rows.n_columns != n_columns:
        raise ValueError(f"row must have {n_columns} values, got {rows.n_columns}")
    n_out_columns = len(out[0]) if len(out) else len(centres)
    if len(out) != len(rows) or n_out_columns != len(centres):
        raise ValueError(
            f"out must have shape ({len(rows)}, {len(centres)}), got ({len(out)}, {n_out_columns})"
        )
    for i in range(len(rows)):
        for k, centre in enumerate(centres):
            out[i][k] = _squared_norm(_difference(rows.values(i), centre))


def _best_cluster(
    point: list[float], weight: float, lam: float, own: int, centres: list[list[float]]
) -> int:
    """The cluster that a row is to join; the number of clusters if it opens a new one."""
    distances = [_squared_norm(_difference(point, centre)) for centre in centres]
    least = min(distances)
    slack = DISTANCE_TIE * least + ORIGIN_DISTANCE_TIE * _squared_norm(point)
    if min(weight, 1.0) * least > lam + slack:
        return len(centres)
    if distances[own] <= least + slack:
        return own
    return next(k for k, distance in enumerate(distances) if distance <= least + slack)


def _new_centres(
    points: list[list[float]], weights: list[float], labels: Buffer, n_centres: int
) -> list[list[float]]:
    """Means of the clusters that have rows; labels are renumbered to these."""
    n_columns = len(points[0])
    totals = [[0.0] * n_columns for _ in range(n_centres)]
    sizes = [0.0] * n_centres
    for point, weight, k in zip(points, weights, labels, strict=True):
        sizes[k] += weight
        for d, x in enumerate(point):
            totals[k][d] += weight * x
    used = [k for k in range(n_centres) if sizes[k] > 0.0]
    number = {k: j for j, k in enumerate(used)}
    for i, k in enumerate(labels):
        labels[i] = number[k]
    return [[total / sizes[k] for total in totals[k]] for k in used]


def _inertia(
    points: list[list[float]], weights: list[float], labels: Buffer, centres: list[list[float]]
) -> float:
    """Sum of squared distances of the rows from their centres, by weight."""
    total = 0.0
    for point, weight, k in zip(points, weights, labels, strict=True):
        total += weight * _squared_norm(_difference(point, centres[k]))
    return total


def _mean(rows: Rows) -> list[float]:
    """Mean of all rows, summed about the first row: a large offset costs no digits."""
    first = rows.values(0)
    sums, total = [0.0] * rows.n_columns, 0.0
    for i in range(len(rows)):
        total += rows.weight(i)
        for d, x in enumerate(_difference(rows.values(i), first)):
            sums[d] += rows.weight(i) * x
    return [x + s / total for x, s in zip(first, sums, strict=True)]


def _difference(x: Values, y: Values) -> list[float]:
    return [a - b for a, b in zip(x, y, strict=True)]


def _squared_norm(x: list[float]) -> float:
    return sum(a * a for a in x)


def _check_table(rows: Rows) -> None:
    if len(rows) == 0 or rows.n_columns == 0:
        raise ValueError(f"X must have rows and columns, got shape ({len(rows)}, {rows.n_columns})")
