"""Protocols of the arguments of both twins: anything that is indexed like a list.

Lists and numpy arrays are; mypy does not count arrays among the sequences. Docstrings state shapes.
"""

from collections.abc import Iterator
from typing import Any, Protocol


class Values(Protocol):
    """A sequence of numbers, or of rows of numbers, to read."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


class Buffer(Values, Protocol):
    """A sequence that belongs to the caller, to write to."""

    def __setitem__(self, index: int, value: Any, /) -> None: ...
