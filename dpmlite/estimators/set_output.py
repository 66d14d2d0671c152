"""Scikit-learn's choice of what `transform` returns, without importing scikit-learn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

from dpmlite.estimators.validation import check_choice

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.data import Floats

OUTPUTS = ("default", "pandas")


class SetOutput:
    """For a transformer: `transform` returns an array, or a DataFrame of pandas."""

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the columns of `transform`; implemented by subclasses."""
        raise NotImplementedError

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` and `fit_transform` return, as in scikit-learn.

        Parameters
        ----------
        transform : {"default", "pandas"}, optional
            An array, or a DataFrame with the index of `X` and the names of `get_feature_names_out`.
            None changes nothing.

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
        if self._output() != "pandas":
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
