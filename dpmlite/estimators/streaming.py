"""Data that comes in pieces: rows seen before, and rows of other models, as settled groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.data import Data
from dpmlite.estimators.priors import FAMILIES
from dpmlite.estimators.validation import check_total_weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from dpmlite import models
    from dpmlite.estimators.mapdpm import MAPDPM
    from dpmlite.estimators.priors.base import Prior
    from dpmlite.estimators.priors.columns import Moments

# The first rows are kept until there are so many, or they have so many cells. Clusters of fewer
# rows may be several in truth, which could not be told apart once only their statistics are there.
FIRST_ROWS = 5000
FIRST_CELLS = 2_000_000

# They are fitted anew when they have become so many times more: often enough that a late batch
# counts, seldom enough that rows one by one cost no more than a few fits.
GROWTH = 1.1

IN_ALL = " in all pieces"


@dataclass(frozen=True, eq=False, repr=False)
class FirstRows:
    """The first rows of a model that learns from pieces.

    Attributes
    ----------
    rows : Data
    n_fitted : int
        How many there were when they were fitted last.
    """

    rows: Data
    n_fitted: int

    @classmethod
    def of(cls, model: MAPDPM, data: Data) -> FirstRows | None:
        """Those of a model, and new ones; None if it has none any more."""
        if not hasattr(model, "statistics_"):
            return cls(data, 0)
        if not hasattr(model, "first_rows_"):
            return None
        known = model.first_rows_
        rows = Data.from_dict(known["rows"]).followed_by(data)
        check_total_weight(rows.total_weight, IN_ALL)
        return cls(rows, known["n_fitted"])

    def to_dict(self) -> dict[str, Any]:
        """Everything as arrays and numbers, for files."""
        return {"rows": self.rows.to_dict(), "n_fitted": self.n_fitted}

    def fitted(self) -> FirstRows:
        """The same, now that all are fitted."""
        return replace(self, n_fitted=self.rows.shape[0])

    def are_enough(self) -> bool:
        """Whether clusters of so many rows may be settled."""
        n_rows, n_columns = self.rows.shape
        return n_rows >= FIRST_ROWS or n_rows * n_columns >= FIRST_CELLS

    def are_due(self) -> bool:
        """Whether they should be fitted anew."""
        return self.are_enough() or self.rows.shape[0] >= GROWTH * self.n_fitted


def check_same_model(model: MAPDPM) -> None:
    """Raise ValueError if a model's parameters mean other statistics than it has."""
    for name in ("component", "allow_missing"):
        given, fitted = getattr(model, name), getattr(model, name + "_")
        if given != fitted:
            raise ValueError(f"{name} must be that of the rows seen, {fitted!r}, got {given!r}")


def moments_of_all(pieces: Sequence[Moments]) -> Moments:
    """Those of the rows of all pieces together.

    Raises
    ------
    ValueError
        If the rows of all pieces have more weight than can be counted.
    """
    total = sum(pieces[1:], start=pieces[0])
    check_total_weight(total.weight, IN_ALL)
    return total


def prior_of_all(fitted: Sequence[MAPDPM], moments: Moments) -> Prior:
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


def settled_groups(fitted: Sequence[MAPDPM], prior: Prior) -> models.Component:
    """The clusters of all models, one after the other, each as a slot under a prior of all."""
    settled = FAMILIES[fitted[0].component_].component(prior, fitted[0].allow_missing_)
    rows = np.vstack([_statistics_under(prior, model) for model in fitted])
    settled.resize(len(rows))
    for k, statistics in enumerate(rows.tolist()):
        settled.load(k, statistics)
    return settled


def settled_counts(counts: npt.NDArray[np.intp], final: models.Partition) -> npt.NDArray[np.intp]:
    """Rows that settled groups bring to each cluster, from how many each group has."""
    rows = np.zeros(final.n_clusters, dtype=np.intp)
    np.add.at(rows, np.asarray(final.homes, dtype=np.intp), counts)
    return rows


def _statistics_under(prior: Prior, model: MAPDPM) -> npt.NDArray[np.float64]:
    if all(np.array_equal(model.prior_[key], prior[key]) for key in prior):
        return model.statistics_
    return FAMILIES[model.component_].rebased(model.statistics_, model.prior_, prior)


def _shown(value: Any) -> str:
    return str(np.asarray(value).tolist())
