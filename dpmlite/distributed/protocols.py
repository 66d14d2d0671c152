"""What the core asks of a table of rows and of a model of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpmlite.search.context import Problem

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.intp]
    Mask = npt.NDArray[np.bool_]


class Table(Protocol):
    """Checked rows. It can be pickled."""

    @property
    def shape(self) -> tuple[int, int]:
        """(N, D)."""

    def take(self, chosen: npt.NDArray[np.bool_]) -> Any:
        """The rows where a mask is true."""

    def followed_by(self, other: Any) -> Any:
        """The rows of two tables."""


class Model(Protocol):
    """A family with hyperparameters and a concentration. It can be pickled."""

    @property
    def power(self) -> float:
        """Power with which the likelihood of a row counts."""

    def with_power(self, power: float) -> Any:
        """The model with another power."""

    def problem(self, table: Any) -> Problem:
        """The problem of the rows of a table."""
