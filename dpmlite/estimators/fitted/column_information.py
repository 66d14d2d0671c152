"""How much each column tells of a cluster: Kullback-Leibler divergences of its densities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpmlite.estimators.inputs.data import Floats, Indices
    from dpmlite.estimators.priors.base import Family, Parameters, Totals

# Rows that are drawn from a cluster to measure how much a column tells of it.
N_DRAWN = 1000


def separations(
    family: Family,
    theta: Parameters,
    weights: Floats,
    clusters: Indices,
    k: int,
    totals: Totals = None,
) -> Floats:
    """Nats by which each coded column separates cluster `k` from the rest, shape (D,).

    It is the mean, over rows of the cluster, of log p(x_d | cluster) - log p(x_d | the others): the
    Kullback-Leibler divergence of a column's two densities.

    Parameters
    ----------
    family : Family
    theta : dict
        Expected parameters of C components.
    weights : ndarray, shape (C,)
        Weights of the components.
    clusters : ndarray of int, shape (C,)
        The cluster of each component.
    k : int
    totals : ndarray, shape (C,), optional
        Total or exposure of the rows of each component.
    """
    rng = np.random.default_rng(0)
    inside = clusters == k
    labels = rng.choice(
        len(weights), N_DRAWN, p=np.where(inside, weights, 0) / weights[inside].sum()
    )
    rows = family.draw_rows(theta, labels, None if totals is None else totals[labels], rng)
    here = mixture_log_density(family, rows, theta, np.where(inside, weights, 0.0))
    if inside.all():
        return np.zeros(here.shape[1])
    rest = mixture_log_density(family, rows, theta, np.where(inside, 0.0, weights))
    return np.asarray((here - rest).mean(axis=0))


def share_separations(
    probabilities: Floats,
    weights: Floats,
    clusters: Indices,
    chosen: Iterable[int],
    totals: Totals,
) -> Floats:
    """Nats by which each word, or bit, separates some clusters from the rest, shape (K, D).

    A word is counted in rows of some length: the divergence of two binomials. A bit is a row of one
    word; a mixture of bits is a bit, so that no row has to be drawn.

    Parameters
    ----------
    probabilities : ndarray, shape (C, D)
        Probability of each word, or of a 1, in each component.
    weights : ndarray, shape (C,)
    clusters : ndarray of int, shape (C,)
        The cluster of each component.
    chosen : iterable of K int
        The clusters.
    totals : ndarray, shape (C,), or None
        Words of a row of each component; None for bits.
    """
    lengths = np.ones(len(weights)) if totals is None else totals
    found = []
    for inside in (clusters == k for k in chosen):
        p = np.average(probabilities[inside], axis=0, weights=weights[inside])
        q = (
            p
            if inside.all()
            else np.average(probabilities[~inside], axis=0, weights=weights[~inside])
        )
        length = np.average(lengths[inside], weights=weights[inside])
        found.append(length * (_times_log_ratio(p, q) + _times_log_ratio(1.0 - p, 1.0 - q)))
    return np.array(found)


def _times_log_ratio(p: Floats, q: Floats) -> Floats:
    """The product p log(p / q), 0 where p is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0.0, p * np.log(p / q), 0.0)


def mixture_log_density(family: Family, rows: Floats, theta: Parameters, weights: Floats) -> Floats:
    """Log densities of each coded column under a mixture of components, shape (N, D)."""
    used = np.flatnonzero(weights)
    theta = {key: value[used] for key, value in theta.items()}
    return family.mixture_column_log_density(rows, theta, weights[used] / weights[used].sum())
