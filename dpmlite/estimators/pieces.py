"""Data that comes in pieces: rows seen before, and rows of other models, as settled groups."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpmlite import models
from dpmlite.estimators.families import FAMILIES, Prior
from dpmlite.estimators.families.columns import Moments

if TYPE_CHECKING:
    from dpmlite.estimators.mapdpm import MAPDPM


def check_same_model(model: "MAPDPM") -> None:
    """Raise ValueError if a model's parameters mean other statistics than it has."""
    for name in ("component", "allow_missing"):
        given, fitted = getattr(model, name), getattr(model, name + "_")
        if given != fitted:
            raise ValueError(f"{name} must be that of the rows seen, {fitted!r}, got {given!r}")


def prior_of_all(fitted: "Sequence[MAPDPM]", moments: Moments) -> Prior:
    """The prior of the rows of all models, and of more rows that `moments` are of.

    It has what the first model's `prior` gives, and defaults for the rest. What was chosen by a
    search, and what statistics need, stays as it is.

    Raises
    ------
    ValueError
        If it cannot stay, because it differs between models or from what is given.
    """
    first = fitted[0]
    family = FAMILIES[first.component_]
    chosen = isinstance(first.prior, str)
    lasting = family.prior_keys if chosen else family.lasting
    given = {**{key: first.prior_[key] for key in lasting}, **({} if chosen else first.prior or {})}
    prior = family.prior_by(given, moments)
    for model in fitted:
        for key in lasting:
            if not np.array_equal(model.prior_[key], prior[key]):
                raise ValueError(
                    f"prior {key} must be the same for all rows, "
                    f"got {_shown(model.prior_[key])} and {_shown(prior[key])}"
                )
    return prior


def settled_groups(fitted: "Sequence[MAPDPM]", prior: Prior) -> models.Component:
    """The clusters of all models, one after the other, each as a slot under a prior of all."""
    settled = FAMILIES[fitted[0].component_].component(prior, fitted[0].allow_missing_)
    rows = np.vstack([_statistics_under(prior, model) for model in fitted])
    settled.resize(len(rows))
    for k, statistics in enumerate(rows.tolist()):
        settled.load(k, statistics)
    return settled


def added(counts: npt.NDArray[np.intp], final: models.Partition) -> npt.NDArray[np.intp]:
    """Rows that settled groups bring to each cluster, from how many each group has."""
    rows = np.zeros(final.n_clusters, dtype=np.intp)
    np.add.at(rows, np.asarray(final.homes, dtype=np.intp), counts)
    return rows


def _statistics_under(prior: Prior, model: "MAPDPM") -> npt.NDArray[np.float64]:
    if all(np.array_equal(model.prior_[key], prior[key]) for key in prior):
        return model.statistics_
    return FAMILIES[model.component_].rebased(model.statistics_, model.prior_, prior)


def _shown(value: Any) -> str:
    return str(np.asarray(value).tolist())
