"""What ends a computation between two of its steps: an error elsewhere, a wish, or a limit."""

from __future__ import annotations

from math import inf
from time import monotonic

#: Reasons for which a fit ends early and keeps the best so far.
MAX_SECONDS = "max_seconds"
CALLBACK = "callback"


class Stop:
    """Asked between two steps whether to end, from any thread.

    Parameters
    ----------
    max_seconds : float, optional
        Time, from now on, after which it is set.

    Attributes
    ----------
    reason : str or None
        Why it is set; None if it is not.
    """

    def __init__(self, max_seconds: float | None = None) -> None:
        self.reason: str | None = None
        self._end = inf if max_seconds is None else monotonic() + max_seconds

    def set(self, reason: str = "error") -> None:
        """End the computation; the first reason counts."""
        self.reason = self.reason or reason

    def is_set(self) -> bool:
        """Whether to end: also if the time is over."""
        if self.reason is None and self._end < inf and monotonic() >= self._end:
            self.set(MAX_SECONDS)
        return self.reason is not None
