"""Dirichlet-multinomial components: rows of counts, such as the words of documents.

The words of a cluster are drawn with probabilities that have a Dirichlet prior. With n_w of its
words being w and N words in all, B the sum of beta0, the words of a row x have the predictive
probability

    p(x | cluster) = prod_w rising(beta0_w + n_w, x_w) / rising(B + N, |x|),

rising(a, x) = a (a + 1) ... (a + x - 1) = Gamma(a + x) / Gamma(a): Polya's urn (Johnson, Kotz &
Balakrishnan 1997, chapter 40). It is the probability of the words in an order; there is no
multinomial coefficient. It would be the same for every cluster.
"""

from math import floor, isnan, log, log1p, nan
from typing import Any

from dpmlite.core.checks import check_positive, require_bound
from dpmlite.core.constants import MAX_LISTED_FACTORS, MIN_KEPT_FRACTION
from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows
from dpmlite.core.special import digamma, log_rising
from dpmlite.core.statistics_checks import WEIGHT, WORDS, check_statistics
from dpmlite.families.component import Component, left_of


class DirichletMultinomial(Component):
    """Sufficient statistics of Dirichlet-multinomial clusters.

    Parameters
    ----------
    beta0 : sequence of float, length W
        Parameters of the Dirichlet prior: words of each kind that it is worth.

    Attributes
    ----------
    n_columns, n_slots, counts
        As `Component`.

    Raises
    ------
    ValueError
        If a parameter is not positive.

    Notes
    -----
    A row of weight w is the row of counts w x. Counts may be fractional.
    """

    reads_sparse = True

    def __init__(self, beta0: Values) -> None:
        check_positive("beta0", beta0)
        super().__init__(len(beta0))
        self.beta0 = [float(value) for value in beta0]
        self.total = sum(self.beta0)  # B
        self.words: list[list[float]] = []  # slot, word: n_w
        self.size: list[float] = []  # slot: N
        self.kept: list[float] = []  # slot: part that removals left
        self.longest = nan  # words of the longest row that `bound_over` was given

    def like(self) -> "DirichletMultinomial":
        other = DirichletMultinomial(self.beta0)
        other.longest = self.longest
        return other

    def resize(self, n_slots: int) -> None:
        self._check_n_slots(n_slots)
        del self.counts[n_slots:], self.words[n_slots:], self.size[n_slots:], self.kept[n_slots:]
        for _ in range(n_slots - self.n_slots):
            self.counts.append(0.0)
            self.words.append([0.0] * self.n_columns)
            self.size.append(0.0)
            self.kept.append(1.0)

    def clear(self, k: int) -> None:
        self.load(k, [0.0] * (1 + self.n_columns))

    def _slot(self, k: int) -> Any:
        return self.counts[k], self.words[k][:], self.size[k], self.kept[k]

    def _set_slot(self, k: int, slot: Any) -> None:
        self.counts[k], self.words[k], self.size[k], self.kept[k] = slot

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        self._check_slot(k)
        x = self._weighted(row, weight)
        self.words[k] = [n + x_w for n, x_w in zip(self.words[k], x, strict=True)]
        self.size[k] += sum(x)
        self.counts[k] += weight

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row out of slot `k`.

        Returns False, and changes nothing, if removals would have left less than 2^-10 of the
        slot's weight or of B + N. A word's count of which but rounding is left becomes 0.
        """
        self._check_slot(k)
        x = self._weighted(row, weight)
        left = self.counts[k] - weight
        if left <= 0.0:
            self.clear(k)
            return True
        size = left_of(self.size[k], sum(x))
        part = min(left / self.counts[k], (self.total + size) / (self.total + self.size[k]))
        if self.kept[k] * part < MIN_KEPT_FRACTION:
            return False
        self.words[k] = [left_of(n, x_w) for n, x_w in zip(self.words[k], x, strict=True)]
        self.size[k] = size
        self.counts[k] = left
        self.kept[k] *= part
        return True

    def merge(self, j: int, k: int) -> None:
        self._check_pair(j, k)
        self.words[j] = [nj + nk for nj, nk in zip(self.words[j], self.words[k], strict=True)]
        self.size[j] += self.size[k]
        self.counts[j] += self.counts[k]
        self.kept[j] = min(self.kept[j], self.kept[k])
        self.clear(k)

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Log p(row | rows of slot k) as above."""
        self._check_slot(k)
        x = self._weighted(row, weight)
        return self._log_urn(x, self.words[k], self.size[k])

    def expected_log_density(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Mean of the sum of x_w log theta_w: E[log theta_w] = psi(beta0_w + n_w) - psi(B + N)."""
        self._check_slot(k)
        common = digamma(self.total + self.size[k])
        total = 0.0
        for x_w, beta, n in zip(
            self._weighted(row, weight), self.beta0, self.words[k], strict=True
        ):
            if x_w:
                total += x_w * (digamma(beta + n) - common)
        return total

    def log_marginal(self, k: int) -> float:
        """Log of the probability of the slot's words, drawn from an urn with none in it."""
        self._check_slot(k)
        return self._log_urn(self.words[k], [0.0] * self.n_columns, 0.0)

    def log_marginal_merged(self, j: int, k: int) -> float:
        """`log_marginal` of slot `k`, and then the words of `j` from the urn that has these."""
        self._check_pair(j, k)
        return self.log_marginal(k) + self._log_urn(self.words[j], self.words[k], self.size[k])

    def bound_over(self, X: Rows) -> None:
        self.longest = max((sum(X.values(i)) for i in range(len(X))), default=0.0)

    def log_bound(self, row: Values, k: int, more: float, weight: float = 1.0) -> float:
        """The predictive after as many more words as the longest rows have, the best there are.

        The best words are words of the row, but not the row scaled: of (1, 1), a cluster with
        (200, 100) gains more by (0, 2) than by (1, 1). With T_w of them being w, and beta of the
        cluster, the log of the numerator is bounded by

            sum_w log rising(beta_w, x_w) + x_w log((h_w + T_w) / h_w),
            x_w / h_w = 1 / beta_w + ... + 1 / (beta_w + x_w - 1),

        for the harmonic mean of numbers that all grow by T grows by T or more. The greatest such
        sum has h_w + T_w = mu x_w, for words with h_w below that. More words are always better:
        for w with the least beta_w / x_w, the numerator grows faster than the denominator.
        """
        require_bound(not isnan(self.longest))
        self._check_slot(k)
        extra = more * self.longest
        x, total, bases = self._weighted(row, weight), 0.0, []
        for beta, n, x_w in zip(self.beta0, self.words[k], x, strict=True):
            if x_w:
                log_factors, reciprocals = _factors(beta + n, x_w)
                total += log_factors
                bases.append((x_w, x_w / reciprocals))
        total += _max_gain(bases, extra)
        return total - log_rising(self.total + self.size[k] + extra, sum(x))

    def posterior(self, k: int) -> dict[str, float | list[float]]:
        """Posterior of cluster `k`: "n" rows and the Dirichlet's parameters "beta"."""
        self._check_slot(k)
        beta = [b + n for b, n in zip(self.beta0, self.words[k], strict=True)]
        return {"n": self.counts[k], "beta": beta}

    def statistics(self, k: int) -> list[float]:
        self._check_slot(k)
        return [self.counts[k], *self.words[k]]

    def load(self, k: int, statistics: Values) -> None:
        self._check_slot(k)
        check_statistics(statistics, (WEIGHT, 1), (WORDS, self.n_columns))
        self.counts[k] = statistics[0]
        self.words[k] = [statistics[1 + w] for w in range(self.n_columns)]
        self.size[k] = sum(self.words[k])
        self.kept[k] = 1.0

    def _weighted(self, row: Values, weight: float) -> list[float]:
        """The counts that a row of this weight stands for."""
        self._check_row(row)
        return [weight * x for x in row]

    def _log_urn(self, x: list[float], words: list[float], size: float) -> float:
        """Log probability of drawing the words `x` from an urn that `size` words went into."""
        draws = zip(self.beta0, words, x, strict=True)
        total = sum(log_rising(beta + n, x_w) for beta, n, x_w in draws if x_w)
        return total - log_rising(self.total + size, sum(x))


def _factors(first: float, x: float) -> tuple[float, float]:
    """Sums of log and of reciprocals of `first`, `first` + 1, ..., `x` of them.

    The last may be but a part: log rising(a, x) is convex in x, so it is at most that sum. Many
    reciprocals are less than the integral of 1 / t from half before the first to half after the
    last, for 1 / t is convex; the sum of them is close to that, which is enough for a bound.
    """
    n = int(min(x, MAX_LISTED_FACTORS))
    logs = sum(log(first + i) for i in range(n))
    reciprocals = sum(1.0 / (first + i) for i in range(n))
    rest = float(floor(x - n))
    if rest > 0.0:
        logs += log_rising(first + n, rest)
        reciprocals += log1p(rest / (first + n - 0.5))
    part, end = x - n - rest, first + n + rest
    return logs + part * log(end), reciprocals + part / end


def _max_gain(bases: list[tuple[float, float]], extra: float) -> float:
    """Greatest sum of x log((h + T) / h) over pairs (x, h), where the T add up to `extra`."""
    while bases:
        level = (extra + sum(h for _, h in bases)) / sum(x for x, _ in bases)
        lower = [(x, h) for x, h in bases if h <= level * x]
        if len(lower) == len(bases):
            return sum(x * log(level * x / h) for x, h in bases)
        bases = lower
    return 0.0
