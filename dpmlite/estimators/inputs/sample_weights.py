"""Weights of rows that users give, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.arrays import as_array, as_floats, is_masked
from dpmlite.estimators.inputs.domain import MAX_TOTAL_WEIGHT, MAX_WEIGHT_RATIO, MIN_WEIGHT

if TYPE_CHECKING:
    import numpy.typing as npt


def check_sample_weight(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64]:
    """Weights of the rows as float64, shape (N,); ones for None.

    Raises
    ------
    ValueError, TypeError
        If a weight is negative or not finite, all are 0, their sum is above 2**53, or they are of
        unlike orders of magnitude.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    if is_masked(sample_weight):
        raise ValueError("sample_weight must have no masked values")
    array = as_array("sample_weight", sample_weight)
    if array.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), got {array.shape}")
    weights = as_floats("sample_weight", array)
    _check_each_weight((weights >= 0.0) & (weights < np.inf), "finite and not negative", weights)
    _check_each_weight(
        (weights == 0.0) | (weights >= MIN_WEIGHT), f"0 or at least {MIN_WEIGHT:g}", weights
    )
    if not weights.any():
        raise ValueError("sample_weight must not be zero for every row")
    with np.errstate(over="ignore"):
        check_total_weight(weights.sum())
    check_weight_ratio(weights.min(initial=np.inf, where=weights > 0.0), weights.max())
    return weights


def check_weight_ratio(least: float, most: float) -> None:
    """Raise ValueError if rows weigh so little beside others that they are lost in rounding."""
    if most > MAX_WEIGHT_RATIO * least:
        raise ValueError(
            f"sample_weight must be at most {MAX_WEIGHT_RATIO:g} times the least above 0, "
            f"got {most:g} and {least:g}"
        )


def check_total_weight(total: float, of: str = "") -> None:
    """Raise ValueError if a total weight is above 2**53; `of` says in the message what it is of."""
    if not total <= MAX_TOTAL_WEIGHT:
        raise ValueError(f"sample_weight must sum to 2**53 at most{of}, got {total}")


def _check_each_weight(
    good: npt.NDArray[np.bool_], rule: str, weights: npt.NDArray[np.float64]
) -> None:
    if not good.all():
        i = int(np.argmin(good))
        raise ValueError(f"sample_weight must be {rule}, got {weights[i]} in row {i}")
