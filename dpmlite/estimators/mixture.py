"""What estimators of mixture models share, and those of them that end with one partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpmlite import inference, models
from dpmlite.estimators import persistence
from dpmlite.estimators.base import Estimator, column_names
from dpmlite.estimators.priors import COMPONENTS, FAMILIES
from dpmlite.estimators.problem import NO_HOMES, rows_in_slots
from dpmlite.estimators.validation import (
    check_bool,
    check_choice,
    check_count,
    check_random_state,
    check_sample_weight,
)

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from dpmlite.estimators.data import Data
    from dpmlite.estimators.priors.base import Family, Prior

# The incremental joint may differ from the recomputed one by this part of the rows' values; and by
# the rounding of log-gammas of counts, which are large and cancel.
JOINT_RTOL = 1e-9
COUNTS_RTOL = 1e-10

# Rows that are looked at together, to save memory.
BLOCK_ROWS = 2**16


class FamilyEstimator(Estimator):
    """Reading tables as a component family wants them.

    A subclass has the parameters `component` and `allow_missing`; its ``fit`` keeps them, with the
    prior, in `component_`, `allow_missing_` and `prior_`.
    """

    component: str
    allow_missing: bool
    prior: Any

    component_: str
    allow_missing_: bool
    prior_: Prior
    labels_: npt.NDArray[np.intp]

    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of `X`; a subclass says how."""
        raise NotImplementedError

    def fit_predict(
        self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[np.intp]:
        """``fit(X, sample_weight=sample_weight).labels_``."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def score_samples(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log predictive density of new rows; a subclass says how."""
        raise NotImplementedError

    def score(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> float:
        """Mean of `score_samples`: higher is better, so that GridSearchCV can use it.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            How many equal rows each row stands for.

        Returns
        -------
        float
            In nats a row.

        Raises
        ------
        ValueError, TypeError
            As `score_samples`; or if the weights break the rules of those of `fit`.
        """
        densities = self.score_samples(X)
        weights = check_sample_weight(sample_weight, len(densities))
        return float(np.average(densities, weights=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = FAMILIES.get(self.component)
        tags.input_tags.allow_nan = bool(self.allow_missing)
        tags.input_tags.sparse = tags.input_tags.positive_only = (
            family is not None and family.takes_sparse
        )
        return tags

    def _family(self) -> Family:
        return FAMILIES[check_choice("component", self.component, COMPONENTS)]

    def _read(self, X: Any) -> Data:
        self._check_prior_names(column_names(X))
        return self._family().read(X, check_bool("allow_missing", self.allow_missing))

    def _check_prior_names(self, names: npt.NDArray[np.object_] | None) -> None:
        """Raise ValueError if what the prior says of columns is in the order of other names."""
        for key, value in self.prior.items() if isinstance(self.prior, Mapping) else ():
            given = column_names(value, "index")
            if names is not None and given is not None and list(given) != list(names):
                raise ValueError(
                    f"prior {key} must be of the columns {list(names)} in this order, "
                    f"got {list(given)}"
                )

    def _read_as_fitted(self, X: Any) -> Data:
        return FAMILIES[self.component_].read(X, self.allow_missing_)

    def _fitted_component(self) -> models.Component:
        """A component of the fitted prior, without any slot."""
        return FAMILIES[self.component_].component(self.prior_, self.allow_missing_)


class MixtureEstimator(FamilyEstimator):
    """Keeping a partition as fitted attributes, and predicting from it.

    A subclass has the parameters `component`, `alpha`, `prior`, `allow_missing` and
    `random_state`; its ``fit`` finds labels and calls `_partition` and `_keep`.
    """

    alpha: Any
    random_state: Any

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """The most probable cluster of new rows, eq. (18); -1 where a new one is more probable.

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
        inference.assign(rows, self._mixture(), self.alpha_, labels)
        return labels

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Probability of each cluster for new rows; what lacks to 1 is `new_cluster_proba`.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)

        Returns
        -------
        ndarray, shape (N, K)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError, TypeError
            If `X` is no table for the family, or has other columns than those of `fit`.
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
        NotFittedError
            Before `fit`.
        ValueError, TypeError
            If `X` is no table for the family, or has other columns than those of `fit`.
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
        NotFittedError
            Before `fit`.
        ValueError, TypeError
            If `X` is no table for the family, or has other columns than those of `fit`.
        """
        rows = self._read_new(X).rows()
        out = np.empty(len(rows))
        inference.log_density(rows, self._mixture(), self.alpha_, out)
        return out

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
            For "dirichlet-multinomial" each row has as many words as rows of its cluster have on
            average.
        labels : ndarray of int, shape (n_samples,)
            The cluster of each row; -1 for rows of new clusters.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If `n_samples` is no positive number, or the prior is too vague to draw new clusters.
        """
        mixture, family = self._mixture(), FAMILIES[self.component_]
        n_samples = check_count("n_samples", n_samples)
        rng = check_random_state(self.random_state if random_state is None else random_state)
        counts = mixture.counts[:-1]
        weights = models.predictive(counts, self.alpha_)
        slots = rng.choice(len(weights), size=n_samples, p=weights)
        X = np.empty((n_samples, self.n_features_in_))
        for k in np.unique(slots):
            drawn = np.flatnonzero(slots == k)
            cluster = family.as_prior(mixture.posterior(int(k)), self.prior_)
            theta = family.draw_parameters(cluster, len(drawn), rng)
            totals = np.full(len(drawn), self._typical_total(int(k)))
            X[drawn] = family.draw_rows(theta, np.arange(len(drawn)), totals, rng)
        return X, np.where(slots < self.n_clusters_, slots, -1)

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
        self._mixture()
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

    def _partition(
        self,
        table: Data,
        labels: npt.NDArray[np.intp],
        prior: Prior,
        alpha: float,
        settled: models.Component | None = None,
        homes: npt.NDArray[np.intp] = NO_HOMES[0],
        n_threads: int = 1,
        counts: npt.NDArray[np.intp] | None = None,
    ) -> models.Partition:
        """The partition of rows that all have weight, its clusters numbered by weight.

        Without settled groups, which have the labels `homes`, it takes `labels`, of which there are
        so many `counts` if that is known, and renumbers them.
        """
        weights = table.weights
        if settled is None:
            largest_first(labels, weights, labels, counts)
        else:
            weights = np.ones(table.shape[0]) if weights is None else weights
            weights = np.concatenate([settled.counts, weights])
            numbers = largest_first(np.concatenate([homes, labels]), weights)
            homes, labels = numbers[: len(homes)].copy(), numbers[len(homes) :].copy()
        component = self._family().component(prior, self.allow_missing)
        return models.Partition(
            table.rows(), labels, component, alpha, None, settled, homes, n_threads
        )

    def _keep(self, data: Data, final: models.Partition, prior: Prior) -> None:
        """Make fitted attributes of a partition of the rows of `data` that have weight.

        Rows without weight get the label of the cluster that is most probable for them.
        """
        self._keep_clusters(final, prior)
        labels = np.asarray(final.labels, dtype=np.intp)
        self.labels_ = self._labels_of_all(data, labels)
        if self.labels_ is labels:
            self.counts_ = rows_in_slots(final)[:-1]
        else:
            self.counts_ = np.bincount(self.labels_, minlength=self.n_clusters_)

    def _keep_clusters(self, final: models.Partition, prior: Prior) -> None:
        """Make all fitted attributes of a partition that do not name its rows."""
        family, component = self._family(), final.component
        slots = range(final.n_clusters)
        posteriors = (component.posterior(k) for k in slots)
        self.component_, self.allow_missing_ = self.component, bool(self.allow_missing)
        self.prior_ = prior
        self.alpha_ = final.alpha
        self.n_clusters_ = final.n_clusters
        self.statistics_ = np.array([component.statistics(k) for k in slots])
        self.means_ = np.array([family.means(family.as_prior(p, prior)) for p in posteriors])
        self.weights_ = np.array(component.counts[:-1]) / sum(component.counts)
        self.neg_log_joint_ = final.neg_log_joint

    def _labels_of_all(self, data: Data, labels: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        used = data.has_weight()
        if used.all():
            return labels
        everyone = np.empty(data.shape[0], dtype=np.intp)
        everyone[used] = labels
        weightless = data.take(~used).unweighted()
        nearest = np.empty(weightless.shape[0], dtype=np.intp)
        clusters = self._mixture()
        clusters.resize(self.n_clusters_)
        inference.assign(weightless.rows(), clusters, self.alpha_, nearest)
        everyone[~used] = nearest
        return everyone

    def _mixture(self) -> models.Component:
        """The component with every cluster's statistics, and an empty slot."""
        if not hasattr(self, "statistics_"):
            self._raise_not_fitted()
        component = self._fitted_component()
        component.resize(self.n_clusters_ + 1)
        for k, statistics in enumerate(self.statistics_.tolist()):
            component.load(k, statistics)
        return component

    def _typical_total(self, k: int) -> int:
        """Mean sum of the rows of cluster `k`, or of all if there is none; used for counts."""
        chosen = self.statistics_[k : k + 1] if k < self.n_clusters_ else self.statistics_
        return round(float(chosen[:, 1:].sum() / chosen[:, 0].sum()))

    def _responsibilities(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        return self._probabilities(self._read_new(X))

    def _probabilities(self, data: Data) -> npt.NDArray[np.float64]:
        """Probability of every cluster, and of a new one in the last column."""
        out = np.empty((data.shape[0], self.n_clusters_ + 1))
        inference.responsibilities(data.rows(), self._mixture(), self.alpha_, out)
        return out


def largest_first(
    labels: npt.NDArray[np.intp],
    weights: npt.NDArray[np.float64] | None = None,
    out: npt.NDArray[np.intp] | None = None,
    counts: npt.NDArray[np.intp] | None = None,
) -> npt.NDArray[np.intp]:
    """Number clusters by size or weight, the largest 0; of equals, the one that appears first.

    The numbers are new, or in `out`, which may be `labels`: then they need no memory. `counts` are
    how often each label is there, if that is known.
    """
    n_rows = len(labels)
    counts = np.bincount(labels) if counts is None else counts
    used = np.flatnonzero(counts)
    sizes = counts if weights is None else np.bincount(labels, weights, len(counts))
    first = first_appearances(labels, counts)
    rank = np.zeros(len(counts), dtype=np.intp)
    rank[used[np.lexsort((first[used], -sizes[used]))]] = np.arange(len(used))
    numbers = np.empty(n_rows, dtype=np.intp) if out is None else out
    for start in range(0, n_rows, BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        rank.take(labels[block], out=numbers[block], mode="clip")  # the default mode would copy
    return numbers


def first_appearances(
    labels: npt.NDArray[np.intp], counts: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Position of the first row of each label, of which there are so many; N if there is none."""
    n_rows = len(labels)
    first = np.full(len(counts), n_rows)
    for start in range(0, n_rows, BLOCK_ROWS):
        block = labels[start : start + BLOCK_ROWS][::-1]
        here = np.full(len(counts), n_rows)
        here[block] = np.arange(start, start + len(block))[::-1]  # the last to be written stays
        np.minimum(first, here, out=first)
        if ((first < n_rows) | (counts == 0)).all():
            break
    return first


def verify_joint(kept: float, final: models.Partition, table: Data) -> None:
    """Raise ArithmeticError if the joint kept by the moves is not that of the labels."""
    drift = abs(final.neg_log_joint - kept)
    size = sum(final.component.counts) * table.shape[1]
    slack = JOINT_RTOL * max(abs(final.neg_log_joint), size)
    if table.nonzeros is not None:
        slack += COUNTS_RTOL * _total(final.component)
    if not drift <= slack:
        raise ArithmeticError(
            f"the joint kept incrementally is {kept!r}, recomputed "
            f"it is {final.neg_log_joint!r}: please report this as a bug of dpmlite"
        )


def _total(component: models.Component) -> float:
    """Sum of all counts that a family of counts holds."""
    return sum(sum(component.statistics(k)[1:]) for k in range(component.n_slots))
