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

LEAST_SQUARE = 1e-300  # of a row: it has a logarithm


def all_look_normal(partition: Partition) -> bool:
    """Whether `looks_normal` is true of all clusters.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    bool
    """
    used = [k for k, size in enumerate(partition.sizes) if size]
    lists = member_lists(partition, used)
    return all(looks_normal(partition, k, lists[k]) for k in used)


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
        False also where nothing can be said: of clusters with settled groups, with rows of weights
        other than 1, with fewer rows than `alpha`, or so narrow that a slot hardly tells it; where
        the prior expects narrower ones; and of families other than normal-gamma.
    """
    n, rows, component = len(members), partition.rows_of(members), partition.component
    if not isinstance(component, NormalGamma):
        return False
    if partition.sizes[k] != n or n < partition.alpha:
        return False
    if any(partition.X.weight(i) != 1.0 for i in rows):
        return False
    columns = zip(*(component._standardise(partition.X.values(i)) for i in rows), strict=True)
    scores = []
    for column, b in zip(columns, component.b[k], strict=True):
        mean = sum(column) / n
        variance = sum((u - mean) * (u - mean) for u in column) / n
        if n * variance < LEAST_PART * b or _expects_narrower(component, n, variance):
            return False
        scores.append([(u - mean) / sqrt(variance) for u in column])
    excess = max(sum(map(_of_moments, scores)), sum(map(_of_bins, scores))) + _of_widths(scores)
    excess += sum(_of_pair(x, y) for x, y in combinations(scores, 2))
    return excess < _price(component, n, partition.alpha)


def _expects_narrower(prior: NormalGamma, n: int, variance: float) -> bool:
    """Than a column of a cluster is, in units in which b0 is 1."""
    return prior.a0 > HARDLY * n and prior.a0 * variance > NARROWER


def _of_moments(z: list[float]) -> float:
    """What a column's skewness and kurtosis are above chance."""
    n = len(z)
    skewness = sum(each**3 for each in z) / n
    kurtosis = sum(each**4 for each in z) / n - 3.0
    squares = skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0
    between = sqrt(max(0.5 * (skewness * skewness - kurtosis), 0.0))
    parts = -0.5 * log1p(-between) - ENTROPY if between < 1.0 else inf
    return n * (squares + max(parts, 0.0)) - 2.0


def _of_bins(z: list[float]) -> float:
    """What its bins are above chance."""
    rows = [0] * N_BINS
    for each in z:
        rows[min(max(floor(2.0 * each + 0.5 * N_BINS), 0), N_BINS - 1)] += 1
    pairs = zip(rows, _chances(), strict=True)
    return 2.0 * sum(o * log(o / (len(z) * p)) for o, p in pairs if o) - DEGREES_OF_BINS


def _chances() -> list[float]:
    """Of each bin, if z is normal."""
    ends = [-inf, *(0.5 * i - 0.25 * N_BINS for i in range(1, N_BINS)), inf]
    below = [0.5 * erfc(-end / sqrt(2.0)) for end in ends]
    return [high - low for low, high in pairwise(below)]


def _of_widths(scores: list[list[float]]) -> float:
    """What rows near all means, or far from all, are above chance."""
    n, half = len(scores[0]), 0.5 * len(scores)
    if len(scores) == 1:
        return 0.0  # the bins tell
    squares = [sum(each * each for each in z) for z in zip(*scores, strict=True)]
    mean = sum(log(max(q, LEAST_SQUARE) / 2.0) for q in squares) / n
    away = digamma(half) - mean  # s - s_0 without log(D / 2)
    return n * away * away / (trigamma(half) - 1.0 / half) - 1.0


def _of_pair(one: list[float], other: list[float]) -> float:
    """What the correlation of two columns is above chance."""
    n = len(one)
    correlation = sum(x * y for x, y in zip(one, other, strict=True)) / n
    rest = 1.0 - correlation * correlation
    return -n * log(rest) - 1.0 if rest > 0.0 else inf


def _price(prior: NormalGamma, n: int, alpha: float) -> float:
    """Nats that one more cluster costs, about, and not more."""
    means = log1p(n / max(prior.c0, 1.0))
    precisions = log1p(0.5 * n / max(prior.a0, 0.5))
    return 0.5 * prior.n_columns * (means + precisions) - log(max(alpha, 1.0))
