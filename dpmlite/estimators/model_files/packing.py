"""Values of parameters and of fitted attributes as JSON and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray[Any, Any]]


def pack(name: str, value: Any, arrays: Arrays) -> Any:
    """A value as JSON; an array is put into `arrays` and replaced by its name there.

    Raises
    ------
    ValueError
        If the value is not plain data; the message has the `name`.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
        return {"pairs": [pack(name, item, arrays) for item in value.items()]}
    if isinstance(value, Mapping):
        return {"dict": {k: pack(f"{name} {k}", v, arrays) for k, v in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [pack(name, item, arrays) for item in value]}
    if isinstance(value, list | range) or hasattr(value, "__array__"):  # of pandas, too
        array = np.asarray(value)
        if array.dtype == object:
            array = array.astype(str)
        if array.dtype.kind == "f" and array.dtype.itemsize > 8:
            array = array.astype(np.float64)
        if array.dtype.kind in "biufU":
            key = f"array{len(arrays)}"
            arrays[key] = array
            return {"array": key}
    raise ValueError(f"{name} cannot be saved as plain data: it is a {type(value).__name__}")


def unpack(value: Any, arrays: Arrays) -> Any:
    """The value that `pack` packed. Arrays are taken out of `arrays`: each has one owner.

    Raises
    ------
    ValueError
        If it is no value that `pack` packed.
    """
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a value is a bare list")
        return value
    if len(value) != 1:
        raise ValueError(f"a value has the keys {list(value)}")
    kind, content = next(iter(value.items()))
    if kind == "array" and isinstance(content, str) and content in arrays:
        array = arrays.pop(content)
        return array.astype(object) if array.dtype.kind == "U" else array
    if kind == "tuple" and isinstance(content, list):
        return tuple(unpack(item, arrays) for item in content)
    if kind == "pairs" and isinstance(content, list):
        return dict(_pair(unpack(item, arrays)) for item in content)
    if kind == "dict" and isinstance(content, dict):
        return {key: unpack(item, arrays) for key, item in content.items()}
    raise ValueError(f"a value of kind {kind!r} is not there")


def _pair(pair: Any) -> tuple[Any, Any]:
    """A key and its value; a key is a name, a number or a tuple of them."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError("a dict has something else than pairs")
    for part in pair[0] if isinstance(pair[0], tuple) else pair[:1]:
        if not isinstance(part, bool | int | float | str | None):
            raise ValueError(f"a dict has a key of type {type(part).__name__}")
    return pair
