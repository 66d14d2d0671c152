"""Final partitions, the attributes of a fitted model that describe them, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpmlite.distributed.statistics import load, statistics_of
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.inputs.columns import Columns, IsZero
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.priors import FAMILIES, mixed_family
from dpmlite.partition import Partition

if TYPE_CHECKING:
    from dpmlite import families
    from dpmlite.estimators.fitted.numbering import Labels
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.columns import Key
    from dpmlite.estimators.inputs.data import Floats
    from dpmlite.estimators.priors import Family

# Attributes of clusters that only some fits make.
OPTIONAL = (
    "cluster_of_component_",
    "discount_",
    "level_probabilities_",
    "levels_",
    "log_columns_",
)


class Fitted(Protocol):
    """A fitted model of clusters."""

    component_: str | dict[Key, str]
    allow_missing_: bool
    prior_: Prior
    statistics_: Floats


def fitted_family(model: Any) -> Family:
    """The family of a fitted model."""
    if isinstance(model.component_, str):
        return FAMILIES[model.component_]
    columns = Columns(dict(model.component_), dict(model.levels_), tuple(model.log_columns_))
    return mixed_family(columns)


def fitted_component(model: Fitted) -> families.Component:
    """A component of the fitted prior, without slots."""
    return fitted_family(model).component(model.prior_, model.allow_missing_)


def fitted_mixture(model: Fitted) -> families.Component:
    """A component with a slot for each fitted cluster, and an empty one for a new cluster.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    """
    require_fitted(model, "statistics_")
    component = fitted_component(model)
    load(component, model.statistics_, n_empty=1)
    return component


def final_partition(
    table: Data,
    labels: Labels,
    component: families.Component,
    alpha: float,
    discount: float = 0.0,
) -> Partition:
    """The partition of rows of positive weight; `labels` are renumbered by weight in place."""
    largest_first(labels, table.weights, labels)
    return Partition(table.rows(), labels, component, alpha, discount=discount)


def final_partition_with_groups(
    table: Data,
    labels: Labels,
    alpha: float,
    groups: families.Component,
    group_labels: Labels,
    discount: float = 0.0,
) -> Partition:
    """The partition of rows of positive weight and absorbed groups, numbered by weight.

    Parameters
    ----------
    table : Data
        N rows.
    labels : ndarray of int, shape (N,)
        The cluster of each row.
    alpha : float
        Concentration.
    groups : Component
        Statistics of G groups of rows that are not in memory.
    group_labels : ndarray of int, shape (G,)
        The cluster of each group.
    discount : float, default 0.0
        Discount of the Pitman-Yor process.
    """
    weights = table.row_weights()
    weights = np.concatenate([groups.counts, weights])
    numbers = largest_first(np.concatenate([group_labels, labels]), weights)
    group_labels, labels = np.split(numbers, [len(group_labels)])
    component, group_labels = groups.like(), group_labels.copy()
    return Partition(
        table.rows(), labels.copy(), component, alpha, None, groups, group_labels, discount
    )


def final_partition_of_groups(
    alpha: float, groups: families.Component, group_labels: Labels, discount: float = 0.0
) -> Partition:
    """As `final_partition_with_groups`, without rows."""
    table, labels = Data.without_rows(groups.n_columns), np.empty(0, dtype=np.intp)
    return final_partition_with_groups(table, labels, alpha, groups, group_labels, discount)


def cluster_attributes(
    final: Partition, family: Family, prior: Prior, allow_missing: bool
) -> dict[str, Any]:
    """All fitted attributes that describe a partition's clusters, and not its rows."""
    component, n_clusters = final.component, final.n_clusters
    return {
        **family.attributes(),
        **described_components(component, n_clusters, family, prior),
        **({"discount_": final.discount} if final.discount > 0.0 else {}),
        "allow_missing_": bool(allow_missing),
        "prior_": prior,
        "alpha_": final.alpha,
        "n_clusters_": n_clusters,
        "statistics_": statistics_of(component, n_clusters),
        "neg_log_joint_": final.neg_log_joint,
    }


def replace_cluster_attributes(
    model: Any, final: Partition, family: Family, prior: Prior, allow_missing: bool
) -> None:
    """Give a model the attributes of a partition's clusters, without those of an earlier fit."""
    forget_optional(model)
    vars(model).update(cluster_attributes(final, family, prior, allow_missing))


def forget_optional(model: Any) -> None:
    """Delete the attributes of an earlier fit that the next one may not make."""
    for name in OPTIONAL:
        vars(model).pop(name, None)


def described_components(
    component: families.Component, n_components: int, family: Family, prior: Prior
) -> dict[str, Any]:
    """The fitted attributes that follow from statistics, which the first slots hold."""
    posteriors = [component.posterior(k) for k in range(n_components)]
    priors = [family.as_prior(posterior, prior) for posterior in posteriors]
    return {
        **_level_probabilities(family, priors),
        "means_": np.array([family.means(each) for each in priors]),
        "variances_": np.array([family.variances(each) for each in priors]),
        "cluster_centers_": np.array([family.row_means(each, prior) for each in posteriors]),
        "weights_": np.array(component.counts[:n_components]) / sum(component.counts),
    }


def _level_probabilities(family: Family, priors: list[Prior]) -> dict[str, dict[Any, Floats]]:
    """The attribute of that name, if there are columns of levels; a zero-inflated one has two."""
    found = [family.level_probabilities(prior) for prior in priors]
    of_columns = {
        key.column if isinstance(key, IsZero) else key: np.array([each[key] for each in found])
        for key in found[0]
    }
    return {"level_probabilities_": of_columns} if of_columns else {}
