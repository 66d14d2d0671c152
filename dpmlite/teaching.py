"""Gibbs sampling and MAP before parameters are integrated out: to be read, and compared.

Raykov, Boukouvalas & Little (2014) start from the sampler of their section 2.2, which keeps a mean
and a precision of each cluster. It alternates between two stages. First, each row i draws its label
given all parameters,

    p(z_i = k)      proportional to  N_k,-i N(x_i | mu_k, 1 / tau_k),                          (4)
    p(z_i = K + 1)  proportional to  alpha p(x_i | theta_0),                                   (5)

and a new cluster draws its parameters given x_i. Second, each cluster draws its parameters given
its rows. Their section 3.1 integrates the parameters out: that is `CollapsedGibbs`. The MAP variant
goes to the mode of each conditional distribution where the sampler draws from it; with parameters
integrated out, that is `MAPDPM`.

Columns are independent, as in section 3.1, with the prior of eq. (8).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf, lgamma, log, pi
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from dpmlite.estimators.column_families.given import given_table
from dpmlite.estimators.inputs.given_labels import check_labels
from dpmlite.estimators.inputs.parameters import check_alpha, check_random_state
from dpmlite.partition import log_prob

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = ["UncollapsedState", "uncollapsed_gibbs", "uncollapsed_map"]


@dataclass(frozen=True, eq=False)
class UncollapsedState:
    """Labels and parameters after a sweep.

    Attributes
    ----------
    labels : ndarray of int, shape (N,)
        The cluster of each row, 0..K-1; clusters have no order.
    means, precisions : ndarray, shape (K, D)
        Parameters of each cluster.
    neg_log_joint : float
        -log p(x, z, mu, tau | alpha) in nats, all constants included: eq. (1), the normal densities
        of the rows, and eq. (8) for each cluster.

    See Also
    --------
    uncollapsed_gibbs : A chain of them.
    uncollapsed_map : A descent.

    Examples
    --------
    >>> from dpmlite.teaching import uncollapsed_gibbs
    >>> state = next(uncollapsed_gibbs([[0.0], [0.1], [9.0]], random_state=0))
    >>> state.labels.shape, state.means.shape == state.precisions.shape
    ((3,), True)
    """

    labels: npt.NDArray[np.intp]
    means: Floats
    precisions: Floats
    neg_log_joint: float


def uncollapsed_gibbs(
    X: npt.ArrayLike,
    *,
    alpha: float = 1.0,
    prior: Mapping[str, Any] | None = None,
    init: npt.ArrayLike | None = None,
    random_state: Any = None,
) -> Iterator[UncollapsedState]:
    """Sample labels and parameters: section 2.2 of Raykov, Boukouvalas & Little (2014).

    It is Algorithm 2 of Neal (2000). `CollapsedGibbs` samples the same labels in fewer sweeps.

    Parameters
    ----------
    X : array-like, shape (N, D)
        Rows.
    alpha : float, default 1.0
        Concentration, positive.
    prior : dict, optional
        Parameters m0, c0, a0, b0 of eq. (8); missing ones are those of section 4.2, as in `MAPDPM`.
    init : array-like, shape (N,), optional
        Labels to start from. Default: one cluster.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.

    Returns
    -------
    iterator of UncollapsedState
        A state after each sweep, without end.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule; the message states it.

    See Also
    --------
    dpmlite.CollapsedGibbs : The sampler to use.
    uncollapsed_map : Modes in place of draws.

    Examples
    --------
    >>> from itertools import islice
    >>> import numpy as np
    >>> from dpmlite.teaching import uncollapsed_gibbs
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (20, 2)) for c in (0, 10)])
    >>> chain = uncollapsed_gibbs(X, prior={"b0": 1.0, "c0": 0.01}, random_state=0)
    >>> n_clusters = [len(state.means) for state in islice(chain, 300)]
    >>> int(np.bincount(n_clusters[100:]).argmax())
    2
    """
    return _endless(_Chain(X, alpha, prior, init, _Draw(check_random_state(random_state))))


def uncollapsed_map(
    X: npt.ArrayLike,
    *,
    alpha: float = 1.0,
    prior: Mapping[str, Any] | None = None,
    init: npt.ArrayLike | None = None,
) -> Iterator[UncollapsedState]:
    """Descend to a mode of labels and parameters by conditional modes.

    Each step lowers `UncollapsedState.neg_log_joint`, or leaves it. For that, a new cluster is
    weighed by the greatest alpha p(x_i | mu, tau) p(mu, tau), and not by the mean of eq. (5), which
    is another quantity than the density of a state.

    Parameters
    ----------
    X, alpha, prior, init
        As in `uncollapsed_gibbs`.

    Returns
    -------
    iterator of UncollapsedState
        The start, and a state after each sweep. The last sweep is the first that lowers nothing.

    Raises
    ------
    ValueError, TypeError
        As `uncollapsed_gibbs`.

    See Also
    --------
    dpmlite.MAPDPM : The descent to use; its optimum does not depend on units.
    uncollapsed_gibbs : Draws in place of modes.

    Notes
    -----
    A density of parameters has units. If all values, and the prior with them, are multiplied by s,
    each cluster costs D log(s) less: there are more clusters of millimetres than of metres. With
    the parameters integrated out, units cancel.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite.teaching import uncollapsed_map
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (20, 2)) for c in (0, 10)])
    >>> *_, last = uncollapsed_map(X, prior={"b0": 1.0, "c0": 0.01}, init=np.arange(40))
    >>> len(last.means)
    2
    """
    return _until_it_stays(_Chain(X, alpha, prior, init, _Mode()))


class _Parameters(NamedTuple):
    """Mean and precision of each column of a cluster."""

    mean: Floats
    precision: Floats

    def log_density(self, row: Floats) -> float:
        """Log N(x | mu, 1 / tau)."""
        mean, tau = self
        return 0.5 * float((np.log(tau / (2.0 * pi)) - tau * (row - mean) ** 2).sum())


class _NormalGamma(NamedTuple):
    """The distribution of a cluster's parameters, eq. (8)."""

    m: Floats
    c: float
    a: float
    b: Floats

    def given(self, rows: Floats) -> _NormalGamma:
        """The posterior, eq. (13)."""
        n, mean = len(rows), rows.mean(axis=0)
        c = self.c + n
        b = self.b + 0.5 * ((rows - mean) ** 2).sum(axis=0)
        b = b + self.c * n / (2.0 * c) * (mean - self.m) ** 2
        return _NormalGamma((self.c * self.m + n * mean) / c, c, self.a + 0.5 * n, b)

    def draw(self, rng: np.random.Generator) -> _Parameters:
        """A draw."""
        tau = rng.gamma(self.a, 1.0 / self.b)
        return _Parameters(rng.normal(self.m, 1.0 / np.sqrt(self.c * tau)), tau)

    def mode(self) -> _Parameters:
        """The mode, given at least one row."""
        return _Parameters(self.m, (self.a - 0.5) / self.b)

    def log_density(self, parameters: _Parameters) -> float:
        """Log of eq. (8)."""
        m, c, a, b = self
        mean, tau = parameters
        of_mean = 0.5 * (np.log(c * tau / (2.0 * pi)) - c * tau * (mean - m) ** 2)
        of_precision = a * np.log(b) - lgamma(a) + (a - 1.0) * np.log(tau) - b * tau
        return float((of_mean + of_precision).sum())

    def log_predictive(self, row: Floats) -> float:
        """Log density of a row, parameters integrated out: eq. (12)."""
        m, c, a, b = self
        precision = a * c / (b * (c + 1.0))
        peak = lgamma(a + 0.5) - lgamma(a) + 0.5 * np.log(precision / (2.0 * a * pi))
        tail = (a + 0.5) * np.log1p(precision * (row - m) ** 2 / (2.0 * a))
        return float((peak - tail).sum())


