"""The interface of component families: one row of sufficient statistics per cluster.

A family keeps its statistics in slots. Some slots hold a cluster; an empty slot holds the
prior, so its predictive density *is* that of a new cluster, p(x | theta_0), and inference
needs no special case for one.
"""

from math import nan
from typing import Any

from dpmlite.core.constants import COUNT_ROUNDING, SMALL_COUNT_ROUNDING
from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows


class Component:
    """Sufficient statistics of every cluster of one family.

    Parameters
    ----------
    n_columns : int
        Number of columns of a row.

    Attributes
    ----------
    n_columns : int
    reads_sparse : bool
        Whether rows may be stored by their non-zeros.
    n_slots : int
        Slots that exist, empty ones included.
    counts : list of float
        Rows in each slot, by weight; exactly 0 if it is empty.
    log_scale : float
        Sum of the logs of the columns' scales in the prior; 0 if values have no units.
    power : float
        Power of the likelihood, at most 1; 1 in families that do not take one.

    Notes
    -----
    With a power zeta below 1, the posterior is the coarsened one of Miller & Dunson (2019): each
    row counts as zeta rows in the likelihood. Log predictives and log marginals are then those of
    the coarsened likelihood divided by zeta, so that they stay as large as those of whole rows.

    A row of weight w stands for w equal rows that share a label: methods that take a row and a
    weight say what holds for all of them together.
    """

    reads_sparse = False
    log_scale = 0.0
    power = 1.0

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.counts: list[float] = []

    @property
    def n_slots(self) -> int:
        return len(self.counts)

    def like(self) -> "Component":
        """A component of the same family, prior and power, without any slot.

        A family that takes no power has this method, others have `with_power`.
        """
        return self.with_power(self.power)

    def with_power(self, power: float) -> "Component":
        """A component of the same family and prior with another power, without any slot.

        Raises
        ------
        ValueError
            If the power is not 1, and the family does not take one; or it is out of range.
        """
        if power != 1.0:
            raise ValueError(f"power must be 1 for {type(self).__name__}, got {float(power)}")
        return self.like()

    def resize(self, n_slots: int) -> None:
        """Make exactly `n_slots` slots; those that are new are empty."""
        raise NotImplementedError

    def _check_n_slots(self, n_slots: int) -> None:
        """Raise ValueError if `n_slots` is negative."""
        if n_slots < 0:
            raise ValueError(f"n_slots must not be negative, got {n_slots}")

    def clear(self, k: int) -> None:
        """Return slot `k` to the prior."""
        raise NotImplementedError

    def copy(self, k: int, other: "Component", j: int) -> None:
        """Overwrite slot `k` by slot `j` of `other`, a component of the same prior."""
        self._check_slot(k)
        self._check_same(other)
        other._check_slot(j)
        self._set_slot(k, other._slot(j))

    def _slot(self, k: int) -> Any:
        """A copy of all that slot `k` holds, with what removals left of it; for `_set_slot`."""
        raise NotImplementedError

    def _set_slot(self, k: int, slot: Any) -> None:
        """Set slot `k` to what `_slot` gave."""
        raise NotImplementedError

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        """Put a row into slot `k`."""
        raise NotImplementedError

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row, which must be there, out of slot `k`.

        Returns False, and changes nothing, if rounding would show in what is left: the slot
        must then be built anew from its other rows.
        """
        raise NotImplementedError

    def merge(self, j: int, k: int) -> None:
        """Put all rows of slot `k` into slot `j`; `k` becomes empty."""
        raise NotImplementedError

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Log p(row | rows of slot k); of the prior if the slot is empty."""
        raise NotImplementedError

    def per_copy(self, score: float, row: Values, weight: float = 1.0) -> float:
        """The log density of one of `weight` equal rows, in units of the prior.

        `score` is that of all of them, in the data's units. Without units, weights and missing
        cells, log densities of different rows compare.
        """
        return score / weight + self._log_scale_of(row)

    def _log_scale_of(self, row: Values) -> float:
        """The sum of the logs of the scales of the columns that the row has."""
        self._check_row(row)
        return self.log_scale

    def log_predictive_all(self, row: Values, weight: float = 1.0) -> list[float]:
        """`log_predictive` of every slot."""
        return [self.log_predictive(row, k, weight) for k in range(self.n_slots)]

    def log_predictive_member(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Log p(row | the other rows of slot k) of a row that is in slot `k`.

        NaN where `remove` would return False.
        """
        self._check_slot(k)
        before = self._slot(k)
        is_exact = self.remove(row, k, weight)
        score = self.log_predictive(row, k, weight)
        self._set_slot(k, before)
        return score if is_exact else nan

    def expected_log_density(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Mean of log p(row | theta_k) over the posterior of theta_k: `weight` times that of one.

        It is the slope of `log_predictive` in the weight, at 0, and never above the log of the
        predictive density of one row. Not every family has it.
        """
        raise NotImplementedError

    def log_marginal(self, k: int) -> float:
        """Log p(all rows of slot k | theta_0), every constant included; 0 if it is empty."""
        raise NotImplementedError

    def log_marginal_merged(self, j: int, k: int) -> float:
        """`log_marginal` of the rows of two different slots together."""
        raise NotImplementedError

    def log_marginals_merged(self, j: int) -> list[float]:
        """`log_marginal_merged` of a slot and each slot, in much less time; NaN for itself."""
        self._check_slot(j)
        return [nan if k == j else self.log_marginal_merged(j, k) for k in range(self.n_slots)]

    def bound_over(self, X: Rows) -> None:
        """Let `log_bound` hold for clusters of rows of a table.

        Raises
        ------
        ValueError
            If no such bound is known for the family.
        """
        raise ValueError(f"no bound of log predictives is known for {type(self).__name__}")

    def log_bound(self, row: Values, k: int, more: float, weight: float = 1.0) -> float:
        """A bound of log p(row | rows of slot k and others), whatever the others are.

        They are rows of the table that `bound_over` was given, of total weight at most `more`. So
        is the row. With `more` = 0 it is `log_predictive`.
        """
        raise NotImplementedError

    def normal_prior(self) -> tuple[float, float] | None:
        """c0 and a0 of the prior NG(m0, c0, a0, b0), if columns are independent normals; else None.

        They are divided by the power, and so is b0, whose root is the unit of `normal_columns` and
        `standardise`, which such families have.
        """
        return None

    def normal_columns(self, k: int) -> list[tuple[float, float, float, float]]:
        """Weight, mean, variance and posterior b of slot `k` in each column.

        Weight, mean and variance are those of the slot's cells, in units of the prior, as
        `standardise` gives them; the mean is 0 and the variance 1 if there is no cell.
        """
        raise NotImplementedError

    def standardise(self, row: Values) -> list[float]:
        """The row in units of the prior, u = (row - m0) / sqrt(b0)."""
        raise NotImplementedError

    def posterior(self, k: int) -> dict[str, Any]:
        """What is known of cluster `k`, in the family's own symbols and the data's units."""
        raise NotImplementedError

    def statistics(self, k: int) -> list[float]:
        """Everything slot `k` holds, as plain numbers; `load` takes it back exactly."""
        raise NotImplementedError

    def load(self, k: int, statistics: Values) -> None:
        """Set slot `k` from what `statistics` gave."""
        raise NotImplementedError

    def _check_same(self, other: "Component") -> None:
        """Raise ValueError unless `other` has as many columns."""
        if other.n_columns != self.n_columns:
            raise ValueError(f"other must have {self.n_columns} columns, got {other.n_columns}")

    def _check_expectations(self) -> None:
        """Raise TypeError unless the family has expected log densities."""
        if type(self).expected_log_density is Component.expected_log_density:
            raise TypeError(
                f"component must have expected log densities, got {type(self).__name__}"
            )

    def _check_slot(self, k: int) -> None:
        """Raise IndexError unless slot `k` exists."""
        if not 0 <= k < self.n_slots:
            raise IndexError(f"slot must be in 0..{self.n_slots - 1}, got {k}")

    def _check_pair(self, j: int, k: int) -> None:
        """Raise IndexError unless both slots exist, ValueError if they are one."""
        self._check_slot(j)
        self._check_slot(k)
        if j == k:
            raise ValueError(f"two slots are merged, got slot {j} twice")

    def _check_rows(self, rows: Rows) -> None:
        """Raise ValueError unless rows of a table have `n_columns` values, stored as they must."""
        if len(rows) and rows.n_columns != self.n_columns:
            raise ValueError(f"row must have {self.n_columns} values, got {rows.n_columns}")
        if rows.is_sparse and not self.reads_sparse:
            raise ValueError(f"rows must be dense for {type(self).__name__}")

    def _check_row(self, row: Values) -> None:
        """Raise ValueError unless `row` has `n_columns` values."""
        if len(row) != self.n_columns:
            raise ValueError(f"row must have {self.n_columns} values, got {len(row)}")


def left_of(n: float, weight: float) -> float:
    """What is left of a count without some of its weight.

    Parameters
    ----------
    n : float
        The count.
    weight : float
        What is taken out of it, at most `n` but for rounding.

    Returns
    -------
    float
        Exactly 0 if the difference is but rounding.
    """
    left = n - weight
    return left if left > max(COUNT_ROUNDING * n, SMALL_COUNT_ROUNDING * min(n, 1.0)) else 0.0
