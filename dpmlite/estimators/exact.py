"""The exact posterior of a few rows, by enumeration of all partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import algorithms
from dpmlite.estimators.column_families.given import given_table
from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.inputs.parameters import check_alpha, check_discount

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

# The limit of algorithms.sum_over_partitions, checked here before the prior can warn.
MAX_ROWS = 13


@dataclass(frozen=True, eq=False)
class ExactPosterior:
    """The result of `exact_posterior`.

    Attributes
    ----------
    labels : ndarray of int, shape (N,)
        The most probable partition, the largest cluster first.
    neg_log_joint : float
        -log p(x, z) of `labels`, in nats, every constant included: the least there is.
    log_evidence : float
        log p(x), all partitions summed, in nats.
    n_clusters_proba : ndarray, shape (N,)
        P(K = 1 | x), ..., P(K = N | x).
    co_clustering : ndarray, shape (N, N)
        P(z_i = z_j | x).

    See Also
    --------
    exact_posterior : Its function.

    Examples
    --------
    >>> from dpmlite import exact_posterior
    >>> prior = {"m0": 0.0, "c0": 0.01, "a0": 1.0, "b0": 0.1}
    >>> found = exact_posterior([[0.0], [0.1], [9.0]], alpha=1.0, prior=prior)
    >>> f"{found.n_clusters_proba[1]:.2f} that there are two clusters"
    '0.90 that there are two clusters'
    """

    labels: npt.NDArray[np.intp]
    neg_log_joint: float
    log_evidence: float
    n_clusters_proba: npt.NDArray[np.float64]
    co_clustering: npt.NDArray[np.float64]


def exact_posterior(
    X: npt.ArrayLike,
    *,
    alpha: float,
    component: str | Mapping[Any, str] = "normal-gamma",
    prior: Mapping[str, Any] | None = None,
    allow_missing: bool = False,
    sample_weight: npt.ArrayLike | None = None,
    discount: float = 0.0,
) -> ExactPosterior:
    """Posterior over all partitions of a few rows, without approximation.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix, shape (N, D)
        From 1 to 13 rows, which have up to 27,644,437 partitions.
    alpha, component, prior, allow_missing, discount
        As in `neg_log_joint`.
    sample_weight : array-like, shape (N,), optional
        Number of equal rows, which share a label, that each row stands for; positive. Default: 1.

    Returns
    -------
    ExactPosterior

    Raises
    ------
    ValueError
        If there are more than 13 rows, or an argument breaks its rule; the message states it.

    See Also
    --------
    log_evidence_exact : The evidence alone.
    CollapsedGibbs : Samples of the posterior, of any number of rows.
    DPSearch : The most probable partition, proven, of some more rows.

    References
    ----------
    .. [1] Xu, Heller & Ghahramani, "Tree-based inference for Dirichlet process mixtures", 2009,
       eq. (5).

    Examples
    --------
    >>> from dpmlite import exact_posterior
    >>> prior = {"m0": 0.0, "c0": 0.01, "a0": 1.0, "b0": 0.1}
    >>> found = exact_posterior([[0.0], [0.1], [9.0]], alpha=1.0, prior=prior)
    >>> found.labels.tolist(), found.n_clusters_proba.round(2).tolist()
    ([0, 0, 1], [0.0, 0.9, 0.1])
    >>> found.co_clustering[0].round(2).tolist()
    [1.0, 0.9, 0.0]
    """
    alpha, discount = check_alpha("alpha", alpha), check_discount(discount)
    family, table = given_table(X, component, allow_missing)
    data = table.weighted(sample_weight)
    data.require_weight()
    n = data.shape[0]
    if n > MAX_ROWS:
        raise ValueError(f"X must have from 1 to {MAX_ROWS} rows, got {n}")
    statistics = family.component(family.prior(prior, data), allow_missing)
    labels, n_clusters_proba = np.zeros(n, dtype=np.intp), np.empty(n)
    co_clustering = np.empty((n, n))
    log_evidence, neg_log_joint = algorithms.sum_over_partitions(
        data.rows(), statistics, alpha, labels, n_clusters_proba, co_clustering, discount
    )
    log_volume = data.total_log_volume()
    return ExactPosterior(
        largest_first(labels, data.weights),
        neg_log_joint + log_volume,
        log_evidence - log_volume,
        n_clusters_proba,
        co_clustering,
    )


def log_evidence_exact(
    X: npt.ArrayLike,
    *,
    alpha: float,
    component: str | Mapping[Any, str] = "normal-gamma",
    prior: Mapping[str, Any] | None = None,
    allow_missing: bool = False,
    sample_weight: npt.ArrayLike | None = None,
    discount: float = 0.0,
) -> float:
    """Log evidence of a few rows: the sum over all partitions.

    Parameters
    ----------
    X, alpha, component, prior, allow_missing, sample_weight, discount
        As in `exact_posterior`.

    Returns
    -------
    float
        log p(X | alpha, prior), eq. (5) of [1]_, in nats.

    Raises
    ------
    ValueError
        As `exact_posterior`.

    See Also
    --------
    exact_posterior : The evidence and the posterior.
    BayesianHierarchicalClustering : A lower bound for many rows.

    References
    ----------
    .. [1] Xu, Heller & Ghahramani, "Tree-based inference for Dirichlet process mixtures", 2009.

    Examples
    --------
    >>> from dpmlite import log_evidence_exact
    >>> prior = {"m0": 0.0, "c0": 0.01, "a0": 1.0, "b0": 0.1}
    >>> round(log_evidence_exact([[0.0], [0.1], [9.0]], alpha=1.0, prior=prior), 2)
    -8.53
    """
    return exact_posterior(
        X,
        alpha=alpha,
        component=component,
        prior=prior,
        allow_missing=allow_missing,
        sample_weight=sample_weight,
        discount=discount,
    ).log_evidence
