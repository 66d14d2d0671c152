"""Beliefs about the labels of a mixture, as variational inference holds them.

Each row lies in each of T components with some responsibility. Three priors of the labels:

- `Sticks`: pi_k = v_k (1 - v_1) ... (1 - v_{k-1}) with v_k ~ Beta(1, alpha), and v_T = 1: the stick
  of the Dirichlet process, broken T - 1 times [1]_. The v_k have a posterior of their own, which is
  Beta(1 + N_k, alpha + N_{>k}), N_k the expected rows of component k and N_{>k} those after it.
- `CollapsedSticks`: the same prior, the v_k integrated out [2]_.
- `CollapsedDirichlet`: pi ~ Dirichlet(alpha / T, ..., alpha / T), integrated out [2]_.

Without the v_k a row's label depends on the numbers of rows n_k that the other labels make. They
are sums of independent Bernoulli variables; what is needed of them, the mean of log(a + n) and of
log Gamma(a + n), is taken from their mean and variance as if they were Gaussian, up to second
order [2]_. That is no bound, neither from above nor from below. For a row of weight w, which is w
rows with one label, (a + n) (a + n + 1) ... (a + n + w - 1) takes the place of a + n.

References
----------
.. [1] Blei & Jordan, "Variational inference for Dirichlet process mixtures", 2006.
.. [2] Kurihara, Welling & Teh, "Collapsed variational Dirichlet process mixture models", 2007.
"""

from math import log

from dpmlite.core.rows import Rows
from dpmlite.core.special import digamma, log_gamma, log_rising, trigamma
from dpmlite.core.types import Values


class Mixing:
    """What is believed of the labels.

    Parameters
    ----------
    alpha : float
        Concentration.
    n_components : int
        T.

    Attributes
    ----------
    alpha, n_components
        As given.
    ordered : bool
        Whether the order of the components matters.
    counts : list of float, length T
        Expected rows of each component, by weight.

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
        """Believe that rows lie where these responsibilities say.

        Parameters
        ----------
        rows : Rows
        responsibilities : sequence of sequences of float, (N, T)
            Not negative; those of a row sum to 1.
        """
        raise NotImplementedError

    def leave(self, shares: Values, weight: float = 1.0) -> None:
        """Forget a row with these responsibilities, where its own label would count."""
        raise NotImplementedError

    def join(self, shares: Values, weight: float = 1.0) -> None:
        """Take it in again, with new ones."""
        raise NotImplementedError

    def log_weights(self, weight: float = 1.0) -> list[float]:
        """Mean of log p(z_i = k | all else), up to a constant, of a row that has left."""
        raise NotImplementedError

    def log_evidence(self) -> float:
        """Mean of log p(z), less what the posterior of the v_k differs from their prior."""
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
    """A stick broken T - 1 times, and the posterior of where."""

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

    def leave(self, shares: Values, weight: float = 1.0) -> None:
        """Nothing: given the v_k, labels do not depend on one another."""

    def join(self, shares: Values, weight: float = 1.0) -> None:
        """Nothing, too."""

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

        At the expected counts it is E[log p(z | v)] less the divergence of the posterior of the
        v_k from their prior. The function being convex, that is at most its mean.
        """
        total = 0.0
        for k in range(self.n_components - 1):
            rest, rest_variance = self._from(k)
            total += log(self.alpha)
            total += mean_log_gamma(1.0 + self.counts[k], self.variances[k])
            total += mean_log_gamma(self.alpha + self.tails[k], self.tail_variances[k])
            total -= mean_log_gamma(1.0 + self.alpha + rest, rest_variance)
        return total

    def means(self) -> list[float]:
        """E[v_k] times the product over j < k of E[1 - v_j]."""
        means, left = [], 1.0
        for n, tail in self._breaks():
            share = (1.0 + n) / (1.0 + self.alpha + n + tail)
            means.append(left * share)
            left *= 1.0 - share
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
    """A stick broken T - 1 times, the lengths integrated out: [2]_."""

    def observe(self, rows: Rows, responsibilities: Values) -> None:
        self._check_shape(rows, responsibilities)
        self.counts, self.variances, self.tails, self.tail_variances = (
            [0.0] * self.n_components for _ in range(4)
        )
        for i in range(len(rows)):
            self.join(responsibilities[i], rows.weight(i))

    def leave(self, shares: Values, weight: float = 1.0) -> None:
        self._add(shares, weight, -1.0)

    def join(self, shares: Values, weight: float = 1.0) -> None:
        self._add(shares, weight, 1.0)

    def log_weights(self, weight: float = 1.0) -> list[float]:
        """E[log (1 + n_k) / (1 + alpha + n_{>=k})] + the same of (alpha + n_{>j}) for j < k."""
        weights, before = [], 0.0
        for k in range(self.n_components - 1):
            rest, rest_variance = self._from(k)
            own = mean_log_rising(1.0 + self.counts[k], self.variances[k], weight)
            tail = mean_log_rising(self.alpha + self.tails[k], self.tail_variances[k], weight)
            common = mean_log_rising(1.0 + self.alpha + rest, rest_variance, weight)
            weights.append(before + own - common)
            before += tail - common
        return [*weights, before]

    def _add(self, shares: Values, weight: float, sign: float) -> None:
        _move(self.counts, self.variances, shares, weight, sign)
        _move(self.tails, self.tail_variances, _tails(shares), weight, sign)


