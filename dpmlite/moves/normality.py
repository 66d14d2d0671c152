"""Whether the rows of a cluster are as those of one normal: then no split is worth its price.

Columns of a normal-gamma cluster are normal and independent. Each statistic below is about twice
the nats by which another density explains the rows better; by chance alone, its mean is its degrees
of freedom. Let z be the n rows less the columns' means, in units of the columns' deviations, and D
the number of columns. The statistics are:

- moments: n (sum g^2 / 6 + sum h^2 / 24) of the skewness g and excess kurtosis h of each column,
  with 2 D degrees, the score test of Jarque & Bera (1980). It is made for densities that are almost
  normal: where a column falls into two parts, h ends at g^2 - 2 however far they are apart. If the
  parts hold the fraction rho of the variance between them, h - g^2 is about -2 rho^2, and they
  explain -log(1 - rho) / 2 less their entropy, of which g and h show all but 0.6. Where that is
  positive, it is added.
- bins: 2 sum O log(O / E) over bins of z that hold O rows where a normal gives E, with 8 D degrees.
  It finds densities whose moments are those of a normal. The larger of moments and bins counts.
- pairs: -n sum log(1 - r^2) over the correlations r of pairs of columns, with one degree each.
- widths: n (s - s_0)^2 / v with s = log(D / 2) - mean(log(q / 2)) and q = sum z^2, where s_0 is the
  mean of s and v is n times its variance if q is chi-squared; one degree. It finds parts of
  different widths.

Rows that join an absorbed group are compared with all rows of the cluster, in units of those; let w
be the fraction of the cluster that is absorbed. The group says where rows should be and how far
apart, so that n (sum z_mean^2 + sum (z_var - 1)^2 / 2) counts too, with 2 D w degrees. Then g and h
are means of the Hermite polynomials z^3 - 3 z and z^4 - 6 z^2 + 3, r^2 takes the place of
-log(1 - r^2), and the bins have 2 D w degrees more. Few rows can be tested in this way, even one.

A row of weight m counts as m rows in n, in all means and in all bins, as it does in the joint. A
statistic of rows of weight m is m times as large by chance, too: its mean is s times its degrees,
with s = sum m^2 / sum m. So the degrees are multiplied by s, but by no less than 1. Where s is
large, chance alone is worth clusters to the joint: the 2 D + 1 parameters of one more cluster gain
s / 2 nats each by chance. So the degrees are multiplied by no more than makes that half its cost.

A missing cell counts nowhere: n and w are those of a column, or of the rows that have both cells of
a pair. With d the number of cells of a row, the statistic of widths is t^2 / v, where t is the sum
over rows of psi(d / 2) - log(q / 2) and psi is the digamma function. Its variance v is the sum of
psi'(d / 2), less the sum over columns of (1 - w) (sum 2 / d)^2 / (2 n), for the columns' variances
are known; inner sums are over the column's cells. A row without cells may be in any cluster, and
where two columns are hardly ever present together rows are of different kinds: with either, the
cluster does not pass.

One more cluster costs about D log((1 + n / c0) (1 + n / (2 a0))) / 2 - log(alpha) nats; with a
power of the likelihood, c0, a0 and the cost are divided by it. A mixture
of two is worth that if all statistics together exceed their degrees by twice as much, and a
division of the rows explains less than a mixture. A cluster passes if they exceed them by less than
the cost once.

The test is no proof. Columns are looked at one by one and in pairs, so that a part that is narrow
in many columns but apart in none, and not in the middle, may pass. It does so rarely.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import erfc, floor, inf, isnan, log, log1p, sqrt
from typing import NamedTuple

from dpmlite.core.constants import (
    BIN_DEGREES,
    MAX_COLUMNS_PER_ROW,
    MAX_JOINING_FRACTION,
    MAX_PRIOR_FRACTION,
    MAX_VARIANCE_RATIO,
    MIN_ABSORBED_FRACTION,
    MIN_COMPLETE_RATIO,
    MIN_SQUARE,
    MIN_SQUARES_FRACTION,
    MIN_UNEXPLAINED,
    N_BINS,
    UNSEEN_ENTROPY,
)
from dpmlite.core.special import digamma, trigamma
from dpmlite.moves.division import member_lists
from dpmlite.partition.partition import Partition


class _Unit(NamedTuple):
    """The moments of a slot's cells in a column, in units of the prior.

    `n` is the cells' weight, and `b` that of the posterior.
    """

    n: float
    mean: float
    variance: float
    b: float


class _Column(NamedTuple):
    """The cells of a slot's rows in one column.

    Attributes
    ----------
    scores : list of float
        Cells less the slot's mean, in units of its deviation; NaN is a missing cell.
    n : float
        The weight of the cells that are not missing.
    absorbed : float
        The fraction w of the slot's weight in this column that is absorbed.
    """

    scores: list[float]
    n: float
    absorbed: float


def all_look_normal(partition: Partition) -> bool:
    """Whether all clusters that have rows pass the test of `look_normal`.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    bool
    """
    lists = member_lists(partition, range(len(partition.sizes)))
    return all(look_normal(partition, [k for k, members in lists.items() if members]))


def look_normal(partition: Partition, slots: Sequence[int]) -> list[bool]:
    """Whether the rows of some clusters are as those of one normal: then no split is worth trying.

    Parameters
    ----------
    partition : Partition
    slots : sequence of int

    Returns
    -------
    list of bool
        The answer for each slot. It is also False where the test cannot be made: for families
        other than normal-gamma; for clusters without rows, with several absorbed groups, or with
        one that has fewer rows than join it; with fewer rows than `alpha`, or than a sixteenth of
        the columns; so narrow that rounding hides their variance, or wider than the prior expects;
        and where a row has no cell, or two columns are hardly ever present together.

    Raises
    ------
    IndexError
        If there is no such slot.
    """
    for k in slots:
        partition.component._check_slot(k)
    lists = member_lists(partition, slots)
    return [_looks_normal(partition, k, lists[k]) for k in slots]


def _looks_normal(partition: Partition, k: int, members: Sequence[int]) -> bool:
    component = partition.component
    rows = partition.rows_of(members)
    weights = [partition.X.weight(i) for i in rows]
    prior = component.normal_prior()
    if prior is None or not _has_enough_rows(partition, k, len(rows), sum(weights)):
        return False
    c0, a0 = prior
    units = [_Unit(*column) for column in component.normal_columns(k)]
    if not all(_has_variance(unit, a0) for unit in units):
        return False
    cells = zip(*(component.standardise(partition.X.values(i)) for i in rows), strict=True)
    beside = partition.sizes[k] > len(rows)
    columns = [_column(unit, u, weights, beside) for unit, u in zip(units, cells, strict=True)]
    alpha = partition.alpha_given_others(())
    price = _price(columns, c0, a0, alpha, component.power)
    return _excess(columns, weights, _chance(weights, price / (2 * len(columns) + 1))) < price


def _chance(weights: list[float], most: float) -> float:
    """What a statistic is by chance for each of its degrees of freedom."""
    return max(1.0, min(_sum(weights, weights) / sum(weights), most))


def _has_enough_rows(partition: Partition, k: int, n_rows: int, n: float) -> bool:
    """Whether `n_rows` rows of weight `n` are enough to test slot k."""
    n_all, n_groups = partition.component.counts[k], len(partition.groups_in([k]))
    if n_rows == 0 or n_groups > 1 or partition.sizes[k] != n_rows + n_groups:
        return False
    if n_groups == 0 and partition.X.n_columns > MAX_COLUMNS_PER_ROW * n_rows:
        return False
    if not partition.component.power * n_all >= partition.alpha_given_others(()):
        return False
    return n_groups == 0 or n <= MAX_JOINING_FRACTION * n_all


def _has_variance(unit: _Unit, a0: float) -> bool:
    """Whether a column's variance is known, and is not much larger than the prior expects."""
    if not unit.n:
        return True  # a column without cells is not tested
    if unit.n * unit.variance < MIN_SQUARES_FRACTION * unit.b:
        return False
    # The prior expects the variance b0 / a0, and b0 is 1 in these units.
    return a0 <= MAX_PRIOR_FRACTION * unit.n or a0 * unit.variance <= MAX_VARIANCE_RATIO


