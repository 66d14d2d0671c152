"""Labels that users give, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.arrays import as_array, is_masked, is_na
from dpmlite.estimators.inputs.shown import shown

if TYPE_CHECKING:
    import numpy.typing as npt


def check_labels(
    labels: Any, n_rows: int | None = None, name: str = "labels"
) -> npt.NDArray[np.intp]:
    """A new array of labels 0, 1, ... in the order of the given values, shape (N,).

    Raises
    ------
    ValueError
        If labels are missing, of mixed kinds, not 1-D, or not `n_rows`.
    """
    if is_masked(labels):
        raise ValueError(f"{name} must have no masked values")
    array = as_array(name, labels)
    if n_rows is None and array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {array.shape}")
    if n_rows is not None and array.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got {array.shape}")
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    if array.dtype.kind in "OmM":
        _check_none_missing(name, array)
    elif array.dtype.kind == "U" and not isinstance(labels, np.ndarray):
        _check_none_missing(name, labels)  # numpy has converted NaN to text
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.intp)
    except TypeError:
        raise ValueError(f"{name} must be of one kind, got {shown(labels)}") from None


def _check_none_missing(name: str, labels: Any) -> None:
    for i, label in enumerate(labels):
        # NaN and NaT differ from themselves; a comparison of pandas' NA gives NA.
        if label is None or is_na.pyfunc(label) or label != label:
            raise ValueError(f"{name} must not be missing, got {label} in row {i}")
