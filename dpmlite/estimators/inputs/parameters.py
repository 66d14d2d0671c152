"""Parameters that are one number, one choice, or a source of chance, checked."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.domain import ALPHA, MAX_STARTS, MAX_WHOLE, Range
from dpmlite.estimators.inputs.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

# Positive numbers without a range of their own: their reciprocals and squares are normal doubles.
POSITIVE = Range(1e-100, 1e100)


def check_positive(name: str, value: Any, within: Range = POSITIVE) -> float:
    """`value` as float; ValueError unless it is a positive number in a range."""
    number = np.nan if isinstance(value, bool | np.bool_) else _as_float(value)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be positive, got {shown(value)}")
    if not within.least <= number <= within.most:
        raise ValueError(
            f"{name} must be from {within.least:g} to {within.most:g}, got {shown(value)}"
        )
    return number


def _as_float(value: Any) -> float:
    """A number as a float: NaN stands for what is none, the greatest float for a greater int."""
    try:
        return float(value) if isinstance(value, Real) else np.nan
    except OverflowError:
        return float(np.finfo(float).max)


def check_alpha(name: str, value: Any) -> float:
    """A concentration as float; ValueError unless it is a number in its range."""
    return check_positive(name, value, ALPHA)


def check_alphas(values: Any) -> npt.NDArray[np.float64]:
    """Candidates for the concentration, ascending; ValueError unless they are in its range."""
    if np.ndim(values) != 1 or np.size(values) == 0:
        raise ValueError(f"alphas must be a list of numbers, got {shown(values)}")
    return np.unique([check_alpha("alphas", alpha) for alpha in values])


def check_discount(value: Any, alternatives: Iterable[str] = ()) -> float:
    """A discount as float; ValueError unless it is a number of at least 0 and below 1.

    Above 0 it excludes each of the `alternatives`: parameters with their values.
    """
    number = _as_float(value)
    if not 0.0 <= number < 1.0:
        raise ValueError(f"discount must be a number of at least 0 and below 1, got {shown(value)}")
    for other in alternatives if number > 0.0 else ():
        raise ValueError(f"discount must be 0 with {other}, got {number}")
    return number


def check_starts(value: Any) -> int:
    """`n_init` as int; ValueError unless it is a whole number in its range."""
    number = check_count("n_init", value)
    if number > MAX_STARTS:
        raise ValueError(f"n_init must be at most {MAX_STARTS}, got {shown(value)}")
    return number


def check_not_negative(name: str, value: Any) -> float:
    """The value as a float; ValueError unless it is a finite number of at least 0."""
    number = _as_float(value)
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{name} must be a number of at least 0, got {shown(value)}")
    return number


def check_count(name: str, value: Any, least: int = 1) -> int:
    """`value` as int; ValueError unless it is a whole number of at least `least`, and in range."""
    number = _check_whole(name, value, least)
    if number > MAX_WHOLE:
        raise ValueError(f"{name} must be at most {MAX_WHOLE}, got {shown(value)}")
    return number


def _check_whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {shown(value)}")
    return int(value)


def check_jobs(value: Any) -> None:
    """Raise ValueError unless `value` is a number of jobs as in joblib, or None."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {shown(value)}")


def check_bool(name: str, value: Any) -> bool:
    """`value` as bool; ValueError unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_verbose(value: Any) -> None:
    """Raise ValueError unless `value` is True, False or a level, as in scikit-learn."""
    if not isinstance(value, bool | np.bool_ | Integral) or value < 0:
        raise ValueError(f"verbose must be True or False, or a level from 0 up, got {shown(value)}")


def check_choice(name: str, value: Any, choices: tuple[str, ...], others: str = "") -> str:
    """`value`; ValueError unless it is one of `choices`. The message begins with `others`."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be {others}one of {known}, got {shown(value)}")
    return value


def check_random_state(random_state: Any) -> np.random.Generator:
    """A Generator from None, a seed, a Generator or a RandomState; ValueError for others."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, np.random.SeedSequence):
        return np.random.default_rng(random_state)
    if not isinstance(random_state, Integral):
        raise ValueError(
            "random_state must be None, a whole number, or a generator of numpy's, "
            f"got {shown(random_state)}"
        )
    return np.random.default_rng(_check_whole("random_state", random_state, least=0))
