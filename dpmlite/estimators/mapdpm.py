"""MAPDPM: the estimator."""

import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dpmlite import inference, models
from dpmlite.estimators import persistence
from dpmlite.estimators.base import Estimator
from dpmlite.estimators.climb import Climb, start_labels, starts
from dpmlite.estimators.functions import COMPONENTS
from dpmlite.estimators.validation import (
    check_bool,
    check_choice,
    check_count,
    check_labels,
    check_positive,
    check_random_state,
    check_rows,
    normal_gamma_prior,
)

INITS = ("auto", "single", "singletons", "random", "sequential")

# The incremental joint may differ from the recomputed one by this part of the rows' values.
JOINT_RTOL = 1e-9


class MAPDPM(Estimator):
    """Clustering by the most probable partition of a Dirichlet process mixture.

    The number of clusters is found, not given. The default search sweeps over the rows as the
    paper's algorithm does, and also merges, splits and exchanges whole clusters; every step
    lowers the exact joint of data and labels.

    Parameters
    ----------
    component : {"normal-gamma"}, default "normal-gamma"
        Family of the clusters. "normal-gamma": independent columns, each normal with unknown
        mean and precision.
    alpha : float, default 1.0
        Concentration of the Dirichlet process. Larger values favour more clusters, weakly.
    prior : dict, optional
        Parameters of the family's prior. For "normal-gamma" any of ``m0`` (scalar or (D,)),
        ``c0``, ``a0``, ``b0`` (scalar or (D,)); what is missing is the empirical prior of
        section 4.2 of [1]_: the means, 10 / N, 1, the variances. With it, labels depend neither
        on the units nor on the origin of a column.
    init : {"auto", "single", "singletons", "random", "sequential"} or array-like of shape (N,)
        The labels to start from. "single" (one cluster) is the paper's; "singletons" is one
        cluster a row; "sequential" places one row after the other; "random" draws labels.
        "auto" (default) keeps the best of "single" and "singletons" ("sequential" for more than
        2,000 rows).
    split_merge : bool, default True
        Whether to merge, split and exchange clusters when no row moves any more.
        ``split_merge=False, init="single"`` is Algorithm 1 of [1]_ exactly.
    n_init : int, default 1
        Restarts; the best joint wins. With ``init`` "auto", "random" or "sequential" they have
        other random starts, else only other proposals of splits.
    max_sweeps : int, default 1000
        Sweeps over all rows at most, for each start.
    random_state : None, int, Generator or RandomState, default None
        Source of chance for proposals and restarts.
    n_jobs : int, default 1
        Threads that share the restarts; -1 for one a processor. Results do not depend on it.
    verbose : bool, default False
        Print a line for every step.

    Attributes
    ----------
    labels_ : ndarray of int, shape (N,)
        The cluster of each row: 0..K-1, the largest cluster first.
    n_clusters_ : int
        K.
    counts_ : ndarray of int, shape (K,)
        Rows of each cluster.
    weights_ : ndarray, shape (K,)
        ``counts_ / N``.
    means_ : ndarray, shape (K, D)
        Posterior mean of each cluster, m of eq. (13), in the units of the data.
    alpha_ : float
        Concentration that was used.
    prior_ : dict
        Prior that was used.
    neg_log_joint_ : float
        The objective, -log p(z | alpha) - sum_k log p(x_k | theta_0), in nats, every constant
        included.
    neg_log_joint_trace_ : ndarray
        The objective after each step of the best start; it never rises.
    neg_log_loo_ : float
        The paper's likelihood, -log of eq. (16), of the same labels.
    n_sweeps_ : int
        Sweeps of the best start.
    converged_ : bool
        Whether the search ended because nothing helped, not at `max_sweeps`.
    n_features_in_ : int
        D.
    feature_names_in_ : ndarray of str, shape (D,)
        Column names, if `X` was a data frame.

    References
    ----------
    .. [1] Raykov, Boukouvalas & Little, "Simple approximate MAP inference for Dirichlet
       processes", 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import MAPDPM
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 10)])
    >>> MAPDPM(random_state=0).fit(X).n_clusters_
    2
    """

    def __init__(
        self,
        *,
        component: str = "normal-gamma",
        alpha: float = 1.0,
        prior: Mapping[str, Any] | None = None,
        init: Any = "auto",
        split_merge: bool = True,
        n_init: int = 1,
        max_sweeps: int = 1000,
        random_state: Any = None,
        n_jobs: int = 1,
        verbose: bool = False,
    ) -> None:
        self.component = component
        self.alpha = alpha
        self.prior = prior
        self.init = init
        self.split_merge = split_merge
        self.n_init = n_init
        self.max_sweeps = max_sweeps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: npt.ArrayLike, y: Any = None) -> Self:
        """Find the most probable partition of the rows of `X`.

        Parameters
        ----------
        X : array-like, shape (N, D)
            Rows; finite numbers.
        y : ignored
            There for scikit-learn.

        Returns
        -------
        MAPDPM
            Itself, fitted.

        Raises
        ------
        ValueError, TypeError
            If `X` or a parameter breaks its rule; the message states it.
        """
        self._check_parameters()
        rows = check_rows(X)
        prior = normal_gamma_prior(self.prior, rows)
        best = self._search(rows, prior)
        self._keep(rows, prior, best)
        self._remember_columns(X, rows)
        return self

    def fit_predict(self, X: npt.ArrayLike, y: Any = None) -> npt.NDArray[np.intp]:
        """``fit(X).labels_``."""
        return self.fit(X).labels_

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """The most probable cluster of new rows, eq. (18); -1 where a new cluster is.

        Parameters
        ----------
        X : array-like, shape (N, D)

        Returns
        -------
        ndarray of int, shape (N,)
        """
        rows = self._new_rows(X)
        labels = np.empty(len(rows), dtype=np.intp)
        inference.assign(rows, self._mixture(), self.alpha_, labels)
        return labels

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Probability of each cluster for new rows; what lacks to 1 is `new_cluster_proba`.

        Parameters
        ----------
        X : array-like, shape (N, D)

        Returns
        -------
        ndarray, shape (N, K)
        """
        return self._responsibilities(X)[:, :-1]

    def new_cluster_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Probability that each new row is the first of a new cluster.

        Parameters
        ----------
        X : array-like, shape (N, D)

        Returns
        -------
        ndarray, shape (N,)
        """
        return self._responsibilities(X)[:, -1]

    def score_samples(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log predictive density of new rows, log of eq. (17), in nats.

        A value more than 2^29 prior scales ``sqrt(b0)`` from ``m0`` counts as lying there.

        Parameters
        ----------
        X : array-like, shape (N, D)

        Returns
        -------
        ndarray, shape (N,)
        """
        rows = self._new_rows(X)
        out = np.empty(len(rows))
        inference.log_density(rows, self._mixture(), self.alpha_, out)
        return out

    def score(self, X: npt.ArrayLike, y: Any = None) -> float:
        """Mean of `score_samples`: higher is better, so that GridSearchCV can use it."""
        return float(self.score_samples(X).mean())

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
        labels : ndarray of int, shape (n_samples,)
            The cluster of each row; -1 for rows of new clusters.
        """
        mixture = self._mixture()
        n_samples = check_count("n_samples", n_samples)
        rng = check_random_state(self.random_state if random_state is None else random_state)
        weights = models.predictive(self.counts_.tolist(), self.alpha_)
        slots = rng.choice(len(weights), size=n_samples, p=weights)
        posteriors = [mixture.posterior(k) for k in range(len(weights))]
        m, c, a, b = (np.array([p[key] for p in posteriors]) for key in "mcab")
        # Student-t of eq. (11): location m, squared scale b (c + 1) / (a c), 2 a degrees of freedom
        scale = np.sqrt(b * ((c + 1.0) / (a * c))[:, None])
        t = rng.standard_t(2.0 * a[slots][:, None], size=(n_samples, self.n_features_in_))
        labels = np.where(slots < self.n_clusters_, slots, -1)
        return m[slots] + scale[slots] * t, labels

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
        """
        self._mixture()
        persistence.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote. Nothing in the file is executed.

        Raises
        ------
        ValueError
            If the file is not a dpmlite model, is damaged, or of a newer format.
        """
        return persistence.load(cls, path)

    def _check_parameters(self) -> None:
        check_choice("component", self.component, COMPONENTS)
        check_positive("alpha", self.alpha)
        if isinstance(self.init, str):
            check_choice("init", self.init, INITS)
        check_count("n_init", self.n_init)
        check_count("max_sweeps", self.max_sweeps)
        check_bool("split_merge", self.split_merge)
        check_bool("verbose", self.verbose)
        if self.n_jobs != -1:
            check_count("n_jobs", self.n_jobs)

    def _search(self, rows: npt.NDArray[np.float64], prior: Mapping[str, Any]) -> Climb:
        """The best climb of all restarts; the first of equals."""
        seeds = check_random_state(self.random_state).integers(2**63, size=self.n_init)
        stop = threading.Event()
        n_jobs = os.cpu_count() or 1 if self.n_jobs == -1 else self.n_jobs
        runs = [(i, np.random.default_rng(seed), stop) for i, seed in enumerate(seeds)]
        if n_jobs == 1 or len(runs) == 1:
            climbs = [self._restart(rows, prior, *run) for run in runs]
        else:
            with ThreadPoolExecutor(min(n_jobs, len(runs))) as pool:
                tasks = [pool.submit(self._restart, rows, prior, *run) for run in runs]
                try:
                    climbs = [task.result() for task in tasks]
                except BaseException:  # Ctrl-C ends the threads' climbs too
                    stop.set()
                    pool.shutdown(cancel_futures=True)
                    raise
        return min(climbs, key=lambda climb: climb.partition.neg_log_joint)

    def _restart(
        self,
        rows: npt.NDArray[np.float64],
        prior: Mapping[str, Any],
        restart: int,
        rng: np.random.Generator,
        stop: threading.Event,
    ) -> Climb:
        named = isinstance(self.init, str)
        climbs = []
        for name in starts(self.init, restart, len(rows)) if named else ["given"]:
            if named:
                labels, order = start_labels(name, len(rows), self.alpha, rng)
            else:
                labels, order = check_labels(self.init, len(rows)), None
            partition = models.Partition(
                rows, labels, models.NormalGamma(**prior), float(self.alpha), order
            )
            climb = Climb(partition, order, self.max_sweeps, self.verbose, stop, name)
            climb.run(rng, self.split_merge)
            climbs.append(climb)
        return min(climbs, key=lambda climb: climb.partition.neg_log_joint)

    def _keep(self, rows: npt.NDArray[np.float64], prior: Mapping[str, Any], best: Climb) -> None:
        """Turn the best climb into fitted attributes, and verify its joint."""
        labels = largest_first(best.labels())
        final = models.Partition(rows, labels, models.NormalGamma(**prior), float(self.alpha))
        drift = abs(final.neg_log_joint - best.partition.neg_log_joint)
        if not drift <= JOINT_RTOL * max(abs(final.neg_log_joint), rows.size):
            raise ArithmeticError(
                f"the joint kept incrementally is {best.partition.neg_log_joint!r}, recomputed "
                f"it is {final.neg_log_joint!r}: please report this as a bug of dpmlite"
            )
        self.labels_ = labels
        self.n_clusters_ = final.n_clusters
        self.counts_ = np.bincount(labels)
        self.weights_ = self.counts_ / len(rows)
        slots = range(self.n_clusters_)
        self.statistics_ = np.array([final.component.statistics(k) for k in slots])
        self.means_ = np.array([final.component.posterior(k)["m"] for k in slots])
        self.alpha_ = float(self.alpha)
        self.prior_ = dict(prior)
        self.neg_log_joint_ = final.neg_log_joint
        self.neg_log_joint_trace_ = np.array(best.trace)
        self.neg_log_loo_ = inference.neg_log_loo(final)
        self.n_sweeps_ = best.n_sweeps
        self.converged_ = best.converged

    def _mixture(self) -> models.Component:
        """The component with every cluster's statistics, and an empty slot."""
        if not hasattr(self, "statistics_"):
            self._raise_not_fitted()
        component = models.NormalGamma(**self.prior_)
        component.resize(self.n_clusters_ + 1)
        for k, statistics in enumerate(self.statistics_.tolist()):
            component.load(k, statistics)
        return component

    def _responsibilities(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        rows = self._new_rows(X)
        out = np.empty((len(rows), self.n_clusters_ + 1))
        inference.responsibilities(rows, self._mixture(), self.alpha_, out)
        return out


def largest_first(labels: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Number clusters by size, the largest 0; of equals, the one that appears first."""
    _, first, inverse, counts = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse].astype(np.intp)
