"""Models of rows that are no longer in memory, for `partial_fit` and `merge_models`.

The rows of a cluster are replaced by its sufficient statistics: an absorbed group, which later
searches move as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.distributed.statistics import load
from dpmlite.estimators.column_families.by_rule import says_families
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.fitted.partitions import fitted_family
from dpmlite.estimators.inputs.sample_weights import check_total_weight
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.priors.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpmlite import families
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Floats, Indices
    from dpmlite.estimators.priors.base import Family
    from dpmlite.partition import Partition

# What messages about total weights add.
IN_ALL = " in all pieces"


@dataclass(frozen=True, eq=False, repr=False)
class FittedClusters:
    """The components of a fitted model, without its rows.

    Attributes
    ----------
    family : Family
    allow_missing : bool
    given_prior : dict, str or None
        The parameter `prior`.
    prior : dict
        The prior that was used.
    statistics : ndarray, shape (K, L)
        Sufficient statistics of the components.
    counts : ndarray of int, shape (K,)
        Rows of the components.
    moments : Moments
        Moments of all rows.
    power : float
        Power of the likelihood of a row: its weight in the statistics.
    clusters : ndarray of int, shape (K,), or None
        The cluster of each component, if components are joined.
    """

    family: Family
    allow_missing: bool
    given_prior: Mapping[str, Any] | str | None
    prior: Prior
    statistics: Floats
    counts: Indices
    moments: Moments
    power: float
    clusters: Indices | None

    @classmethod
    def of(cls, model: Any) -> FittedClusters:
        """The components of a MAPDPM.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ValueError
            If `component` or `allow_missing` was changed after the fit.
        """
        require_fitted(model, "statistics_")
        for name, agrees in (
            ("component", says_families(model.component, model.component_)),
            ("allow_missing", model.allow_missing == model.allow_missing_),
        ):
            if not agrees:
                given, fitted = getattr(model, name), getattr(model, name + "_")
                raise ValueError(
                    f"{name} must be that of the rows seen, {shown(fitted)}, got {shown(given)}"
                )
        return cls(
            fitted_family(model),
            model.allow_missing_,
            model.prior,
            model.prior_,
            model.statistics_,
            model.component_counts_,
            Moments(**model.moments_),
            model.power_,
            getattr(model, "cluster_of_component_", None),
        )

    def chose_prior(self) -> bool:
        """Whether a search chose the prior."""
        if not isinstance(self.given_prior, str):
            return False
        return self.given_prior == "nll" or (
            self.given_prior == "auto" and self.family.can_fit_prior
        )

    def statistics_under(self, prior: Prior) -> Floats:
        """Statistics of the clusters in units of another prior, shape (K, L)."""
        if all(same_value(self.prior[key], prior[key]) for key in prior):
            return self.statistics
        return self.family.convert_statistics(self.statistics, self.prior, prior)


def moments_of_all(pieces: Sequence[Moments]) -> Moments:
    """Moments of the rows of all pieces together.

    Raises
    ------
    ValueError
        If the total weight is above 2**53.
    """
    total = sum(pieces[1:], start=pieces[0])
    check_total_weight(total.weight, IN_ALL)
    return total


def prior_of_all(pieces: Sequence[FittedClusters], moments: Moments) -> Prior:
    """The prior of rows with these moments, among which are those of all pieces.

    It has the values given to the first model, and defaults for other keys. Keys that were chosen
    by a search, or on which statistics depend, keep their fitted values. Of priors that were fitted
    to each piece, it is that of the piece with most rows.

    Raises
    ------
    ValueError
        If such a key differs between models, or from the given value.
    """
    first = pieces[0]
    if isinstance(first.given_prior, str) and first.given_prior == "auto" and first.chose_prior():
        return max(pieces, key=lambda piece: piece.moments.weight).prior
    chosen = first.chose_prior()
    fixed = first.family.prior_keys if chosen else first.family.fixed_keys
    given = {key: first.prior[key] for key in fixed}
    if isinstance(first.given_prior, Mapping):
        given |= first.given_prior or {}
    prior = first.family.prior_of_moments(given, moments)
    for piece in pieces:
        for key in fixed:
            if not same_value(piece.prior[key], prior[key]):
                raise ValueError(
                    f"prior {key} must be the same for all rows, "
                    f"got {_shown(piece.prior[key])} and {_shown(prior[key])}"
                )
    return prior


def absorbed_groups(pieces: Sequence[FittedClusters], prior: Prior) -> families.Component:
    """A component under a prior of all rows, with a slot for each cluster, piece after piece."""
    groups = pieces[0].family.component(prior, pieces[0].allow_missing)
    load(groups, np.vstack([piece.statistics_under(prior) for piece in pieces]))
    return groups


def absorbed_clusters(pieces: Sequence[FittedClusters], final: Partition) -> Indices | None:
    """The cluster of each component of a partition that has absorbed the components of pieces.

    Components stay in one cluster if they were; one that has absorbed none is a cluster. None if
    no piece has joined components.
    """
    if all(piece.clusters is None for piece in pieces):
        return None
    new_component = np.split(
        np.asarray(final.group_labels, dtype=np.intp),
        np.cumsum([len(piece.counts) for piece in pieces])[:-1],
    )
    clusters = np.arange(final.n_clusters)
    for piece, components in zip(pieces, new_component, strict=True):
        of_piece = np.arange(len(components)) if piece.clusters is None else piece.clusters
        for cluster in np.unique(of_piece):
            together = clusters[components[of_piece == cluster]]
            clusters[np.isin(clusters, together)] = together.min()
    return np.unique(clusters, return_inverse=True)[1]


def absorbed_counts(counts: Indices, final: Partition) -> Indices:
    """Absorbed rows in each cluster of a partition, from the rows of each absorbed group."""
    rows = np.zeros(final.n_clusters, dtype=np.intp)
    np.add.at(rows, np.asarray(final.group_labels, dtype=np.intp), counts)
    return rows


def same_value(one: Any, other: Any) -> bool:
    """Whether two values of a prior are equal; those of mixed tables are dicts."""
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(same_value(one[k], other[k]) for k in one)
    return np.array_equal(one, other)


def _shown(value: Any) -> str:
    return str(np.asarray(value).tolist())
