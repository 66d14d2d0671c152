"""Probabilities of partitions as functions, without an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import algorithms
from dpmlite.estimators.column_families.given import given_table
from dpmlite.estimators.inputs.given_labels import check_labels
from dpmlite.estimators.inputs.parameters import (
    check_alpha,
    check_count,
    check_discount,
    check_random_state,
)
from dpmlite.partition import Partition, log_prob, sample

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt


def crp_log_prob(labels: npt.ArrayLike, alpha: float, *, discount: float = 0.0) -> float:
    """Log probability of a partition under the Chinese restaurant process.

    With a discount d it is the Pitman-Yor process: a cluster of n items weighs n - d for the next
    item, and a new one alpha + K d if there are K.

    Parameters
    ----------
    labels : array-like, shape (N,)
        The cluster of each item, by any names.
    alpha : float
        Concentration, positive.
    discount : float, default 0.0
        Discount of the Pitman-Yor process, at least 0 and below 1.

    Returns
    -------
    float
        log p(z | alpha): eq. (1) of Raykov, Boukouvalas & Little (2014).

    Raises
    ------
    ValueError
        If `alpha` is not positive, `discount` is out of range, or `labels` are not 1-D, or one is
        missing.

    See Also
    --------
    crp_sample : Draws of this distribution.
    neg_log_joint : The joint probability with the rows.

    Examples
    --------
    >>> import math, dpmlite
    >>> round(math.exp(dpmlite.crp_log_prob([0, 0, 1], alpha=1.0)), 6)
    0.166667
    """
    alpha, discount = check_alpha("alpha", alpha), check_discount(discount)
    return log_prob(check_labels(labels).tolist(), alpha, discount)


def crp_sample(
    n: int, alpha: float, random_state: Any = None, *, discount: float = 0.0
) -> npt.NDArray[np.intp]:
    """Draw a partition from the Chinese restaurant process.

    Parameters
    ----------
    n : int
        Number of items.
    alpha : float
        Concentration, positive.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.
    discount : float, default 0.0
        Discount of the Pitman-Yor process, at least 0 and below 1.

    Returns
    -------
    ndarray of int, shape (n,)
        Labels, numbered in the order in which clusters appear.

    Raises
    ------
    ValueError
        If `n` is negative, `alpha` is not positive or `discount` is out of range.

    See Also
    --------
    crp_log_prob : The probability of a partition.
    dpmlite.datasets.dpm_sample : Rows as well as labels.

    Examples
    --------
    >>> from dpmlite import crp_sample
    >>> crp_sample(10, alpha=1.0, random_state=0).tolist()
    [0, 0, 0, 0, 1, 2, 1, 1, 1, 3]
    """
    alpha, discount = check_alpha("alpha", alpha), check_discount(discount)
    uniforms = check_random_state(random_state).random(check_count("n", n, least=0))
    return np.array(sample(uniforms, alpha, discount), dtype=np.intp)


def neg_log_joint(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    alpha: float,
    component: str | Mapping[Any, str] = "normal-gamma",
    prior: Mapping[str, Any] | None = None,
    allow_missing: bool = False,
    sample_weight: npt.ArrayLike | None = None,
    discount: float = 0.0,
) -> float:
    """Negative log joint, -log p(z | alpha) - sum_k log p(x_k | theta_0), in nats.

    All normalising constants are included, so that any two partitions of the same rows can be
    compared.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix, shape (N, D)
        Rows.
    labels : array-like, shape (N,)
        The cluster of each row.
    alpha : float
        Concentration, positive.
    component : str or dict, default "normal-gamma"
        Family of the clusters, or those of columns, as in `MAPDPM`.
    prior : dict, optional
        Parameters of the family's prior; missing ones are those of section 4.2, as in `MAPDPM`.
        If columns have families of their own, a dict for each family, like ``MAPDPM.prior_``.
    allow_missing : bool, default False
        Whether NaN is a missing value.
    sample_weight : array-like, shape (N,), optional
        Number of equal rows that each row stands for; default 1.
    discount : float, default 0.0
        Discount of the Pitman-Yor process, as in `MAPDPM`.

    Returns
    -------
    float
        The objective of `MAPDPM`, in nats: lower is better.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule; the message states it.

    See Also
    --------
    neg_log_loo : The paper's likelihood, eq. (16).
    MAPDPM : The partition with the least of it that a search finds.
    exact_posterior : The least of all, for few rows.

    Examples
    --------
    Two partitions of three rows; the first is more probable:

    >>> from dpmlite import neg_log_joint
    >>> X = [[0.0], [0.1], [9.0]]
    >>> prior = {"m0": 0.0, "c0": 0.01, "a0": 1.0, "b0": 0.1}
    >>> round(neg_log_joint(X, [0, 0, 1], alpha=1.0, prior=prior), 2)
    8.64
    >>> round(neg_log_joint(X, [0, 0, 0], alpha=1.0, prior=prior), 2)
    16.95
    """
    partition, log_volume = _partition(
        X, labels, sample_weight, alpha, component, prior, allow_missing, discount
    )
    return partition.neg_log_joint + log_volume


def neg_log_loo(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    alpha: float,
    component: str | Mapping[Any, str] = "normal-gamma",
    prior: Mapping[str, Any] | None = None,
    allow_missing: bool = False,
    sample_weight: npt.ArrayLike | None = None,
    discount: float = 0.0,
) -> float:
    """Negative log of the leave-one-out likelihood times the prior of the labels.

    This is eq. (16) of [1]_. MAP-DPM never raises `neg_log_joint`, but may raise this.

    Parameters
    ----------
    X, labels, alpha, component, prior, allow_missing, sample_weight, discount
        As in `neg_log_joint`.

    Returns
    -------
    float
        In nats: lower is better.

    Raises
    ------
    ValueError, TypeError
        As `neg_log_joint`.

    See Also
    --------
    neg_log_joint : What `MAPDPM` lowers.

    References
    ----------
    .. [1] Raykov, Boukouvalas & Little, "Simple approximate MAP inference for Dirichlet
       processes", 2014.

    Examples
    --------
    >>> from dpmlite import neg_log_loo
    >>> prior = {"m0": 0.0, "c0": 0.01, "a0": 1.0, "b0": 0.1}
    >>> round(neg_log_loo([[0.0], [0.1], [9.0]], [0, 0, 1], alpha=1.0, prior=prior), 2)
    6.49
    """
    partition, log_volume = _partition(
        X, labels, sample_weight, alpha, component, prior, allow_missing, discount
    )
    return algorithms.neg_log_loo(partition) + log_volume


def _partition(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None,
    alpha: float,
    component: str | Mapping[Any, str],
    prior: Mapping[str, Any] | None,
    allow_missing: bool,
    discount: float,
) -> tuple[Partition, float]:
    """The partition of the rows of positive weight, after checks of all arguments.

    The second number is `Data.total_log_volume` of these rows.
    """
    alpha, discount = check_alpha("alpha", alpha), check_discount(discount)
    family, data = given_table(X, component, allow_missing)
    data = data.weighted(sample_weight)
    used = data.has_weight()
    numbers = check_labels(labels, data.shape[0])[used]
    table = data.take(used)
    statistics = family.component(family.prior(prior, table), allow_missing)
    partition = Partition(table.rows(), numbers, statistics, alpha, discount=discount)
    return partition, table.total_log_volume()
