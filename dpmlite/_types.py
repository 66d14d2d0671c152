"""What both twins take where they want numbers: anything that is indexed like a list.

The plain twins are called with lists and with numpy's arrays, which mypy does not count among
the sequences. Shapes are in the docstrings.
"""

from collections.abc import Iterator
from typing import Any, Protocol


class Values(Protocol):
    """Numbers, or rows of numbers."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


class Buffer(Values, Protocol):
    """The same, to be written to; it belongs to the caller."""

    def __setitem__(self, index: int, value: Any, /) -> None: ...
