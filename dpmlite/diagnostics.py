"""The diagnostic of Raftery & Lewis for the length of a Markov chain."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.arrays import as_floats, is_masked
from dpmlite.estimators.inputs.parameters import check_positive

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class RafteryLewis:
    """The result of `raftery_lewis`, in steps of the chain.

    Attributes
    ----------
    thin : int
        Thinning k: every k-th indicator of values up to the quantile makes a Markov chain.
    burn_in : int
        First steps to leave out, M.
    n_total : int
        Steps to run, those of the burn-in included: M + N.
    n_min : int
        Steps that would suffice if they were independent.
    dependence_factor : float
        I = ``n_total / n_min``. Above 5 the start is bad or the chain mixes slowly.

    See Also
    --------
    raftery_lewis : Its function.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite.diagnostics import raftery_lewis
    >>> found = raftery_lewis(np.random.default_rng(0).normal(size=5000))
    >>> found.burn_in, found.n_total
    (2, 3561)
    """

    thin: int
    burn_in: int
    n_total: int
    n_min: int
    dependence_factor: float


def raftery_lewis(
    chain: npt.ArrayLike,
    q: float = 0.025,
    r: float = 0.005,
    s: float = 0.95,
    epsilon: float = 0.001,
) -> RafteryLewis:
    """Number of steps that estimate a quantile of a chain to a given precision.

    The indicator of values up to the `q`-quantile is a chain of two states. It is thinned until BIC
    prefers a Markov chain of order 1 to one of order 2. Burn-in and length follow from its
    transition probabilities.

    Parameters
    ----------
    chain : array-like, shape (N,)
        One number for each step of a pilot run.
    q : float, default 0.025
        The quantile.
    r : float, default 0.005
        Margin of error of the probability q.
    s : float, default 0.95
        Probability that the estimate is within the margin.
    epsilon : float, default 0.001
        Distance of the states' probabilities from the stationary ones after the burn-in.

    Returns
    -------
    RafteryLewis

    Raises
    ------
    ValueError
        If the chain is shorter than `n_min`, too short to be thinned, or does not cross the
        quantile in both directions; if an argument breaks its rule.

    See Also
    --------
    dpmlite.CollapsedGibbs : Its `neg_log_joint_samples_` are such a chain.

    References
    ----------
    .. [1] Raftery & Lewis, "How many iterations in the Gibbs sampler?", Bayesian Statistics 4,
       1992.
    .. [2] Raftery & Lewis, "The number of iterations, convergence diagnostics and generic
       Metropolis algorithms", in Markov chain Monte Carlo in practice, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite.diagnostics import raftery_lewis
    >>> found = raftery_lewis(np.random.default_rng(0).normal(size=5000))
    >>> found.thin, found.n_min
    (1, 3746)
    """
    _check_probability("q", q, 1.0)
    _check_probability("s", s, 1.0)
    _check_probability("epsilon", epsilon, 0.5)
    check_positive("r", r)
    values = _check_chain(chain)
    z = NormalDist().inv_cdf(_upper_tail(s)) / r
    n_min = max(ceil(q * (1.0 - q) * z * z), 1)
    if len(values) < n_min:
        raise ValueError(
            f"chain must have at least {n_min} values for q={q}, r={r}, s={s}, got {len(values)}"
        )
    low = (values <= np.quantile(values, q)).astype(np.intp)
    thin = _markov_step(low)
    down, up = _transition_probabilities(low[::thin])
    moves = down + up  # 1 - moves is the second eigenvalue of the transition matrix
    burn_in = log(epsilon * moves / max(down, up)) / log(abs(1.0 - moves)) if moves != 1.0 else 0.0
    kept = (2.0 - moves) * down * up * z * z / moves**3
    m, n = ceil(burn_in) * thin, ceil(kept) * thin
    return RafteryLewis(thin, m, m + n, n_min, (m + n) / n_min)


def _markov_step(low: npt.NDArray[np.intp]) -> int:
    """The least thinning after which BIC prefers a Markov chain of order 1 to one of order 2."""
    thin = 1
    while len(low[::thin]) > 2:
        state = low[::thin]
        triples = np.bincount(4 * state[:-2] + 2 * state[1:-1] + state[2:], minlength=8)
        # Order 2 has two more parameters.
        if _g2(triples.reshape(2, 2, 2)) < 2.0 * log(len(state) - 2):
            return thin
        thin += 1
    raise ValueError(f"chain must be longer: its {len(low)} values depend on one another too far")


def _g2(triples: npt.NDArray[np.intp]) -> float:
    """Likelihood ratio statistic of order 1 against order 2, from counts of triples."""
    pairs = triples.sum(axis=2, keepdims=True) * triples.sum(axis=0, keepdims=True)
    seen = triples > 0
    fitted = pairs[seen] / np.broadcast_to(triples.sum(axis=(0, 2), keepdims=True), (2, 2, 2))[seen]
    return float(2.0 * (triples[seen] * np.log(triples[seen] / fitted)).sum())


def _transition_probabilities(state: npt.NDArray[np.intp]) -> tuple[float, float]:
    """Transition probabilities from 0 to 1 and from 1 to 0."""
    n = np.bincount(2 * state[:-1] + state[1:], minlength=4).reshape(2, 2)
    if n[0, 1] == 0 or n[1, 0] == 0 or n[0, 0] + n[1, 1] == 0:
        raise ValueError(
            "chain must pass its quantile to and fro, and not at every step, "
            f"got {n[0, 1]} steps down and {n[1, 0]} up, {n[0, 0] + n[1, 1]} others"
        )
    return float(n[0, 1] / n[0].sum()), float(n[1, 0] / n[1].sum())


def _upper_tail(s: float) -> float:
    """The probability at which the central interval of probability `s` ends."""
    p = 0.5 * (1.0 + s)
    if not 0.5 < p < 1.0:
        raise ValueError(f"s must be further from 0 and 1 than rounding, got {s!r}")
    return p


def _check_chain(chain: Any) -> npt.NDArray[np.float64]:
    """A chain as finite floats, shape (N,); ValueError if it is none."""
    if is_masked(chain):
        raise ValueError("chain must have no masked values")
    values = as_floats("chain", chain, ("step",))
    if values.ndim != 1:
        raise ValueError(f"chain must be 1-D, got shape {values.shape}")
    if not np.isfinite(values).all():
        i = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"chain must be finite, got {values[i]} at step {i}")
    return values


def _check_probability(name: str, value: Any, below: float) -> None:
    if not 0.0 < check_positive(name, value) < below:
        raise ValueError(f"{name} must be between 0 and {below:g}, got {value!r}")
