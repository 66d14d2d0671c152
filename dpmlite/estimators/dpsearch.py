"""The estimator `DPSearch`: A* and beam search for the most probable partition."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from dpmlite import algorithms
from dpmlite.core.constants import TIE
from dpmlite.estimators.bases.estimator import all_or_nothing
from dpmlite.estimators.bases.mixture import MixtureEstimator
from dpmlite.estimators.fitted.joint_check import verify_joint
from dpmlite.estimators.fitted.partitions import final_partition
from dpmlite.estimators.inputs.choices import PriorScore, Refinement, Scoring
from dpmlite.estimators.inputs.limits import Limited
from dpmlite.estimators.inputs.parameters import (
    check_alpha,
    check_alphas,
    check_bool,
    check_choice,
    check_count,
    check_random_state,
)
from dpmlite.estimators.inputs.shown import shown
from dpmlite.partition import log_prob_counts, log_prob_multiplicities
from dpmlite.search.alpha import ALPHAS
from dpmlite.search.prefix_starts import ORDERS, greedy_search, row_order, run
from dpmlite.search.refinement import refine
from dpmlite.search.search import Search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import Component, Order, PriorChoice, SearchedAlpha
    from dpmlite.estimators.inputs.data import Data
    from dpmlite.partition import Partition
    from dpmlite.search.context import Labels, Problem
    from dpmlite.search.progress import Progress
    from dpmlite.search.result import SearchResult

SCORINGS: tuple[str, ...] = get_args(Scoring)
PRIOR_SCORES: tuple[str, ...] = get_args(PriorScore)

# Families with a proven bound on the predictive density: see their `log_bound`.
TIGHT = ("normal-known-variance", "dirichlet-multinomial", "beta-bernoulli")

# Values of `refine` besides True and False.
REFINES: tuple[str, ...] = get_args(Refinement)


@dataclass(frozen=True, eq=False)
class Found:
    """What a search under one concentration found.

    Attributes
    ----------
    alpha : float
        Concentration.
    search : PrefixSearch
    labels : ndarray of int, shape (N,)
    score : float
        Minus the log of the score of the labels.
    """

    alpha: float
    search: algorithms.PrefixSearch
    labels: Labels
    score: float


class DPSearch(Limited, MixtureEstimator):
    """Clustering by A* or beam search for the most probable partition.

    The algorithm of Daumé [1]_ places rows one after the other. A queue holds clusterings of
    prefixes. The one with the best score is extended by the next row in every possible way, until
    the best is a clustering of all rows. With an admissible `scoring` and no `beam` the result is
    proven to be the most probable partition; with a beam the search is a fast heuristic.

    Parameters
    ----------
    component : str, default "auto"
        Family of the clusters, as in `MAPDPM`.
    alpha : float or "nll", default 1.0
        Concentration of the Dirichlet process. "nll" takes the one of `alphas` under which the
        search finds labels with the best score; certificates are then of labels given `alpha_`.
    prior : {"auto", "paper"} or dict, default "auto"
        Hyperparameters of the family, as in `MAPDPM`. "auto" takes those that `MAPDPM` chooses, and
        searches among the rows with equal values spread, each of which counts whole.
    scoring : {"inadmissible", "tight", "trivial"}, default "inadmissible"
        Estimate, in the score of a prefix, of the cost of the rows to come, besides that of the
        best completion under the prior of labels:

        - "inadmissible", eq. (12) of [1]_: each row is in a cluster of its own. Fast; no bound.
        - "tight", section 3.3: each row joins its best cluster, after the other rows that suit it
          best. A bound; for "normal-known-variance", "dirichlet-multinomial" and "beta-bernoulli",
          whose predictive density has a proven bound.
        - "trivial", eq. (7): rows cost nothing, in units in which no density is above 1. A bound.
    alphas : array-like, optional
        For ``alpha="nll"``: candidates. Default: 0.01 to 100, three a decade.
    prior_score : {"partition", "sizes"}, default "partition"
        The probability of labels that scores count with the density of the data: that of the
        partition, of which `neg_log_joint_` is made; or, as in [1]_, that of its cluster sizes,
        eq. (2), which adds up all partitions with clusters of these sizes. The latter does not
        favour large clusters. It needs rows of weight 1.
    beam : int or None, default 10
        Clusterings of each prefix length that are kept, the best. None: no limit; the search of
        Figure 1 extends the best clustering of any length. With an admissible scoring this is A*,
        for ten or twenty rows, or more where clusters are far apart.
    order : {"ascending", "descending", "random", "given"}, default "ascending"
        The order in which rows are placed: by ascending or descending marginal likelihood under the
        prior, in units of the prior and without weights; random; or that of `X`.
    max_queue : int, optional
        Clusterings in the queue at most: the beam size b of Figure 1. Default: no limit but memory.
    refine : bool or "quick", default True
        Whether to descend from the labels found by the moves of `MAPDPM`: sweeps, merges, splits
        and exchanges. Tables of up to 2,000 rows are also clustered anew a few times, and the
        results are recombined with the labels. "quick" leaves out the moves that gain little for
        their time, and takes at most half as long. Certified labels are not refined.
    allow_missing : bool, default False
        Whether NaN is a missing value, as in `MAPDPM`.
    random_state : None, int, Generator or RandomState, default None
        Source of chance for random orders and for the refinement's proposals.
    max_seconds : float, optional
        Seconds after which the fit ends, between two steps, with a `ConvergenceWarning`. A search
        that is not at its end then places rows one by one, and keeps its bound.
    verbose : bool or int, default False
        Whether to print how far the search is, or log it by the logger "dpmlite".

    Attributes
    ----------
    labels_ : ndarray of int, shape (N,)
        The cluster of each row, 0..K-1, numbered by decreasing weight.
    n_enqueued_, n_expanded_ : int
        Number of clusterings put into the queue, and of those extended by a row; of the search that
        found `labels_`.
    alphas_, alpha_scores_ : ndarray
        With ``alpha="nll"``: candidates, those tried in time, and the least `neg_log_score_` that
        each search found.
    certified_ : bool
        Whether `labels_` is proven to have the best score, up to rounding: to be the most probable
        partition, unless `prior_score` is "sizes".
    optimality_gap_ : float
        Upper bound, in nats, on the difference between `neg_log_score_` and the least that there
        is: 0 if `labels_` are certified, NaN for "inadmissible" scores.
    neg_log_score_ : float
        Minus the log of the score of `labels_`, the prior score times the density of the data. It
        is `neg_log_joint_` unless `prior_score` is "sizes".
    search_neg_log_joint_ : float
        The objective of the labels that the search found, before the refinement.
    neg_log_joint_trace_ : ndarray
        The objective after the search, and after each step of the refinement; it never rises.
    n_sweeps_, n_empty_clusters_ : int
        As in `MAPDPM`, of the refinement; 0 without.
    converged_ : bool
        Whether the labels are certified, or the refinement ended because nothing helped.
    stopped_ : {None, "max_seconds"}
        What ended the fit early; None if nothing did.
    n_clusters_, statistics_, counts_, weights_, means_, alpha_, component_, allow_missing_, prior_
        As in `MAPDPM`.
    neg_log_joint_, neg_log_loo_, n_features_in_, feature_names_in_
        As in `MAPDPM`.

    See Also
    --------
    MAPDPM : A faster search, without proofs.
    exact_posterior : All partitions of few rows.

    Notes
    -----
    Scores differ from the paper's in two ways. First, what the rows to come add to the prior is a
    bound in closed form, where the paper has greedy completions, which are slow and no bound.
    Second, "tight" bounds the contribution of the rows in between instead of taking replicas
    of the row, for in "dirichlet-multinomial" a scaled replica is not always the best row. It also
    bounds the prior row by row, which expands fewer states.

    Figure 1 has one limit, `max_queue`, for prefixes of all lengths; a `beam` for each length finds
    better labels. Once `max_queue` clusterings of a prefix length have been expanded, those of
    shorter prefixes are dropped, so that the search ends.

    References
    ----------
    .. [1] Daumé, "Fast search for Dirichlet process mixture models", 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import DPSearch
    >>> X = np.array([[0.0], [0.2], [0.1], [7.0], [7.1], [6.8]])
    >>> prior = {"m0": 0.0, "sigma2": 0.1, "tau2": 10.0}
    >>> model = DPSearch(component="normal-known-variance", prior=prior, scoring="tight", beam=None)
    >>> model.fit(X).labels_.tolist(), model.certified_
    ([0, 0, 0, 1, 1, 1], True)
    """

    def __init__(
        self,
        *,
        component: Component | Mapping[Any, str] = "auto",
        alpha: float | SearchedAlpha = 1.0,
        prior: Mapping[str, Any] | PriorChoice | None = "auto",
        alphas: Sequence[float] | npt.NDArray[Any] | None = None,
        scoring: Scoring = "inadmissible",
        prior_score: PriorScore = "partition",
        beam: int | None = 10,
        order: Order = "ascending",
        max_queue: int | None = None,
        refine: bool | Refinement = True,
        allow_missing: bool = False,
        random_state: Any = None,
        max_seconds: float | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.component = component
        self.alpha = alpha
        self.prior = prior
        self.alphas = alphas
        self.scoring = scoring
        self.prior_score = prior_score
        self.beam = beam
        self.order = order
        self.max_queue = max_queue
        self.refine = refine
        self.allow_missing = allow_missing
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Search for the most probable partition of the rows of `X`.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
            Rows, as in `MAPDPM.fit`.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            Weights of the rows, as in `MAPDPM.fit`. With ``prior="auto"`` their ratios count, and
            their mean in the choice of hyperparameters alone. With other priors a row of weight w
            stands for w equal rows that share a label. Rows of weight 0 only get a label.

        Returns
        -------
        DPSearch
            Itself, fitted.

        Raises
        ------
        ValueError, TypeError
            If `X` or a parameter breaks its rule; the message states it.
        """
        self._check_parameters()
        progress = self._new_progress()
        data = self._read(X).weighted(sample_weight)
        rng = check_random_state(self.random_state)
        table = data.take(data.has_weight())
        self._check_weights(table)
        model, table = self._find_model(table, rng, progress)
        problem = model.problem(table)
        order = row_order(problem, self.order, rng)
        best, scores = self._best(problem, order, progress)
        model, problem = replace(model, alpha=best.alpha), replace(problem, alpha=best.alpha)
        found = final_partition(table, best.labels.copy(), model.component(), model.alpha)
        verify_joint(best.score - self._log_ratio(found), found, table)
        final, refined = found, None
        if self.refine and not self._gap(best.search, found)[1]:
            context = Search(progress=progress).context(problem, rng)
            refined = refine(context, best.labels, quick=self.refine == "quick")
            final = final_partition(table, refined.labels(), model.component(), model.alpha)
            verify_joint(refined.neg_log_joint, final, table)
        self._keep(data, table, final, model.prior, model.family)
        self._keep_scores(scores)
        self._keep_proof(best.search, final)
        self._keep_refinement(refined, found.neg_log_joint)
        self.neg_log_loo_ = algorithms.neg_log_loo(final)
        self._remember_columns(X, data.n_features)
        self._keep_stop(progress)
        return self

    def _check_parameters(self) -> None:
        if not isinstance(self.alpha, str):
            check_alpha("alpha", self.alpha)
        elif self.alpha != "nll":
            raise ValueError(f"alpha must be a positive number or 'nll', got {shown(self.alpha)}")
        self._grid()
        check_choice("scoring", self.scoring, SCORINGS)
        check_choice("prior_score", self.prior_score, PRIOR_SCORES)
        check_choice("order", self.order, ORDERS)
        for name, value in (("beam", self.beam), ("max_queue", self.max_queue)):
            if value is not None:
                check_count(name, value)
        if isinstance(self.refine, str):
            check_choice("refine", self.refine, REFINES, "True, False or ")
        else:
            check_bool("refine", self.refine)
        self._check_limits()
        self._check_model_parameters()
        if self.scoring == "tight" and self._family().name not in TIGHT:
            raise ValueError(
                f"scoring 'tight' is proven for component {', '.join(map(repr, TIGHT))} only, "
                f"got {self._family().name!r}"
            )

    def _check_weights(self, table: Data) -> None:
        if self.prior_score == "partition" or table.weights is None:
            return
        others = table.weights[table.weights != 1.0]
        if len(others):
            raise ValueError(f"prior_score 'sizes' needs rows of weight 1, got {others[0]}")

    def _grid(self) -> npt.NDArray[np.float64]:
        """Candidates for alpha, in ascending order."""
        candidates = ALPHAS if self.alphas is None else check_alphas(self.alphas)
        return candidates if isinstance(self.alpha, str) else np.array([float(self.alpha)])

    def _best(
        self, problem: Problem, order: Labels, progress: Progress
    ) -> tuple[Found, list[float]]:
        """What the search finds under the best of the candidates for alpha, and all scores."""
        best, scores = None, []
        for alpha in self._grid().tolist():
            found = self._run(replace(problem, alpha=alpha), order, progress)
            scores.append(found.score)
            if best is None or found.score < best.score - TIE:
                best = found
            if progress.stop.is_set():
                break
        assert best is not None  # there is a candidate
        return best, scores

    def _run(self, problem: Problem, order: Labels, progress: Progress) -> Found:
        """The search, labels and their score: those of a greedy one if it was stopped."""
        search = algorithms.PrefixSearch(
            problem.rows,
            problem.component.like(),
            problem.alpha,
            order,
            self.scoring,
            self.beam,
            self.max_queue,
            self.prior_score,
        )
        finished = search
        if not run(search, progress.stop, progress):
            finished = greedy_search(problem, order, self.prior_score)
        labels = np.empty(len(order), dtype=np.intp)
        finished.write_labels(labels)
        return Found(problem.alpha, search, labels, finished.neg_log_joint)

    def _gap(self, search: algorithms.PrefixSearch, found: Partition) -> tuple[float, bool]:
        """The optimality gap in nats, and whether it is within rounding."""
        if self.scoring == "inadmissible":
            return float("nan"), False
        gap = found.neg_log_joint + self._log_ratio(found) - search.neg_log_bound
        return (0.0, True) if gap <= found.least_gain else (gap, False)

    def _log_ratio(self, found: Partition) -> float:
        """Log of the probability of a partition as a part of its prior score."""
        if self.prior_score == "partition":
            return 0.0
        counts = [n for n in found.component.counts if n > 0.0]
        multiplicities = Counter(round(n) for n in counts)
        score = log_prob_multiplicities(multiplicities, found.alpha)
        return log_prob_counts(counts, found.alpha) - score

    def _keep_proof(self, search: algorithms.PrefixSearch, final: Partition) -> None:
        """Keep what the search tells of the optimum, beside the partition in the end."""
        self.n_enqueued_, self.n_expanded_ = search.n_enqueued, search.n_expanded
        self.optimality_gap_, self.certified_ = self._gap(search, final)
        self.neg_log_score_ = self.neg_log_joint_ + self._log_ratio(final)

    def _keep_scores(self, scores: list[float]) -> None:
        """Keep the scores of the candidates for alpha, if it was chosen."""
        for name in ("alphas_", "alpha_scores_"):
            self.__dict__.pop(name, None)
        if isinstance(self.alpha, str):
            self.alphas_, self.alpha_scores_ = self._grid()[: len(scores)], np.array(scores)

    def _keep_refinement(self, refined: SearchResult | None, found: float) -> None:
        """Keep the joint that the search found, and what the refinement made of it."""
        trace = [found] if refined is None else [found, *refined.trace]
        self.search_neg_log_joint_ = found
        self.neg_log_joint_trace_ = np.minimum.accumulate(trace)
        self.n_sweeps_ = 0 if refined is None else refined.n_sweeps
        self.n_empty_clusters_ = 0 if refined is None else refined.n_emptied
        self.converged_ = self.certified_ or (refined is not None and refined.converged)
