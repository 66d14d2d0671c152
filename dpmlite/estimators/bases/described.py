"""The base class of fitted mixtures that explain their clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.bases.imputing import ImputingMixture
from dpmlite.estimators.fitted.clusters import means_of_known
from dpmlite.estimators.fitted.column_information import separations, share_separations
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.fitted.partitions import fitted_family
from dpmlite.estimators.fitted.report import Report
from dpmlite.estimators.fitted.wording import (
    counted,
    levels_in_words,
    number,
    percentage,
    with_spread,
    zero_or_in_words,
)
from dpmlite.estimators.inputs.parameters import check_count
from dpmlite.estimators.priors.mixed import MixedFamily

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Floats, Indices
    from dpmlite.estimators.priors.base import Parameters

# Defining columns of a cluster that a summary names at most.
N_NAMED = 3

# Columns that tell less, in nats a row, do not describe a cluster: twice that is common by chance.
MIN_NATS = 0.05


def _common_start(names: list[str]) -> str:
    """The letters with which all names start."""
    n_alike = 0
    for letters in zip(*names, strict=False):
        if len(set(letters)) > 1:
            break
        n_alike += 1
    return names[0][:n_alike]


class DescribedMixture(ImputingMixture):
    """A fitted mixture that says in plain numbers what its clusters are."""

    alpha_: float
    n_clusters_: int
    statistics_: Floats
    counts_: Indices
    weights_: Floats
    cluster_centers_: Floats
    variances_: Floats
    level_probabilities_: dict[Any, Floats]
    cluster_of_component_: Indices

    def explain(self, k: int) -> Report:
        """What makes cluster `k` one: its columns, those that tell most first.

        Parameters
        ----------
        k : int
            A cluster, 0..K-1.

        Returns
        -------
        Report
            For each column the nats by which it separates a row of the cluster from the other
            clusters (the Kullback-Leibler divergence), and what is typical in the cluster and in
            the others: the mean and standard deviation of numbers, the most frequent levels of
            categories, the share of a word among all words, or of the ones among bits. It prints
            as a table.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If there is no such cluster.
        """
        require_fitted(self, "statistics_")
        k = check_count("k", k, least=0)
        if k >= self.n_clusters_:
            raise ValueError(f"k must be below n_clusters_, {self.n_clusters_}, got {k}")
        nats = self._information_of([k])[0]
        here, elsewhere = self._typical(k)
        names = self._variables()
        rows = [
            [names[j], f"{nats[j]:z.2f}", here[j], elsewhere[j]]
            for j in np.argsort(-nats, kind="stable")
            if j in names
        ]
        share = self.weights_[k]
        title = f"cluster {k}: {counted(self.counts_[k], 'row')}, {share:.1%}"
        return Report(title, ["column", "nats", "here", "elsewhere"], rows)

    def summary(self) -> Report:
        """Size and defining columns of every cluster.

        Returns
        -------
        Report
            For each cluster its rows, its share, and the columns that separate it most from the
            others, with what is typical there; of a single cluster, its first columns.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        require_fitted(self, "statistics_")
        information, names = self.column_information(), self._variables()
        rows = []
        for k in range(self.n_clusters_):
            here = self._in_words(np.arange(self.n_clusters_) == k)
            order = [j for j in np.argsort(-information[k], kind="stable") if j in names]
            least = MIN_NATS if self.n_clusters_ > 1 else 0.0
            telling = [
                f"{names[j]} {here[j]}" for j in order[:N_NAMED] if information[k, j] >= least
            ]
            share = f"{self.weights_[k]:.1%}"
            rows.append([str(k), str(self.counts_[k]), share, "; ".join(telling) or "-"])
        n_rows = int(np.sum(self.counts_))
        title = f"{counted(self.n_clusters_, 'cluster')} of {counted(n_rows, 'row')}"
        return Report(title, ["cluster", "rows", "share", "typical"], rows)

    def column_information(self) -> npt.NDArray[np.float64]:
        """How much each column tells of each cluster.

        Returns
        -------
        ndarray, shape (K, D)
            Nats by which a column separates a row of a cluster from the other clusters. One-hot
            columns, which tell the same, have the same. Of words, a row of the mean length.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        require_fitted(self, "statistics_")
        return self._information_of(range(self.n_clusters_))

    def _information_of(self, clusters: Iterable[int]) -> Floats:
        """`column_information` of some clusters."""
        family, theta = fitted_family(self), self._expected_parameters()
        weights = self.statistics_[:, 0] / self.statistics_[:, 0].sum()
        totals = self._typical_totals(np.arange(len(weights)))
        if family.has_shares:
            return share_separations(
                theta["probability"], weights, self._clusters(), clusters, totals
            )
        coded = np.array(
            [separations(family, theta, weights, self._clusters(), k, totals) for k in clusters]
        )
        return family.information_of_columns(coded) if isinstance(family, MixedFamily) else coded

    def _repr_html_(self) -> str:
        """The summary of a fitted model, for notebooks."""
        if not hasattr(self, "statistics_"):
            return f"<pre>{self!r}</pre>"
        return self.summary()._repr_html_()

    def _clusters(self) -> Indices:
        """The cluster of each component."""
        return getattr(self, "cluster_of_component_", np.arange(len(self.statistics_)))

    def _variables(self) -> dict[int, str]:
        """Places and names of the columns; of one-hot columns the first, and what names share."""
        unnamed = [f"column {j}" for j in range(self.n_features_in_)]
        names = {j: str(name) for j, name in enumerate(getattr(self, "feature_names_in_", unnamed))}
        family = fitted_family(self)
        if isinstance(family, MixedFamily):
            places = list(family.columns.levels)
            for key in family.columns.coded:
                if isinstance(key, tuple):
                    first, *others = (places.index(column) for column in key)
                    prefix = _common_start([names[j] for j in (first, *others)])
                    names[first] = prefix.rstrip("_=- ") or f"{names[first]} ..."
                    names = {j: name for j, name in names.items() if j not in others}
            names = family.columns.as_rates(names)
        return names

    def _expected_parameters(self) -> Parameters:
        return fitted_family(self).expected_parameters(self._priors())

    def _typical(self, k: int) -> tuple[list[str], list[str]]:
        """What is typical of each column's cells in cluster `k` and in the others, in words."""
        inside = np.arange(self.n_clusters_) == k
        return self._in_words(inside), self._in_words(~inside)

    def _in_words(self, chosen: npt.NDArray[np.bool_]) -> list[str]:
        """What is typical of each column's cells in some clusters together."""
        if not chosen.any():
            return ["-"] * self.n_features_in_
        shares = self.weights_[chosen] / self.weights_[chosen].sum()
        family = fitted_family(self)
        centres = family.on_scale(self.cluster_centers_[chosen])
        mean = means_of_known(shares, centres)
        variances = self.variances_[chosen] + (centres - mean) ** 2
        deviation = np.sqrt(means_of_known(shares, variances))
        if family.has_shares:
            return [percentage(share) for share in mean]
        words = [with_spread(m, "±", s) for m, s in zip(mean, deviation, strict=True)]
        if not isinstance(family, MixedFamily):
            return words
        columns, of_levels = family.columns, getattr(self, "level_probabilities_", {})
        for j, column in enumerate(columns.levels):
            key = columns.coded[columns.places[j]]
            if columns.exposure is not None and column in columns.counts:
                words[j] = number(mean[j])  # a rate: its deviation would depend on the unit
            if column in columns.logs:
                words[j] = with_spread(np.exp(mean[j]), "×÷", np.exp(deviation[j]))
            if key in columns.zero_inflated:
                p_zero = shares @ of_levels[key][chosen, 1]
                words[j] = zero_or_in_words(p_zero, words[j])
            elif key in of_levels:
                words[j] = levels_in_words(columns.levels_of(key), shares @ of_levels[key][chosen])
        return words
