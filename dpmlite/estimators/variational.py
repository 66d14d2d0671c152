"""The estimator `VariationalDPM`: mean-field variational inference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from dpmlite import algorithms, sweeps
from dpmlite.distributed.statistics import load
from dpmlite.estimators.bases.estimator import all_or_nothing
from dpmlite.estimators.bases.family_estimator import FamilyEstimator
from dpmlite.estimators.column_families.by_joint import coded_for
from dpmlite.estimators.column_families.by_rule import COMPLETE_FAMILIES
from dpmlite.estimators.default_model.automatic import most_probable_labels
from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.fitted.partitions import fitted_component, fitted_family, forget_optional
from dpmlite.estimators.inputs.choices import VariationalMethod
from dpmlite.estimators.inputs.given_labels import check_labels
from dpmlite.estimators.inputs.limits import Limited
from dpmlite.estimators.inputs.parameters import (
    check_alpha,
    check_bool,
    check_choice,
    check_count,
    check_positive,
    check_random_state,
    check_starts,
)
from dpmlite.estimators.variational_ascent import Ascent

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.default_model.model import Model
    from dpmlite.estimators.inputs.choices import PriorChoice, VariationalComponent
    from dpmlite.estimators.inputs.data import Data
    from dpmlite.search.progress import Callback, Progress

    Floats = npt.NDArray[np.float64]
    Labels = npt.NDArray[np.intp]

METHODS: tuple[str, ...] = get_args(VariationalMethod)
INITS = ("map", "random")


class VariationalDPM(Limited, FamilyEstimator):
    """Mean-field variational inference in a mixture of T components, near a Dirichlet process.

    Each row has a distribution over the components, and each component a posterior of its
    parameters. Both are updated in turn, which raises a lower bound on the evidence log p(X).

    Parameters
    ----------
    component : str, default "auto"
        Family of the components, as in `MAPDPM`, without the two zero-inflated ones.
    alpha : float, default 1.0
        Concentration.
    prior : {"auto", "paper"} or dict, default "auto"
        Hyperparameters of the family, as in `MAPDPM`. "auto" takes those that `MAPDPM` chooses for
        the family, and fits the rows with equal values spread, each of which counts whole.
    method : {"vb", "collapsed-stick", "collapsed-dirichlet"}
        Prior of the weights of the components. "vb" (default): the stick-breaking prior, truncated
        after T - 1 breaks, with a posterior of the stick lengths [1]_. "collapsed-stick": this
        prior with the lengths integrated out [2]_. "collapsed-dirichlet": a symmetric Dirichlet
        with parameters alpha / T, integrated out [2]_.
    n_components : int, default 20
        T, where the stick is truncated. More components than clusters only cost time.
    reorder : bool, default True
        Whether to sort the components of a stick by decreasing size after each iteration, unless
        that lowers the bound: the "O-" of [2]_. False is [1]_ as published.
    init : {"map", "random"} or array-like of shape (N,)
        Labels to start from. "map" (default): those of `MAPDPM`, of whose clusters the smallest are
        united if there are more than T; starts after the first are random. "random": T random rows
        are seeds, which the other rows join in a sweep of `MAPDPM`.
    n_init : int, default 1
        Number of starts; the highest `lower_bound_` wins.
    max_iter : int, default 1000
        Greatest number of iterations of each start.
    tol : float, default 1e-7
        Change of the bound, in nats a row, below which iteration ends.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.
    max_seconds : float, optional
        Seconds after which the fit ends, between two iterations, with a `ConvergenceWarning`. It
        keeps the best so far.
    callback : callable, optional
        ``callback(step, objective, n_clusters)`` is called after each iteration, and each step of
        the search for the start; a true result ends the fit, which keeps the best so far. The
        objective is the bound, or in the search for the start a joint; clusters are components of
        half a row or more.
    verbose : bool or int, default False
        Whether to print the bound after 1, 2, 4, 8, ... iterations and at the end, or log it by the
        logger "dpmlite".

    Attributes
    ----------
    lower_bound_ : float
        The objective, in nats, all constants included. With "vb" it is a lower bound on the log
        evidence of the mixture with the truncated stick, and never falls. The other two methods
        replace means over the number of rows in a component by second-order expansions: their
        objective approximates a bound, may lie above the evidence of either model, and may fall.
    lower_bound_trace_ : ndarray
        `lower_bound_` at the start and after each iteration.
    log_evidence_bound_ : float
        A lower bound on log p(X) under the Dirichlet process itself, for any method, given the
        responsibilities: the stick is not truncated, but no row lies beyond component T.
        `exact_posterior` has the evidence of a few rows.
    responsibilities_ : ndarray, shape (N, T)
        Probability of each component for each row. Components are numbered by decreasing expected
        number of rows.
    labels_ : ndarray of int, shape (N,)
        The most probable component of each row. A component that is most probable for no row has
        no label.
    n_clusters_ : int
        Number of components that are most probable for a row.
    counts_ : ndarray, shape (T,)
        Expected rows of each component, by weight.
    weights_ : ndarray, shape (T,)
        Probability that the next row lies in each component; they sum to 1.
    means_ : ndarray, shape (T, D)
        Expected row of each component.
    statistics_ : ndarray
        Sufficient statistics of each component, for `predict` and `score_samples`.
    n_iter_ : int
        Iterations of the best start.
    converged_ : bool
        Whether it ended because of `tol`.
    stopped_ : {None, "max_seconds", "callback"}
        What ended the fit early; None if nothing did.
    alpha_, component_, allow_missing_, prior_ : float, str, bool, dict
        As used.
    n_features_in_ : int
        D.
    feature_names_in_ : ndarray of str, shape (D,)
        Column names, if `X` was a data frame.

    See Also
    --------
    MAPDPM : The most probable partition.
    log_evidence_exact : What `log_evidence_bound_` bounds.

    Notes
    -----
    Neither the truncated stick nor the finite Dirichlet is the prior of a Dirichlet process: the
    last component takes the whole rest of the stick. So `lower_bound_` bounds, or approximates, the
    evidence of another, close model. Compare `log_evidence_bound_` instead.

    References
    ----------
    .. [1] Blei & Jordan, "Variational inference for Dirichlet process mixtures", 2006.
    .. [2] Kurihara, Welling & Teh, "Collapsed variational Dirichlet process mixture models", 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import VariationalDPM
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 10)])
    >>> model = VariationalDPM(random_state=0).fit(X)
    >>> model.n_clusters_, model.converged_
    (2, True)
    """

    column_choices = COMPLETE_FAMILIES
    allow_missing = False
    statistics_: Floats

    def __init__(
        self,
        *,
        component: VariationalComponent = "auto",
        alpha: float = 1.0,
        prior: Mapping[str, Any] | PriorChoice | None = "auto",
        method: VariationalMethod = "vb",
        n_components: int = 20,
        reorder: bool = True,
        init: Any = "map",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-7,
        random_state: Any = None,
        max_seconds: float | None = None,
        callback: Callback | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.component = component
        self.alpha = alpha
        self.prior = prior
        self.method = method
        self.n_components = n_components
        self.reorder = reorder
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.callback = callback
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the components to the rows of `X`.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
            Rows, as in `MAPDPM.fit`.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            Weights of the rows, as in `DPSearch.fit`. Integer weights are not the same as repeated
            rows, whose labels would be independent given the parameters.

        Returns
        -------
        VariationalDPM
            Itself, fitted.

        Raises
        ------
        ValueError, TypeError
            If `X` or a parameter breaks its rule; the message states it.
        """
        self._check_parameters()
        progress = self._new_progress()
        data = self._read(X).weighted(sample_weight)
        used = data.has_weight()
        given = None if isinstance(self.init, str) else check_labels(self.init, len(used), "init")
        table = data.take(used)
        rng = check_random_state(self.random_state)
        model, table = self._find_model(table, rng, progress)
        start = None if given is None else given[used]
        best = self._best_ascent(model, table, start, rng, progress)
        self._keep(data, table, best, model)
        self._remember_columns(X, data.n_features)
        self._keep_stop(progress)
        return self

    def predict(self, X: npt.ArrayLike) -> Labels:
        """Most probable component of each new row.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (M, D)

        Returns
        -------
        ndarray of int, shape (M,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError, TypeError
            If `X` is no table for the family, or has other columns than those of `fit`.
        """
        return np.asarray(self.predict_proba(X).argmax(axis=1), dtype=np.intp)

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """Probability of each component for new rows, with parameters integrated out.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (M, D)

        Returns
        -------
        ndarray, shape (M, T)

        Raises
        ------
        NotFittedError, ValueError, TypeError
            As `predict`.
        """
        return self._probabilities(self._read_new(X))

    def score_samples(self, X: npt.ArrayLike) -> Floats:
        """Log predictive density of new rows, in nats.

        The density of a mixture with `weights_`, whose components are predictive densities under
        the posteriors of their parameters.

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
        out = np.empty(len(rows))
        algorithms.log_mixture_density(rows, self._mixture(), self._log_weights(), out)
        return out

    def _check_parameters(self) -> None:
        self._check_model_parameters()
        check_alpha("alpha", self.alpha)
        check_choice("method", self.method, METHODS)
        check_count("n_components", self.n_components)
        check_bool("reorder", self.reorder)
        if isinstance(self.init, str):
            check_choice("init", self.init, INITS)
        check_starts(self.n_init)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        self._check_limits()

    def _random_labels(self, model: Model, table: Data, rng: np.random.Generator) -> Labels:
        """Labels of random seeds, which the other rows join in one sweep."""
        n = table.shape[0]
        order = rng.permutation(n).astype(np.intp)
        labels = np.full(n, -1, dtype=np.intp)
        n_seeds = min(self.n_components, n)
        labels[:n_seeds] = np.arange(n_seeds)
        partition = model.problem(table).partition(labels, order)
        sweeps.sweep(partition)
        found = np.empty(n, dtype=np.intp)
        found[order] = np.asarray(partition.labels)
        return found

    def _one_hot(self, labels: Labels) -> Floats:
        responsibilities = np.zeros((len(labels), self.n_components))
        responsibilities[np.arange(len(labels)), labels] = 1.0
        return responsibilities

    def _mixing(self) -> algorithms.Mixing:
        kind = {
            "vb": algorithms.Sticks,
            "collapsed-stick": algorithms.CollapsedSticks,
            "collapsed-dirichlet": algorithms.CollapsedDirichlet,
        }[self.method]
        return kind(float(self.alpha), int(self.n_components))

    def _best_ascent(
        self,
        model: Model,
        table: Data,
        given: Labels | None,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Ascent:
        """The ascent to the highest bound, of one from each start; all start from given labels."""
        best = None
        for number in range(self.n_init):
            if given is not None:
                labels = given
            elif self.init == "random" or number > 0:
                labels = self._random_labels(model, table, rng)
            else:
                labels = most_probable_labels(model, table, rng, progress)
            labels = np.minimum(largest_first(labels, table.weights), self.n_components - 1)
            ascent = self._climb(model, table, self._one_hot(labels), number, progress)
            if best is None or ascent.trace[-1] > best.trace[-1]:
                best = ascent
            if progress.stop.is_set():
                break
        assert best is not None
        return best

    def _climb(
        self, model: Model, table: Data, responsibilities: Floats, number: int, progress: Progress
    ) -> Ascent:
        """The ascent from responsibilities, until the bound changes by less than `tol`."""
        ascent = Ascent(table.rows(), model.component(), self._mixing(), responsibilities)
        for iteration in range(1, self.max_iter + 1):
            ascent.step(bool(self.reorder))
            ascent.converged = abs(ascent.gain) <= self.tol * table.total_weight
            last = ascent.converged or iteration == self.max_iter
            if progress.tells and (last or iteration & (iteration - 1) == 0):
                progress.tell(
                    f"start {number + 1}   iteration {iteration:>6}   "
                    f"lower bound {ascent.trace[-1]:.4f}"
                )
            name = f"start {number + 1} iteration {iteration}"
            progress.step(name, ascent.trace[-1], ascent.n_components())
            if last or progress.stop.is_set():
                break
        return ascent

    def _keep(self, data: Data, table: Data, best: Ascent, model: Model) -> None:
        """Keep the best start in fitted attributes, its components by decreasing expected rows."""
        family, prior, component = model.family, model.prior, best.component
        counts = np.array(best.mixing.counts)
        order = np.argsort(-counts, kind="stable")
        posteriors = (component.posterior(int(k)) for k in order)
        forget_optional(self)
        vars(self).update(family.attributes(), allow_missing_=False, prior_=prior)
        self.alpha_ = model.alpha
        self.counts_ = counts[order]
        self.weights_ = np.array(best.mixing.means())[order]
        self.means_ = np.array([family.means(family.as_prior(p, prior)) for p in posteriors])
        self.statistics_ = np.array([component.statistics(int(k)) for k in order])
        self.responsibilities_ = self._responsibilities_of_all(
            data, best.responsibilities[:, order]
        )
        self.labels_ = np.argmax(self.responsibilities_, axis=1)
        self.n_clusters_ = len(np.unique(self.labels_))
        log_volume = table.total_log_volume()
        self.lower_bound_trace_ = np.array(best.trace) - log_volume
        self.lower_bound_ = self.lower_bound_trace_[-1]
        self.log_evidence_bound_ = best.log_evidence_bound() - log_volume
        self.n_iter_ = len(best.trace) - 1
        self.converged_ = best.converged

    def _responsibilities_of_all(self, data: Data, found: Floats) -> Floats:
        used = data.has_weight()
        if used.all():
            return np.ascontiguousarray(found)
        everyone = np.empty((data.shape[0], found.shape[1]))
        everyone[used] = found
        weightless = coded_for(data.take(~used).unweighted(), fitted_family(self))
        everyone[~used] = self._probabilities(weightless)
        return everyone

    def _mixture(self) -> families.Component:
        """A component with a slot for each of the T components."""
        component = fitted_component(self)
        load(component, self.statistics_)
        return component

    def _probabilities(self, data: Data) -> Floats:
        out = np.empty((data.shape[0], len(self.weights_)))
        algorithms.mixture_responsibilities(data.rows(), self._mixture(), self._log_weights(), out)
        return out

    def _log_weights(self) -> Floats:
        with np.errstate(divide="ignore"):  # a weight may be less than a double can hold
            return np.asarray(np.log(self.weights_))
