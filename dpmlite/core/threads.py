"""Calls on a pool of threads, which end together after an error or Ctrl-C."""

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

# Threads for each processor at most: a thousand take seconds to start, and only wait.
MOST_PER_PROCESSOR = 8

_limit: ContextVar[int] = ContextVar("_limit", default=1)
_kept: ContextVar[ThreadPoolExecutor | None] = ContextVar("_kept", default=None)
if hasattr(os, "register_at_fork"):  # a forked process has no other threads
    os.register_at_fork(after_in_child=lambda: _kept.set(None))


def threads_for(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs` as joblib counts: -1 is one a processor, -2 one less.

    It is at most `MOST_PER_PROCESSOR` times the processors.
    """
    if n_jobs is None:
        return 1
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        n_processors = len(os.sched_getaffinity(0))
    else:
        n_processors = os.cpu_count() or 1
    if n_jobs < 0:
        n_jobs += n_processors + 1
    return max(1, min(n_jobs, MOST_PER_PROCESSOR * n_processors))


def on_threads(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    stop: Event | None = None,
) -> list[Result]:
    """Results of ``function(item)`` for each item, in order.

    This thread makes some of the calls: a thread that only waited would wake at each result and
    compete for the interpreter's lock. An error, or Ctrl-C, sets `stop`; calls that have begun are
    then waited for.
    """
    return list(as_needed(function, items, stop))


def as_needed(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    stop: Event | None = None,
) -> Generator[Result]:
    """Yield the result of ``function(item)`` for each item, in order.

    Other threads make further calls, until the generator is closed, while this one uses a result.
    An error, or Ctrl-C, sets `stop`.
    """
    n_threads = min(thread_limit(), len(items))
    if n_threads < 2:
        for item in items:
            yield function(item)
        return
    results: dict[int, Result] = {}
    waiting = deque(enumerate(items))

    def work(until: int | None = None) -> None:
        with cleared_after_error(waiting, stop):
            while until not in results and (taken := pop_first(waiting)) is not None:
                i, item = taken
                with limit_threads(1):  # a call that shares its work would take threads from others
                    results[i] = function(item)

    n_helpers = n_threads - 1
    helpers: list[Future[None]] = []
    with pool_of(n_helpers) as pool:
        try:
            with cleared_after_error(waiting, stop):
                helpers += (pool.submit(work) for _ in range(n_helpers))
                for i in range(len(items)):
                    work(until=i)
                    for helper in helpers if i not in results else ():
                        helper.result()
                    yield results.pop(i)
        finally:
            end(helpers)


def end(helpers: Sequence[Future[None]]) -> None:
    """Cancel the helpers that have not begun, and wait for the others."""
    for helper in helpers:
        if not helper.cancel():
            helper.exception()


@contextmanager
def use_threads(n_threads: int) -> Iterator[None]:
    """Let calls from this thread share their work among threads, all from one pool.

    To start a pool takes about 0.15 ms, and a fit of many rows needs one some thirty times.
    """
    if n_threads == 1:
        yield
        return
    with pool_of(n_threads - 1) as pool, limit_threads(n_threads):
        token = _kept.set(pool)
        try:
            yield
        finally:
            _kept.reset(token)


@contextmanager
def limit_threads(n_threads: int) -> Iterator[None]:
    """Let calls from this thread use at most `n_threads` threads."""
    token = _limit.set(n_threads)
    try:
        yield
    finally:
        _limit.reset(token)


def thread_limit() -> int:
    """Threads that a call from this thread may use, this one included."""
    return _limit.get()


@contextmanager
def pool_of(n_helpers: int) -> Iterator[ThreadPoolExecutor]:
    """Yield the pool that `use_threads` keeps for this thread, or one that ends with the block."""
    from concurrent.futures import ThreadPoolExecutor

    kept = _kept.get()
    if kept is not None:
        yield kept
    else:
        with ThreadPoolExecutor(n_helpers) as pool:
            yield pool


def pop_first(waiting: deque[Item]) -> Item | None:
    """Remove and return the first item; None if there is none. Safe with other threads."""
    with suppress(IndexError):
        return waiting.popleft()
    return None


@contextmanager
def cleared_after_error(waiting: deque[Item], stop: Event | None) -> Iterator[None]:
    """Clear `waiting` after an error, Ctrl-C or the close of a generator in the block.

    An error or Ctrl-C also sets `stop`.
    """
    try:
        yield
    except BaseException as error:
        waiting.clear()
        if stop is not None and not isinstance(error, GeneratorExit):
            stop.set()
        raise


def new_event() -> Event:
    """A new event, clear."""
    from threading import Event  # 2 ms, which an import of dpmlite alone need not take

    return Event()
