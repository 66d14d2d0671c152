"""Weight, mean and variance of the values of each column of a table."""

from math import isnan

from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows, as_rows


def column_moments(X: Rows | Values) -> tuple[list[float], list[float], list[float]]:
    """Moments of each column, missing values left out.

    Differences from the first value of a column are summed, so that the mean of a constant column
    is exact and a large offset costs no digits.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        Dense; NaN is a missing value.

    Returns
    -------
    cells : list of float, length D
        Weight of the rows that have a value in each column.
    means : list of float, length D
        Weighted means of these values; 0 if there is none.
    variances : list of float, length D
        Their weighted variances; 0 if there is none.

    Raises
    ------
    ValueError
        If `X` is sparse.
    """
    rows = as_rows(X)
    if rows.is_sparse:
        raise ValueError("moments are of dense rows, got sparse ones")
    weights = [rows.weight(i) for i in range(len(rows))]
    columns = zip(*(rows.values(i) for i in range(len(rows))), strict=True)
    cells, means, variances = [], [], []
    for column in columns:
        pairs = [(w, x) for w, x in zip(weights, column, strict=True) if not isnan(x)]
        weight = sum(w for w, _ in pairs)
        origin = pairs[0][1] if pairs else 0.0
        mean = sum(w * (x - origin) for w, x in pairs) / weight if pairs else 0.0
        scatter = sum(w * (x - origin - mean) * (x - origin - mean) for w, x in pairs)
        cells.append(weight)
        means.append(origin + mean)
        variances.append(scatter / weight if pairs else 0.0)
    return cells, means, variances
