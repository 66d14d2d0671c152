"""Why a fit takes long: what of a table makes many clusters, or long searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.column_families.by_cells import are_skewed

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Data, Floats

# Rows that are looked at, evenly spaced.
N_ROWS = 2000

# A cell is far out from this many times the range of the middle half off the median.
FAR_OUT = 10.0

# Values come again in a column of fewer different ones than this part of the rows, and rows in a
# table of fewer different rows.
MAX_DIFFERENT = 0.5

# Least correlation of two columns, in absolute value, that shows.
MIN_CORRELATION = 0.3

# Columns of which all pairs are looked at, at most: memory and time grow with their square.
MAX_PAIRED = 1000


def why_long(data: Data) -> str:
    """What may make a fit to a table long, in one line."""
    rows, columns = data.shape
    causes = []
    if data.values is not None:
        values = data.values[:: -(-rows // N_ROWS)]
        with np.errstate(all="ignore"):  # a NaN of numbers that are too great is no cause
            causes = [*_of_columns(values), *_of_rows(values), *_of_pairs(values)]
    found = "; ".join(causes) or "neither skewed nor repeated values, which make many clusters"
    return f"{rows:,} rows x {columns:,} columns: {found}"


def _of_columns(values: Floats) -> list[str]:
    """What of single columns makes many clusters, and the number of columns that have it."""
    known = [column[~np.isnan(column)] for column in values.T]
    known = [column for column in known if len(column) > 1]
    causes = {
        "skewed: log-normal describes them, or their logarithms": are_skewed,
        "with cells far out": _has_cells_far_out,
        "of values that come again": _has_repeated_values,
    }
    counts = {cause: sum(map(has, known)) for cause, has in causes.items()}
    return [f"{n:,} column(s) {cause}" for cause, n in counts.items() if n]


def _has_cells_far_out(known: Floats) -> bool:
    low, median, high = np.quantile(known, [0.25, 0.5, 0.75])
    return bool(low < high and np.abs(known - median).max() > FAR_OUT * (high - low))


def _has_repeated_values(known: Floats) -> bool:
    return len(np.unique(known)) <= MAX_DIFFERENT * len(known)


def _of_rows(values: Floats) -> list[str]:
    """Rows that come again, if most do."""
    n_different = len(np.unique(values, axis=0))
    if n_different > MAX_DIFFERENT * len(values):
        return []
    return [f"{n_different:,} different rows among {len(values):,}"]


def _of_pairs(values: Floats) -> list[str]:
    """Correlation, which families of columns apart describe by many clusters."""
    varying = values[:, values.min(axis=0) < values.max(axis=0)]
    if not 2 <= varying.shape[1] <= MAX_PAIRED or len(varying) < 3:
        return []
    strongest = np.abs(np.corrcoef(varying, rowvar=False) - np.eye(varying.shape[1])).max(axis=0)
    n = int((strongest > MIN_CORRELATION).sum())
    return [f"{n:,} columns correlated with another"] if n else []
