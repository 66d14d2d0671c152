"""Checks of statistics that are loaded into a slot, shared by plain twins and kernels.

Kernels rely on them: they index tables by counts. What is out of these ranges comes from no rows.
"""

from math import isfinite
from typing import NamedTuple

from dpmlite.core.constants import MAX_PRIOR_UNITS, MAX_SIGMAS, ROUNDING_MARGIN
from dpmlite.core.protocols import Values

# Weights sum to 2^53 at most, and counts are 2^40 at most. Roundings are within a factor of two.
MAX_WEIGHT = 2.0**54
MAX_WORDS = 2.0**94
MAX_UNITS = 2.0 * MAX_PRIOR_UNITS
MAX_SQUARES = 2.0 * MAX_WEIGHT * MAX_UNITS**2
MAX_LOG_FACTORIALS = 2.0**100
MAX_COLUMNS = 2.0**20
MAX_EXPOSURES = 2.0**94  # of rows of that weight, 2^40 at most each


class Quantity(NamedTuple):
    """A kind of statistics: its name, and the least and the greatest value."""

    name: str
    least: float
    most: float


WEIGHT = Quantity("weights", 0.0, MAX_WEIGHT)
WORDS = Quantity("counts", 0.0, MAX_WORDS)
# A cell of 1 has a log of its factorial that rounds to a little below 0.
LOG_FACTORIALS = Quantity("logs of factorials", -MAX_WEIGHT * ROUNDING_MARGIN, MAX_LOG_FACTORIALS)
EXPOSURE = Quantity("exposures", 0.0, MAX_EXPOSURES)
LOG_FACTORIALS_PER_EXPOSURE = Quantity(
    "logs of factorials", -MAX_LOG_FACTORIALS, MAX_LOG_FACTORIALS
)
UNITS = Quantity("means", -MAX_UNITS, MAX_UNITS)
SIGMAS = Quantity("means", -2.0 * MAX_SIGMAS, 2.0 * MAX_SIGMAS)
SPREAD = Quantity("squares", 0.0, MAX_COLUMNS * MAX_WEIGHT * (2.0 * MAX_SIGMAS) ** 2)
RATES = Quantity("rates", 1.0, MAX_SQUARES)
PIVOT = Quantity("pivots", 1.0, MAX_COLUMNS * MAX_SQUARES)
SCATTER = Quantity("squares", -MAX_SQUARES, MAX_SQUARES)
FACTOR = Quantity("factors", -MAX_SQUARES, MAX_SQUARES)


def check_statistics(statistics: Values, *parts: tuple[Quantity, int]) -> None:
    """Raise ValueError unless statistics to be loaded are as many as they must be, and in range.

    Parameters
    ----------
    statistics : sequence of float
    *parts : tuple of Quantity and int
        What successive numbers are, and how many.
    """
    check_number(statistics, sum(size for _, size in parts))
    values = list(statistics)
    first = 0
    for quantity, size in parts:
        _check_range(values[first : first + size], quantity)
        first += size


def check_number(statistics: Values, n_values: int) -> None:
    """Raise ValueError unless `n_values` statistics are to be loaded.

    Parameters
    ----------
    statistics : sequence of float
    n_values : int
    """
    if len(statistics) != n_values:
        raise ValueError(f"statistics must have {n_values} values, got {len(statistics)}")


def _check_range(values: list[float], quantity: Quantity) -> None:
    name, least, most = quantity
    # A sum is finite only if its terms are: that finds NaN, which a least value may hide.
    if not values or (isfinite(sum(values)) and least <= min(values) and max(values) <= most):
        return
    wrong = next((value for value in values if not least <= value <= most), float("inf"))
    raise ValueError(
        f"statistics must have {name} from {least:g} to {most:g}, got {float(wrong):g}"
    )
