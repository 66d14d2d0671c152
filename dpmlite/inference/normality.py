"""Clusters that leave nothing to be divided: their rows are as those of one normal are.

Columns of a normal-gamma cluster are normal and independent. What any other density explains of its
rows that such a one does not is told by statistics that are twice that, in nats, and that chance
alone makes about as large as their degrees of freedom. Of n rows z, in units of the columns'
deviations from their means, with skewness g, excess kurtosis h and correlations r:

- n (sum g^2 / 6 + sum h^2 / 24), 2 D degrees, the score test of Jarque & Bera (1980). It is of
  densities that are almost normal: h ends at g^2 - 2 where a column falls into two parts, however
  far they are apart. If rho is the part of the variance that lies between them, then h - g^2 is
  about -2 rho^2, and the parts explain -log(1 - rho) / 2 less their entropy, of which g and h tell
  all but 0.6: where that is positive, it is added.
- 2 sum O log(O / E) over bins of z, with O rows where E are expected; 8 D degrees. It finds what
  has moments like those of a normal. The larger of these two counts.
- -n sum log(1 - r^2), one degree for each pair of columns.
- n (s - s_0)^2 / v, where s = log(D / 2) - mean(log(q / 2)), q = sum z^2, and s_0 and v are the
  mean of s and n times its variance if q is chi-squared; one degree. It finds parts of different
  widths.

Rows that join a settled group are asked whether they are as all rows of the cluster are, in units
of those; w is the part of these that is settled. A group says where rows should be, and how far
apart: n (sum z_mean^2 + sum (z_var - 1)^2 / 2) counts too, with 2 D w degrees. Then g and h are
means of the Hermite polynomials z^3 - 3 z and z^4 - 6 z^2 + 3, r^2 takes the place of
-log(1 - r^2), and bins have 2 D w degrees more. That can be asked of few rows, even of one.

A row of some weight counts as so many rows in n, in all means and in all bins, as it does in the
joint. What is above chance of rows that weigh one is what a division is worth, by chance or not.

A cell that is missing counts nowhere: n and w are those of a column, or of the rows that have both
of two. Rows differ in their degrees, the number d of their cells, then: the last statistic is
t^2 / v - 1, with t the sum of psi(d / 2) - log(q / 2), psi being the digamma function. Its variance
v is the sum of psi'(d / 2), less, for the columns' variances are known, the sum over columns of
(1 - w) (sum 2 / d)^2 / (2 n), inner sums being over the column's cells. Rows whose cells tell of no
cluster, or of no other rows, may be elsewhere for the sake of clusters' sizes alone: where a row
has no cell, or two columns are hardly ever in one row, nothing passes.

One more cluster costs about D log((1 + n / c0) (1 + n / (2 a0))) / 2 - log(alpha) nats. A mixture
of two is worth it if all statistics together are above chance by twice as much; a division explains
less than a mixture does. Half of that is asked here.

This is no proof: columns are looked at one by one and in pairs, so that a part that is narrow in
many columns, but apart in none, and not in the middle, may pass. It does so rarely.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import erfc, floor, inf, isnan, log, log1p, sqrt
from typing import NamedTuple

from dpmlite.inference.division import member_lists
from dpmlite.inference.map_dpm import check_n_threads
from dpmlite.models.incomplete_normal_gamma import IncompleteNormalGamma
from dpmlite.models.normal_gamma import NormalGamma
from dpmlite.models.partition import Partition
from dpmlite.models.special import digamma, trigamma

ENTROPY = 0.6  # of two parts, of which skewness and kurtosis do not tell

# Bins of half a deviation: the first and the last are open. The mean is in the middle of one, for
# rows of whole numbers often lie there.
N_BINS = 11
DEGREES_OF_BINS = N_BINS - 3  # their sum, mean and variance are known

# A prior that expects narrower clusters divides what is normal. It hardly does if it is worth so
# many times the rows, or if the variance that it expects is smaller than theirs by at most this
# factor: halves of a normal have 0.36 of its variance, which is not worth log 2 a row up to 2.1.
HARDLY = 0.02
NARROWER = 1.5

# A slot does not tell the variance of its rows if they are as narrow as that, as part of its b.
LEAST_PART = 1e-6

# A settled group tells where rows should be if they are no more of all than that.
LARGEST_PART = 0.5

# If two columns are in one row less than this many times as often as by chance, rows are of
# different kinds.
TOGETHER = 0.5

# Less than that is what rounding leaves of no settled part.
LEAST_SETTLED = 1e-9

# Of so many times more columns than rows, chance makes correlations too large for any to pass: the
# mean of -n log(1 - r^2) is about 1 + 1.5 / n, so that all pairs are 0.75 D^2 / n above their
# degrees, which is more than the D log(1 + n) that a cluster costs. Their sums would take much more
# memory than the rows.
WIDE = 16

LEAST_SQUARE = 1e-300  # of a row: it has a logarithm

# A variance that is explained but for so small a part is explained: the rest is rounding.
LEAST_REST = 1e-12


class _Unit(NamedTuple):
    """What a slot knows of the cells of a column, in units of the prior."""

    n: float  # their weight
    mean: float
    variance: float
    b: float  # of the posterior


class _Column(NamedTuple):
    """Cells of some rows in one column."""

    scores: list[float]  # in units of the slot's; NaN is a missing one
    n: float  # the weight of those that are not
    settled: float  # w: the part of the slot's that is not theirs


def all_look_normal(partition: Partition) -> bool:
    """Whether all clusters that have rows look normal: see `look_normal`.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    bool
    """
    lists = member_lists(partition, range(len(partition.sizes)))
    return all(look_normal(partition, [k for k, members in lists.items() if members]))


def look_normal(partition: Partition, slots: Sequence[int], n_threads: int = 1) -> list[bool]:
    """Whether the rows of some clusters tell of no other: then to divide them is hardly of use.

    Parameters
    ----------
    partition : Partition
    slots : sequence of int
    n_threads : int, default 1
        Threads that share the rows.

    Returns
    -------
    list of bool
        Of each slot. False also where nothing can be said: of clusters without rows, with several
        settled groups, or with one of fewer rows than join it; with fewer rows than `alpha`, or
        than a sixteenth of the columns, or so narrow that a slot hardly tells it; where the prior
        expects narrower ones, a row has no cell, or two columns are hardly ever in one row; and of
        families other than normal-gamma.

    Raises
    ------
    IndexError
        If there is no such slot.
    ValueError
        If `n_threads` is not positive.
    """
    check_n_threads(n_threads)
    for k in slots:
        partition.component._check_slot(k)
    lists = member_lists(partition, slots)
    return [_looks_normal(partition, k, lists[k]) for k in slots]


def _looks_normal(partition: Partition, k: int, members: Sequence[int]) -> bool:
    component = partition.component
    rows = partition.rows_of(members)
    weights = [partition.X.weight(i) for i in rows]
    if not isinstance(component, NormalGamma | IncompleteNormalGamma):
        return False
    units = _units(component, k)
    if not _can_be_asked(partition, k, len(rows), sum(weights)) or not all(
        _tells(component, unit) for unit in units
    ):
        return False
    prior = NormalGamma(component.m0, component.c0, component.a0, component.b0)
    cells = zip(*(prior._standardise(partition.X.values(i)) for i in rows), strict=True)
    beside = partition.sizes[k] > len(rows)
    columns = [_column(unit, u, weights, beside) for unit, u in zip(units, cells, strict=True)]
    return _excess(columns, weights) < _price(component, columns, partition.alpha)


def _can_be_asked(partition: Partition, k: int, n_rows: int, n: float) -> bool:
    """Something of `n_rows` rows of weight `n`."""
    n_all, n_groups = partition.component.counts[k], len(partition.settled_in([k]))
    if n_rows == 0 or n_groups > 1 or partition.sizes[k] != n_rows + n_groups:
        return False
    if n_groups == 0 and partition.X.n_columns > WIDE * n_rows:
        return False
    return n_all >= partition.alpha and (n_groups == 0 or n <= LARGEST_PART * n_all)


def _units(component: NormalGamma | IncompleteNormalGamma, k: int) -> list[_Unit]:
    """Of all rows of a slot: its posterior, eq. (13), without the prior."""
    if isinstance(component, NormalGamma):
        n = component.counts[k]
        posteriors = [(n, m, b) for m, b in zip(component.m[k], component.b[k], strict=True)]
    else:
        posteriors = [(each.counts[k], each.m[k][0], each.b[k][0]) for each in component.columns]
    return [_unit(n, m, b, component.c0) for n, m, b in posteriors]


def _unit(n: float, m: float, b: float, c0: float) -> _Unit:
    c = c0 + n
    mean = m * c / n if n else 0.0
    variance = 2.0 * (b - 1.0) / n - c0 / c * mean * mean if n else 1.0
    return _Unit(n, mean, variance, b)


def _tells(prior: NormalGamma | IncompleteNormalGamma, unit: _Unit) -> bool:
    """Whether a slot tells how wide its column is, and the prior does not expect a narrower one."""
    if not unit.n:
        return True  # there is nothing to tell
    if unit.n * unit.variance < LEAST_PART * unit.b:
        return False
    # In units in which b0 is 1.
    return prior.a0 <= HARDLY * unit.n or prior.a0 * unit.variance <= NARROWER


def _column(unit: _Unit, cells: Sequence[float], weights: list[float], beside: bool) -> _Column:
    """Of cells in units of the prior, `beside` those of a settled group or not."""
    scores = [(u - unit.mean) / sqrt(unit.variance) for u in cells]
    n = sum(weight for weight, z in zip(weights, scores, strict=True) if not isnan(z))
    settled = 1.0 - n / unit.n if beside and unit.n else 0.0
    return _Column(scores, n, settled if settled > LEAST_SETTLED else 0.0)


def _excess(columns: list[_Column], weights: list[float]) -> float:
    """All statistics above chance."""
    moments = sum(_of_moments(column, weights) for column in columns)
    bins = sum(_of_bins(column, weights) for column in columns)
    pairs = sum(_of_pair(*two, weights) for two in combinations(columns, 2))
    return max(moments, bins) + pairs + _of_widths(columns, weights)


def _of_moments(column: _Column, weights: list[float]) -> float:
    """What a column's first four moments are above chance."""
    z, n = column.scores, column.n
    if not n:
        return 0.0
    first, second, third, fourth = (_sum(weights, [u**i for u in z]) / n for i in (1, 2, 3, 4))
    if not column.settled:
        return _of_shape(n, third / second**1.5, fourth / second**2 - 3.0)
    place = first**2 + (second - 1.0) ** 2 / 2.0
    shape = (third - 3.0 * first) ** 2 / 6.0 + (fourth - 6.0 * second + 3.0) ** 2 / 24.0
    return n * (place + shape) - 2.0 * (1.0 + column.settled)


