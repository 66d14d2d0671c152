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

    from dpmlite.core.stop import Stop

Item = TypeVar("Item")
Result = TypeVar("Result")

# Threads per processor, at most: more only wait, and a thousand take seconds to start.
MAX_THREADS_PER_PROCESSOR = 8

_limit: ContextVar[int] = ContextVar("_limit", default=1)
_kept: ContextVar[ThreadPoolExecutor | None] = ContextVar("_kept", default=None)
if hasattr(os, "register_at_fork"):  # a forked process has no other threads
    os.register_at_fork(after_in_child=lambda: _kept.set(None))


def threads_for(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs`, as joblib counts: -1 is one per processor, -2 one less.

    It is at most `MAX_THREADS_PER_PROCESSOR` times the processors.
    """
    if n_jobs is None:
        return 1
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        n_processors = len(os.sched_getaffinity(0))
    else:
        n_processors = os.cpu_count() or 1
    if n_jobs < 0:
        n_jobs += n_processors + 1
    return max(1, min(n_jobs, MAX_THREADS_PER_PROCESSOR * n_processors))


def on_threads(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    stop: Stop | None = None,
) -> list[Result]:
    """List the results of ``function(item)`` for each item, in order.

    This thread makes some of the calls: a thread that only waited would wake at each result and
    compete for the interpreter's lock. An error, or Ctrl-C, sets `stop` and is raised once calls
    that have begun are done.
    """
    return list(iterate_on_threads(function, items, stop))


def iterate_on_threads(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    stop: Stop | None = None,
) -> Generator[Result]:
    """Yield the result of ``function(item)`` for each item, in order.

    Other threads go on with further items while the caller uses a result, until the generator is
    closed. An error, or Ctrl-C, sets `stop`.
    """
    n_threads = min(thread_limit(), len(items))
    if n_threads < 2:
        for item in items:
            yield function(item)
        return
    results: dict[int, Result] = {}
    waiting = deque(enumerate(items))

    def work(until: int | None = None) -> None:
        """Call `function` for waiting items, until the result of item `until` is there."""
        with cleared_after_error(waiting, stop):
            while until not in results and (taken := pop_first(waiting)) is not None:
                i, item = taken
                with limit_threads(1):  # a call that shares its work would take threads from others
                    results[i] = function(item)

    n_helpers = n_threads - 1
    helpers: list[Future[None]] = []
    with thread_pool(n_helpers) as pool:
        try:
            with cleared_after_error(waiting, stop):
                helpers += (pool.submit(work) for _ in range(n_helpers))
                for i in range(len(items)):
                    work(until=i)
                    for helper in helpers if i not in results else ():
                        helper.result()
                    yield results.pop(i)
        finally:
            cancel_or_wait(helpers)


def cancel_or_wait(helpers: Sequence[Future[None]]) -> None:
    """Cancel the helpers that have not begun, and wait for the others."""
    for helper in helpers:
        if not helper.cancel():
            helper.exception()


@contextmanager
def use_threads(n_threads: int) -> Iterator[None]:
    """Let calls from this thread share their work among threads, all from one pool.

    A pool takes about 0.15 ms to start, and a fit of many rows needs one about thirty times.
    """
    if n_threads == 1:
        with limit_threads(1):
            yield
        return
    with thread_pool(n_threads - 1) as pool, limit_threads(n_threads):
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
def thread_pool(n_helpers: int) -> Iterator[ThreadPoolExecutor]:
    """Yield the pool that `use_threads` keeps, else a new one, which ends with the block."""
    from concurrent.futures import ThreadPoolExecutor

    kept = _kept.get()
    if kept is not None:
        yield kept
    else:
        with ThreadPoolExecutor(n_helpers) as pool:
            yield pool


def pop_first(waiting: deque[Item]) -> Item | None:
    """Remove and return the first item; None if there is none. Other threads may do it too."""
    with suppress(IndexError):
        return waiting.popleft()
    return None


@contextmanager
def cleared_after_error(waiting: deque[Item], stop: Stop | None) -> Iterator[None]:
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
