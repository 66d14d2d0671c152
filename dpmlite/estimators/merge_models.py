"""Models of different rows, as one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import inference
from dpmlite.estimators.data import Data
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.estimators.priors.columns import Moments
from dpmlite.estimators.problem import Problem
from dpmlite.estimators.streaming import (
    check_same_model,
    moments_of_all,
    prior_of_all,
    settled_counts,
    settled_groups,
)

if TYPE_CHECKING:
    import numpy.typing as npt

# What must be the same in all models.
SHARED = ("component_", "allow_missing_", "n_features_in_", "alpha_")


def merge_models(first: MAPDPM, second: MAPDPM, *others: MAPDPM) -> MAPDPM:
    """One model of the rows of several models, whose rows are not needed.

    Clusters of all models are merged, the pair first that is best, while that lowers the exact
    joint of all rows. So clusters of different models become one where they are the same, and
    those that only one model has stay.

    Parameters
    ----------
    first, second, *others : MAPDPM
        Fitted to different rows of the same columns, with the same `component`, `prior` and
        `allow_missing`, and the same concentration. They are not changed.

    Returns
    -------
    MAPDPM
        With the parameters of `first`. `labels_` are those of all models, one after the other:
        for models that were fitted, the labels of their rows in this order. The prior is what
        `fit` takes for all rows: defaults follow them, and statistics are converted exactly.
        `neg_log_joint_trace_` has the joint of all clusters as they were, and as they are now;
        what tells of a search among rows is missing, `neg_log_loo_` and `n_sweeps_` for example.
        `predict`, `save`, `partial_fit` and everything else work.

    Raises
    ------
    TypeError
        If something is not a `MAPDPM`.
    NotFittedError
        If a model is not fitted.
    ValueError
        If the models differ in what must be the same, or a model's `component` or `allow_missing`
        is no longer what it was fitted with. That is so for what ``alpha="map"``,
        ``"nll"``, ``"cv"`` and ``prior="nll"`` chose, and for the default ``sigma2`` of
        "normal-known-variance": give numbers. Or if the weights of all rows sum to more than 2**53,
        or clusters lie too far from the prior of all rows.

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
    _check_alike(fitted)
    total = moments_of_all([Moments(**model.moments_) for model in fitted])
    prior = prior_of_all(fitted, total)
    settled = settled_groups(fitted, prior)
    nothing = Data((0, first.n_features_in_), values=np.empty((0, first.n_features_in_)))
    unlabelled = np.empty(0, dtype=np.intp)
    problem = Problem(nothing.rows(), settled.like(), first.alpha_, settled=settled)
    union = problem.partition(unlabelled)
    before = union.neg_log_joint
    inference.merge(union)
    merged = MAPDPM(**first.get_params())
    homes = np.asarray(union.homes, dtype=np.intp)
    final = merged._partition(nothing, unlabelled, prior, first.alpha_, settled, homes)
    merged._keep_clusters(final, prior)
    merged.labels_ = _labels(fitted, np.asarray(final.homes, dtype=np.intp))
    merged.counts_ = settled_counts(np.concatenate([model.counts_ for model in fitted]), final)
    merged.neg_log_joint_trace_ = np.array([before, final.neg_log_joint])
    merged._keep_moments(total)
    merged.n_features_in_ = first.n_features_in_
    if hasattr(first, "feature_names_in_"):
        merged.feature_names_in_ = first.feature_names_in_
    return merged


def _labels(fitted: list[MAPDPM], homes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The models' labels, one after the other, where `homes` says what became of each cluster."""
    offsets = np.cumsum([0, *(model.n_clusters_ for model in fitted)])
    pairs = zip(fitted, offsets[:-1], strict=True)
    labels = np.concatenate([model.labels_ + offset for model, offset in pairs])
    return np.asarray(homes[labels], dtype=np.intp)


def _check_alike(fitted: list[MAPDPM]) -> None:
    first = fitted[0]
    for model in fitted:
        if not isinstance(model, MAPDPM):
            raise TypeError(f"models must be MAPDPM, got {type(model).__name__}")
        if not hasattr(model, "statistics_"):
            model._raise_not_fitted()
        check_same_model(model)
    for model in fitted[1:]:
        for name in SHARED:
            ours, theirs = getattr(first, name), getattr(model, name)
            if ours != theirs:
                raise ValueError(
                    f"{name} must be the same in all models, got {ours!r} and {theirs!r}"
                )
        if not _same_prior(first.prior, model.prior):
            raise ValueError(
                f"prior must be the same in all models, got {first.prior!r} and {model.prior!r}"
            )
        names = [list(getattr(m, "feature_names_in_", [])) for m in (first, model)]
        if names[0] != names[1]:
            raise ValueError(f"models must be of the same columns, got {names[0]} and {names[1]}")


def _same_prior(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and one == other
    one, other = one or {}, other or {}
    return one.keys() == other.keys() and all(_same_value(one[k], other[k]) for k in one)


def _same_value(one: Any, other: Any) -> bool:
    """Whether numbers of a prior are equal, or one of them is that of every column."""
    one, other = np.asarray(one), np.asarray(other)
    if {one.ndim, other.ndim} == {0, 1}:
        return bool((one == other).all())
    return np.array_equal(one, other)