def _sum(weights: list[float], x: list[float]) -> float:
    """Of what is not missing."""
    return sum(w * each for w, each in zip(weights, x, strict=True) if not isnan(each))


def _of_shape(n: float, skewness: float, kurtosis: float) -> float:
    squares = skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0
    between = sqrt(max(0.5 * (skewness * skewness - kurtosis), 0.0))
    parts = -0.5 * log(max(1.0 - between, LEAST_REST)) - ENTROPY
    return n * (squares + max(parts, 0.0)) - 2.0


def _of_bins(column: _Column, weights: list[float]) -> float:
    """What its bins are above chance."""
    if not column.n:
        return 0.0
    rows = [0.0] * N_BINS
    for z, weight in zip(column.scores, weights, strict=True):
        if not isnan(z):
            rows[min(max(floor(2.0 * z + 0.5 * N_BINS), 0), N_BINS - 1)] += weight
    expected = [column.n * chance for chance in _chances()]
    explained = sum(o * log(o / e) for o, e in zip(rows, expected, strict=True) if o)
    return 2.0 * explained - DEGREES_OF_BINS - 2.0 * column.settled


def _chances() -> list[float]:
    """Of each bin, if z is normal."""
    ends = [-inf, *(0.5 * i - 0.25 * N_BINS for i in range(1, N_BINS)), inf]
    below = [0.5 * erfc(-end / sqrt(2.0)) for end in ends]
    return [high - low for low, high in pairwise(below)]


