"""The Chinese restaurant process: probabilities of partitions, and draws.

Equation numbers are those of Raykov, Boukouvalas & Little (2014), unless Daumé (2007) is named.

A search among clusterings of prefixes needs the best that the prior can still do. Daumé's eq. (2)
is the probability of the vector of multiplicities m, m_i clusters having i rows each: it adds up
all partitions that share m, so its maximum favours vectors that many partitions have. A clustering
is one partition, eq. (1), whose best completion has the closed form of `log_best_completion`.
Searches use that; `log_prob_multiplicities` and `GreedyCompletion` are for comparison.
"""

from collections.abc import Mapping
from math import log
from typing import TYPE_CHECKING

from dpmlite.core.protocols import Values
from dpmlite.core.special import log_gamma, log_rising

if TYPE_CHECKING:
    from collections.abc import Hashable


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


def log_best_completion(n_largest: float, n_left: float, alpha: float) -> float:
    """What `n_left` more rows of weight 1 can multiply the numerator of eq. (1) by, at best.

    It is the larger of Gamma(n + R) / Gamma(n), all rows joining the largest cluster, and alpha^R,
    each being a cluster of its own. A mixture of both is never better: with t rows joining, the
    log of the product is convex in t, and so it is in how these are shared by several clusters.
    Nor are s > 1 rows in a new cluster: their alpha (s - 1)! is at most alpha^s if alpha >= s - 1,
    and else below s!, the least that they bring to a cluster that exists.

    Parameters
    ----------
    n_largest : float
        Rows of the largest cluster, n; positive.
    n_left : float
        Rows to come, R; from 0 up.
    alpha : float
        Concentration.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    ValueError
        If `alpha` or `n_largest` is not positive, or `n_left` is negative.
    """
    _require_positive(alpha)
    return max(log_rising(n_largest, n_left), n_left * log(alpha))


def log_prob_multiplicities(multiplicities: Mapping[int, int], alpha: float) -> float:
    """Log probability of how many clusters have each size: eq. (2) of Daumé (2007), Antoniak's.

    Parameters
    ----------
    multiplicities : dict of int to int
        m: the number m_i of clusters that have i rows each.
    alpha : float
        Concentration.

    Returns
    -------
    float
        log p(m | alpha, N): of all partitions with these sizes together.

    Raises
    ------
    ValueError
        If `alpha`, a size or a multiplicity is not positive.
    """
    _require_positive(alpha)
    n_rows, total = 0, 0.0
    for size, m in multiplicities.items():
        _require_multiplicity(size, m)
        n_rows += size * m
        total += m * (log(alpha) - log(size)) - log_gamma(m + 1.0)
    return total + log_gamma(n_rows + 1.0) - log_rising(alpha, n_rows)


class GreedyCompletion:
    """Completions of multiplicities, row by row as eq. (6) of Daumé (2007) prefers.

    Parameters
    ----------
    alpha : float
        Concentration.

    Raises
    ------
    ValueError
        If `alpha` is not positive.

    Notes
    -----
    Greedy completions need not have the greatest probability, though the paper says so: three
    clusters of two rows and three rows to come, with alpha = 1, end as {1: 1, 2: 2, 4: 1}, while
    {2: 1, 3: 1, 4: 1} is 4/3 times as probable. Actions change what others are worth.
    """

    def __init__(self, alpha: float) -> None:
        _require_positive(alpha)
        self.alpha = alpha
        self._known: dict[tuple[tuple[tuple[int, int], ...], int], dict[int, int]] = {}

    def complete(self, multiplicities: Mapping[int, int], n_left: int) -> dict[int, int]:
        """Multiplicities after `n_left` more rows.

        Parameters
        ----------
        multiplicities : dict of int to int
            m: the number m_i of clusters that have i rows each.
        n_left : int
            Rows to come.

        Returns
        -------
        dict of int to int
            Of actions that are worth the same a new cluster comes first, then the smallest one.

        Raises
        ------
        ValueError
            If a size or a multiplicity is not positive, or `n_left` is negative.
        """
        if n_left < 0:
            raise ValueError(f"n_left must not be negative, got {n_left}")
        for size, count in multiplicities.items():
            _require_multiplicity(size, count)
        key = tuple(sorted(multiplicities.items())), n_left
        if key not in self._known:
            self._known[key] = self._completed(dict(key[0]), n_left)
        return dict(self._known[key])

    def _completed(self, m: dict[int, int], n_left: int) -> dict[int, int]:
        while n_left:
            if self._only_the_largest_grows(m):
                _move(m, max(m), max(m) + n_left)
                break
            worth = {size: self._worth(m, size) for size in (0, *sorted(m))}
            size = max(worth, key=lambda size: worth[size])
            _move(m, size, size + 1)
            n_left -= 1
        return m

    def _worth(self, m: Mapping[int, int], size: int) -> float:
        """Eq. (6): what a row more multiplies eq. (2) by; 0: it is a new cluster."""
        others = m.get(size + 1, 0) + 1
        return self.alpha / others if size == 0 else size * m[size] / ((size + 1) * others)

    def _only_the_largest_grows(self, m: dict[int, int]) -> bool:
        """Whether every row to come joins the largest cluster, as it is better already.

        Its growth is worth the more the larger it is, and what else is worth no longer changes,
        once no size is next to its own: what it is worth next to it counts here.
        """
        if not m or m[max(m)] > 1:
            return False
        others = dict(m)
        del others[max(m)]
        least = self._worth(m, max(m))
        return all(self._worth(others, size) < least for size in (0, *others))


def _move(m: dict[int, int], size: int, grown: int) -> None:
    """Let one cluster of `size` rows, or a new one, have `grown`."""
    if size:
        m[size] -= 1
        if not m[size]:
            del m[size]
    m[grown] = m.get(grown, 0) + 1


def _require_multiplicity(size: int, count: int) -> None:
    if size < 1:
        raise ValueError(f"sizes must be positive, got {size}")
    if count < 1:
        raise ValueError(f"multiplicities must be positive, got {count}")


def _require_positive(alpha: float) -> None:
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha}")