def _column(unit: _Unit, cells: Sequence[float], weights: list[float], beside: bool) -> _Column:
    """A column from its cells in units of the prior; `beside` an absorbed group or not."""
    scores = [(u - unit.mean) / sqrt(unit.variance) for u in cells]
    n = sum(weight for weight, z in zip(weights, scores, strict=True) if not isnan(z))
    absorbed = 1.0 - n / unit.n if beside and unit.n else 0.0
    return _Column(scores, n, absorbed if absorbed > MIN_ABSORBED_FRACTION else 0.0)


def _excess(columns: list[_Column], weights: list[float], chance: float) -> float:
    """The sum of all statistics, each less `chance` for each of its degrees of freedom."""
    moments = sum(_moments_excess(column, weights, chance) for column in columns)
    bins = sum(_bins_excess(column, weights, chance) for column in columns)
    pairs = sum(_pair_excess(*two, weights, chance) for two in combinations(columns, 2))
    return max(moments, bins) + pairs + _widths_excess(columns, weights, chance)


def _moments_excess(column: _Column, weights: list[float], chance: float) -> float:
    """The statistic of a column's moments, less what it is by chance."""
    z, n = column.scores, column.n
    if not n:
        return 0.0
    first, second, third, fourth = (_sum(weights, [u**i for u in z]) / n for i in (1, 2, 3, 4))
    if not column.absorbed:
        shape = _shape_statistic(n, third / second**1.5, fourth / second**2 - 3.0)
        return shape - 2.0 * chance
    place = first**2 + (second - 1.0) ** 2 / 2.0
    shape = (third - 3.0 * first) ** 2 / 6.0 + (fourth - 6.0 * second + 3.0) ** 2 / 24.0
    return n * (place + shape) - 2.0 * (1.0 + column.absorbed) * chance


