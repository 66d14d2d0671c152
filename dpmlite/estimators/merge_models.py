"""Merging of models that were fitted to different rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import moves
from dpmlite.distributed.chunked_partition import with_groups
from dpmlite.estimators.fitted.partitions import cluster_attributes, final_partition_of_groups
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.map_dpm.streaming import (
    FittedClusters,
    absorbed_clusters,
    absorbed_counts,
    absorbed_groups,
    moments_of_all,
    prior_of_all,
    same_value,
)
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.search.context import Problem

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite import families

# Attributes that must be the same in all models.
SHARED = ("component_", "allow_missing_", "n_features_in_", "alpha_", "discount_")

# What to do where one of them differs.
HINTS = {
    "component_": ": fit all with one component, that of the first model, say",
    "alpha_": ": give a number as alpha",
}


def merge_models(first: MAPDPM, second: MAPDPM, *others: MAPDPM) -> MAPDPM:
    """Merge models of different rows into one model of all rows, without the rows.

    Pairs of clusters of any models are merged, the best pair first, as long as that lowers the
    exact negative log joint of all rows. So clusters that several models have become one, and
    clusters that only one model has stay. No cluster is divided, for that needs rows: where they
    are at hand, `MAPDPM.fit_chunks` fits them all, and divides what a model of few rows took for
    one cluster.

    Parameters
    ----------
    first, second, *others : MAPDPM
        Models fitted to different rows of the same columns, with the same `component`, `prior`,
        `allow_missing` and concentration. They are not changed.

    Returns
    -------
    MAPDPM
        A model with the parameters of `first`. `labels_` are those of all models, one after the
        other, if all have labels. The prior is that which `fit` would take for all rows: defaults
        follow the rows, and statistics are converted exactly. `neg_log_joint_trace_` has the
        objective before and after the merges; attributes that describe a search among rows, such as
        `neg_log_loo_` and `n_sweeps_`, are missing. `predict`, `save`, `partial_fit` and other
        methods work.

    Raises
    ------
    TypeError
        If something is not a `MAPDPM`.
    NotFittedError
        If a model is not fitted.
    ValueError
        If the models differ in concentration, discount, family, prior or columns, or a model's
        `component` or `allow_missing` was changed after its fit. Models differ in the values that
        ``alpha="map"``, ``"nll"``, ``"loo"``, ``"cv"`` and ``prior="nll"`` choose, and in the
        default ``sigma2`` of "normal-known-variance": give numbers. Also if the weights of all rows
        sum to more than 2**53, or clusters lie too far from the prior of all rows.

    See Also
    --------
    MAPDPM.partial_fit : Rows that arrive in batches, in one model.
    MAPDPM.fit_chunks : One model of rows in chunks, which it can divide.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import MAPDPM, merge_models
    >>> rng = np.random.default_rng(0)
    >>> monday = MAPDPM().fit(np.concatenate([rng.normal(c, 1, (50, 2)) for c in (0, 20)]))
    >>> tuesday = MAPDPM().fit(np.concatenate([rng.normal(c, 1, (50, 2)) for c in (0, 40)]))
    >>> merge_models(monday, tuesday).counts_.tolist()
    [100, 50, 50]
    """
    fitted = [first, second, *others]
    pieces = _pieces(fitted)
    total = moments_of_all([piece.moments for piece in pieces])
    prior = prior_of_all(pieces, total)
    groups = absorbed_groups(pieces, prior)
    before, group_labels = _merge_groups(groups, first.alpha_, first.discount_)
    final = final_partition_of_groups(first.alpha_, groups, group_labels, first.discount_)
    labels = _labels(fitted, np.asarray(final.group_labels, dtype=np.intp))
    counts = absorbed_counts(np.concatenate([piece.counts for piece in pieces]), final)
    merged = MAPDPM(**first.get_params())
    vars(merged).update(
        cluster_attributes(final, pieces[0].family, prior, pieces[0].allow_missing),
        labels_=labels,
        counts_=counts,
        neg_log_joint_trace_=np.array([before, final.neg_log_joint]),
        moments_=total.numbers(),
        n_samples_seen_=int(counts.sum()),
        n_features_in_=first.n_features_in_,
        power_=first.power_,
    )
    merged._keep_joined(merged._limited(absorbed_clusters(pieces, final)))
    if not _have_labels(fitted):
        del merged.labels_, merged.component_labels_
    if hasattr(first, "feature_names_in_"):
        merged.feature_names_in_ = first.feature_names_in_
    return merged


def _merge_groups(
    groups: families.Component, alpha: float, discount: float
) -> tuple[float, npt.NDArray[np.intp]]:
    """The joint with each group as a cluster of its own, and labels of the groups after merges."""
    rows = Data.without_rows(groups.n_columns).rows()
    partition = with_groups(Problem(rows, groups.like(), alpha, discount=discount), groups)
    before = partition.neg_log_joint
    moves.merge(partition)
    return before, np.asarray(partition.group_labels, dtype=np.intp)


def _have_labels(fitted: list[MAPDPM]) -> bool:
    """Whether all models have the labels of their rows."""
    return all(hasattr(model, "component_labels_") for model in fitted)


def _labels(fitted: list[MAPDPM], group_labels: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Labels of all models, one after the other, from the label of each of their clusters.

    Empty unless all models have labels.
    """
    if not _have_labels(fitted):
        return np.empty(0, dtype=np.intp)
    offsets = np.cumsum([0, *(len(model.statistics_) for model in fitted)])
    pairs = zip(fitted, offsets[:-1], strict=True)
    labels = np.concatenate([model.component_labels_ + offset for model, offset in pairs])
    return np.asarray(group_labels[labels], dtype=np.intp)


