"""Clusters that leave nothing to be divided: their rows are as those of one normal are.

What a density that is almost normal, with columns that are almost independent, explains better than
one that is both is told by the score tests of Jarque & Bera (1980) and Breusch & Pagan (1980). Of n
rows whose D columns have skewness g_d, excess kurtosis h_d and correlations r_de,

    T = n (sum_d g_d^2 / 6 + sum_d h_d^2 / 24 + sum_{d<e} r_de^2)

is twice that, in nats. By chance it is about as large as the number of its terms. For a mixture of
two normals to be worth it, T must be above chance by twice what the prior takes for one more
cluster, about D log((1 + n / c0) (1 + n / (2 a0))) / 2 - log(alpha), and a partition explains less
than a mixture does. Half of that is asked here.

This is of densities that are almost normal. Where rows fall into parts that are far apart, terms of
T are bounded, and what a division explains is not. Of two parts between which the part rho of a
column's variance lies, h - g^2 is about -2 rho^2, and the division explains -log(1 - rho) / 2 a row,
less the entropy of the parts, of which at least 0.6 is in g and h or left. Terms of T are at least
that; and -log(1 - r^2), twice what a correlation explains, takes the place of r^2.

And all is of priors that hardly contradict the rows: one that expects narrower clusters divides what
is normal.
"""

from collections.abc import Sequence
from itertools import combinations
from math import inf, log, log1p, sqrt

from dpmlite.models.normal_gamma import NormalGamma
from dpmlite.models.partition import Partition

# Entropy of two parts that skewness and kurtosis do not tell of.
ENTROPY = 0.6

# A prior hardly contradicts n rows if it is worth so many times n, or as far as variances are
# concerned, if the one that it expects is no smaller than theirs by this factor: halves of a normal
# have 0.36 of its variance, which is not worth a new cluster, log 2 a row, up to a factor of 2.1.
HARDLY = 0.02
NARROWER = 1.5


def looks_normal(partition: Partition, k: int, members: Sequence[int]) -> bool:
    """Whether the rows of a cluster tell of no other: then to divide them is in vain.

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
        False also where the test says nothing: of clusters with settled groups, with rows of weights
        other than 1, or with fewer rows than `alpha`; where the prior has more than a little to
        say; and of families other than normal-gamma.
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
    for column in columns:
        mean = sum(column) / n
        variance = sum((u - mean) * (u - mean) for u in column) / n
        if variance <= 0.0 or _contradicts(component, n, mean, variance):
            return False
        scores.append([(u - mean) / sqrt(variance) for u in column])
    excess = sum(_of_column(z) for z in scores)
    excess += sum(_of_pair(x, y) for x, y in combinations(scores, 2))
    return excess < _price(component, n, partition.alpha)


def _contradicts(prior: NormalGamma, n: int, mean: float, variance: float) -> bool:
    """Whether it does a column of a cluster, in units in which m0 is 0 and b0 is 1."""
    narrower = prior.a0 > HARDLY * n and prior.a0 * variance > NARROWER
    elsewhere = prior.c0 * n / (prior.c0 + n) * mean * mean > HARDLY * n * variance
    return narrower or elsewhere


def _of_column(z: list[float]) -> float:
    """What a column's skewness and kurtosis add to T, above chance."""
    n = len(z)
    skewness = sum(each**3 for each in z) / n
    kurtosis = sum(each**4 for each in z) / n - 3.0
    squares = skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0
    between = sqrt(max(0.5 * (skewness * skewness - kurtosis), 0.0))
    parts = inf if between >= 1.0 else -0.5 * log1p(-between) - ENTROPY
    return n * (squares + max(parts, 0.0)) - 2.0


def _of_pair(one: list[float], other: list[float]) -> float:
    """What the correlation of two columns adds to T, above chance."""
    n = len(one)
    correlation = sum(x * y for x, y in zip(one, other, strict=True)) / n
    rest = 1.0 - correlation * correlation
    return inf if rest <= 0.0 else -n * log(rest) - 1.0


def _price(prior: NormalGamma, n: int, alpha: float) -> float:
    """Nats that one more cluster costs, about, and not more."""
    means = log1p(n / max(prior.c0, 1.0))
    precisions = log1p(0.5 * n / max(prior.a0, 0.5))
    return 0.5 * prior.n_columns * (means + precisions) - log(max(alpha, 1.0))
