"""Chunks as futures of a Dask client.

Each step is a task that depends on the table and on the labels before it. If a worker is lost,
Dask runs again what led to its labels. All tasks are pure functions, so that labels are the same.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from dpmlite.distributed.engine import Engine, read_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distributed import Client, Future

    from dpmlite.distributed.engine import Step
    from dpmlite.distributed.protocols import Table


class DaskEngine(Engine):
    """An engine of a Dask client.

    Parameters
    ----------
    client : Client
    chunks : list of Future
        Arrays or data frames, none of which is empty.
    numbers : list of int
        The number of each in the user's table.

    Attributes
    ----------
    labels : list of Future, or of None
        Labels of the rows of each chunk.
    """

    def __init__(self, client: Client, chunks: list[Future], numbers: list[int]) -> None:
        self.client = client
        self.n_chunks, self.numbers = len(chunks), numbers
        self.labels = [None] * len(chunks)
        self._chunks = chunks
        self._tables: list[Future] = []

    def ask(self, question: Callable[[Any, Any], Any], arguments: Sequence[Any]) -> list[Any]:
        return self._gather(
            [self._submit(question, *pair) for pair in zip(self._chunks, arguments, strict=True)]
        )

    def read(self, reader: Callable[[Any], Table]) -> None:
        """Say how a chunk is read. Dask keeps its table, and no longer what was given."""
        self._tables = [
            self._submit(read_chunk, reader, number, chunk)
            for number, chunk in zip(self.numbers, self._chunks, strict=True)
        ]
        self._chunks = []

    def run(self, step: Step, messages: Sequence[Any]) -> list[Any]:
        results = [
            self._submit(step, *each)
            for each in zip(self._tables, self.labels, messages, strict=True)
        ]
        self.labels = [self._submit(itemgetter(0), result) for result in results]
        return self._gather([self._submit(itemgetter(1), result) for result in results])

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        return self.client.submit(function, *arguments, pure=False)

    def _gather(self, futures: list[Future]) -> list[Any]:
        return list(self.client.gather(futures))
