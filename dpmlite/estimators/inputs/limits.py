"""What tells of a fit and ends it early: the parameters `verbose`, `callback` and `max_seconds`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite.core.stop import MAX_SECONDS
from dpmlite.estimators.inputs.parameters import check_positive, check_verbose
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.inputs.user_warnings import warn
from dpmlite.search.progress import Progress

if TYPE_CHECKING:
    from dpmlite.search.progress import Callback


class ConvergenceWarning(UserWarning):
    """A fit ended before its search did.

    See Also
    --------
    MAPDPM : Its `stopped_` says what ended the fit.

    Examples
    --------
    >>> import warnings
    >>> from dpmlite import MAPDPM, ConvergenceWarning
    >>> from dpmlite.datasets import load_sensors
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = MAPDPM(max_seconds=1e-6, random_state=0).fit(load_sensors()[0])
    >>> any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    True
    >>> model.stopped_
    'max_seconds'
    """


class Limited:
    """An estimator whose fit tells its steps, and may end between two of them.

    A subclass may lack the parameter `callback`.
    """

    verbose: bool | int
    callback: Callback | None = None
    max_seconds: float | None

    stopped_: str | None
    converged_: bool

    def _check_limits(self) -> None:
        check_verbose(self.verbose)
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback must be callable or None, got {shown(self.callback)}")
        if self.max_seconds is not None:
            check_positive("max_seconds", self.max_seconds)

    def _new_progress(self) -> Progress:
        """Where the steps of a fit that begins now are told."""
        return Progress(bool(self.verbose), self.callback, self.max_seconds)

    def _keep_stop(self, progress: Progress) -> None:
        """Keep why a fit ended early; warn if it was the time limit."""
        self.stopped_ = progress.stop.reason
        if self.stopped_ is None:
            return
        if hasattr(self, "converged_"):
            self.converged_ = False
        if self.stopped_ == MAX_SECONDS:
            warn(
                f"fit was stopped after max_seconds={self.max_seconds:g} and kept the best so far: "
                "more time may find better clusters",
                ConvergenceWarning,
            )
