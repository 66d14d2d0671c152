"""The first rows of a stream, which are kept for a while and fitted again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpmlite.estimators.column_families.by_joint import coded_for
from dpmlite.estimators.fitted.partitions import fitted_family
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.inputs.sample_weights import check_total_weight
from dpmlite.estimators.map_dpm.streaming import IN_ALL

# The first rows are kept up to this number of rows or of cells. A cluster of fewer rows may hold
# several true ones, which cannot be split once only its statistics are left.
FIRST_ROWS = 5000
FIRST_CELLS = 2_000_000

# The first rows are fitted again when their number has grown by this factor: often enough that late
# batches count, seldom enough that batches of one row cost no more than a few fits.
GROWTH = 1.1


@dataclass(frozen=True, eq=False, repr=False)
class FirstRows:
    """The first rows of a stream, which are fitted again as they become more.

    Attributes
    ----------
    rows : Data
        All rows so far.
    n_fitted : int
        Rows in the last fit.
    """

    rows: Data
    n_fitted: int

    @classmethod
    def of(cls, model: Any, data: Data) -> FirstRows | None:
        """First rows of a model, followed by new ones; None if the model no longer keeps them."""
        if not hasattr(model, "statistics_"):
            return cls(data, 0)
        if not hasattr(model, "first_rows_"):
            return None
        known = model.first_rows_
        rows = Data.from_dict(known["rows"]).followed_by(data)
        check_total_weight(rows.total_weight, IN_ALL)
        return cls(rows, known["n_fitted"])

    def to_dict(self) -> dict[str, Any]:
        """Attributes as arrays and numbers, for files."""
        return {"rows": self.rows.to_dict(), "n_fitted": self.n_fitted}

    def fitted(self, model: Any) -> FirstRows:
        """These rows, marked as fitted, and coded as the fitted model reads those that follow."""
        return FirstRows(coded_for(self.rows, fitted_family(model)), self.rows.shape[0])

    def are_enough(self) -> bool:
        """Whether there are `FIRST_ROWS` rows or `FIRST_CELLS` cells, so that no more are kept."""
        n_rows, n_columns = self.rows.shape
        return n_rows >= FIRST_ROWS or n_rows * n_columns >= FIRST_CELLS

    def are_due(self) -> bool:
        """Whether to fit them again."""
        return self.are_enough() or self.rows.shape[0] >= GROWTH * self.n_fitted
