"""Seeded generators of tables with known clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.datasets.mixtures import constant_totals
from dpmlite.estimators.functions import crp_sample
from dpmlite.estimators.inputs.parameters import (
    check_choice,
    check_count,
    check_positive,
    check_random_state,
)
from dpmlite.estimators.priors import COMPONENTS, FAMILIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt


def crp_mixture(
    n_samples: int = 600,
    n_columns: int = 2,
    *,
    alpha: float = 3.0,
    m0: float = 1.0,
    c0: float = 0.1,
    a0: float = 1.0,
    b0: float = 10.0,
    random_state: Any = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Draw a table from a Dirichlet process mixture of normal clusters, the model of `MAPDPM`.

    The defaults are those of section 4.1 of [1]_. Labels are drawn from the Chinese restaurant
    process; each cluster and column has a precision tau ~ Gamma(a0, rate b0) and a mean
    mu ~ N(m0, 1 / (c0 tau)); values are drawn from N(mu, 1 / tau).

    Parameters
    ----------
    n_samples : int, default 600
        Rows, N.
    n_columns : int, default 2
        Columns, D.
    alpha : float, default 3.0
        Concentration, positive.
    m0 : float, default 1.0
        Prior mean of the clusters' means.
    c0 : float, default 0.1
        Precision of a cluster's mean as a part of the precision of its values, positive.
    a0 : float, default 1.0
        Shape of the precisions, positive.
    b0 : float, default 10.0
        Rate of the precisions, positive.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.

    Returns
    -------
    X : ndarray, shape (N, D)
    labels : ndarray of int, shape (N,)
        Numbered in the order in which clusters appear.

    Raises
    ------
    ValueError
        If a parameter breaks its rule; the message states it.

    See Also
    --------
    dpm_sample : The same with any family.
    unequal_gaussians : Clusters of unequal sizes, with their true density.

    References
    ----------
    .. [1] Raykov, Boukouvalas & Little, "Simple approximate MAP inference for Dirichlet
       processes", 2014.

    Examples
    --------
    >>> from dpmlite.datasets import crp_mixture
    >>> X, labels = crp_mixture(600, 2, alpha=3.0, random_state=0)
    >>> X.shape, int(labels.max()) + 1
    ((600, 2), 21)
    """
    prior = {"m0": m0, "c0": c0, "a0": a0, "b0": b0}
    return dpm_sample(n_samples, n_columns, alpha=alpha, prior=prior, random_state=random_state)


def dpm_sample(
    n_samples: int,
    n_columns: int,
    *,
    component: str = "normal-gamma",
    alpha: float = 1.0,
    prior: Mapping[str, Any],
    row_total: int = 100,
    random_state: Any = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Draw a table from a Dirichlet process mixture of any family.

    Labels are drawn from the Chinese restaurant process, the parameters of each cluster from the
    prior, and each row from its cluster: section 1.2 of [1]_.

    Parameters
    ----------
    n_samples : int
        Rows, N.
    n_columns : int
        Columns, D.
    component : str, default "normal-gamma"
        Family of the clusters, as in `MAPDPM`.
    alpha : float, default 1.0
        Concentration, positive.
    prior : dict
        All parameters of the family's prior. A scalar stands for every column; ``psi0`` must have
        shape (D, D).
    row_total : int, default 100
        Words in each row of "dirichlet-multinomial".
    random_state : None, int, Generator or RandomState, default None
        Source of chance.

    Returns
    -------
    X : ndarray, shape (N, D)
    labels : ndarray of int, shape (N,)
        Numbered in the order in which clusters appear.

    Raises
    ------
    ValueError
        If a parameter breaks its rule; the message states it.

    See Also
    --------
    dpm_mixture : The density from which rows are drawn.
    crp_mixture : The draws of the first paper.

    References
    ----------
    .. [1] "Notes on Gibbs sampling for Dirichlet process mixtures".

    Examples
    --------
    Documents of 50 words, six of which are known:

    >>> from dpmlite.datasets import dpm_sample
    >>> X, labels = dpm_sample(
    ...     100,
    ...     6,
    ...     component="dirichlet-multinomial",
    ...     prior={"beta0": 0.5},
    ...     row_total=50,
    ...     random_state=0,
    ... )
    >>> X.shape, X.sum(axis=1)[:3].tolist()
    ((100, 6), [50.0, 50.0, 50.0])
    """
    family = FAMILIES[check_choice("component", component, COMPONENTS)]
    full = family.full_prior(prior, check_count("n_columns", n_columns))
    rng = check_random_state(random_state)
    labels = crp_sample(check_count("n_samples", n_samples), alpha, rng)
    parameters = family.draw_parameters(full, int(labels.max()) + 1, rng)
    totals = constant_totals(n_samples, row_total)
    return family.draw_rows(parameters, labels, totals, rng), labels


def planted_gaussians(
    n_samples: int,
    n_columns: int,
    n_clusters: int,
    *,
    separation: float = 3.0,
    random_state: Any = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Draw round clusters of unit variance and equal probability.

    Parameters
    ----------
    n_samples : int
        Rows, N.
    n_columns : int
        Columns, D.
    n_clusters : int
        Number of clusters, some of which may be empty if there are few rows.
    separation : float, default 3.0
        Standard deviation of the clusters' means around 0, positive.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.

    Returns
    -------
    X : ndarray, shape (N, D)
    labels : ndarray of int, shape (N,)
        From 0 to `n_clusters` - 1.

    Raises
    ------
    ValueError
        If a parameter breaks its rule; the message states it.

    See Also
    --------
    unequal_gaussians : Clusters that are neither round nor equally large.
    load_sensors : A table that is shipped.

    Examples
    --------
    >>> from dpmlite import MAPDPM
    >>> from dpmlite.datasets import planted_gaussians
    >>> X, labels = planted_gaussians(500, 2, 3, separation=10.0, random_state=0)
    >>> MAPDPM(random_state=0).fit(X).n_clusters_
    3
    """
    shape = (check_count("n_clusters", n_clusters), check_count("n_columns", n_columns))
    rng = check_random_state(random_state)
    means = rng.normal(0.0, check_positive("separation", separation), size=shape)
    labels = rng.integers(n_clusters, size=check_count("n_samples", n_samples), dtype=np.intp)
    return rng.normal(means[labels], 1.0), labels