def _pieces(fitted: list[MAPDPM]) -> list[FittedClusters]:
    """The clusters of each model, after checks."""
    pieces = []
    for model in fitted:
        if not isinstance(model, MAPDPM):
            raise TypeError(f"models must be MAPDPM, got {type(model).__name__}")
        pieces.append(FittedClusters.of(model))
    _check_alike(fitted)
    return pieces


def _check_alike(fitted: list[MAPDPM]) -> None:
    """Raise ValueError unless models agree in concentration, family, prior and columns."""
    first = fitted[0]
    for model in fitted[1:]:
        names = [list(getattr(m, "feature_names_in_", [])) for m in (first, model)]
        if names[0] != names[1]:
            raise ValueError(f"models must be of the same columns, got {names[0]} and {names[1]}")
        for name in SHARED:
            ours, theirs = getattr(first, name), getattr(model, name)
            if ours != theirs:
                raise ValueError(
                    f"{name} must be the same in all models, got {shown(ours)} and {shown(theirs)}"
                    + HINTS.get(name, "")
                )
        if not same_value(getattr(first, "levels_", {}), getattr(model, "levels_", {})):
            raise ValueError("levels_ of categories must be the same in all models")
        if not _same_prior(first.prior, model.prior):
            raise ValueError(
                "prior must be the same in all models, "
                f"got {shown(first.prior)} and {shown(model.prior)}"
            )


def _same_prior(one: Any, other: Any) -> bool:
    """Whether two values of the parameter `prior` mean the same."""
    one, other = ({} if prior is None or _is_paper(prior) else prior for prior in (one, other))
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return one.keys() == other.keys() and all(_same_for_columns(one[k], other[k]) for k in one)


def _is_paper(prior: Any) -> bool:
    return isinstance(prior, str) and prior == "paper"


def _same_for_columns(one: Any, other: Any) -> bool:
    """Whether two values of a prior are equal, a scalar standing for every column."""
    one, other = np.asarray(one), np.asarray(other)
    if {one.ndim, other.ndim} == {0, 1}:
        return bool((one == other).all())
    return np.array_equal(one, other)
