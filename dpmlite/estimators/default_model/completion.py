"""Missing cells of columns that vary together, drawn given the known cells and the cluster.

With a full covariance matrix the joint of rows with missing cells has no closed form. So the table
is completed. The missing cells of each row are drawn from a density q, the predictive one of the
row's most probable cluster given its known cells y. Of the complete rows x,

    E[log p(x, labels) - log q(x | y)] <= log p(y, labels)

(Jensen), and the two are equal where q is the posterior of the missing cells. So the difference
tells the joint of the known cells, rather too low than too high, and compares with the joints of
families in which missing cells just drop out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import sweeps

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Family

# Distances of this number of pairs of rows are found at once: it bounds the memory.
PAIRS = 1_000_000


def lacks_cells(family: Family, table: Data) -> bool:
    """Whether cells of columns with full covariance are missing in a table."""
    return bool(_is_missing(family, table).any())


def check_complete(family: Family, table: Data) -> None:
    """Raise ValueError if cells of columns with full covariance are missing in a table."""
    missing = _is_missing(family, table)
    if missing.any():
        i, j = np.argwhere(missing)[0]
        column = j if table.columns is None else table.columns.coded[j]
        raise ValueError(
            "columns of full covariance take missing cells in MAPDPM with prior='auto' only, "
            f"got one in row {i}, column {column!r}"
        )


def completed_by_neighbours(family: Family, table: Data) -> Data:
    """A table whose missing cells of columns with full covariance come from the most similar rows.

    Of the rows that have the cell, the most similar one has the least mean squared distance over
    the columns that both know, each in units of its deviation. This is where draws start.
    """
    missing = _is_missing(family, table)
    if not missing.any():
        return table
    assert table.values is not None
    values, columns = table.values.copy(), np.flatnonzero(missing.any(axis=0))
    known = table.numbers().values
    assert known is not None
    units = (known - np.nanmean(known, axis=0)) / np.maximum(np.nanstd(known, axis=0), 1e-300)
    rows = np.flatnonzero(missing.any(axis=1))
    for chunk in np.array_split(rows, -(-len(rows) * len(units) // PAIRS)):
        distances = _mean_squares(units[chunk], units)
        for j in columns:
            donors = np.flatnonzero(~np.isnan(table.values[:, j]))
            lacking = np.flatnonzero(missing[chunk, j])
            nearest = donors[distances[np.ix_(lacking, donors)].argmin(axis=1)]
            values[chunk[lacking], j] = table.values[nearest, j]
    return table.with_values(values)


def completed_by_draws(
    family: Family,
    table: Data,
    prior: Prior,
    clusters: families.Component,
    alpha: float,
    rng: np.random.Generator,
) -> tuple[Data, npt.NDArray[np.bool_], Indices]:
    """A table whose missing cells of columns with full covariance are drawn from clusters.

    Parameters
    ----------
    family : Family
    table : Data
        N dense rows, some of which lack such cells.
    prior : dict
        The prior of the clusters.
    clusters : Component
        A cluster a slot, each of rows that count as much as its densities are to be sure of.
    alpha : float
        Concentration.
    rng : Generator

    Returns
    -------
    table : Data
        Its `log_drawn` is the log of the density q of the draws.
    lacking : ndarray of bool, shape (N,)
        The rows of which cells were drawn.
    labels : ndarray of int
        The most probable cluster of each of these.
    """
    missing = _is_missing(family, table)
    lacking = np.asarray(missing.any(axis=1))
    assert table.values is not None
    values, log_drawn = table.values.copy(), np.zeros(table.shape[0])
    part = table.take(lacking).unweighted()
    labels = np.empty(part.shape[0], dtype=np.intp)
    sweeps.assign(part.rows(), clusters, alpha, labels)
    for k in np.unique(labels):
        rows = np.flatnonzero(lacking)[labels == k]
        cluster = family.as_prior(clusters.posterior(int(k)), prior)
        drawn, log_drawn[rows] = family.draw_missing(table.values[rows], cluster, rng)
        values[rows] = np.where(missing[rows], drawn, values[rows])
    log_drawn -= table.with_values(values).log_volumes() - table.log_volumes()
    return replace(table.with_values(values), log_drawn=log_drawn), lacking, labels


def _is_missing(family: Family, table: Data) -> npt.NDArray[np.bool_]:
    """Mask of the cells of columns with full covariance that are missing, shape (N, D)."""
    mask = np.zeros(table.shape, dtype=bool)
    for columns in family.full_columns:
        assert table.values is not None
        mask[:, columns] = np.isnan(table.values[:, columns])
    return mask


def _mean_squares(X: Floats, Y: Floats) -> Floats:
    """Mean squared distances of rows over the cells that both know, shape (len(X), len(Y)).

    Of rows that have no such cells, it is infinite.
    """
    x_known, y_known = ~np.isnan(X), ~np.isnan(Y)
    x, y = np.nan_to_num(X), np.nan_to_num(Y)
    squares = (x * x) @ y_known.T.astype(float) - 2.0 * x @ y.T + x_known @ (y * y).T
    n_both = x_known.astype(float) @ y_known.T
    return np.where(n_both > 0.0, squares / np.maximum(n_both, 1.0), np.inf)