def _of_widths(columns: list[_Column], weights: list[float]) -> float:
    """What rows near all means, or far from all, are above chance."""
    away, variance, shares = 0.0, 0.0, [0.0] * len(columns)
    for weight, row in zip(weights, zip(*(c.scores for c in columns), strict=True), strict=True):
        there = [d for d, z in enumerate(row) if not isnan(z)]
        if not there:
            return inf  # it may be in any cluster
        half, square = 0.5 * len(there), sum(row[d] * row[d] for d in there)
        away += weight * (digamma(half) - log(max(square, LEAST_SQUARE) / 2.0))
        variance += weight * trigamma(half)
        for d in there:
            shares[d] += weight / half
    for column, share in zip(columns, shares, strict=True):
        if column.n:
            variance -= 0.5 * (1.0 - column.settled) * share * share / column.n
    return away * away / variance - 1.0 if len(columns) > 1 else 0.0  # of one the bins tell


def _of_pair(one: _Column, other: _Column, weights: list[float]) -> float:
    """What the correlation of two columns is above chance."""
    products = [x * y for x, y in zip(one.scores, other.scores, strict=True)]
    n = sum(w for w, product in zip(weights, products, strict=True) if not isnan(product))
    if n < TOGETHER * one.n * other.n / sum(weights):
        return inf
    if not n:
        return 0.0
    correlation = _sum(weights, products) / n
    if one.settled or other.settled:
        return n * correlation * correlation - 1.0
    return -n * log(max(1.0 - correlation * correlation, LEAST_REST)) - 1.0


def _price(
    prior: NormalGamma | IncompleteNormalGamma, columns: list[_Column], alpha: float
) -> float:
    """Nats that one more cluster costs, about, and not more."""
    means = sum(log1p(column.n / max(prior.c0, 1.0)) for column in columns)
    precisions = sum(log1p(0.5 * column.n / max(prior.a0, 0.5)) for column in columns)
    return 0.5 * (means + precisions) - log(max(alpha, 1.0))
