"""What a fitted attribute of a file may be: kinds of values, with shapes and ranges.

A check is a function of the attribute's name, its value and the sizes that are known. It returns
the value, or raises a ValueError that says what is wrong. A size is a letter, which stands for the
same number in all attributes; the first attribute that has it sets it.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from dpmlite.estimators.inputs.shown import shown

Sizes = dict[str, int]
Check = Callable[[str, Any, Sizes], Any]
Size = str | int

LARGEST = np.finfo(np.float64).max


def number(least: float = -LARGEST, most: float = LARGEST, nan: bool = False) -> Check:
    """A finite number in a range, or NaN if that is allowed."""

    def check(name: str, value: Any, sizes: Sizes) -> float:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not (least <= value <= most or (nan and value != value)):
            raise ValueError(
                f"{name} must be a number from {least:g} to {most:g}, got {shown(value)}"
            )
        return value  # type: ignore[no-any-return]

    return check


def count(least: int = 0, most: int = 2**62) -> Check:
    """A whole number."""

    def check(name: str, value: Any, sizes: Sizes) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(
                f"{name} must be a whole number from {least} to {most}, got {shown(value)}"
            )
        return value

    return check


def flag(name: str, value: Any, sizes: Sizes) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return value


def one_of(*choices: object) -> Check:
    """One of a few values."""

    def check(name: str, value: Any, sizes: Sizes) -> Any:
        if not isinstance(value, str | None) or value not in choices:
            raise ValueError(f"{name} must be one of {choices}, got {shown(value)}")
        return value

    return check


def floats(
    *shape: Size, least: float = -LARGEST, most: float = LARGEST, nan: bool = False
) -> Check:
    """An array of numbers in a range, or NaN if that is allowed."""

    def check(name: str, value: Any, sizes: Sizes) -> Any:
        require_shape(name, value, "f", shape, sizes)
        good = (value >= least) & (value <= most)
        if nan:
            good |= np.isnan(value)
        if not good.all():
            raise ValueError(f"{name} must be from {least:g} to {most:g}, got {value[~good][0]}")
        return np.ascontiguousarray(value, np.float64)

    return check


def ints(*shape: Size, least: int = 0, below: Size | None = None) -> Check:
    """An array of whole numbers from `least`, and below another number or a size."""

    def check(name: str, value: Any, sizes: Sizes) -> Any:
        require_shape(name, value, "iu", shape, sizes)
        end = 2**62 if below is None else (sizes[below] if isinstance(below, str) else below)
        if value.size and not (value.min() >= least and value.max() < end):
            raise ValueError(
                f"{name} must be from {least} to {end - 1}, got {value.min()} to {value.max()}"
            )
        return np.ascontiguousarray(value, np.intp)

    return check


def texts(*shape: Size) -> Check:
    """An array of texts."""

    def check(name: str, value: Any, sizes: Sizes) -> Any:
        require_shape(name, value, "O", shape, sizes)
        return value

    return check


def dictionary(keys: dict[str, Check]) -> Check:
    """A dict of some keys, each with its own rule."""

    def check(name: str, value: Any, sizes: Sizes) -> dict[str, Any]:
        if not isinstance(value, dict) or value.keys() != keys.keys():
            raise ValueError(f"{name} must be a dict with the keys {', '.join(keys)}")
        return {key: rule(f"{name} {key}", value[key], sizes) for key, rule in keys.items()}

    return check


def require_shape(name: str, value: Any, kinds: str, shape: tuple[Size, ...], sizes: Sizes) -> None:
    """Raise ValueError unless a value is an array of this shape and of one of these kinds."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
        found = getattr(value, "dtype", type(value).__name__)
        raise ValueError(f"{name} must be an array of kind {kinds!r}, got {found}")
    sizes_here = dict(sizes)
    if value.ndim == len(shape):
        for size, n in zip(shape, value.shape, strict=True):
            if isinstance(size, str):
                sizes_here.setdefault(size, n)
        wanted = tuple(sizes_here[s] if isinstance(s, str) else s for s in shape)
        if wanted == value.shape:
            sizes.update(sizes_here)
            return
    known = ", ".join(str(sizes.get(s, s) if isinstance(s, str) else s) for s in shape)
    raise ValueError(f"{name} must have shape ({known}), got {value.shape}")
