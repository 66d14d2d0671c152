"""Clusters that leave nothing to be divided: their rows are as those of one normal are.

What a density that is almost normal, with columns that are almost independent, explains better than
one that is both is told by the score tests of Jarque & Bera (1980) and Breusch & Pagan (1980). Of n
rows whose D columns have skewness g_d, excess kurtosis h_d and correlations r_de,

    T = n (sum_d g_d^2 / 6 + sum_d h_d^2 / 24 + sum_{d<e} r_de^2)

is twice that, in nats. By chance it is about as large as the number of its terms. One more cluster
has 2 D parameters, which cost log n nats each in twice the joint; so for a mixture of two clusters to
be worth it, T must be 2 D log n above chance, or less by twice the log of alpha if that is above 1,
and a partition explains less than a mixture does. Half of that is asked here.

This is of densities that are almost normal. Where rows fall into parts that are far apart, T does
not tell how far: excess kurtosis ends at g^2 - 2, and correlations at 1. So neither may be near. And
it is of priors that say little beside the rows: one that expects narrower clusters divides what is
normal.
"""

from collections.abc import Sequence
from itertools import combinations
from math import inf, log, sqrt

from dpmlite.inference.division import member_lists
from dpmlite.models.normal_gamma import NormalGamma
from dpmlite.models.partition import Partition

# h - g^2 is 0 of a normal column, and -2 of one that has two values. This, and the square of a
# correlation, are no fractions that a few whole numbers come to: rounding decides nothing.
LEAST_SPREAD = -1.03
MOST_CORRELATED = 0.26

# A prior says little if it is worth so many rows a row.
LITTLE = 0.02


def all_look_normal(partition: Partition) -> bool:
    """Whether `looks_normal` is true of every cluster.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    bool
    """
    lists = member_lists(partition)
    used = [k for k, size in enumerate(partition.sizes) if size]
    return all(looks_normal(partition, k, lists[k]) for k in used)


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
        if not _says_little(component, n, mean, variance):
            return False
        scores.append([(u - mean) / sqrt(variance) for u in column])
    excess = _excess_of_columns(scores) + _excess_of_pairs(scores)
    return excess < len(scores) * log(n) - log(max(partition.alpha, 1.0))


def _says_little(prior: NormalGamma, n: int, mean: float, variance: float) -> bool:
    """Of a column of a cluster, in units in which m0 is 0 and b0 is 1."""
    tells_precision = prior.a0 > LITTLE * n and prior.a0 * variance > 1.0
    apart = prior.c0 * n / (prior.c0 + n) * mean * mean
    return variance > 0.0 and not tells_precision and apart <= LITTLE * n * variance


def _excess_of_columns(scores: list[list[float]]) -> float:
    """What skewness and kurtosis add to T, without chance; infinite if a column has two parts."""
    n, excess = len(scores[0]), 0.0
    for z in scores:
        skewness = sum(each**3 for each in z) / n
        kurtosis = sum(each**4 for each in z) / n - 3.0
        if kurtosis - skewness * skewness < LEAST_SPREAD:
            return inf
        excess += n * (skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0) - 2.0
    return excess


def _excess_of_pairs(scores: list[list[float]]) -> float:
    """What correlations add to T, without chance; infinite if one is large."""
    n, excess = len(scores[0]), 0.0
    for one, other in combinations(scores, 2):
        squared = (sum(x * y for x, y in zip(one, other, strict=True)) / n) ** 2
        if squared > MOST_CORRELATED:
            return inf
        excess += n * squared - 1.0
    return excess
