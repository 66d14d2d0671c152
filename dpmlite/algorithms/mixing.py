"""Priors of the labels of a mixture, and their posteriors in variational inference.

Each row lies in each of T components with some responsibility. There are three priors:

- `Sticks`: pi_k = v_k (1 - v_1) ... (1 - v_{k-1}) with v_k ~ Beta(1, alpha), and v_T = 1: the stick
  of the Dirichlet process, broken T - 1 times [1]_. The posterior of v_k is
  Beta(1 + N_k, alpha + N_{>k}), N_k the expected number of rows of component k, N_{>k} of those
  after it.
- `CollapsedSticks`: the prior of `Sticks` with the v_k integrated out [2]_.
- `CollapsedDirichlet`: pi ~ Dirichlet(alpha / T, ..., alpha / T), integrated out [2]_.

With the v_k integrated out, the label of a row depends on the numbers n_k of rows with other
labels. These are sums of independent Bernoulli variables. The means of log(a + n) and of log
Gamma(a + n) are approximated from their means and variances, to second order [2]_, which is no
bound. For a row of weight w, which is w rows with one label, (a + n) (a + n + 1) ... (a + n + w -
1) takes the place of a + n.

References
----------
.. [1] Blei & Jordan, "Variational inference for Dirichlet process mixtures", 2006.
.. [2] Kurihara, Welling & Teh, "Collapsed variational Dirichlet process mixture models", 2007.
"""

from math import log

from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows
from dpmlite.core.special import digamma, log_gamma, log_rising, trigamma


class Mixing:
    """A prior of the labels, and the expected numbers of rows of the components.

    Parameters
    ----------
    alpha : float
        Concentration.
    n_components : int
        T.

    Attributes
    ----------
    alpha : float
    n_components : int
    ordered : bool
        Whether the order of the components matters.
    counts : list of float, length T
        Expected number of rows of each component, by weight.

    Raises
    ------
    ValueError
        If `alpha` is not positive or there is no component.
    """

    ordered = False

    def __init__(self, alpha: float, n_components: int) -> None:
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {float(alpha)}")
        if n_components < 1:
            raise ValueError(f"n_components must be at least 1, got {n_components}")
        self.alpha = float(alpha)
        self.n_components = n_components
        self.counts = [0.0] * n_components

    def observe(self, rows: Rows, responsibilities: Values) -> None:
        """Set the posterior to the best one for given responsibilities.

        Parameters
        ----------
        rows : Rows
        responsibilities : sequence of sequences of float, (N, T)
            Not negative; the responsibilities of a row sum to 1.
        """
        raise NotImplementedError

    def leave(self, r_i: Values, weight: float = 1.0) -> None:
        """Remove a row with these responsibilities, if `log_weights` would depend on it."""
        raise NotImplementedError

    def join(self, r_i: Values, weight: float = 1.0) -> None:
        """Add a row that has left, with new responsibilities."""
        raise NotImplementedError

    def log_weights(self, weight: float = 1.0) -> list[float]:
        """Mean of log p(z_i = k | other labels), up to a constant, of a row i that has left."""
        raise NotImplementedError

    def log_evidence(self) -> float:
        """Mean of log p(z), less the divergence of the posterior of the v_k from their prior."""
        raise NotImplementedError

    def means(self) -> list[float]:
        """Probability that the next row lies in each component."""
        raise NotImplementedError

    def _check_shape(self, rows: Rows, responsibilities: Values) -> None:
        shape = (len(rows), self.n_components)
        n_columns = len(responsibilities[0]) if len(responsibilities) else self.n_components
        given = (len(responsibilities), n_columns)
        if given != shape:
            raise ValueError(f"responsibilities must have shape {shape}, got {given}")

    def _count(self, rows: Rows, responsibilities: Values) -> None:
        self.counts = [0.0] * self.n_components
        for i in range(len(rows)):
            for k in range(self.n_components):
                self.counts[k] += rows.weight(i) * responsibilities[i][k]


