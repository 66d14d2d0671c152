"""MAPDPM: the estimator."""

import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dpmlite import inference, models
from dpmlite.estimators.climb import Climb
from dpmlite.estimators.data import Data
from dpmlite.estimators.families import Prior
from dpmlite.estimators.mixture import MixtureEstimator
from dpmlite.estimators.problem import Problem
from dpmlite.estimators.starts import Recombination, simple_starts, start_labels
from dpmlite.estimators.validation import (
    check_bool,
    check_choice,
    check_count,
    check_labels,
    check_positive,
    check_random_state,
)

INITS = ("auto", "single", "singletons", "random", "sequential")

# The incremental joint may differ from the recomputed one by this part of the rows' values; and by
# the rounding of log-gammas of counts, which are large and cancel.
JOINT_RTOL = 1e-9
COUNTS_RTOL = 1e-10


class MAPDPM(MixtureEstimator):
    """Clustering by the most probable partition of a Dirichlet process mixture.

    The number of clusters is found, not given. The default search sweeps over the rows as the
    paper's algorithm does, from a start that is recombined from many, and also merges, splits and
    exchanges whole clusters and lets new ones form; every step lowers the exact joint of data and
    labels.

    Parameters
    ----------
    component : str, default "normal-gamma"
        Family of the clusters:

        - "normal-gamma": independent columns, each normal with unknown mean and precision;
        - "normal-inverse-wishart": normal with an unknown, full covariance matrix;
        - "normal-known-variance": independent normal columns of known variance;
        - "dirichlet-multinomial": counts, such as the words of documents;
        - "beta-bernoulli": independent columns of 0 and 1.
    alpha : float, default 1.0
        Concentration of the Dirichlet process. Larger values favour more clusters, weakly.
    prior : dict, optional
        Parameters of the family's prior; what is missing has a default. N is the number, or the
        total weight, of the rows; a scalar stands for all columns.

        - "normal-gamma": ``m0`` the means, ``c0`` 10 / N, ``a0`` 1, ``b0`` the variances: section
          4.2 of [1]_. With it, labels depend neither on units nor on the origin of a column.
        - "normal-inverse-wishart": ``m0`` the means, ``kappa0`` 10 / N, ``nu0`` D + 2, ``psi0``
          (D, D), such that the covariance is expected to be diagonal, with the columns' variances.
        - "normal-known-variance": ``m0`` the means, ``sigma2`` the variance within clusters, a
          tenth of the columns', ``tau2`` the variance of their means, the columns'.
        - "dirichlet-multinomial": ``beta0`` 1.
        - "beta-bernoulli": ``a0``, ``b0`` with a sum of 2 and the columns' frequencies of ones as
          means.
    allow_missing : bool, default False
        Whether NaN is a missing value. It contributes nothing, which is exact, for columns are
        independent within a cluster; so only "normal-gamma" and "beta-bernoulli" take it.
    init : {"auto", "single", "singletons", "random", "sequential"} or array-like of shape (N,)
        The labels to start from. "single" (one cluster) is the paper's; "singletons" is one
        cluster a row; "sequential" places one row after the other; "random" draws labels.
        "auto" (default) recombines many short descents from random rows, of 2,000 rows at most,
        which the others then join. With ``split_merge=False`` it keeps the best of "single" and
        "singletons" ("sequential" for more than 2,000 rows).
    split_merge : bool, default True
        Whether to merge, split and exchange clusters when no row moves any more.
        ``split_merge=False, init="single"`` is Algorithm 1 of [1]_ exactly.
    n_init : int, default 1
        Restarts; the best joint wins. With ``init`` "auto", "random" or "sequential" they have
        other random starts, else only other proposals of splits; with "auto" the ends of all are
        recombined as well.
    max_sweeps : int, default 1000
        Sweeps over all rows at most, for each start, once it is made.
    random_state : None, int, Generator or RandomState, default None
        Source of chance for proposals and restarts.
    n_jobs : int, default 1
        Threads that share the restarts; -1 for one a processor. Results do not depend on it.
    verbose : bool, default False
        Print a line for every step.

    Attributes
    ----------
    labels_ : ndarray of int, shape (N,)
        The cluster of each row: 0..K-1, the largest cluster, by weight, first.
    n_clusters_ : int
        K.
    statistics_ : ndarray, shape (K, L)
        What predictions need to know of each cluster: L numbers, the first its weight.
    counts_ : ndarray of int, shape (K,)
        Rows of each cluster.
    weights_ : ndarray, shape (K,)
        Their part of all rows, by weight.
    means_ : ndarray, shape (K, D)
        Posterior mean of a row of each cluster, in the units of the data; for
        "dirichlet-multinomial" the expected share of each word.
    alpha_ : float
        Concentration that was used.
    component_, allow_missing_, prior_ : str, bool, dict
        Family, treatment of NaN and prior that were used.
    neg_log_joint_ : float
        The objective, -log p(z | alpha) - sum_k log p(x_k | theta_0), in nats, every constant
        included.
    neg_log_joint_trace_ : ndarray
        The objective after each step of the best start; it never rises.
    neg_log_loo_ : float
        The paper's likelihood, -log of eq. (16), of the same labels.
    n_sweeps_ : int
        Sweeps over all rows of the best start, those that made it included.
    n_empty_clusters_ : int
        How many times a cluster lost its last row in sweeps: the "empty clusters" of Table 1 of
        [1]_. The descents that the default start is made of are not counted.
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
        allow_missing: bool = False,
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
        self.allow_missing = allow_missing
        self.init = init
        self.split_merge = split_merge
        self.n_init = n_init
        self.max_sweeps = max_sweeps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the most probable partition of the rows of `X`.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
            Rows: finite numbers; counts for "dirichlet-multinomial"; 0 and 1 for
            "beta-bernoulli". The last two may be sparse, and cost what their non-zeros do.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            A row of weight w stands for w equal rows that share a label, so that a table of
            distinct rows and their multiplicities, or a coreset, can be clustered. Any
            non-negative numbers; a row of weight 0 is only labelled. In the prior of the labels,
            eq. (1), sizes of clusters are sums of weights: weights far below 1 favour small
            clusters.

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
        data = self._read(X).weighted(sample_weight)
        used = data.has_weight()
        given = self._given_labels(used)
        seeds = check_random_state(self.random_state).integers(2**63, size=self.n_init)
        table = data.take(used)
        prior = self._family().prior(self.prior, table)
        best = self._search(table, prior, given, seeds)
        final = self._partition(table, best.labels(), prior, float(self.alpha))
        _verify(best.partition, final, table)
        self._keep(data, final, prior)
        self.neg_log_joint_trace_ = np.array(best.trace)
        self.neg_log_loo_ = inference.neg_log_loo(final)
        self.n_sweeps_ = best.n_sweeps
        self.n_empty_clusters_ = best.n_emptied
        self.converged_ = best.converged
        self._remember_columns(X, data.shape[1])
        return self

    def _check_parameters(self) -> None:
        check_positive("alpha", self.alpha)
        if isinstance(self.init, str):
            check_choice("init", self.init, INITS)
        check_count("n_init", self.n_init)
        check_count("max_sweeps", self.max_sweeps)
        check_bool("split_merge", self.split_merge)
        check_bool("verbose", self.verbose)
        if self.n_jobs != -1:
            check_count("n_jobs", self.n_jobs)

    def _given_labels(self, used: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp] | None:
        """The labels that `init` gives to the rows in use, if it gives any."""
        return None if isinstance(self.init, str) else check_labels(self.init, len(used))[used]

    def _search(
        self,
        table: Data,
        prior: Prior,
        given: npt.NDArray[np.intp] | None,
        seeds: npt.NDArray[np.int64],
    ) -> Climb:
        """The best climb of all restarts; the first of equals."""
        stop = threading.Event()
        n_jobs = os.cpu_count() or 1 if self.n_jobs == -1 else self.n_jobs
        component = self._family().component(prior, self.allow_missing)
        problem = Problem(table.rows(), component, float(self.alpha))
        runs = [(i, np.random.default_rng(seed), stop) for i, seed in enumerate(seeds)]
        if n_jobs == 1 or len(runs) == 1:
            climbs = [self._restart(problem, given, *run) for run in runs]
        else:
            with ThreadPoolExecutor(min(n_jobs, len(runs))) as pool:
                tasks = [pool.submit(self._restart, problem, given, *run) for run in runs]
                try:
                    climbs = [task.result() for task in tasks]
                except BaseException:  # Ctrl-C ends the threads' climbs too
                    stop.set()
                    pool.shutdown(cancel_futures=True)
                    raise
        return self._joined(problem, climbs, np.random.default_rng(seeds), stop)

    def _restart(
        self,
        problem: Problem,
        given: npt.NDArray[np.intp] | None,
        restart: int,
        rng: np.random.Generator,
        stop: threading.Event,
    ) -> Climb:
        if given is None and self._recombines():
            return self._climb_from_recombination(problem, rng, stop)
        climbs = []
        shape = len(problem.rows), problem.component.n_columns
        for name in simple_starts(self.init, restart, *shape) if given is None else ["given"]:
            if given is None:
                labels, order = start_labels(name, shape[0], self.alpha, rng)
            else:
                labels, order = given.copy(), None
            partition = problem.partition(labels, order)
            climb = Climb(problem, partition, order, self.max_sweeps, self.verbose, stop, name)
            climb.run(rng, self.split_merge)
            climbs.append(climb)
        return _best(climbs)

    def _recombines(self) -> bool:
        return isinstance(self.init, str) and self.init == "auto" and self.split_merge

    def _climb_from_recombination(
        self, problem: Problem, rng: np.random.Generator, stop: threading.Event
    ) -> Climb:
        start = Recombination(problem, rng, self.max_sweeps, self.verbose, stop)
        partition = problem.partition(start.run())
        before = start.n_sweeps if len(start.sample) == len(problem.rows) else 0
        climb = Climb(
            problem,
            partition,
            None,
            before + self.max_sweeps,
            self.verbose,
            stop,
            "best",
            n_sweeps=before,
        )
        climb.run(rng, self.split_merge)
        return climb

    def _joined(
        self, problem: Problem, climbs: list[Climb], rng: np.random.Generator, stop: threading.Event
    ) -> Climb:
        """The best climb, or a better one from the refinement of two ends."""
        best = _best(climbs)
        for other in climbs if self._recombines() else []:
            if other is not best:
                partition = problem.recombined(best.labels(), other.labels())
                climb = Climb(
                    problem, partition, None, self.max_sweeps, self.verbose, stop, "joined"
                )
                climb.run(rng, self.split_merge)
                best = _best([best, climb])
        return best


def _best(climbs: list[Climb]) -> Climb:
    """The first of equals."""
    return min(climbs, key=lambda climb: climb.partition.neg_log_joint)


def _verify(kept: models.Partition, final: models.Partition, table: Data) -> None:
    """Raise ArithmeticError if the joint kept by the moves is not that of the labels."""
    drift = abs(final.neg_log_joint - kept.neg_log_joint)
    size = table.total_weight * table.shape[1]
    slack = JOINT_RTOL * max(abs(final.neg_log_joint), size)
    if table.nonzeros is not None:
        slack += COUNTS_RTOL * table.column_sums().sum()
    if not drift <= slack:
        raise ArithmeticError(
            f"the joint kept incrementally is {kept.neg_log_joint!r}, recomputed "
            f"it is {final.neg_log_joint!r}: please report this as a bug of dpmlite"
        )
