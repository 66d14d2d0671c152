"""The base class of estimators: scikit-learn's conventions, without importing scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from dpmlite.estimators.bases.routing import WeightRequests
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.inputs.arrays import check_rows
from dpmlite.estimators.inputs.user_tables import column_names
from dpmlite.estimators.inputs.user_warnings import warn

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """A method that leaves the estimator as it was if it fails, or is interrupted."""

    @wraps(method)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast("Method", whole)


class Estimator(WeightRequests):
    """A clusterer with parameters by name, feature names and tags, as in scikit-learn.

    The parameters are the keyword arguments of the subclass's ``__init__``; each is kept in
    an attribute of the same name and checked by ``fit``.
    """

    n_features_in_: int
    labels_: npt.NDArray[np.intp]

    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of `X`; implemented by subclasses."""
        raise NotImplementedError

    def fit_predict(
        self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[np.intp]:
        """Cluster the rows of `X` and return their labels.

        Parameters
        ----------
        X, sample_weight
            As in `fit`.
        y : ignored
            There for scikit-learn.

        Returns
        -------
        ndarray of int, shape (N,)
            `labels_`.

        Raises
        ------
        ValueError, TypeError
            As `fit`.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    @classmethod
    def _parameter_names(cls) -> list[str]:
        parameters = inspect.signature(cls.__init__).parameters.values()
        return sorted(p.name for p in parameters if p.name != "self" and p.kind != p.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator, by name.

        Parameters
        ----------
        deep : ignored
            There for scikit-learn.

        Returns
        -------
        dict
            Value of each parameter.
        """
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **params
            New values; `fit` checks them.

        Returns
        -------
        Estimator
            Itself.

        Raises
        ------
        ValueError
            If a name is not a parameter.
        """
        for name, value in params.items():
            if name not in self._parameter_names():
                known = ", ".join(self._parameter_names())
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {known}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags  # only scikit-learn calls this

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            input_tags=InputTags(),
        )

    def _read(self, X: Any) -> Any:
        """A user's table, checked, for `fit`."""
        return check_rows(X)

    def _read_as_fitted(self, X: Any) -> Any:
        """A user's table, checked by the parameters with which the model was fitted."""
        return self._read(X)

    def _remember_columns(self, X: npt.ArrayLike, n_columns: int) -> None:
        """Keep the number of columns given to ``fit``, and their names if `X` has them."""
        self.n_features_in_ = n_columns
        names = column_names(X)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _read_new(self, X: npt.ArrayLike) -> Any:
        """A table given after ``fit``, checked to have the same columns."""
        require_fitted(self)
        self._compare_names(column_names(X))
        table = self._read_as_fitted(X)
        n_features = getattr(table, "n_features", table.shape[1])
        if n_features != self.n_features_in_:
            raise ValueError(
                f"X has {n_features} features, but {type(self).__name__} "
                f"is expecting {self.n_features_in_} features as input"
            )
        return table

    def _compare_names(self, names: npt.NDArray[np.object_] | None) -> None:
        fitted = getattr(self, "feature_names_in_", None)
        kind = type(self).__name__
        if names is None and fitted is not None:
            warn(f"X does not have valid feature names, but {kind} was fitted with feature names")
        elif names is not None and fitted is None:
            warn(f"X has feature names, but {kind} was fitted without feature names")
        elif names is not None and fitted is not None and list(names) != list(fitted):
            raise ValueError(_name_mismatch(list(names), list(fitted)))


def _name_mismatch(names: list[str], fitted: list[str]) -> str:
    """The message about columns whose names are not those of `fit`, in scikit-learn's words."""
    lines = ["The feature names should match those that were passed during fit."]
    unseen = sorted(set(names) - set(fitted))
    missing = sorted(set(fitted) - set(names))
    if unseen:
        lines += ["Feature names unseen at fit time:", *(f"- {name}" for name in unseen[:5])]
    if missing:
        lines += ["Feature names seen at fit time, yet now missing:"]
        lines += [f"- {name}" for name in missing[:5]]
    if not unseen and not missing:
        lines += ["Feature names must be in the same order as they were in fit."]
    return "\n".join(lines) + "\n"