class _Rule(Protocol):
    """What is done with a conditional distribution."""

    def log_weight_of_new(self, prior: _NormalGamma, row: Floats) -> float:
        """What a new cluster weighs for a row, without alpha."""

    def label(self, log_weights: Floats) -> int:
        """One of the labels that have these weights."""

    def parameters(self, posterior: _NormalGamma) -> _Parameters:
        """Parameters of a cluster."""


class _Draw:
    """Draws: Gibbs sampling."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def log_weight_of_new(self, prior: _NormalGamma, row: Floats) -> float:
        return prior.log_predictive(row)

    def label(self, log_weights: Floats) -> int:
        weights = np.exp(log_weights - log_weights.max())
        return int(self.rng.choice(len(weights), p=weights / weights.sum()))

    def parameters(self, posterior: _NormalGamma) -> _Parameters:
        return posterior.draw(self.rng)


class _Mode:
    """Modes: iterated conditional modes."""

    def log_weight_of_new(self, prior: _NormalGamma, row: Floats) -> float:
        best = prior.given(row[None]).mode()
        return best.log_density(row) + prior.log_density(best)

    def label(self, log_weights: Floats) -> int:
        return int(log_weights.argmax())

    def parameters(self, posterior: _NormalGamma) -> _Parameters:
        return posterior.mode()


class _Chain:
    """Labels, parameters and the rule by which they change."""

    def __init__(self, X: Any, alpha: Any, prior: Any, init: Any, rule: _Rule) -> None:
        self.alpha, self.rule = check_alpha("alpha", alpha), rule
        family, table = given_table(X, "normal-gamma", False)
        self.X, n_rows = table.dense(), table.shape[0]
        given = family.prior(prior, table)
        self.prior = _NormalGamma(given["m0"], given["c0"], given["a0"], given["b0"])
        self.labels = check_labels(np.zeros(n_rows, int) if init is None else init, n_rows, "init")
        self.counts = Counter(self.labels.tolist())
        self.new = [log(self.alpha) + rule.log_weight_of_new(self.prior, row) for row in self.X]
        self.update_parameters()

    def sweep(self) -> None:
        """Update all labels given the parameters, then all parameters given the labels."""
        for i in range(len(self.X)):
            self.update_label(i)
        self.update_parameters()

    def update_label(self, i: int) -> None:
        """Eq. (4) and (5): row i leaves its cluster, and joins one or founds one."""
        self.leave(i)
        row, clusters = self.X[i], list(self.counts)
        log_weights = [log(self.counts[k]) + self.parameters[k].log_density(row) for k in clusters]
        chosen = self.rule.label(np.array([*log_weights, self.new[i]]))
        if chosen == len(clusters):
            clusters.append(max(clusters, default=-1) + 1)
            self.parameters[clusters[-1]] = self.rule.parameters(self.prior.given(row[None]))
        self.labels[i] = clusters[chosen]
        self.counts[clusters[chosen]] += 1

    def leave(self, i: int) -> None:
        """Take row i out of its cluster, which goes with its last row."""
        k = int(self.labels[i])
        self.counts[k] -= 1
        if not self.counts[k]:
            del self.counts[k], self.parameters[k]

    def update_parameters(self) -> None:
        """Parameters of each cluster given its rows."""
        self.parameters = {
            k: self.rule.parameters(self.prior.given(self.X[self.labels == k])) for k in self.counts
        }

    def state(self) -> UncollapsedState:
        """A copy of labels and parameters, with their joint."""
        numbers, labels = np.unique(self.labels, return_inverse=True)
        parameters = [self.parameters[int(k)] for k in numbers]
        joint = log_prob(labels.tolist(), self.alpha, 0.0)
        joint += sum(map(self.prior.log_density, parameters))
        joint += sum(parameters[k].log_density(row) for k, row in zip(labels, self.X, strict=True))
        means, precisions = map(np.array, zip(*parameters, strict=True))
        return UncollapsedState(labels, means, precisions, -joint)


def _endless(chain: _Chain) -> Iterator[UncollapsedState]:
    """A state after each sweep."""
    while True:
        chain.sweep()
        yield chain.state()


def _until_it_stays(chain: _Chain) -> Iterator[UncollapsedState]:
    """The start, and a state after each sweep, up to the first that does not lower the joint."""
    before, state = inf, chain.state()
    yield state
    while state.neg_log_joint < before:
        before = state.neg_log_joint
        chain.sweep()
        state = chain.state()
        yield state
