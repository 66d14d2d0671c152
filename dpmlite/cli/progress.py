"""How far a fit is, on standard error: a line for each step, or one line that is rewritten."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from dpmlite.search.progress import LOGGER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpmlite import MAPDPM

# Seconds before the line is shown, and between two changes of it: most fits are over before.
FIRST_SECONDS, SECONDS_BETWEEN = 1.0, 0.1


@contextmanager
def progress_of(model: MAPDPM) -> Iterator[None]:
    """Tell in this block how far the fit of a model is.

    A terminal shows one line. If the model is verbose, there is a line for each step, wherever
    standard error goes.
    """
    if model.verbose:
        with steps_on_stderr():
            yield
    elif sys.stderr is not None and sys.stderr.isatty():
        line = ProgressLine(sys.stderr)
        model.callback = line
        try:
            yield
        finally:
            model.callback = None
            line.clear()
    else:
        yield


@contextmanager
def steps_on_stderr() -> Iterator[None]:
    """The library's log goes to standard error in this block."""
    import logging  # takes 5 ms, which other calls of the command need not

    logger, handler = logging.getLogger(LOGGER), logging.StreamHandler()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


class ProgressLine:
    """A callback of a fit that keeps one line of a terminal up to date."""

    def __init__(self, terminal: TextIO) -> None:
        self.terminal, self.width = terminal, 0
        self.start = monotonic()
        self.due = self.start + FIRST_SECONDS

    def __call__(self, step: str, neg_log_joint: float, n_clusters: int) -> None:
        now = monotonic()
        if now >= self.due:
            self.due = now + SECONDS_BETWEEN
            self._write(f"{now - self.start:.0f} s, {step}, {n_clusters} clusters")

    def clear(self) -> None:
        """Leave an empty line, for what is printed next."""
        if self.width:
            self._write("")
            self.terminal.write("\r")

    def _write(self, text: str) -> None:
        self.terminal.write("\r" + text.ljust(self.width))
        self.terminal.flush()
        self.width = len(text)
