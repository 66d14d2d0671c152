"""The Chinese restaurant process: probabilities of partitions, and draws.

Equation numbers are those of Raykov, Boukouvalas & Little (2014), unless Daumé (2007) is named.

A search among clusterings of the first rows needs an upper bound of what the prior of all rows can
be: `log_best_completion`, from eq. (1). Daumé's search takes his eq. (2) for the prior, the
probability of the multiplicities m, where m_i clusters have i rows each. That is the sum over all
partitions with these multiplicities, not the probability of one. Its bound is
`log_best_growth`; `GreedyCompletion` is what he has instead, which is none.

With a discount d, probabilities are those of the Pitman-Yor process (Pitman & Yor 1997). A cluster
of n rows weighs n - d for the next row, and a new one alpha + K d if there are K. The number of
clusters then grows like N^d. With d = 0 it is the Dirichlet process.
"""

from collections.abc import Mapping
from math import log, log1p
from typing import TYPE_CHECKING

from dpmlite.core.checks import check_discount, check_power
from dpmlite.core.protocols import Values
from dpmlite.core.special import log_gamma, log_rising

if TYPE_CHECKING:
    from collections.abc import Hashable


def log_prob_counts(
    counts: Values, alpha: float, power: float = 1.0, discount: float = 0.0
) -> float:
    """Log probability of a partition with clusters of these sizes, eq. (1).

    With a discount d it is the log of prod_{k<K} (alpha + k d) Gamma(alpha) / Gamma(alpha + N)
    times prod_k Gamma(n_k - d) / Gamma(1 - d).

    Parameters
    ----------
    counts : sequence of float
        Sizes of the clusters, all positive; empty for a partition of no rows.
    alpha : float
        Concentration.
    power : float, default 1.0
        Power zeta of the likelihood, at most 1. A cluster of n rows then weighs alpha zeta
        Gamma(zeta n), and the product is divided by Gamma(alpha + zeta N) / Gamma(alpha): rows have
        the weight zeta. Below 1, the sum over all partitions is not 1.
    discount : float, default 0.0
        Discount d of the Pitman-Yor process, at least 0 and below 1; with a power
        below 1 it is 0.

    Returns
    -------
    float
        log p(z | alpha) of one partition with these sizes, not of all.

    Raises
    ------
    ValueError
        If `alpha` is not positive, a count is not positive or not above `discount`, or `power` or
        `discount` is out of range.
    """
    _require_positive(alpha)
    check_power(power)
    check_discount(discount, power)
    total, n = 0.0, 0.0
    for k, count in enumerate(counts):
        if not count > discount:
            raise ValueError(f"counts must be {_above(discount)}, got {count}")
        total += log(alpha * power + k * discount) + log_gamma(power * count - discount)
        n += count
    if discount > 0.0:
        total -= len(counts) * log_gamma(1.0 - discount)
    return total - log_rising(alpha, power * n)


def log_prob(labels: Values, alpha: float, discount: float = 0.0) -> float:
    """Log probability of a partition given as labels, eq. (1).

    Parameters
    ----------
    labels : sequence
        The label of each item. Items with equal labels are in one cluster.
    alpha : float
        Concentration.
    discount : float, default 0.0
        Discount d of the Pitman-Yor process, at least 0 and below 1.

    Returns
    -------
    float
        log p(z | alpha), or log p(z | alpha, d).

    Raises
    ------
    ValueError
        If `alpha` is not positive, or `discount` is out of range.
    """
    counts: dict[Hashable, float] = {}
    for label in labels:
        counts[label] = counts.get(label, 0.0) + 1.0
    return log_prob_counts(list(counts.values()), alpha, discount=discount)


def predictive(counts: Values, alpha: float, discount: float = 0.0) -> list[float]:
    """Probabilities of the next item's cluster, eq. (2).

    Parameters
    ----------
    counts : sequence of float
        Sizes of the clusters.
    alpha : float
        Concentration.
    discount : float, default 0.0
        Discount d of the Pitman-Yor process, at least 0 and below 1.

    Returns
    -------
    list of float
        The probability of each cluster, and last that of a new cluster.

    Raises
    ------
    ValueError
        If `alpha` is not positive, or `discount` is out of range.
    """
    _require_positive(alpha)
    check_discount(discount)
    total = sum(counts) + alpha
    return [(n - discount) / total for n in counts] + [(alpha + len(counts) * discount) / total]


