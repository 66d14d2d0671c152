"""Normal-gamma components for rows with missing values.

A cell that is NaN is missing, and contributes nothing. Since columns are independent given the
labels, this is exact: a cluster is a normal-gamma component of one column for each column, which
is given the values that were observed. So eq. (13) of Raykov, Boukouvalas & Little (2014) has a
count, and with it c and a, for each column.
"""

from math import isnan, nan

from dpmlite.core.constants import MIN_KEPT_FRACTION
from dpmlite.core.protocols import Values
from dpmlite.core.statistics_checks import RATES, UNITS, WEIGHT, check_statistics
from dpmlite.families.component import Component
from dpmlite.families.normal_gamma import NormalGamma


class IncompleteNormalGamma(Component):
    """Sufficient statistics of normal-gamma clusters of rows with missing values.

    Parameters
    ----------
    m0 : sequence of float, length D
        Prior means.
    c0 : float
        Values that a prior mean is worth.
    a0 : float
        Shape of the precisions' gamma prior.
    b0 : sequence of float, length D
        Rates of the precisions' gamma prior.
    power : float, default 1.0
        Power zeta of the likelihood, at most 1.

    Attributes
    ----------
    n_columns, n_slots, power
        As `Component`.
    counts : list of float
        Rows in each slot, whether or not anything of them was observed.

    Raises
    ------
    ValueError
        If `m0` and `b0` differ in length, another parameter is not positive, or `power` is above 1.
    """

    def __init__(self, m0: Values, c0: float, a0: float, b0: Values, power: float = 1.0) -> None:
        complete = NormalGamma(m0, c0, a0, b0, power)  # it checks them
        super().__init__(complete.n_columns)
        self.power = complete.power
        self._worths = (float(c0), float(a0))
        self.m0, self.c0, self.a0, self.b0 = complete.m0, complete.c0, complete.a0, complete.b0
        self.log_scale = complete.log_scale
        self.columns = [
            NormalGamma([m], c0, a0, [b], self.power) for m, b in zip(self.m0, self.b0, strict=True)
        ]

    def with_power(self, power: float) -> "IncompleteNormalGamma":
        return IncompleteNormalGamma(self.m0, *self._worths, self.b0, power)

    def resize(self, n_slots: int) -> None:
        self._check_n_slots(n_slots)
        del self.counts[n_slots:]
        self.counts += [0.0] * (n_slots - self.n_slots)
        for column in self.columns:
            column.resize(n_slots)

    def clear(self, k: int) -> None:
        self._check_slot(k)
        self.counts[k] = 0.0
        for column in self.columns:
            column.clear(k)

    def copy(self, k: int, other: "Component", j: int) -> None:
        self._check_slot(k)
        self._check_same(other)
        other._check_slot(j)
        self.counts[k] = other.counts[j]
        theirs = other.columns  # type: ignore[attr-defined]
        for column, its_twin in zip(self.columns, theirs, strict=True):
            column.copy(k, its_twin, j)

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        self._check_slot(k)
        for column, value in self._observed(row):
            column.add(value, k, weight)
        self.counts[k] += weight

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row out of slot `k`.

        Returns False, and changes nothing, if a column that was observed returns False, or if
        less than 2^-10 of the slot's weight would be left.
        """
        self._check_slot(k)
        observed = self._observed(row)
        left = self.counts[k] - weight
        if left <= 0.0:
            self.clear(k)
            return True
        if left < MIN_KEPT_FRACTION * self.counts[k]:
            return False
        if any(isnan(c.log_predictive_member(value, k, weight)) for c, value in observed):
            return False
        for column, value in observed:
            column.remove(value, k, weight)
        self.counts[k] = left
        return True

    def merge(self, j: int, k: int) -> None:
        self._check_pair(j, k)
        for column in self.columns:
            column.merge(j, k)
        self.counts[j] += self.counts[k]
        self.counts[k] = 0.0

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Sum over the columns that are observed of log Student-t densities, eq. (11)."""
        self._check_slot(k)
        return sum(c.log_predictive(value, k, weight) for c, value in self._observed(row))

    def _log_scale_of(self, row: Values) -> float:
        return sum(column.log_scale for column, _ in self._observed(row))

    def log_predictive_member(self, row: Values, k: int, weight: float = 1.0) -> float:
        self._check_slot(k)
        observed = self._observed(row)
        if 0.0 < self.counts[k] - weight < MIN_KEPT_FRACTION * self.counts[k]:
            return nan
        return sum(c.log_predictive_member(value, k, weight) for c, value in observed)

    def log_marginal(self, k: int) -> float:
        self._check_slot(k)
        return sum(column.log_marginal(k) for column in self.columns)

    def log_marginal_merged(self, j: int, k: int) -> float:
        self._check_pair(j, k)
        return sum(column.log_marginal_merged(j, k) for column in self.columns)

    def normal_prior(self) -> tuple[float, float]:
        return self.c0, self.a0

    def normal_columns(self, k: int) -> list[tuple[float, float, float, float]]:
        self._check_slot(k)
        return [moments for column in self.columns for moments in column.normal_columns(k)]

    def standardise(self, row: Values) -> list[float]:
        self._check_row(row)
        columns = zip(self.columns, row, strict=True)
        return [u for column, x in columns for u in column.standardise([x])]

    def posterior(self, k: int) -> dict[str, float | list[float]]:
        """Posterior of cluster `k`: "n" rows, and "m", "c", "a", "b" of each column."""
        self._check_slot(k)
        columns = [column.posterior(k) for column in self.columns]
        values = {name: [_number(column[name]) for column in columns] for name in "mcab"}
        return {"n": self.counts[k], **values}

    def statistics(self, k: int) -> list[float]:
        self._check_slot(k)
        columns = [column.statistics(k) for column in self.columns]
        return [self.counts[k]] + [column[i] for i in range(3) for column in columns]

    def load(self, k: int, statistics: Values) -> None:
        self._check_slot(k)
        d = self.n_columns
        check_statistics(statistics, (WEIGHT, 1 + d), (UNITS, d), (RATES, d))
        self.counts[k] = statistics[0]
        for i, column in enumerate(self.columns, start=1):
            column.load(k, [statistics[i], statistics[i + d], statistics[i + 2 * d]])

    def _observed(self, row: Values) -> list[tuple[NormalGamma, list[float]]]:
        """The columns that the row has a value of, and these values as rows of one column."""
        self._check_row(row)
        pairs = zip(self.columns, row, strict=True)
        return [(column, [x]) for column, x in pairs if not isnan(x)]


def _number(value: float | list[float]) -> float:
    """A column's number, which may be in a list of its own."""
    return value[0] if isinstance(value, list) else value
