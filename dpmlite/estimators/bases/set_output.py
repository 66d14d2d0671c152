"""Scikit-learn's choice of what `transform` returns, without importing scikit-learn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.inputs.parameters import check_choice

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Floats

OUTPUTS = ("default", "pandas", "polars")


class SetOutput:
    """For a transformer: `transform` returns an array, or a DataFrame of pandas or polars."""

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags  # only scikit-learn calls this

        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags = TransformerTags()
        return tags

    n_clusters_: int

    def fit_transform(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and transform the rows of `X`.

        Parameters
        ----------
        X, sample_weight
            As in `fit`.
        y : ignored
            There for scikit-learn.

        Returns
        -------
        ndarray or DataFrame, shape (N, K)
            As of `transform`.

        Raises
        ------
        ValueError, TypeError
            As `fit`.
        """
        estimator: Any = self
        return estimator.fit(X, sample_weight=sample_weight).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns of `transform`: that of the class with numbers, "mapdpm0", ...

        Parameters
        ----------
        input_features : ignored
            There for scikit-learn.

        Returns
        -------
        ndarray of str, shape (K,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        require_fitted(self, "n_clusters_")
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{k}" for k in range(self.n_clusters_)], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` and `fit_transform` return, as in scikit-learn.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            An array, or a DataFrame with the names of `get_feature_names_out`; one of pandas has
            the index of `X`. None changes nothing.

        Returns
        -------
        Estimator
            Itself.

        Raises
        ------
        ValueError
            If there is no such output.
        """
        if transform is not None:
            check_choice("transform", transform, OUTPUTS)
            self._sklearn_output_config = {"transform": transform}  # the name that clones keep
        return self

    def _in_container(self, values: Floats, X: Any) -> Any:
        """The result of ``transform(X)`` as an array or a DataFrame."""
        output = self._output()
        if output == "polars":
            import polars as pl

            return pl.DataFrame(values, schema=list(self.get_feature_names_out()))
        if output != "pandas":
            return values
        import pandas as pd

        index = X.index if isinstance(X, pd.DataFrame) else None
        return pd.DataFrame(values, index=index, columns=self.get_feature_names_out())

    def _output(self) -> str:
        """The output that `set_output` chose, or scikit-learn's configuration if it is loaded."""
        if hasattr(self, "_sklearn_output_config"):
            return self._sklearn_output_config["transform"]
        if "sklearn" in sys.modules:
            return str(sys.modules["sklearn"].get_config().get("transform_output"))  # new in 1.2
        return "default"
