"""The error of methods that need `fit` before them."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any


class NotFittedError(ValueError, AttributeError):
    """A method that needs `fit` was called before it.

    See Also
    --------
    MAPDPM : Raises it, as all estimators do.

    Examples
    --------
    >>> from dpmlite import MAPDPM, NotFittedError
    >>> try:
    ...     MAPDPM().predict([[0.0]])
    ... except NotFittedError as error:
    ...     print(error)
    this MAPDPM is not fitted yet: call fit first
    """


def require_fitted(estimator: Any, attribute: str = "n_features_in_") -> None:
    """Raise NotFittedError unless an estimator has an attribute that ``fit`` sets."""
    if not hasattr(estimator, attribute):
        kind = type(estimator).__name__
        raise not_fitted_error(f"this {kind} is not fitted yet: call fit first")


def require_tree(estimator: Any) -> None:
    """Raise NotFittedError unless an estimator is fitted and its components were joined."""
    require_fitted(estimator)
    if not hasattr(estimator, "cluster_tree_"):
        kind = type(estimator).__name__
        raise not_fitted_error(
            f"this {kind} has no cluster_tree_, for its components were not joined: "
            f"fit {kind}(join=True)"
        )


def not_fitted_error(message: str) -> NotFittedError:
    """A NotFittedError that is also scikit-learn's, if that is loaded, for its tools to catch."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
    return _error_of_both(theirs)(message) if theirs else NotFittedError(message)


@cache
def _error_of_both(theirs: type[Exception]) -> type[NotFittedError]:
    # No module has this class, so that pickle must call the function that makes it.
    body = {"__reduce__": lambda self: (not_fitted_error, self.args)}
    return type("NotFittedError", (NotFittedError, theirs), body)
