"""The Chinese restaurant process: probabilities of partitions, and draws.

Equation numbers are those of Raykov, Boukouvalas & Little (2014).
"""

from collections.abc import Hashable
from math import log

from dpmlite._types import Values
from dpmlite.models.special import log_gamma, log_rising


def log_prob_counts(counts: Values, alpha: float) -> float:
    """Log probability of a partition with clusters of these sizes, eq. (1).

    Parameters
    ----------
    counts : sequence of float
        Sizes of the clusters, all positive. None: the partition of no rows.
    alpha : float
        Concentration.

    Returns
    -------
    float
        log p(z | alpha), of the partition, not of its vector of sizes.

    Raises
    ------
    ValueError
        If `alpha` or a count is not positive.
    """
    _require_positive(alpha)
    total, n = 0.0, 0.0
    for count in counts:
        if not count > 0.0:
            raise ValueError(f"counts must be positive, got {count}")
        total += log(alpha) + log_gamma(count)
        n += count
    return total - log_rising(alpha, n)


def log_prob(labels: Values, alpha: float) -> float:
    """Log probability of a partition given as labels, eq. (1).

    Parameters
    ----------
    labels : sequence
        The label of each item; only which are equal matters.
    alpha : float
        Concentration.

    Returns
    -------
    float
        log p(z | alpha).

    Raises
    ------
    ValueError
        If `alpha` is not positive.
    """
    counts: dict[Hashable, float] = {}
    for label in labels:
        counts[label] = counts.get(label, 0.0) + 1.0
    return log_prob_counts(list(counts.values()), alpha)


def predictive(counts: Values, alpha: float) -> list[float]:
    """Probabilities of the next item's cluster, eq. (2).

    Parameters
    ----------
    counts : sequence of float
        Sizes of the clusters.
    alpha : float
        Concentration.

    Returns
    -------
    list of float
        One probability a cluster, and the new cluster's last.

    Raises
    ------
    ValueError
        If `alpha` is not positive.
    """
    _require_positive(alpha)
    total = sum(counts) + alpha
    return [n / total for n in counts] + [alpha / total]


def sample(uniforms: Values, alpha: float) -> list[int]:
    """Draw a partition, seating one item after the other by eq. (2).

    Parameters
    ----------
    uniforms : sequence of float, length N
        One number of [0, 1) an item.
    alpha : float
        Concentration.

    Returns
    -------
    list of int, length N
        Labels, numbered in the order in which clusters appear.

    Raises
    ------
    ValueError
        If `alpha` is not positive.
    """
    _require_positive(alpha)
    counts: list[float] = []
    labels = []
    for i, u in enumerate(uniforms):
        rest, k = u * (i + alpha), 0
        while k < len(counts) and rest >= counts[k]:
            rest -= counts[k]
            k += 1
        if k == len(counts):
            counts.append(0.0)
        counts[k] += 1.0
        labels.append(k)
    return labels


def stick_breaking(uniforms: Values, alpha: float) -> list[float]:
    """Weights of the first atoms of a Dirichlet process (Sethuraman 1994).

    Parameters
    ----------
    uniforms : sequence of float
        One number of [0, 1) an atom; it becomes a Beta(1, alpha) part of the stick that is left.
    alpha : float
        Concentration.

    Returns
    -------
    list of float
        The weights; what they lack to 1 belongs to the atoms that were not drawn.

    Raises
    ------
    ValueError
        If `alpha` is not positive.
    """
    _require_positive(alpha)
    left, weights = 1.0, []
    for u in uniforms:
        rest = left * (1.0 - u) ** (1.0 / alpha)
        weights.append(left - rest)
        left = rest
    return weights


def _require_positive(alpha: float) -> None:
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha}")
