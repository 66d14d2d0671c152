"""Calls that share some threads, and what stops them."""

from __future__ import annotations

import os
from collections import deque
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from concurrent.futures import Future, ThreadPoolExecutor
    from threading import Event

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_EACH = 8


def threads_for(n_jobs: int | None) -> int:
    """How many threads `n_jobs` asks for, as joblib counts: -1 is one a processor, -2 one less.

    Never more than `MOST_EACH` a processor: a thousand take seconds to start, and only wait.
    """
    if n_jobs is None:
        return 1
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        n_processors = len(os.sched_getaffinity(0))
    else:
        n_processors = os.cpu_count() or 1
    if n_jobs < 0:
        n_jobs += n_processors + 1
    return max(1, min(n_jobs, MOST_EACH * n_processors))


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
    return list(as_needed(function, items, n_threads, stop))


def as_needed(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    n_threads: int,
    stop: Event | None = None,
) -> Generator[Result]:
    """The same one by one: until it is closed, the others go on while this thread uses a result."""
    if n_threads == 1 or len(items) < 2:
        for item in items:
            yield function(item)
        return
    results: dict[int, Result] = {}
    waiting = deque(enumerate(items))

    def work(until: int | None = None) -> None:
        with nothing_after_an_error(waiting, stop):
            while until not in results and (taken := first_of(waiting)) is not None:
                i, item = taken
                results[i] = function(item)

    n_helpers = min(n_threads, len(items)) - 1
    helpers: list[Future[None]] = []
    with pool_of(n_helpers) as pool:
        try:
            with nothing_after_an_error(waiting, stop):
                helpers += (pool.submit(work) for _ in range(n_helpers))
                for i in range(len(items)):
                    work(until=i)
                    for helper in helpers if i not in results else ():
                        helper.result()
                    yield results.pop(i)
        finally:
            end(helpers)


def end(helpers: Sequence[Future[None]]) -> None:
    """Nothing is left for them to do: wait for those that have begun, until they are done."""
    for helper in helpers:
        if not helper.cancel():
            helper.exception()


_kept: ContextVar[ThreadPoolExecutor | None] = ContextVar("_kept", default=None)
if hasattr(os, "register_at_fork"):  # threads do not live on in a fork
    os.register_at_fork(after_in_child=lambda: _kept.set(None))


@contextmanager
def kept_threads(n_threads: int) -> Iterator[None]:
    """Calls from this thread share the same others until the end of the block.

    To start some takes about 0.15 ms, and a fit of many rows asks for them some thirty times.
    """
    if n_threads == 1:
        yield
        return
    with pool_of(n_threads - 1) as pool:
        token = _kept.set(pool)
        try:
            yield
        finally:
            _kept.reset(token)


@contextmanager
def pool_of(n_helpers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads beside this one: those that are kept for it, or some that end with the block."""
    from concurrent.futures import ThreadPoolExecutor

    kept = _kept.get()
    if kept is not None:
        yield kept
    else:
        with ThreadPoolExecutor(n_helpers) as pool:
            yield pool


def first_of(waiting: deque[Item]) -> Item | None:
    """What is next; None if nothing is left. Other threads take from it too."""
    with suppress(IndexError):
        return waiting.popleft()
    return None


@contextmanager
def nothing_after_an_error(waiting: deque[Item], stop: Event | None) -> Iterator[None]:
    """After an error, or Ctrl-C, nothing waits any more, and `stop` is set.

    If no more results are asked for, nothing waits either.
    """
    try:
        yield
    except BaseException as error:
        waiting.clear()
        if stop is not None and not isinstance(error, GeneratorExit):
            stop.set()
        raise


def new_event() -> Event:
    """An event to wait for, or to look at between two steps."""
    from threading import Event  # 2 ms, which an import of dpmlite alone need not take

    return Event()