class CollapsedDirichlet(Mixing):
    """Symmetric Dirichlet weights, integrated out: [2]_."""

    def __init__(self, alpha: float, n_components: int) -> None:
        super().__init__(alpha, n_components)
        self.variances = [0.0] * n_components

    def observe(self, rows: Rows, responsibilities: Values) -> None:
        self._check_shape(rows, responsibilities)
        self.counts, self.variances = ([0.0] * self.n_components for _ in range(2))
        for i in range(len(rows)):
            self.join(responsibilities[i], rows.weight(i))

    def leave(self, shares: Values, weight: float = 1.0) -> None:
        self._add(shares, weight, -1.0)

    def join(self, shares: Values, weight: float = 1.0) -> None:
        self._add(shares, weight, 1.0)

    def log_weights(self, weight: float = 1.0) -> list[float]:
        """E[log(alpha / T + n_k)]."""
        part = self.alpha / self.n_components
        moments = zip(self.counts, self.variances, strict=True)
        return [mean_log_rising(part + n, v, weight) for n, v in moments]

    def log_evidence(self) -> float:
        """E[log p(z)] with p(z) the Dirichlet-multinomial distribution of labels."""
        part = self.alpha / self.n_components
        total = log_gamma(self.alpha) - log_gamma(self.alpha + sum(self.counts))
        for n, variance in zip(self.counts, self.variances, strict=True):
            total += mean_log_gamma(part + n, variance) - log_gamma(part)
        return total

    def means(self) -> list[float]:
        part, total = self.alpha / self.n_components, self.alpha + sum(self.counts)
        return [(part + n) / total for n in self.counts]

    def _add(self, shares: Values, weight: float, sign: float) -> None:
        _move(self.counts, self.variances, shares, weight, sign)


def mean_log_rising(mean: float, variance: float, weight: float) -> float:
    """Mean of log Gamma(x + weight) / Gamma(x), which is log x if the weight is 1.

    From the mean and variance of x, to second order.
    """
    if weight == 1.0:
        return log(mean) - 0.5 * variance / mean**2
    curvature = trigamma(mean + weight) - trigamma(mean)
    return log_rising(mean, weight) + 0.5 * curvature * variance


def mean_log_gamma(mean: float, variance: float) -> float:
    """Mean of log Gamma(x) from the mean and variance of x, to second order."""
    return log_gamma(mean) + 0.5 * trigamma(mean) * variance


def unbroken_log_evidence(counts: Values, alpha: float) -> float:
    """Mean of log p(z) under the whole stick of a Dirichlet process, of which z uses the front.

    The stick is broken for ever; beyond the last of `counts` lie no rows. The largest component is
    taken to be the first, which is best. The rest of a bound being the same, this makes one of the
    evidence of a Dirichlet process mixture of any responsibilities.

    Parameters
    ----------
    counts : sequence of float
        Expected rows of each component.
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
        total += log(alpha) + log_gamma(1.0 + n) + log_gamma(alpha + tail)
        total -= log_gamma(1.0 + alpha + n + tail)
        tail += n
    return total


def _tails(values: Values) -> list[float]:
    """Sums of all values after each."""
    tails, total = [], 0.0
    for value in reversed(list(values)):
        tails.append(total)
        total += value
    return tails[::-1]


def _move(
    means: list[float], variances: list[float], shares: Values, weight: float, sign: float
) -> None:
    """A row's part in numbers of rows more, or less; rounding must not make them negative."""
    for k, r in enumerate(shares):
        means[k] = max(means[k] + sign * weight * r, 0.0)
        variances[k] = max(variances[k] + sign * weight**2 * r * (1.0 - r), 0.0)
