"""The base class of estimators that end with one partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpmlite import algorithms, sweeps
from dpmlite.core import Rows
from dpmlite.distributed.statistics import load
from dpmlite.estimators.bases.cluster_densities import ClusterDensities
from dpmlite.estimators.column_families.by_joint import coded_for
from dpmlite.estimators.fitted.outlier_scores import (
    MAX_STRAY_ROWS,
    N_DRAWN,
    by_exposure,
    by_missing_cells,
    n_drawn,
    share_below,
)
from dpmlite.estimators.fitted.partitions import (
    fitted_component,
    fitted_family,
    fitted_mixture,
    replace_cluster_attributes,
)
from dpmlite.estimators.inputs.parameters import check_count, check_random_state
from dpmlite.estimators.model_files import persistence
from dpmlite.partition import predictive
from dpmlite.search.context import rows_in_slots

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data
    from dpmlite.estimators.priors.base import Family
    from dpmlite.partition import Partition


class MixtureEstimator(ClusterDensities):
    """An estimator that keeps a partition as fitted attributes, and predicts from it.

    A subclass has the parameters `component`, `alpha`, `prior`, `allow_missing` and
    `random_state`; its ``fit`` finds labels and calls `_keep`.
    """

    random_state: Any

    alpha_: float
    n_clusters_: int
    statistics_: npt.NDArray[np.float64]
    counts_: npt.NDArray[np.intp]
    weights_: npt.NDArray[np.float64]
    means_: npt.NDArray[np.float64]
    neg_log_joint_: float
    cluster_of_component_: npt.NDArray[np.intp]
    component_labels_: npt.NDArray[np.intp]

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Most probable cluster of each new row, eq. (18); -1 where a new one is more probable.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)

        Returns
        -------
        ndarray of int, shape (N,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError, TypeError
            If `X` is no table for the family, or has other columns than those of `fit`.
        """
        rows = self._read_new(X).rows()
        labels = np.empty(len(rows), dtype=np.intp)
        sweeps.assign(rows, fitted_mixture(self), self.alpha_, labels, discount=self.discount_)
        return self._clusters_of(labels)

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Probability of each cluster for new rows; the rest, to 1, is `new_cluster_proba`.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)

        Returns
        -------
        ndarray, shape (N, K)

        Raises
        ------
        NotFittedError, ValueError, TypeError
            As `predict`.
        """
        return self._responsibilities(X)[:, :-1]

    def new_cluster_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Probability that each new row is the first of a new cluster.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)

        Returns
        -------
        ndarray, shape (N,)

        Raises
        ------
        NotFittedError, ValueError, TypeError
            As `predict`.
        """
        return self._responsibilities(X)[:, -1]

    def score_samples(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log predictive density of new rows, log of eq. (17), in nats.

        For "dirichlet-multinomial" it is of the words in one order, given how many there are: what
        counts of words add, the number of such orders, does not depend on the model.

        Values very far from the prior count as lying less far: 2^29 prior scales from ``m0``, for
        "normal-known-variance" 2^12 standard deviations.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)

        Returns
        -------
        ndarray, shape (N,)

        Raises
        ------
        NotFittedError, ValueError, TypeError
            As `predict`.
        """
        data = self._read_new(X)
        out = np.empty(data.shape[0])
        mixture = fitted_mixture(self)
        algorithms.log_density(data.rows(), mixture, self.alpha_, out, self.discount_)
        return np.asarray(out - data.log_volumes())

    def outlier_score(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Share of the rows drawn from the model that are less probable than each row of `X`.

        It is a tail probability, and calibrated: of rows from the same source, 1 % score below
        0.01. Rows that fit no cluster score 0. A component of one or two rows counts as none: its
        rows may be errors. The draws, 20,000, are always the same; if counts have an exposure,
        there are as many for rows of like exposure. A row with missing cells is compared with draws
        that lack the same cells, of which there are fewer, 2,000 at least, if more than a hundred
        patterns of cells are missing; one without any cell scores 1.

        Parameters
        ----------
        X : array-like, shape (N, D)

        Returns
        -------
        ndarray, shape (N,)
            In 0..1.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError, TypeError
            If `X` is no table for the family, or has other columns than those of `fit`; for
            "dirichlet-multinomial", whose densities of rows of unlike length do not compare.
        """
        if fitted_family(self).takes_counts:
            raise ValueError(
                f"component {self.component_!r} has no outlier_score: rows of unlike "
                "length do not compare"
            )
        table = self._read_new(X)
        counts = getattr(self, "component_counts_", self.counts_)
        groups = fitted_component(self)
        is_group = counts > min(MAX_STRAY_ROWS, counts.max() - 1)
        load(groups, self.statistics_[is_group], n_empty=1)
        densities, scores = np.empty(table.shape[0]), np.empty(table.shape[0])
        algorithms.log_density(table.rows(), groups, self.alpha_, densities, self.discount_)
        for chosen, exposure in by_exposure(self._exposures(table), table.shape[0]):
            part = table.take(chosen)
            drawn = self._drawn_rows(groups, exposure)
            scores[chosen] = self._shares_below(groups, part, densities[chosen], drawn)
        return scores

    def _drawn_rows(
        self, groups: families.Component, exposure: float | None
    ) -> npt.NDArray[np.float64]:
        """Rows drawn from all slots but the last, at an exposure if there is one.

        They are always the same.
        """
        rng = np.random.default_rng(0)
        weights = np.array(groups.counts[:-1]) / sum(groups.counts)
        slots = rng.choice(len(weights), size=N_DRAWN, p=weights)
        totals = None if exposure is None else np.full(N_DRAWN, exposure)
        return self._drawn_from(groups, slots, rng, totals)

    def _shares_below(
        self,
        groups: families.Component,
        table: Data,
        log_densities: npt.NDArray[np.float64],
        drawn: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.float64]:
        """For each row, the share of the drawn rows whose known cells are less probable."""
        shares, alike = np.ones(table.shape[0]), by_missing_cells(table.missing())
        for rows, missing in alike:
            if missing.all():
                continue
            few = drawn[: n_drawn(len(alike))].copy()
            few[:, missing] = np.nan
            of_drawn = np.empty(len(few))
            algorithms.log_density(Rows(few), groups, self.alpha_, of_drawn, self.discount_)
            shares[rows] = share_below(log_densities[rows], of_drawn)
        return shares

    def sample(
        self, n_samples: int = 1, random_state: Any = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
        """Draw rows from the predictive density, eq. (17).

        Parameters
        ----------
        n_samples : int, default 1
        random_state : None, int, Generator or RandomState, default None
            Source of chance; None takes the estimator's.

        Returns
        -------
        X : ndarray, shape (n_samples, D)
            For "dirichlet-multinomial" each row has the mean number of words of its cluster's rows;
            of counts with an exposure, the mean exposure.
        labels : ndarray of int, shape (n_samples,)
            The cluster of each row; -1 for rows of new clusters.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If `n_samples` is no positive number, or the prior is too vague to draw new clusters.
        """
        mixture = fitted_mixture(self)
        n_samples = check_count("n_samples", n_samples)
        rng = check_random_state(self.random_state if random_state is None else random_state)
        weights = predictive(mixture.counts[:-1], self.alpha_, self.discount_)
        slots = rng.choice(len(weights), size=n_samples, p=weights)
        X = fitted_family(self).decoded(self._drawn_from(mixture, slots, rng))
        return X, self._clusters_of(np.where(slots < len(weights) - 1, slots, -1))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, as plain data that `load` reads.

        Parameters
        ----------
        path : path-like
            An older file there is replaced only when the new one is complete.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ValueError
            If a parameter is not plain data: a generator as `random_state`, say.
        OSError
            If the file cannot be written.
        """
        fitted_mixture(self)
        persistence.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote. Nothing in the file is executed.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        MixtureEstimator
            A fitted model of this class.

        Raises
        ------
        ValueError
            If the file is not a model of this class, is damaged, or of a newer format.
        OSError
            If it cannot be read.
        """
        return persistence.load(cls, path)

    def _clusters_of(self, components: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """The clusters that have some components; -1 stays -1."""
        if not hasattr(self, "cluster_of_component_"):
            return components
        return np.where(components < 0, -1, self.cluster_of_component_[components])

    def _keep(
        self, data: Data, table: Data, final: Partition, prior: Prior, family: Family
    ) -> None:
        """Keep the partition of a table, the rows of positive weight, in fitted attributes.

        The other rows get the label of the cluster that is most probable for them.
        """
        replace_cluster_attributes(self, final, family, prior, self.allow_missing)
        self.neg_log_joint_ += table.total_log_volume()
        labels = np.asarray(final.labels, dtype=np.intp)
        self.labels_ = self._labels_of_all(data, labels)
        if self.labels_ is labels:
            self.counts_ = rows_in_slots(final)[:-1]
        else:
            self.counts_ = np.bincount(self.labels_, minlength=self.n_clusters_)

    def _labels_of_all(self, data: Data, labels: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Labels of all rows, from those of the rows of positive weight."""
        used = data.has_weight()
        if used.all():
            return labels
        everyone = np.empty(data.shape[0], dtype=np.intp)
        everyone[used] = labels
        weightless = coded_for(data.take(~used).unweighted(), fitted_family(self))
        nearest = np.empty(weightless.shape[0], dtype=np.intp)
        clusters = fitted_mixture(self)
        clusters.resize(len(self.statistics_))  # without a new cluster
        sweeps.assign(weightless.rows(), clusters, self.alpha_, nearest, discount=self.discount_)
        everyone[~used] = nearest
        return everyone

    def _responsibilities(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        return self._probabilities(self._read_new(X))

    def _probabilities(self, data: Data) -> npt.NDArray[np.float64]:
        """Probability of each cluster, and of a new one in the last column, shape (N, K + 1)."""
        out = np.empty((data.shape[0], len(self.statistics_) + 1))
        mixture = fitted_mixture(self)
        algorithms.responsibilities(data.rows(), mixture, self.alpha_, out, self.discount_)
        if not hasattr(self, "cluster_of_component_"):
            return out
        of_clusters = np.zeros((data.shape[0], self.n_clusters_ + 1))
        for k, cluster in enumerate((*self.cluster_of_component_, self.n_clusters_)):
            of_clusters[:, cluster] += out[:, k]
        return of_clusters
