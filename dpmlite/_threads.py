"""Calls that share some threads, and what stops them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threading import Event

Item = TypeVar("Item")
Result = TypeVar("Result")


def on_threads(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    n_threads: int,
    stop: Event | None = None,
) -> list[Result]:
    """Results of one call for each item, in their order.

    This thread makes some of them: if it waited, each result would wake it, to wait for the
    interpreter's lock, which the others need. An error, or Ctrl-C, sets `stop`; then the calls that
    have begun are waited for.
    """
    if n_threads == 1 or len(items) < 2:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # 5 ms, of use to few

    results: dict[int, Result] = {}
    waiting = deque(enumerate(items))

    def work() -> None:
        with nothing_after_an_error(waiting, stop):
            for i, item in taken(waiting):
                results[i] = function(item)

    n_helpers = min(n_threads, len(items)) - 1
    with ThreadPoolExecutor(n_helpers) as pool, nothing_after_an_error(waiting, stop):
        helpers = [pool.submit(work) for _ in range(n_helpers)]
        work()
        for helper in helpers:
            helper.result()
    return [results[i] for i in range(len(items))]


def taken(waiting: deque[Item]) -> Iterator[Item]:
    """What is left, one by one; other threads take from it too."""
    with suppress(IndexError):
        while True:
            yield waiting.popleft()


@contextmanager
def nothing_after_an_error(waiting: deque[Item], stop: Event | None) -> Iterator[None]:
    """After an error, or Ctrl-C, nothing waits any more, and `stop` is set."""
    try:
        yield
    except BaseException:
        waiting.clear()
        if stop is not None:
            stop.set()
        raise


def new_event() -> Event:
    """An event to wait for, or to look at between two steps."""
    from threading import Event  # 2 ms, which an import of dpmlite alone need not take

    return Event()