class Sticks(Mixing):
    """A stick broken T - 1 times, with a posterior of the v_k."""

    ordered = True

    def __init__(self, alpha: float, n_components: int) -> None:
        super().__init__(alpha, n_components)
        self.variances = [0.0] * n_components  # of n_k, all 0 here
        self.tails = [0.0] * n_components  # mean of n_{>k}
        self.tail_variances = [0.0] * n_components

    def observe(self, rows: Rows, responsibilities: Values) -> None:
        self._check_shape(rows, responsibilities)
        self._count(rows, responsibilities)
        self.tails = _tails(self.counts)

    def leave(self, r_i: Values, weight: float = 1.0) -> None:
        """Do nothing: given the v_k, labels are independent."""

    def join(self, r_i: Values, weight: float = 1.0) -> None:
        """Do nothing: given the v_k, labels are independent."""

    def log_weights(self, weight: float = 1.0) -> list[float]:
        """E[log v_k] + sum over j < k of E[log(1 - v_j)], where log v_T = 0; `weight` times."""
        weights, before = [], 0.0
        for n, tail in self._breaks():
            common = digamma(1.0 + self.alpha + n + tail)
            weights.append(weight * (before + digamma(1.0 + n) - common))
            before += digamma(self.alpha + tail) - common
        return [*weights, weight * before]

    def log_evidence(self) -> float:
        """Sum over k < T of log B(1 + n_k, alpha + n_{>k}) / B(1, alpha), B the beta function.

        At the expected counts, this is E[log p(z | v)] less the divergence of the posterior of the
        v_k from their prior. The function is convex, so the value is at most its mean.
        """
        total = 0.0
        for k in range(self.n_components - 1):
            rest, rest_variance = self._from(k)
            total += _log_break(self.alpha, self.counts[k], self.tails[k])
            total += _curvature(1.0 + self.counts[k], self.variances[k])
            total += _curvature(self.alpha + self.tails[k], self.tail_variances[k])
            total -= _curvature(1.0 + self.alpha + rest, rest_variance)
        return total

    def means(self) -> list[float]:
        """E[v_k] times the product over j < k of E[1 - v_j]."""
        means, left = [], 1.0
        for n, tail in self._breaks():
            mean_v = (1.0 + n) / (1.0 + self.alpha + n + tail)
            means.append(left * mean_v)
            left *= 1.0 - mean_v
        return [*means, left]

    def _breaks(self) -> list[tuple[float, float]]:
        """Expected n_k and n_{>k} of every k but the last."""
        return list(zip(self.counts, self.tails, strict=True))[:-1]

    def _from(self, k: int) -> tuple[float, float]:
        """Mean and variance of n_{>=k}."""
        if k:
            return self.tails[k - 1], self.tail_variances[k - 1]
        return self.counts[0] + self.tails[0], 0.0


class CollapsedSticks(Sticks):
    """A stick broken T - 1 times, with the v_k integrated out [2]_."""

    def observe(self, rows: Rows, responsibilities: Values) -> None:
        self._check_shape(rows, responsibilities)
        self.counts, self.variances, self.tails, self.tail_variances = (
            [0.0] * self.n_components for _ in range(4)
        )
        for i in range(len(rows)):
            self.join(responsibilities[i], rows.weight(i))

    def leave(self, r_i: Values, weight: float = 1.0) -> None:
        self._add(r_i, weight, -1.0)

    def join(self, r_i: Values, weight: float = 1.0) -> None:
        self._add(r_i, weight, 1.0)

    def log_weights(self, weight: float = 1.0) -> list[float]:
        """E[log (1 + n_k) / (1 + alpha + n_{>=k})], and for each j < k as well
        E[log (alpha + n_{>j}) / (1 + alpha + n_{>=j})].
        """
        weights, before = [], 0.0
        for k in range(self.n_components - 1):
            rest, rest_variance = self._from(k)
            own = mean_log_rising(1.0 + self.counts[k], self.variances[k], weight)
            tail = mean_log_rising(self.alpha + self.tails[k], self.tail_variances[k], weight)
            common = mean_log_rising(1.0 + self.alpha + rest, rest_variance, weight)
            weights.append(before + own - common)
            before += tail - common
        return [*weights, before]

    def _add(self, r_i: Values, weight: float, sign: float) -> None:
        _add_to_moments(self.counts, self.variances, r_i, weight, sign)
        _add_to_moments(self.tails, self.tail_variances, _tails(r_i), weight, sign)


