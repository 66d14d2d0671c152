"""The estimator `DPMeans`: k-means with a price for each cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpmlite import algorithms, core
from dpmlite.estimators.bases.estimator import Estimator, all_or_nothing
from dpmlite.estimators.bases.set_output import SetOutput
from dpmlite.estimators.fitted.distances import least_distances, nearest_centres, squared_distances
from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.inputs.arrays import check_rows
from dpmlite.estimators.inputs.limits import Limited
from dpmlite.estimators.inputs.parameters import (
    check_count,
    check_positive,
    check_random_state,
    check_starts,
)
from dpmlite.estimators.inputs.sample_weights import check_sample_weight
from dpmlite.estimators.inputs.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from dpmlite.search.progress import Callback, Progress

# Range of the width of the widest column, in which sums of squares neither over- nor underflow.
MAX_WIDTH, MIN_WIDTH = 1e140, 1e-140


class DPMeans(SetOutput, Limited, Estimator):
    """K-means that finds the number of clusters: each cluster costs `lam`.

    It minimises the sum of squared distances to the cluster centres plus `lam` times the number of
    clusters. A row whose squared distance from every centre is above `lam` opens a new cluster.
    Distances depend on the units of the columns: scale them first, as for k-means.

    Parameters
    ----------
    lam : float, optional
        Cost of a cluster, in squared units of the data.
    n_clusters : int, optional
        Approximate number of clusters: `lam` becomes the squared distance at which a farthest-first
        traversal from the mean of the data takes its `n_clusters`-th row, as in [1]_. Exactly one
        of `lam` and `n_clusters` must be given.
    max_iter : int, default 300
        Greatest number of passes over the rows, for each start.
    n_init : int, default 1
        Number of starts; the least objective wins. The first visits the rows in their order, the
        others in random orders.
    random_state : None, int, Generator or RandomState, default None
        Source of chance for the orders.
    max_seconds : float, optional
        Seconds after which the fit ends, between two passes, with a `ConvergenceWarning`. It makes
        one pass at least, and keeps the best so far.
    callback : callable, optional
        ``callback(step, objective, n_clusters)`` is called after each pass; a true result ends the
        fit, which keeps the best so far.
    verbose : bool or int, default False
        Whether to print a line for each start, or log it by the logger "dpmlite".

    Attributes
    ----------
    cluster_centers_ : ndarray, shape (K, D)
        Means of the clusters.
    labels_ : ndarray of int, shape (N,)
        The cluster of each row, 0..K-1, numbered by decreasing number of rows.
    n_clusters_ : int
        Number of clusters, K.
    inertia_ : float
        Weighted sum of squared distances to the centres.
    objective_ : float
        ``inertia_ + lam_ * n_clusters_``.
    objective_trace_ : ndarray
        The objective before the first pass and after each one of the best start; it never rises.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool
        Whether it ended because no row moved, not at `max_iter` or by another limit.
    stopped_ : {None, "max_seconds", "callback"}
        What ended the fit early; None if nothing did.
    lam_ : float
        The value of `lam` that was used.
    n_features_in_ : int
        D.
    feature_names_in_ : ndarray of str, shape (D,)
        Column names, if `X` was a data frame.

    See Also
    --------
    MAPDPM : Widths of clusters are found, and columns need no scaling.

    References
    ----------
    .. [1] Kulis & Jordan, "Revisiting k-means: new algorithms via Bayesian nonparametrics", 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import DPMeans
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 10)])
    >>> DPMeans(lam=30.0).fit(X).n_clusters_
    2
    """

    labels_: npt.NDArray[np.intp]
    cluster_centers_: npt.NDArray[np.float64]
    objective_: float

    def __init__(
        self,
        *,
        lam: float | None = None,
        n_clusters: int | None = None,
        max_iter: int = 300,
        n_init: int = 1,
        random_state: Any = None,
        max_seconds: float | None = None,
        callback: Callback | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.lam = lam
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.callback = callback
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : array-like, shape (N, D)
            Rows; finite numbers.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            A row of weight w counts as w rows; one of weight 0 only gets a label. Default: 1.

        Returns
        -------
        DPMeans
            Itself, fitted.

        Raises
        ------
        ValueError, TypeError
            If `X`, a weight or a parameter breaks its rule; the message states it.
        """
        self._check_parameters()
        rows = _check_width(check_rows(X))
        weights = check_sample_weight(sample_weight, len(rows))
        counted = weights > 0.0
        used, used_weights = (rows, weights) if counted.all() else (rows[counted], weights[counted])
        if self.n_clusters is not None and self.n_clusters > len(used):
            raise ValueError(
                f"n_clusters must not exceed the rows (n_samples={len(used)}), "
                f"got {self.n_clusters}"
            )
        table = core.Rows(used, used_weights)
        rng = check_random_state(self.random_state)
        progress = self._new_progress()
        if self.n_clusters is None:
            lam = float(self.lam)  # type: ignore[arg-type]
        else:
            lam = algorithms.farthest_first(table, self.n_clusters)
        self._search(table, lam, rng, progress)
        self._keep_stop(progress)
        self._remember_columns(X, rows.shape[1])
        if len(used) < len(rows):
            labels = nearest_centres(rows, self.cluster_centers_)
            labels[counted] = self.labels_
            self.labels_ = labels
        return self

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Cluster with the nearest centre for each new row; no new cluster is opened.

        Parameters
        ----------
        X : array-like, shape (N, D)

        Returns
        -------
        ndarray of int, shape (N,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError, TypeError
            If `X` is no table, or has other columns than those of `fit`.
        """
        return nearest_centres(self._read_new(X), self.cluster_centers_)

    def transform(self, X: npt.ArrayLike) -> Any:
        """Euclidean distances of new rows from the centres.

        Parameters
        ----------
        X : array-like, shape (N, D)

        Returns
        -------
        ndarray or DataFrame, shape (N, K)
            A DataFrame if `set_output`, or else scikit-learn's configuration, asks for one.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError, TypeError
            If `X` is no table, or has other columns than those of `fit`.
        """
        distances = np.sqrt(squared_distances(self._read_new(X), self.cluster_centers_))
        return self._in_container(distances, X)

    def score(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the objective of new rows with the fitted centres: higher is better.

        A sum over the rows, as of scikit-learn's `KMeans`, not a mean.

        Parameters
        ----------
        X : array-like, shape (N, D)
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            Weight of each row; default 1.

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError, TypeError
            If `X` is no table, or has other columns than those of `fit`.
        """
        rows = self._read_new(X)
        weights = check_sample_weight(sample_weight, len(rows))
        used = weights > 0.0  # the distance of other rows may overflow
        least = least_distances(rows[used], self.cluster_centers_)
        return -float(weights[used] @ least) - self.lam_ * self.n_clusters_

    def _check_parameters(self) -> None:
        if (self.lam is None) == (self.n_clusters is None):
            raise ValueError(
                "exactly one of lam and n_clusters must be given, "
                f"got lam={shown(self.lam)} and n_clusters={shown(self.n_clusters)}"
            )
        if self.lam is not None:
            check_positive("lam", self.lam)
        else:
            check_count("n_clusters", self.n_clusters)
        check_count("max_iter", self.max_iter)
        check_starts(self.n_init)
        self._check_limits()

    def _search(
        self, table: core.Rows, lam: float, rng: np.random.Generator, progress: Progress
    ) -> None:
        """Keep the start with the least objective, the first of equals."""
        best: list[Any] = []
        max_iter = min(self.max_iter, sys.maxsize)
        for start in range(self.n_init):
            if start and progress.stop.is_set():
                break
            order = rng.permutation(len(table)).astype(np.intp) if start else None
            labels = np.empty(len(table), dtype=np.intp)
            centres, inertia, trace, converged = algorithms.fit_centres(
                table, lam, labels, max_iter, order, _after_pass(progress, f"start {start + 1}")
            )
            progress.tell(
                f"start {start + 1}: {len(centres)} clusters after {len(trace) - 1} passes, "
                f"objective {trace[-1]:.6g}"
            )
            if not best or trace[-1] < best[3][-1]:
                best = [labels, np.array(centres), inertia, trace, converged]
        self.lam_ = lam
        self._keep(*best)

    def _keep(
        self,
        labels: npt.NDArray[np.intp],
        centres: npt.NDArray[np.float64],
        inertia: float,
        trace: list[float],
        converged: bool,
    ) -> None:
        """Keep one start, whose clusters are numbered by decreasing number of rows."""
        self.labels_ = largest_first(labels)
        _, members = np.unique(self.labels_, return_index=True)
        self.cluster_centers_ = centres[labels[members]]
        self.n_clusters_ = len(centres)
        self.objective_ = trace[-1]
        self.inertia_ = inertia
        self.objective_trace_ = np.array(trace)
        self.n_iter_ = len(trace) - 1
        self.converged_ = converged


def _after_pass(progress: Progress, step: str) -> Callable[[float, int], bool]:
    """What tells a pass of a start, and returns whether to end."""

    def after_pass(objective: float, n_clusters: int) -> bool:
        progress.step(step, objective, n_clusters)
        return progress.stop.is_set()

    return after_pass


def _check_width(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    with np.errstate(over="ignore"):
        width = (rows.max(axis=0) - rows.min(axis=0)).max()
    if not width <= MAX_WIDTH:
        raise ValueError(f"X must have columns less than {MAX_WIDTH} wide, got {width}")
    if 0.0 < width < MIN_WIDTH:
        raise ValueError(f"X must have a column {MIN_WIDTH} wide, or constant ones, got {width}")
    return rows
