"""Extreme values of the columns of large tables, at full speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Floats

# numpy reduces rows of at least this many values at full speed.
WIDE_ROW = 512


def reduced(ufunc: np.ufunc, values: Floats) -> Floats:
    """``ufunc.reduce(values)``, shape (D,); narrow tables are reduced several rows at a time."""
    n_rows, n_columns = values.shape
    together = WIDE_ROW // max(1, n_columns)
    n_wide = n_rows // max(1, together)
    if n_wide < 2 or together < 2 or not values.flags.c_contiguous:
        return np.asarray(ufunc.reduce(values))
    wide = values[: n_wide * together].reshape(n_wide, -1)
    rest = values[n_wide * together :]
    return np.asarray(
        ufunc.reduce(np.concatenate([ufunc.reduce(wide).reshape(together, -1), rest]))
    )
