"""What a fit tells of its steps, and how its caller may end it.

Lines go to the logger "dpmlite" if it takes them: at level INFO with ``verbose``, else at level
DEBUG. Otherwise lines of ``verbose`` are printed.
"""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING

from dpmlite.core.stop import CALLBACK, Stop

if TYPE_CHECKING:
    from collections.abc import Callable
    from logging import Logger

    #: `callback(step, objective, n_clusters)`; a true result ends the fit.
    Callback = Callable[[str, float, int], object]

LOGGER = "dpmlite"

# Those of logging, whose import takes 5 ms: who sets up logging has imported it.
DEBUG, INFO = 10, 20

# Seconds after which it is told why a fit takes long.
LONG = 5.0


class Progress:
    """Where the steps of one fit are told.

    Parameters
    ----------
    verbose : bool
        Whether lines are for the terminal.
    callback : callable, optional
        Called after each step, by one thread at a time.
    max_seconds : float, optional
        Time after which `stop` is set.

    Attributes
    ----------
    stop : Stop
        Ends the fit between two steps.
    tells : bool
        Whether anybody reads lines.
    """

    def __init__(
        self,
        verbose: bool = False,
        callback: Callback | None = None,
        max_seconds: float | None = None,
    ) -> None:
        from threading import Lock  # takes 2 ms, which not every import of dpmlite should

        self.stop = Stop(max_seconds)
        self._long_from = monotonic() + LONG
        self._why_long: Callable[[], str] | None = None
        self._callback, self._lock = callback, Lock()
        self._level = INFO if verbose else DEBUG
        self._logger = listening_logger(self._level)
        self.tells = verbose or self._logger is not None

    def explain(self, why_long: Callable[[], str]) -> None:
        """Let a line tell once, if the fit goes on for `LONG` seconds, what makes it long."""
        self._why_long = why_long if self.tells else None

    def step(self, name: str, objective: float, n_clusters: int) -> None:
        """Call the callback after a step; a true result sets `stop`."""
        if self._why_long is not None and monotonic() > self._long_from:
            self._tell_why_long()
        if self._callback is None:
            return
        with self._lock:
            if not self.stop.is_set() and self._callback(name, float(objective), n_clusters):
                self.stop.set(CALLBACK)

    def _tell_why_long(self) -> None:
        with self._lock:
            why, self._why_long = self._why_long, None
        if why is not None:
            self.tell(f"{LONG:g} s have passed, and max_seconds may end the fit; {why()}")

    def tell(self, line: str) -> None:
        """Pass a line on to whom it is for."""
        if self._logger is not None:
            self._logger.log(self._level, line)
        elif self.tells:
            print(line, flush=True)


def listening_logger(level: int) -> Logger | None:
    """The logger, if a handler would get its lines of a level."""
    logging = sys.modules.get("logging")
    if logging is None:
        return None
    logger: Logger = logging.getLogger(LOGGER)
    return logger if logger.isEnabledFor(level) and logger.hasHandlers() else None
