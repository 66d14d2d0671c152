"""Calls that share some threads, and what stops them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    What ends the wait, an error or Ctrl-C, sets `stop` and waits for the calls that have begun.
    """
    if n_threads == 1 or len(items) < 2:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # 5 ms, of use to few

    with ThreadPoolExecutor(min(n_threads, len(items))) as pool:
        tasks = [pool.submit(function, item) for item in items]
        try:
            return [task.result() for task in tasks]
        except BaseException:
            if stop is not None:
                stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def new_event() -> Event:
    """An event to wait for, or to look at between two steps."""
    from threading import Event  # 2 ms, which an import of dpmlite alone need not take

    return Event()
