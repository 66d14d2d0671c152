"""Columns that number the rows: they tell of the order of a table, and not of clusters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.user_warnings import warn

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

# Tables of fewer rows have no column of ids: small whole numbers are consecutive by chance.
MIN_ROWS_OF_IDS = 20

# Names of ids: "id", "customer_id", "Order ID", "orderId".
ID_NAME = re.compile(r"(^|[\W_])[iI][dD]$|[a-z]I[dD]$")


def numbers_rows(name: str, cells: npt.NDArray[np.float64]) -> bool:
    """Whether cells are whole numbers that all differ, and consecutive or named as ids are."""
    if len(cells) < MIN_ROWS_OF_IDS:
        return False
    are_consecutive = cells.max() - cells.min() == len(cells) - 1
    if not (are_consecutive or ID_NAME.search(name)) or not (cells == np.floor(cells)).all():
        return False
    return bool((np.diff(np.sort(cells)) > 0.0).all())


def warn_of_row_numbers(names: Iterable[Any], values: npt.NDArray[np.float64]) -> None:
    """Warn of the first column with a name that numbers the rows of a table."""
    for name, cells in zip(names, values.T, strict=True):
        if isinstance(name, str) and numbers_rows(name, cells):
            warn(
                f"column {name!r} numbers the rows: clusters may be stretches of the table; "
                "leave it out"
            )
            return
