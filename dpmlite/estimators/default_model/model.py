"""The model under which a table is searched: family, prior, concentration, power."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from dpmlite.estimators.empirical_bayes.design_effect import design_effect, judged_rows
from dpmlite.partition import Partition
from dpmlite.search.context import Problem, coarsened_alpha

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Indices
    from dpmlite.estimators.priors.base import Family

    Seeds = npt.NDArray[np.int64]

#: Rows up to which evidence grows; more only make it surer of the same clusters.
SATURATION = 2000.0


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A family with its prior, and the power with which the likelihood of a row counts.

    Attributes
    ----------
    family : Family
    allow_missing : bool
    prior : dict
    alpha : float
        Concentration.
    power : float
    as_weights : bool
        Whether rows have the power as weights: then the predictive densities of a search's
        components are densities. It takes longer.
    has_missing : bool
        Whether a cell of the whole table may be missing. If none is, problems have the component
        of complete rows: it has the same joint, and takes less time.
    discount : float
        Discount of the Pitman-Yor process; 0 unless the power is 1.
    """

    family: Family
    allow_missing: bool
    prior: Prior
    alpha: float
    power: float = 1.0
    as_weights: bool = False
    has_missing: bool = True
    discount: float = 0.0

    def problem(self, table: Data) -> Problem:
        """The problem of the rows of a table; its joints are in units of `unit` nats.

        Rows with the power as weights have the same objective with another concentration.
        """
        if self._component_knows_power():
            component = self._searched(self.power)
            return Problem(table.rows(), component, self.alpha, discount=self.discount)
        alpha = self.power * coarsened_alpha(self.alpha, self.power)
        return Problem(times(table, self.power).rows(), self._searched(1.0), alpha)

    def weighted_partition(self, table: Data, labels: Indices) -> Partition:
        """A partition whose rows have the power as weights, from which to predict."""
        rows, component = times(table, self.power).rows(), self.component()
        return Partition(rows, labels, component, self.alpha, discount=self.discount)

    def with_power(self, power: float) -> Model:
        """The model with another power."""
        return replace(self, power=power)

    def component(self) -> families.Component:
        """A component of the prior without slots, and without the power."""
        return self.family.component(self.prior, self.allow_missing)

    def _searched(self, power: float) -> families.Component:
        """The component of a search among rows of the table."""
        return self.family.component(self.prior, self.allow_missing and self.has_missing, power)

    @property
    def unit(self) -> float:
        """Nats in one unit of a problem's joint."""
        return self.power if self._component_knows_power() else 1.0

    def _component_knows_power(self) -> bool:
        return self.power == 1.0 or (self.family.knows_power and not self.as_weights)


def times(table: Data, factor: float) -> Data:
    """A table whose weights are multiplied by a factor."""
    if factor == 1.0:
        return table
    return replace(table, weights=factor * table.row_weights())


def weights_as_certainty(table: Data, power: float) -> tuple[Data, float]:
    """A table whose lightest row has weight 1, and the power of the likelihood of such a row.

    The scale of weights tells how sure rows are, and not that each is several equal ones, or a part
    of one. The heaviest row counts as one at most in the likelihood, and the lightest as one in the
    prior of the labels: else these rows would be clusters of their own. `power` is the greatest
    that a row of weight 1 may have.
    """
    weights = table.row_weights()
    least, most = float(weights.min()), float(weights.max())
    return times(table, 1.0 / least), least * min(1.0 / most, power)


def power_of(total_weight: float, saturation: float | None, design_effect: float = 1.0) -> float:
    """The power of the likelihood of rows of a total weight (Miller & Dunson 2019, section 3).

    What saturates is the evidence of ``total_weight / design_effect`` rows. It is infinite if that
    of rows does not saturate.
    """
    if saturation is None:
        return inf
    return saturation / (design_effect * saturation + total_weight)


def certain_power_of(
    total_weight: float, n_rows: int, saturation: float | None, design_effect: float = 1.0
) -> float:
    """The power of a row of weight 1 where weights tell how sure rows are.

    On average, a row is as sure as one without a weight at least: of weights whose mean is below 1,
    such as those that sum to 1, the ratios count alone.
    """
    counted = max(total_weight, float(n_rows))
    return counted / total_weight * power_of(counted, saturation, design_effect)


def design_effect_of(table: Data, rows_per_row: float = 1.0) -> float:
    """The design effect of values that rows share, before they are spread: see `design_effect`."""
    if table.values is None:
        return 1.0
    values = judged_rows(table.values)
    rows_per_row *= len(table.values) / len(values)
    if table.columns is None:
        return design_effect(list(values.T), rows_per_row)
    columns = table.columns.decode(values).values()
    numbers = [cells if cells.dtype.kind == "f" else None for cells in columns]
    return design_effect(numbers, rows_per_row)