def sample(uniforms: Values, alpha: float, discount: float = 0.0) -> list[int]:
    """Draw a partition, seating one item after the other by eq. (2).

    Parameters
    ----------
    uniforms : sequence of float, length N
        A number in [0, 1) for each item.
    alpha : float
        Concentration.
    discount : float, default 0.0
        Discount d of the Pitman-Yor process, at least 0 and below 1.

    Returns
    -------
    list of int, length N
        Labels, numbered in the order in which clusters appear.

    Raises
    ------
    ValueError
        If `alpha` is not positive, or `discount` is out of range.
    """
    _require_positive(alpha)
    check_discount(discount)
    counts: list[float] = []
    labels = []
    for i, u in enumerate(uniforms):
        rest, k = u * (i + alpha), 0
        while k < len(counts) and rest >= counts[k] - discount:
            rest -= counts[k] - discount
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
        A number in [0, 1) for each atom; it becomes a draw of Beta(1, alpha), the fraction of the
        remaining stick that is the atom's weight.
    alpha : float
        Concentration.

    Returns
    -------
    list of float
        The weights. They sum to 1 less the weight of all further atoms.

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
    """Log of the largest factor by which `n_left` more rows can multiply the numerator of eq. (1).

    Rows have weight 1. The factor is Gamma(n + R) / Gamma(n) if all rows join the largest cluster,
    and alpha^R if each is a cluster of its own; the result is the larger of the two. No other
    completion has a larger factor:

    - If t rows join clusters and the others are clusters of their own, the log of the factor is
      convex in t, so that its maximum is at t = 0 or t = R. For the same reason it is largest if
      all rows join one cluster.
    - s > 1 rows in one new cluster have the factor alpha (s - 1)!. If alpha >= s - 1, that is at
      most alpha^s, the factor of s new clusters; else it is below s!, the least factor of s rows
      that join a cluster.

    Parameters
    ----------
    n_largest : float
        Rows of the largest cluster, n; positive.
    n_left : float
        Rows to come, R; not negative.
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
    """Log probability of the numbers of clusters of each size, eq. (2) of Daumé (2007).

    It is Antoniak's (1974) formula.

    Parameters
    ----------
    multiplicities : dict of int to int
        m: the number m_i of clusters that have i rows each.
    alpha : float
        Concentration.

    Returns
    -------
    float
        log p(m | alpha, N), summed over all partitions with these sizes.

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


def log_best_growth(n_largest: float, n_left: float, log_new: float) -> float:
    """Log of the largest factor by which `n_left` more rows can multiply eq. (2) of Daumé (2007).

    The factor is that of alpha / size, over all clusters, and of 1 / m_i! of the new ones. Old
    clusters only grow. If all rows join them, their sizes grow by the least factor if the largest
    gets all; else clusters of new rows have at most the factor exp(log_new).

    Parameters
    ----------
    n_largest : float
        Rows of the largest cluster; positive.
    n_left : float
        Rows to come; not negative.
    log_new : float
        `log_best_sizes` of the rows of the table.

    Returns
    -------
    float
        In nats. Factorials of the multiplicities of old clusters only lower the factor.
    """
    return max(-log1p(n_left / n_largest), log_new) if n_left > 0.0 else 0.0


def log_best_sizes(n_rows: int, alpha: float) -> float:
    """Log of the largest product of alpha / size and 1 / m_i! that clusters can have, eq. (2).

    That is of Daumé (2007). There is one cluster at least, and none has more than `n_rows` rows;
    altogether they may have more.

    Parameters
    ----------
    n_rows : int
        Positive.
    alpha : float
        Concentration.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    ValueError
        If `alpha` is not positive.

    Notes
    -----
    The j-th cluster of s rows multiplies the product by alpha / (s j): it is there if that is above
    1, so that there are alpha / s of them, rounded down.
    """
    _require_positive(alpha)
    total = 0.0
    for size in range(1, min(n_rows, int(alpha)) + 1):
        m = int(alpha / size)
        total += m * log(alpha / size) - log_gamma(m + 1.0)
    return total if alpha >= 1.0 else log(alpha)


class GreedyCompletion:
    """Completions of multiplicities, in which each row takes the action with the largest eq. (6).

    Equations are those of Daumé (2007).

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
    The paper says that greedy completions have the greatest probability, but they need not: with
    alpha = 1, three clusters of two rows and three rows to come end as {1: 1, 2: 2, 4: 1}, while
    {2: 1, 3: 1, 4: 1} is 4/3 times as probable. An action changes the factors of later ones.
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
            Among actions with equal factors, a new cluster comes first, then the smallest cluster.

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
                _grow(m, max(m), max(m) + n_left)
                break
            factors = {size: self._factor(m, size) for size in (0, *sorted(m))}
            size = max(factors, key=lambda size: factors[size])
            _grow(m, size, size + 1)
            n_left -= 1
        return m

    def _factor(self, m: Mapping[int, int], size: int) -> float:
        """Eq. (6): the factor of eq. (2) if a row joins a cluster of `size` rows; 0: a new one."""
        others = m.get(size + 1, 0) + 1
        return self.alpha / others if size == 0 else size * m[size] / ((size + 1) * others)

    def _only_the_largest_grows(self, m: dict[int, int]) -> bool:
        """Whether every row to come joins the largest cluster.

        That is so if its factor is above all others. It rises as the cluster grows, and the other
        factors stay, but for that of a cluster one row smaller: this rises once the largest has
        grown. So other factors are computed without the largest cluster.
        """
        if not m or m[max(m)] > 1:
            return False
        others = dict(m)
        del others[max(m)]
        least = self._factor(m, max(m))
        return all(self._factor(others, size) < least for size in (0, *others))


def _grow(m: dict[int, int], size: int, grown: int) -> None:
    """Replace a cluster of `size` rows, or none if that is 0, by one of `grown` rows."""
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


def _above(discount: float) -> str:
    return f"above the discount, {float(discount)}" if discount > 0.0 else "positive"


def _require_positive(alpha: float) -> None:
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha}")
