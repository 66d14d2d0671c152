"""Poisson-gamma components of counts that were taken in different exposures.

An exposure is the time, area or population in which the events of a row were counted. In column d
of a cluster, x | lambda ~ Poisson(lambda e) for a row of exposure e, and lambda, the rate per unit
of exposure, has the prior Gamma(a0[d], rate b0[d]). After cells that add up to S events in the
exposure E its posterior is Gamma(a, b) with a = a0 + S and b = b0 + E (Gelman et al. 2013, section
2.6), and the next cell is negative binomial,

    log p(x) = log Gamma(a + x) / Gamma(a) + a log(b / (b + e)) - x log((b + e) / e) - log x!.

With all exposures 1 it is `PoissonGamma`.
"""

from math import isnan

from dpmlite.core.protocols import Values
from dpmlite.core.statistics_checks import (
    EXPOSURE,
    LOG_FACTORIALS_PER_EXPOSURE,
    WEIGHT,
    WORDS,
    check_statistics,
)
from dpmlite.families.poisson_gamma import PoissonGamma


class ExposedPoissonGamma(PoissonGamma):
    """Sufficient statistics of Poisson-gamma clusters whose rows have exposures.

    Parameters
    ----------
    a0 : sequence of float, length D
        Shapes of the rates' gamma priors: events that a prior is worth.
    b0 : sequence of float, length D
        Rates of the rates' gamma priors: the exposure that a prior is worth.
    power : float, default 1.0
        Power zeta of the likelihood, at most 1.

    Attributes
    ----------
    n_columns : int
        D + 1: a row has D counts, and then its exposure.
    n_slots, counts, power
        As `Component`.

    Raises
    ------
    ValueError
        If lengths differ, a value is not positive, or `power` is out of range.

    Notes
    -----
    NaN is a missing count, and a number below 0 counts as 0. In a row without a positive exposure
    all counts count as missing.
    """

    def __init__(self, a0: Values, b0: Values, power: float = 1.0) -> None:
        super().__init__(a0, b0, power)
        self.n_columns = len(self.a0) + 1

    def with_power(self, power: float) -> "ExposedPoissonGamma":
        return ExposedPoissonGamma(self.a0, self.b0, power)

    def _observed(self, row: Values) -> list[tuple[int, float, float]]:
        """The columns that the row has a count of, the counts, and the exposure."""
        self._check_row(row)
        e = float(row[len(self.a0)])
        cells = [float(row[d]) for d in range(len(self.a0))] if e > 0.0 else []
        return [(d, max(x, 0.0), e) for d, x in enumerate(cells) if not isnan(x)]

    def _check_statistics(self, statistics: Values, d: int) -> None:
        of_logs = (LOG_FACTORIALS_PER_EXPOSURE, 1)
        check_statistics(statistics, (WEIGHT, 1), (WORDS, d), (EXPOSURE, d), of_logs)

    def _left_of_log(self, log_factorials: float, of_row: float) -> float:
        return log_factorials - of_row  # of any sign

    def _kept_by(self, k: int, sums: Values, cells: Values, log_factorials: float) -> float:
        """Exposures are no whole numbers: their sums round, too.

        The logs do not: their terms are at most a hundred times the counts.
        """
        kept = 1.0
        for prior, rest, all_rows in ((self.a0, sums, self.sums), (self.b0, cells, self.cells)):
            for first, after, before in zip(prior, rest, all_rows[k], strict=True):
                kept = min(kept, (first + self.power * after) / (first + self.power * before))
        return kept
