"""Checks of what users pass: one line that states the rule and the value, before any work."""

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

#: Values of a row may lie this many prior scales sqrt(b0) from m0.
FARTHEST = 2.0**29

PRIOR_KEYS = ("m0", "c0", "a0", "b0")


def check_rows(X: Any) -> npt.NDArray[np.float64]:
    """A table of finite numbers as a C-contiguous float64 array, copied only if need be.

    Raises
    ------
    ValueError
        If `X` is not 2-D, has no row or column, is complex, or holds NaN or infinity.
    TypeError
        If `X` is sparse, or holds something that is not a number.
    """
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("X must be dense, got a sparse matrix: pass X.toarray()")
    if np.ma.is_masked(X):
        raise ValueError("X must have no masked values: fill them, or drop their rows")
    array = np.asarray(X)
    if array.dtype.kind in "mM":
        raise TypeError(f"X must be numbers, got dtype {array.dtype}")
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: X must be real, got dtype {array.dtype}")
    if array.ndim != 2:
        raise ValueError(
            f"X must be 2-D, got shape {array.shape}. Reshape your data: X.reshape(-1, 1) "
            "makes one column, X.reshape(1, -1) one row"
        )
    if array.shape[0] == 0:
        raise ValueError(f"X must have at least one row, got shape {array.shape}")
    if array.shape[1] == 0:
        raise ValueError(
            f"X must have at least one column: 0 feature(s) (shape={array.shape}) "
            "while a minimum of 1 is required."
        )
    rows = np.ascontiguousarray(array, dtype=np.float64)
    _check_finite(rows)
    return rows


def _check_finite(rows: npt.NDArray[np.float64]) -> None:
    # A sum is finite only if its terms are: no array of N x D truth values for good data.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.sum()):
            return
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        i, j = bad[0]
        value = "NaN" if np.isnan(rows[i, j]) else str(rows[i, j])
        raise ValueError(f"X must be finite, got {value} in row {i}, column {j}")


def check_positive(name: str, value: Any) -> float:
    """A positive number, from 1e-100 to 1e100, as float, or ValueError."""
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    number = float(value) if is_number else np.nan
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be positive, got {value!r}")
    if not 1e-100 <= number <= 1e100:
        raise ValueError(f"{name} must be from 1e-100 to 1e100, got {value!r}")
    return number


def check_count(name: str, value: Any, least: int = 1) -> int:
    """A whole number from `least` up as int, or ValueError."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def check_bool(name: str, value: Any) -> bool:
    """True or False, or ValueError."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of some strings, or ValueError."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def check_labels(labels: Any, n_rows: int) -> npt.NDArray[np.intp]:
    """Labels as numbers 0, 1, ... in the order of the values, a fresh array."""
    array = np.asarray(labels)
    if array.shape != (n_rows,):
        raise ValueError(f"labels must have shape ({n_rows},), got {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"labels must be finite, got {array[~np.isfinite(array)][0]}")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.intp)
    except TypeError:
        raise ValueError(f"labels must be of one kind, got {labels!r}") from None


def check_random_state(random_state: Any) -> np.random.Generator:
    """A generator from None, a seed, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, np.random.SeedSequence):
        return np.random.default_rng(random_state)
    return np.random.default_rng(check_count("random_state", random_state, least=0))


def normal_gamma_prior(
    prior: Mapping[str, Any] | None, rows: npt.NDArray[np.float64]
) -> dict[str, Any]:
    """The prior of the rows: the empirical one, overridden by what the user gave.

    The empirical prior is section 4.2 of Raykov, Boukouvalas & Little (2014): m0 the means,
    c0 = 10 / N, a0 = 1, b0 the variances. A constant column's variance of 0 becomes 1.

    Raises
    ------
    ValueError
        If a key is unknown, a value has the wrong shape or sign, or rows lie too far from m0.
    """
    if not isinstance(prior, Mapping | None):
        raise ValueError(f"prior must be a dict or None, got {prior!r}")
    given = dict(prior or {})
    unknown = sorted(set(given) - set(PRIOR_KEYS), key=str)
    if unknown:
        raise ValueError(f"prior must have keys among {', '.join(PRIOR_KEYS)}, got {unknown[0]!r}")
    n_rows, n_columns = rows.shape
    m0 = _per_column("m0", given["m0"], n_columns) if "m0" in given else _means(rows)
    b0 = _per_column("b0", given["b0"], n_columns) if "b0" in given else _variances(rows)
    usable = (b0 > 0.0) & (b0 < np.inf)
    if not usable.all():
        j = int(np.argmin(usable))
        raise ValueError(f"prior b0 must be positive and finite, got {b0[j]} in column {j}")
    c0 = check_positive("prior c0", given.get("c0", 10.0 / n_rows))
    a0 = check_positive("prior a0", given.get("a0", 1.0))
    if given:
        _check_reach(rows, m0, b0)
    return {"m0": m0, "c0": c0, "a0": a0, "b0": b0}


def _per_column(name: str, value: Any, n_columns: int) -> npt.NDArray[np.float64]:
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (n_columns,)):
        raise ValueError(f"prior {name} must have shape ({n_columns},), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"prior {name} must be finite, got {value}")
    return np.array(np.broadcast_to(array, (n_columns,)))


def _means(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    # About a row, so that a constant column's mean is exact and large offsets lose nothing.
    origin = rows[0]
    means: npt.NDArray[np.float64] = origin + (rows - origin).mean(axis=0)
    return means


def _variances(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    with np.errstate(over="ignore"):
        variances: npt.NDArray[np.float64] = np.square(rows - _means(rows)).mean(axis=0)
    constant = np.ptp(rows, axis=0) == 0.0
    if constant.any() and len(rows) > 1:
        j = int(np.argmax(constant))
        warnings.warn(
            f"{constant.sum()} column(s) of X are constant, column {j} first: they tell clusters "
            "apart only by size; b0 = 1 is used for them",
            stacklevel=5,
        )
    variances[constant] = 1.0
    return variances


def _check_reach(
    rows: npt.NDArray[np.float64], m0: npt.NDArray[np.float64], b0: npt.NDArray[np.float64]
) -> None:
    farthest = np.maximum(rows.max(axis=0) - m0, m0 - rows.min(axis=0)) / np.sqrt(b0)
    if (farthest > FARTHEST).any():
        j = int(np.argmax(farthest))
        raise ValueError(
            f"X must lie within {FARTHEST:.1e} prior scales sqrt(b0) of m0, "
            f"got {farthest[j]:.1e} in column {j}: raise b0"
        )
