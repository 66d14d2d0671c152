"""From the components of a fitted model to its clusters, which may have several components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.fitted.partitions import fitted_family
from dpmlite.joining import NormalComponents, component_tree, pair_depths

if TYPE_CHECKING:
    from dpmlite import families
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices


class Components(Protocol):
    """A fitted model whose components are known, and not yet its clusters."""

    component_: Any
    allow_missing_: bool
    prior_: Prior
    statistics_: Floats
    weights_: Floats
    means_: Floats
    variances_: Floats
    cluster_centers_: Floats
    counts_: Indices
    labels_: Indices
    n_clusters_: int


def normals_of(model: Components, mixture: families.Component) -> NormalComponents:
    """The components of a model, which are in the slots of a mixture, as normals."""
    family = fitted_family(model)
    posteriors = [mixture.posterior(k) for k in range(len(model.statistics_))]
    covariances = np.array([family.covariance(posterior) for posterior in posteriors])
    priors = (family.as_prior(posterior, model.prior_) for posterior in posteriors)
    means = np.array([family.coded_means(prior) for prior in priors])
    return NormalComponents(model.weights_, means, covariances)


def tree_of(components: NormalComponents, table: Data, labels: Indices) -> Floats:
    """The tree in which components join, in the form of scipy's linkage.

    Parameters
    ----------
    components : NormalComponents
    table : Data
        N dense rows of positive weight.
    labels : ndarray of int, shape (N,)
        The component of each row.

    Returns
    -------
    ndarray, shape (C - 1, 4)
    """
    assert table.values is not None
    depths = pair_depths(components, table.values, labels, table.weights)
    # Of the log of a part of the rows, and of half the log determinant of their scatter.
    variances = (1.0 + 0.5 * table.shape[1]) / np.bincount(labels)
    return component_tree(components.log_peaks, depths, variances)


def joined_attributes(model: Components, clusters: Indices) -> dict[str, Any]:
    """All fitted attributes that describe clusters, if components are joined.

    Parameters
    ----------
    model : Components
    clusters : ndarray of int, shape (C,)
        The cluster of each component.
    """
    clusters = largest_first(clusters, model.weights_)
    n_clusters = int(clusters.max()) + 1
    counts = np.zeros(n_clusters, dtype=np.intp)
    np.add.at(counts, clusters, model.counts_)
    return {
        "cluster_of_component_": clusters,
        "n_clusters_": n_clusters,
        "labels_": clusters[model.labels_],
        "counts_": counts,
        **described_clusters(model, clusters),
    }


def described_clusters(model: Components, clusters: Indices) -> dict[str, Any]:
    """Those of the attributes that follow from what describes the components.

    Parameters
    ----------
    model : Components
    clusters : ndarray of int, shape (C,)
        The cluster of each component, the largest first.
    """
    n_clusters = int(clusters.max()) + 1
    weights = np.bincount(clusters, model.weights_)
    shares = np.zeros((n_clusters, len(clusters)))
    shares[clusters, np.arange(len(clusters))] = model.weights_ / weights[clusters]
    family = fitted_family(model)
    scaled = family.on_scale(model.means_)
    variances = shares @ (model.variances_ + scaled**2) - (shares @ scaled) ** 2
    found: dict[str, Any] = {
        "weights_": weights,
        "means_": shares @ model.means_,
        "variances_": np.maximum(variances, shares @ model.variances_),
        "cluster_centers_": means_of_known(shares, model.cluster_centers_),
    }
    levels = getattr(model, "level_probabilities_", None)
    if levels is not None:
        found["level_probabilities_"] = {column: shares @ p for column, p in levels.items()}
    return found


def means_of_known(shares: Floats, values: Floats) -> Floats:
    """Means of components' values without NaN, shape (..., D); NaN where none has a value.

    Parameters
    ----------
    shares : ndarray, shape (..., K)
    values : ndarray, shape (K, D)
    """
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return (shares @ np.where(known, values, 0.0)) / (shares @ known)
