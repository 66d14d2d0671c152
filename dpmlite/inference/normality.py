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

One more cluster costs about D log((1 + n / c0) (1 + n / (2 a0))) / 2 - log(alpha) nats. A mixture
of two is worth it if all statistics together are above chance by twice as much; a division explains
less than a mixture does. Half of that is asked here.

This is no proof: columns are looked at one by one and in pairs, so that a part that is narrow in
many columns, but apart in none, and not in the middle, may pass. It does so rarely.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import erfc, floor, inf, log, log1p, sqrt

from dpmlite.inference.division import member_lists
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

LEAST_SQUARE = 1e-300  # of a row: it has a logarithm


def all_look_normal(partition: Partition) -> bool:
    """Whether `looks_normal` is true of all clusters that have rows.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    bool
    """
    lists = member_lists(partition, range(len(partition.sizes)))
    return all(looks_normal(partition, k, members) for k, members in lists.items() if members)


def looks_normal(partition: Partition, k: int, members: Sequence[int]) -> bool:
    """Whether the rows of a cluster tell of no other: then to divide them is hardly of use.

    Parameters
    ----------
    partition : Partition
    k : int
        A slot.
    members : sequence of int
        Positions of all its rows.

    Returns
    -------
    bool
        False also where nothing can be said: of clusters without rows, with several settled
        groups, or with one of fewer rows than join it; with fewer rows than `alpha`, or so narrow
        that a slot hardly tells it; where the prior expects narrower ones; and of families other
        than normal-gamma.
    """
    component = partition.component
    rows = partition.rows_of(members)
    weights = [partition.X.weight(i) for i in rows]
    n = sum(weights)
    if not isinstance(component, NormalGamma) or not _can_be_asked(partition, k, len(rows), n):
        return False
    n_all, units = component.counts[k], _units(component, k)
    for (_, variance), b in zip(units, component.b[k], strict=True):
        if n_all * variance < LEAST_PART * b or _expects_narrower(component, n_all, variance):
            return False
    columns = zip(*(component._standardise(partition.X.values(i)) for i in rows), strict=True)
    scores = [
        [(u - mean) / sqrt(variance) for u in column]
        for column, (mean, variance) in zip(columns, units, strict=True)
    ]
    settled = 1.0 - n / n_all if partition.sizes[k] > len(rows) else 0.0
    return _excess(scores, weights, settled) < _price(component, n, partition.alpha)


def _can_be_asked(partition: Partition, k: int, n_rows: int, n: float) -> bool:
    """Something of `n_rows` rows of weight `n`."""
    n_all, n_groups = partition.component.counts[k], len(partition.settled_in([k]))
    if n_rows == 0 or n_groups > 1 or partition.sizes[k] != n_rows + n_groups:
        return False
    return n_all >= partition.alpha and (n_groups == 0 or n <= LARGEST_PART * n_all)


def _units(component: NormalGamma, k: int) -> list[tuple[float, float]]:
    """Means and variances of all rows of a slot: its posterior, eq. (13), without the prior."""
    n = component.counts[k]
    c = component.c0 + n
    units = []
    for m, b in zip(component.m[k], component.b[k], strict=True):
        mean = m * c / n
        units.append((mean, 2.0 * (b - 1.0) / n - component.c0 / c * mean * mean))
    return units


def _excess(scores: list[list[float]], weights: list[float], settled: float) -> float:
    """All statistics above chance, of columns in units of their slot; `settled` is w."""
    moments = sum(_of_moments(z, weights, settled) for z in scores)
    bins = sum(_of_bins(z, weights, settled) for z in scores)
    pairs = sum(_of_pair(x, y, weights, settled) for x, y in combinations(scores, 2))
    return max(moments, bins) + pairs + _of_widths(scores, weights, settled)


def _expects_narrower(prior: NormalGamma, n: float, variance: float) -> bool:
    """Than a column of a cluster is, in units in which b0 is 1."""
    return prior.a0 > HARDLY * n and prior.a0 * variance > NARROWER


def _of_moments(z: list[float], weights: list[float], settled: float) -> float:
    """What a column's first four moments are above chance."""
    n = sum(weights)
    first, second, third, fourth = (_sum(weights, [u**i for u in z]) / n for i in (1, 2, 3, 4))
    if not settled:
        return _of_shape(n, third / second**1.5, fourth / second**2 - 3.0)
    place = first**2 + (second - 1.0) ** 2 / 2.0
    shape = (third - 3.0 * first) ** 2 / 6.0 + (fourth - 6.0 * second + 3.0) ** 2 / 24.0
    return n * (place + shape) - 2.0 * (1.0 + settled)


def _sum(weights: list[float], x: list[float]) -> float:
    return sum(weight * each for weight, each in zip(weights, x, strict=True))


def _of_shape(n: float, skewness: float, kurtosis: float) -> float:
    squares = skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0
    between = sqrt(max(0.5 * (skewness * skewness - kurtosis), 0.0))
    parts = -0.5 * log1p(-between) - ENTROPY if between < 1.0 else inf
    return n * (squares + max(parts, 0.0)) - 2.0


def _of_bins(z: list[float], weights: list[float], settled: float) -> float:
    """What its bins are above chance."""
    n, rows = sum(weights), [0.0] * N_BINS
    for each, weight in zip(z, weights, strict=True):
        rows[min(max(floor(2.0 * each + 0.5 * N_BINS), 0), N_BINS - 1)] += weight
    explained = sum(o * log(o / (n * p)) for o, p in zip(rows, _chances(), strict=True) if o)
    return 2.0 * explained - DEGREES_OF_BINS - 2.0 * settled


def _chances() -> list[float]:
    """Of each bin, if z is normal."""
    ends = [-inf, *(0.5 * i - 0.25 * N_BINS for i in range(1, N_BINS)), inf]
    below = [0.5 * erfc(-end / sqrt(2.0)) for end in ends]
    return [high - low for low, high in pairwise(below)]


def _of_widths(scores: list[list[float]], weights: list[float], settled: float) -> float:
    """What rows near all means, or far from all, are above chance."""
    n, half = sum(weights), 0.5 * len(scores)
    if len(scores) == 1:
        return 0.0  # the bins tell
    squares = [sum(each * each for each in z) for z in zip(*scores, strict=True)]
    mean = _sum(weights, [log(max(q, LEAST_SQUARE) / 2.0) for q in squares]) / n
    away = digamma(half) - mean  # s - s_0 without log(D / 2)
    return n * away * away / (trigamma(half) - (1.0 - settled) / half) - 1.0


def _of_pair(one: list[float], other: list[float], weights: list[float], settled: float) -> float:
    """What the correlation of two columns is above chance."""
    n = sum(weights)
    correlation = _sum(weights, [x * y for x, y in zip(one, other, strict=True)]) / n
    if settled:
        return n * correlation * correlation - 1.0
    rest = 1.0 - correlation * correlation
    return -n * log(rest) - 1.0 if rest > 0.0 else inf


def _price(prior: NormalGamma, n: float, alpha: float) -> float:
    """Nats that one more cluster costs, about, and not more."""
    means = log1p(n / max(prior.c0, 1.0))
    precisions = log1p(0.5 * n / max(prior.a0, 0.5))
    return 0.5 * prior.n_columns * (means + precisions) - log(max(alpha, 1.0))
