"""The base class of estimators with a component family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpmlite.estimators.base import Estimator, column_names
from dpmlite.estimators.priors import COMPONENTS, FAMILIES
from dpmlite.estimators.validation import check_bool, check_choice, check_sample_weight

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.data import Data
    from dpmlite.estimators.priors.base import Family, Prior


class FamilyEstimator(Estimator):
    """An estimator that reads tables by the rules of its component family.

    A subclass has the parameters `component` and `allow_missing`; its ``fit`` keeps them, with the
    prior, in `component_`, `allow_missing_` and `prior_`.
    """

    component: str
    allow_missing: bool
    prior: Any

    component_: str
    allow_missing_: bool
    prior_: Prior
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

    def score_samples(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log predictive density of new rows; implemented by subclasses."""
        raise NotImplementedError

    def score(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log predictive density of new rows, for GridSearchCV: higher is better.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            How many equal rows each row stands for.

        Returns
        -------
        float
            In nats a row.

        Raises
        ------
        ValueError, TypeError
            As `score_samples`; or if the weights break the rules of those of `fit`.
        """
        densities = self.score_samples(X)
        weights = check_sample_weight(sample_weight, len(densities))
        return float(np.average(densities, weights=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = FAMILIES.get(self.component)
        tags.input_tags.allow_nan = bool(self.allow_missing)
        tags.input_tags.sparse = tags.input_tags.positive_only = (
            family is not None and family.takes_sparse
        )
        return tags

    def _family(self) -> Family:
        return FAMILIES[check_choice("component", self.component, COMPONENTS)]

    def _component(self, prior: Prior) -> families.Component:
        """A component of a prior, without slots."""
        return self._family().component(prior, self.allow_missing)

    def _read(self, X: Any) -> Data:
        self._check_prior_names(column_names(X))
        return self._family().read(X, check_bool("allow_missing", self.allow_missing))

    def _check_prior_names(self, names: npt.NDArray[np.object_] | None) -> None:
        """Raise ValueError if a Series in the prior has other names than the columns of `X`."""
        for key, value in self.prior.items() if isinstance(self.prior, Mapping) else ():
            given = column_names(value, "index")
            if names is not None and given is not None and list(given) != list(names):
                raise ValueError(
                    f"prior {key} must be of the columns {list(names)} in this order, "
                    f"got {list(given)}"
                )

    def _read_as_fitted(self, X: Any) -> Data:
        return FAMILIES[self.component_].read(X, self.allow_missing_)