class CollapsedDirichlet(Mixing):
    """Symmetric Dirichlet weights, integrated out [2]_."""

    def __init__(self, alpha: float, n_components: int) -> None:
        super().__init__(alpha, n_components)
        self.variances = [0.0] * n_components

    def observe(self, rows: Rows, responsibilities: Values) -> None:
        self._check_shape(rows, responsibilities)
        self.counts, self.variances = ([0.0] * self.n_components for _ in range(2))
        for i in range(len(rows)):
            self.join(responsibilities[i], rows.weight(i))

    def leave(self, r_i: Values, weight: float = 1.0) -> None:
        self._add(r_i, weight, -1.0)

    def join(self, r_i: Values, weight: float = 1.0) -> None:
        self._add(r_i, weight, 1.0)

    def log_weights(self, weight: float = 1.0) -> list[float]:
        """E[log(alpha / T + n_k)]."""
        part = self.alpha / self.n_components
        moments = zip(self.counts, self.variances, strict=True)
        return [mean_log_rising(part + n, v, weight) for n, v in moments]

    def log_evidence(self) -> float:
        """E[log p(z)] with p(z) the Dirichlet-multinomial distribution of labels."""
        part = self.alpha / self.n_components
        total = -log_rising(self.alpha, sum(self.counts))
        for n, variance in zip(self.counts, self.variances, strict=True):
            total += log_rising(part, n) + _curvature(part + n, variance)
        return total

    def means(self) -> list[float]:
        part, total = self.alpha / self.n_components, self.alpha + sum(self.counts)
        return [(part + n) / total for n in self.counts]

    def _add(self, r_i: Values, weight: float, sign: float) -> None:
        _add_to_moments(self.counts, self.variances, r_i, weight, sign)


def mean_log_rising(mean: float, variance: float, weight: float) -> float:
    """Mean of log Gamma(x + weight) / Gamma(x), to second order; of log x if the weight is 1.

    Parameters
    ----------
    mean, variance : float
        Moments of x.
    weight : float

    Returns
    -------
    float
    """
    if weight == 1.0:
        return log(mean) - 0.5 * variance / mean**2
    curvature = trigamma(mean + weight) - trigamma(mean)
    return log_rising(mean, weight) + 0.5 * curvature * variance


def unbroken_log_evidence(counts: Values, alpha: float) -> float:
    """Mean of log p(z) under the Dirichlet process: its stick is broken without end.

    Beyond the last of `counts` there are no rows. Components are sorted by size, the largest first,
    which is best. With the other terms of a variational bound, this gives a bound of the evidence
    of a Dirichlet process mixture for any responsibilities.

    Parameters
    ----------
    counts : sequence of float
        Expected number of rows of each component.
    alpha : float
        Concentration.

    Returns
    -------
    float
        Sum over k of log B(1 + n_k, alpha + n_{>k}) / B(1, alpha): at most the mean of
        log p(z | v), less the divergence of the posterior of all v_k from their prior.
    """
    total, tail = 0.0, 0.0
    for n in sorted(counts):
        total += _log_break(alpha, n, tail)
        tail += n
    return total


def _log_break(alpha: float, n: float, tail: float) -> float:
    """Log of B(1 + n, alpha + tail) / B(1, alpha); nothing cancels where alpha is large."""
    return log(alpha) + log_gamma(1.0 + n) - log_rising(alpha + tail, 1.0 + n)


def _curvature(mean: float, variance: float) -> float:
    """What the variance of x adds to the mean of log Gamma(x), to second order."""
    return 0.5 * trigamma(mean) * variance if variance > 0.0 else 0.0


def _tails(values: Values) -> list[float]:
    """For each value, the sum of all values after it."""
    tails, total = [], 0.0
    for value in reversed(list(values)):
        tails.append(total)
        total += value
    return tails[::-1]


def _add_to_moments(
    means: list[float], variances: list[float], r_i: Values, weight: float, sign: float
) -> None:
    """Add a row (`sign` 1) to the moments of the n_k, or remove it (-1).

    Rounding must not make moments negative.
    """
    for k, r in enumerate(r_i):
        means[k] = max(means[k] + sign * weight * r, 0.0)
        variances[k] = max(variances[k] + sign * weight**2 * r * (1.0 - r), 0.0)
