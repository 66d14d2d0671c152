"""The estimator `CollapsedGibbs`: samples of partitions by Markov chain Monte Carlo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpmlite import algorithms
from dpmlite.estimators.bases.estimator import all_or_nothing
from dpmlite.estimators.bases.mixture import MixtureEstimator
from dpmlite.estimators.consensus import consensus_partition
from dpmlite.estimators.default_model.automatic import most_probable_labels
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.fitted.partitions import final_partition, fitted_component
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.inputs.given_labels import check_labels
from dpmlite.estimators.inputs.limits import Limited
from dpmlite.estimators.inputs.parameters import (
    check_alpha,
    check_choice,
    check_count,
    check_discount,
    check_random_state,
)
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.sampling.gibbs_chain import VARIANTS, Chain
from dpmlite.partition import Partition
from dpmlite.search.prefix_starts import search_labels
from dpmlite.search.starts import start_labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from dpmlite.estimators.consensus import Consensus
    from dpmlite.estimators.default_model.model import Model
    from dpmlite.estimators.inputs.choices import Component, PriorChoice, SplitMerge
    from dpmlite.estimators.sampling.gibbs_chain import Sample
    from dpmlite.search.progress import Callback, Progress

INITS = ("map", "single", "singletons", "random", "sequential", "search")

# Rows of the co-clustering matrix for each pass over the samples; 64 was fastest in trials.
COUNTED_ROWS = 64


class CollapsedGibbs(Limited, MixtureEstimator):
    """Samples of partitions from the posterior of a Dirichlet process mixture.

    A sweep draws the label of every row given all others: Algorithm 3 of Neal [1]_.
    Split-merge proposals [2]_ split and merge clusters, which moves of single rows rarely do.

    Parameters
    ----------
    component : str, default "auto"
        Family of the clusters, as in `MAPDPM`.
    alpha : float, default 1.0
        Concentration of the Dirichlet process; the start value if `alpha_prior` is given.
    alpha_prior : tuple of two floats, optional
        Shape and rate of a gamma prior of alpha, which is then drawn after every sweep by the
        method of Escobar & West [3]_. Default: alpha is fixed.
    discount : float, default 0.0
        Discount of the Pitman-Yor process, as in `MAPDPM`. A positive one needs ``prior="paper"``
        or a dict, and no `alpha_prior`.
    prior : {"auto", "paper"} or dict, default "auto"
        Hyperparameters of the family, as in `MAPDPM`. "auto" takes those that `MAPDPM` chooses, and
        samples partitions of the rows with equal values spread, each of which counts whole.
    allow_missing : bool, default False
        Whether NaN is a missing value, as in `MAPDPM`.
    n_samples : int, default 1000
        Number of samples, S.
    burn_in : int, optional
        Sweeps before those that make samples. Default: ``n_samples // 2``.
    thin : int, default 1
        Sweeps for each sample, whose last is kept.
    init : {"map", "single", "singletons", "random", "sequential", "search"} or array-like
        Start: labels of shape (N,), or the name of a method. "map" (default) takes the labels of
        `MAPDPM`, which need little burn-in; the others are as in `MAPDPM`. "search" is the start
        that Daumé (2007), section 6, suggests.
    split_merge : {None, "random", "restricted", "interleaved"}, default "interleaved"
        Moves of a sweep. "random": five split-merge proposals, split by fair coins; "restricted":
        five proposals, split by five restricted Gibbs scans; "interleaved": one such proposal and a
        Gibbs scan of all rows; None: the Gibbs scan alone.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.
    max_seconds : float, optional
        Seconds after which the fit ends, between two sweeps, with a `ConvergenceWarning`. It keeps
        the samples so far, or the last state if it ends in the burn-in.
    callback : callable, optional
        ``callback(step, neg_log_joint, n_clusters)`` is called after each sweep, also of the search
        for the start; a true result ends the fit. The step is text, such as "sweep 7 of 1500".
    verbose : bool or int, default False
        Whether to print every tenth of the sweeps, or log it by the logger "dpmlite".

    Attributes
    ----------
    labels_samples_ : ndarray of int, shape (S, N)
        Labels of each sample; clusters have no order.
    n_clusters_samples_ : ndarray of int, shape (S,)
        Number of clusters of each sample.
    neg_log_joint_samples_ : ndarray, shape (S,)
        The objective of each sample, as in `MAPDPM`.
    alpha_samples_ : ndarray, shape (S,)
        Concentration of each sample.
    n_clusters_proba_ : ndarray
        Posterior probability of 0, 1, 2, ... clusters.
    n_empty_clusters_ : int
        Number of times a cluster lost its last row, burn-in included: the "empty clusters" of Table
        1 of Raykov, Boukouvalas & Little (2014).
    acceptance_rate_ : float
        Share of the split-merge proposals that were accepted; NaN if there were none.
    labels_ : ndarray of int, shape (N,)
        Labels of the state with the least objective, burn-in included; the largest cluster is 0.
        `predict`, `predict_proba` and `sample` use it, and these attributes describe it, as in
        `MAPDPM`: `n_clusters_`, `statistics_`, `counts_`, `weights_`, `means_`, `alpha_`,
        `neg_log_joint_`.
    stopped_ : {None, "max_seconds", "callback"}
        What ended the fit early; None if nothing did.
    training_rows_ : dict
        A copy of the rows that were fitted, for `score_samples`.
    discount_ : float
        Discount that was used, if it is positive.
    component_, allow_missing_, prior_ : str, bool, dict
        Family, treatment of NaN and prior that were used.
    n_features_in_ : int
        D.
    feature_names_in_ : ndarray of str, shape (D,)
        Column names, if `X` was a data frame.

    See Also
    --------
    MAPDPM : The most probable partition, where the chain starts.
    exact_posterior : The posterior of few rows, without sampling.
    dpmlite.diagnostics.raftery_lewis : How long a chain must run.

    References
    ----------
    .. [1] Neal, "Markov chain sampling methods for Dirichlet process mixture models", 2000.
    .. [2] Jain & Neal, "A split-merge Markov chain Monte Carlo procedure for the Dirichlet process
       mixture model", 2004.
    .. [3] Escobar & West, "Bayesian density estimation and inference using mixtures", 1995.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import CollapsedGibbs
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 10)])
    >>> int(CollapsedGibbs(n_samples=200, random_state=0).fit(X).n_clusters_proba_.argmax())
    2
    """

    def __init__(
        self,
        *,
        component: Component | Mapping[Any, str] = "auto",
        alpha: float = 1.0,
        alpha_prior: tuple[float, float] | None = None,
        discount: float = 0.0,
        prior: Mapping[str, Any] | PriorChoice | None = "auto",
        allow_missing: bool = False,
        n_samples: int = 1000,
        burn_in: int | None = None,
        thin: int = 1,
        init: Any = "map",
        split_merge: SplitMerge | None = "interleaved",
        random_state: Any = None,
        max_seconds: float | None = None,
        callback: Callback | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.component = component
        self.alpha = alpha
        self.alpha_prior = alpha_prior
        self.discount = discount
        self.prior = prior
        self.allow_missing = allow_missing
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.thin = thin
        self.init = init
        self.split_merge = split_merge
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.callback = callback
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Sample partitions of the rows of `X`.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
            Rows, as in `MAPDPM.fit`.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            Weights of the rows, as in `DPSearch.fit`, all of them positive.

        Returns
        -------
        CollapsedGibbs
            Itself, fitted.

        Raises
        ------
        ValueError, TypeError
            If `X` or a parameter breaks its rule; the message states it.
        """
        self._check_parameters()
        progress = self._new_progress()
        data = self._read(X).weighted(sample_weight)
        data.require_weight()
        n_rows = data.shape[0]
        given = None if isinstance(self.init, str) else check_labels(self.init, n_rows, "init")
        rng = check_random_state(self.random_state)
        model, table = self._find_model(data, rng, progress)
        labels = self._start(table, model, rng, progress) if given is None else given
        start = model.problem(table).partition(labels)
        chain = Chain(start, VARIANTS[self.split_merge], self.alpha_prior, rng)
        burn_in = self.n_samples // 2 if self.burn_in is None else self.burn_in
        samples = list(chain.samples(self.n_samples, burn_in, self.thin, progress))
        best = chain.best
        final = final_partition(
            table, best.labels.copy(), model.component(), best.alpha, model.discount
        )
        self._keep(data, table, final, model.prior, model.family)
        self._keep_samples(samples, chain)
        self.training_rows_ = table.to_dict()
        self._remember_columns(X, data.n_features)
        self._keep_stop(progress)
        return self

    def score_samples(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log predictive density of new rows, averaged over the samples, in nats.

        The Bayesian density estimate of section 1.3 of "Notes on Gibbs sampling for Dirichlet
        process mixtures": the mean over samples of eq. (17) of Raykov, Boukouvalas & Little (2014).

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (M, D)

        Returns
        -------
        ndarray, shape (M,)

        Raises
        ------
        NotFittedError, ValueError, TypeError
            As `predict`.
        """
        rows = self._read_new(X).rows()
        training = Data.from_dict(self.training_rows_).rows()
        total = np.full(len(rows), -np.inf)
        out = np.empty(len(rows))
        for labels, alpha in zip(self.labels_samples_, self.alpha_samples_.tolist(), strict=True):
            component, discount = fitted_component(self), self.discount_
            sample = Partition(training, labels.copy(), component, alpha, discount=discount)
            algorithms.log_density(rows, sample.component, alpha, out, discount)
            np.logaddexp(total, out, out=total)
        return np.asarray(total - np.log(len(self.labels_samples_)))

    def co_clustering(self) -> npt.NDArray[np.float64]:
        """Posterior probability that two rows share a cluster.

        Returns
        -------
        ndarray, shape (N, N)
            Share of the samples in which they do; 1 on the diagonal.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        require_fitted(self, "labels_samples_")
        n_samples, n_rows = self.labels_samples_.shape
        # Labels of the smallest type, and counters of a byte, up to 255, stay in the cache.
        samples = self.labels_samples_.astype(np.min_scalar_type(self.labels_samples_.max()))
        together = np.zeros((n_rows, n_rows))
        for first in range(0, n_rows, COUNTED_ROWS):
            block = together[first : first + COUNTED_ROWS]
            for start in range(0, n_samples, 255):
                counts = np.zeros(block.shape, dtype=np.uint8)
                for labels in samples[start : start + 255]:
                    same = labels[first : first + COUNTED_ROWS, None] == labels
                    counts += same.view(np.uint8)
                block += counts
        together /= n_samples
        return together

    def consensus(
        self, loss: str = "vi", *, level: float = 0.95, n_init: int = 10, random_state: Any = None
    ) -> Consensus:
        """The partition with the least expected loss over the samples, and its credible ball.

        Parameters
        ----------
        loss, level, n_init, random_state
            As in `consensus_partition`.

        Returns
        -------
        Consensus

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If an argument breaks its rule; the message states it.
        """
        require_fitted(self, "labels_samples_")
        return consensus_partition(
            self.labels_samples_, loss, level=level, n_init=n_init, random_state=random_state
        )

    def _check_parameters(self) -> None:
        self._check_model_parameters()
        check_alpha("alpha", self.alpha)
        check_discount(self.discount, self._without_discount())
        if self.alpha_prior is not None:
            if not isinstance(self.alpha_prior, tuple | list | np.ndarray) or (
                len(self.alpha_prior) != 2
            ):
                raise ValueError(
                    "alpha_prior must be a shape and a rate, or None, "
                    f"got {shown(self.alpha_prior)}"
                )
            for name, value in zip(("shape", "rate"), self.alpha_prior, strict=True):
                check_alpha(f"alpha_prior's {name}", value)
        if isinstance(self.init, str):
            check_choice("init", self.init, INITS)
        check_count("n_samples", self.n_samples)
        check_count("thin", self.thin)
        if self.burn_in is not None:
            check_count("burn_in", self.burn_in, least=0)
        if self.split_merge is not None:
            check_choice(
                "split_merge", self.split_merge, tuple(v for v in VARIANTS if v), "None or "
            )
        self._check_limits()

    def _without_discount(self) -> Iterator[str]:
        """Parameters that exclude a discount, with their values."""
        if self._is_automatic():
            yield "prior='auto'"
        if self.alpha_prior is not None:
            yield "alpha_prior"

    def _start(
        self, table: Data, model: Model, rng: np.random.Generator, progress: Progress
    ) -> npt.NDArray[np.intp]:
        """Labels that `init` names, to start the chain from."""
        if self.init == "map":
            return most_probable_labels(model, table, rng, progress)
        if self.init == "search":
            return search_labels(model.problem(table), 0, rng, progress.stop)
        return start_labels(self.init, table.shape[0], self.alpha, rng, model.discount)[0]

    def _keep_samples(self, samples: list[Sample], chain: Chain) -> None:
        self.labels_samples_ = np.array([sample.labels for sample in samples])
        self.neg_log_joint_samples_ = np.array([sample.neg_log_joint for sample in samples])
        self.alpha_samples_ = np.array([sample.alpha for sample in samples])
        self.n_clusters_samples_ = np.array([sample.n_clusters for sample in samples])
        self.n_clusters_proba_ = np.bincount(self.n_clusters_samples_) / len(samples)
        self.n_empty_clusters_ = chain.n_empty_clusters
        proposals = chain.n_proposals
        self.acceptance_rate_ = chain.n_accepted / proposals if proposals else float("nan")