def _sum(weights: list[float], x: list[float]) -> float:
    """The weighted sum of values that are not NaN."""
    return sum(w * each for w, each in zip(weights, x, strict=True) if not isnan(each))


def _shape_statistic(n: float, skewness: float, kurtosis: float) -> float:
    """The statistic of skewness and kurtosis."""
    squares = skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0
    between = sqrt(max(0.5 * (skewness * skewness - kurtosis), 0.0))
    parts = -0.5 * log(max(1.0 - between, MIN_UNEXPLAINED)) - UNSEEN_ENTROPY
    return n * (squares + max(parts, 0.0))


def _bins_excess(column: _Column, weights: list[float], chance: float) -> float:
    """The statistic of a column's bins, less what it is by chance."""
    if not column.n:
        return 0.0
    rows = [0.0] * N_BINS
    for z, weight in zip(column.scores, weights, strict=True):
        if not isnan(z):
            rows[min(max(floor(2.0 * z + 0.5 * N_BINS), 0), N_BINS - 1)] += weight
    expected = [column.n * probability for probability in _bin_probabilities()]
    explained = sum(o * log(o / e) for o, e in zip(rows, expected, strict=True) if o)
    return 2.0 * explained - (BIN_DEGREES + 2.0 * column.absorbed) * chance


def _bin_probabilities() -> list[float]:
    """The probability of each bin under a standard normal."""
    ends = [-inf, *(0.5 * i - 0.25 * N_BINS for i in range(1, N_BINS)), inf]
    below = [0.5 * erfc(-end / sqrt(2.0)) for end in ends]
    return [high - low for low, high in pairwise(below)]


def _widths_excess(columns: list[_Column], weights: list[float], chance: float) -> float:
    """The statistic of the rows' sums of squares, less what it is by chance."""
    away, variance, shares = 0.0, 0.0, [0.0] * len(columns)
    for weight, row in zip(weights, zip(*(c.scores for c in columns), strict=True), strict=True):
        there = [d for d, z in enumerate(row) if not isnan(z)]
        if not there:
            return inf  # the row may be in any cluster
        half, square = 0.5 * len(there), sum(row[d] * row[d] for d in there)
        away += weight * (digamma(half) - log(max(square, MIN_SQUARE) / 2.0))
        variance += weight * trigamma(half)
        for d in there:
            shares[d] += weight / half
    for column, share in zip(columns, shares, strict=True):
        if column.n:
            variance -= 0.5 * (1.0 - column.absorbed) * share * share / column.n
    if len(columns) == 1:
        return 0.0  # the bins show one column
    return away * away / variance - chance


def _pair_excess(one: _Column, other: _Column, weights: list[float], chance: float) -> float:
    """The statistic of the correlation of two columns, less what it is by chance."""
    products = [x * y for x, y in zip(one.scores, other.scores, strict=True)]
    n = sum(w for w, product in zip(weights, products, strict=True) if not isnan(product))
    if n < MIN_COMPLETE_RATIO * one.n * other.n / sum(weights):
        return inf
    if not n:
        return 0.0
    correlation = _sum(weights, products) / n
    if one.absorbed or other.absorbed:
        return n * correlation * correlation - chance
    return -n * log(max(1.0 - correlation * correlation, MIN_UNEXPLAINED)) - chance


def _price(columns: list[_Column], c0: float, a0: float, alpha: float, power: float) -> float:
    """A lower estimate of the nats that one more cluster costs.

    c0, a0 and the result are divided by the power of the likelihood.
    """
    means = sum(log1p(column.n / max(c0, 1.0 / power)) for column in columns)
    precisions = sum(log1p(0.5 * column.n / max(a0, 0.5 / power)) for column in columns)
    return (0.5 * (means + precisions) - log(max(alpha, 1.0))) / power
