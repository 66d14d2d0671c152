"""Missing cells of columns with full covariance, which such clusters cannot take in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Data
    from dpmlite.estimators.priors.base import Family


def lacking_cells(family: Family, table: Data) -> npt.NDArray[np.bool_]:
    """Mask of the cells of columns with full covariance that are missing, shape (N, D)."""
    mask = np.zeros(table.shape, dtype=bool)
    for columns in family.full_columns:
        assert table.values is not None
        mask[:, columns] = np.isnan(table.values[:, columns])
    return mask


def lacks_cells(family: Family, table: Data) -> bool:
    """Whether cells of columns with full covariance are missing in a table."""
    return bool(lacking_cells(family, table).any())


def lacking_rows(family: Family, table: Data) -> npt.NDArray[np.bool_]:
    """Mask of the rows that lack such cells, shape (N,)."""
    return np.asarray(lacking_cells(family, table).any(axis=1))


def check_complete(family: Family, table: Data) -> None:
    """Raise ValueError if cells of columns with full covariance are missing in a table."""
    missing = lacking_cells(family, table)
    if missing.any():
        i, j = np.argwhere(missing)[0]
        column = int(j) if table.columns is None else table.columns.coded[j]
        raise ValueError(
            "columns of full covariance take missing cells in MAPDPM.fit and partial_fit only, "
            f"got one in row {i}, column {column!r}"
        )
