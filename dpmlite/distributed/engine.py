"""Engines: where chunks are, and how functions run on them.

An engine holds three things of each chunk, wherever it likes: what the user gave, the checked
table that is read from it, and the labels of its rows. All functions that it runs are pure, so that
it may run them again after a loss.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dpmlite.distributed.protocols import Table

    #: `step(table, labels, message)` returns new labels and a reply to the driver.
    Step = Callable[[Any, Any, Any], tuple[Any, Any]]


class Engine(ABC):
    """Chunks of a table, and functions that run on each of them.

    Attributes
    ----------
    n_chunks : int
        Number of chunks. Each has rows.
    numbers : sequence of int
        The number by which errors name each chunk.
    labels : list
        Labels of the rows of each chunk, or what stands for them; None before the first step. To
        set it to what it was undoes steps.
    """

    n_chunks: int
    numbers: Sequence[int]
    labels: list[Any]

    @abstractmethod
    def ask(self, question: Callable[[Any, Any], Any], arguments: Sequence[Any]) -> list[Any]:
        """``question(chunk, argument)`` of each chunk as it was given."""

    @abstractmethod
    def read(self, reader: Callable[[Any], Table]) -> None:
        """Say how a chunk is read: as ``read_chunk(reader, number, chunk)``."""

    @abstractmethod
    def run(self, step: Step, messages: Sequence[Any]) -> list[Any]:
        """Replies of ``step(table, labels, message)`` of each chunk; new `labels` are kept."""


class MapEngine(Engine):
    """An engine of one process, or of any function that maps.

    Tables are read anew for each step: no more of them are in memory than steps run at once.

    Parameters
    ----------
    chunks : sequence
        Tables, or whatever `load` makes tables of.
    load : callable, optional
        Returns the table of a chunk.
    map_items : callable, default map
        ``map_items(function, items)`` returns results in the order of the items: `map` of a pool of
        processes, or of threads.
    """

    def __init__(
        self,
        chunks: Sequence[Any],
        load: Callable[[Any], Any] | None = None,
        map_items: Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]] = map,
    ) -> None:
        self.chunks = chunks
        self.load = load
        self.map_items = map_items
        self.n_chunks, self.numbers = len(chunks), range(len(chunks))
        self.labels = [None] * len(chunks)
        self._reader: Callable[[Any], Table] | None = None

    def ask(self, question: Callable[[Any, Any], Any], arguments: Sequence[Any]) -> list[Any]:
        items = zip(self.chunks, arguments, strict=True)
        return list(self.map_items(partial(_answer, self.load, question), list(items)))

    def read(self, reader: Callable[[Any], Table]) -> None:
        self._reader = reader

    def run(self, step: Step, messages: Sequence[Any]) -> list[Any]:
        items = list(zip(self.numbers, self.chunks, self.labels, messages, strict=True))
        function = partial(_step, self.load, self._reader, step)
        results = list(self.map_items(function, items))
        self.labels = [labels for labels, _ in results]
        return [reply for _, reply in results]


def read_chunk(reader: Callable[[Any], Table], number: int, chunk: Any) -> Table:
    """The table of a chunk; errors name the chunk."""
    try:
        return reader(chunk)
    except (ValueError, TypeError) as error:
        raise type(error)(f"chunk {number}: {error}") from error


def _answer(load: Any, question: Callable[[Any, Any], Any], item: tuple[Any, Any]) -> Any:
    chunk, argument = item
    return question(chunk if load is None else load(chunk), argument)


def _step(load: Any, reader: Any, step: Step, item: tuple[int, Any, Any, Any]) -> tuple[Any, Any]:
    number, chunk, labels, message = item
    table = read_chunk(reader, number, chunk if load is None else load(chunk))
    return step(table, labels, message)
