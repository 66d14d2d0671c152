"""DPSearch: the estimator that searches among clusterings of prefixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpmlite import inference
from dpmlite.estimators.fitted import verify_joint
from dpmlite.estimators.mixture import MixtureEstimator
from dpmlite.estimators.validation import (
    check_bool,
    check_choice,
    check_count,
    check_positive,
    check_random_state,
    check_verbose,
)
from dpmlite.search.context import Problem
from dpmlite.search.prefix_starts import ORDERS, row_order, run
from dpmlite.search.refinement import refine
from dpmlite.search.search import Search

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite.search.context import Labels
    from dpmlite.search.result import SearchResult

SCORINGS = ("trivial", "tight", "inadmissible")

# Families whose predictive has a bound that is proven: see `log_bound` of each.
TIGHT = ("normal-known-variance", "dirichlet-multinomial", "beta-bernoulli")

# Refinements with names, besides True and False.
REFINES = ("quick",)


class DPSearch(MixtureEstimator):
    """Clustering by A* or beam search for the most probable partition.

    Rows are placed one after the other. A queue holds clusterings of prefixes; the most promising
    one is extended by a row in every possible way, until one of all rows is the most promising: the
    algorithm of Daumé [1]_. With an admissible `scoring` and no `beam` the result is the most
    probable partition there is, and proven to be so; with a beam the search is a fast heuristic.

    Parameters
    ----------
    component : str, default "normal-gamma"
        Family of the clusters, as in `MAPDPM`.
    alpha : float, default 1.0
        Concentration of the Dirichlet process.
    prior : dict, optional
        Parameters of the family's prior, as in `MAPDPM`.
    scoring : {"inadmissible", "tight", "trivial"}, default "inadmissible"
        What a prefix's score has for the rows to come, besides the best that the prior can do:

        - "inadmissible", eq. (12) of [1]_: each is in a cluster of its own. Fast; no bound.
        - "tight", section 3.3: each joins the cluster that suits it best, after other rows that
          suit it best. A bound; for "normal-known-variance", "dirichlet-multinomial" and
          "beta-bernoulli", whose predictive is known to have one.
        - "trivial", eq. (7): none lowers the joint, in units where no density is above 1. A bound.
    beam : int or None, default 10
        Prefixes of each length that are kept, the best. None: no such limit; the search is that of
        Figure 1, which goes on with the best prefix of any length. With an admissible scoring this
        is A*, for ten or twenty rows, or more where clusters are far apart.
    order : {"ascending", "descending", "random", "given"}, default "ascending"
        The order in which rows are placed: of their marginal likelihood under the prior, the least
        or the greatest first, in units of the prior and for one of the equal rows that a weight
        stands for; random; or that of `X`.
    max_queue : int, optional
        Clusterings that are kept in the queue, whatever their length: the beam size b of Figure 1.
        Default: as many as memory holds.
    refine : bool or "quick", default True
        Whether to descend from the labels found as `MAPDPM` does, by sweeps, merges, splits and
        exchanges. Up to 2,000 rows are also clustered anew a few times, and what that finds is
        combined with the labels. "quick" leaves out what takes longer than what it gains, which is
        half of the time or more. Not done if the labels are certified.
    allow_missing : bool, default False
        Whether NaN is a missing value, as in `MAPDPM`.
    random_state : None, int, Generator or RandomState, default None
        Source of chance for random orders and for the refinement's proposals.
    verbose : bool or int, default False
        Print lines on the progress.

    Attributes
    ----------
    labels_ : ndarray of int, shape (N,)
        The cluster of each row: 0..K-1, the largest cluster, by weight, first.
    n_enqueued_, n_expanded_ : int
        Clusterings that were put into the queue, and those that were extended by a row.
    certified_ : bool
        Whether `labels_` is proven to be the most probable partition, but for rounding.
    optimality_gap_ : float
        By how many nats the most probable partition may at most be better than `labels_`: 0 if it
        is certified, NaN for "inadmissible" scores, which are no bounds.
    search_neg_log_joint_ : float
        The objective of what the search found, before the refinement.
    neg_log_joint_trace_ : ndarray
        The objective after the search, and after each step of the refinement; it never rises.
    n_sweeps_, n_empty_clusters_ : int
        As in `MAPDPM`, of the refinement; 0 without.
    converged_ : bool
        Whether the labels are certified, or the refinement ended because nothing helped.
    n_clusters_, statistics_, counts_, weights_, means_, alpha_, component_, allow_missing_, prior_
        As in `MAPDPM`.
    neg_log_joint_, neg_log_loo_, n_features_in_, feature_names_in_
        As in `MAPDPM`.

    Notes
    -----
    Scores differ from the paper's in two ways. The prior is that of a partition, not eq. (2) of
    [1]_, which adds up all partitions with clusters of the same sizes; its best completion has a
    closed form. And "tight" bounds what the rows between can be instead of taking replicas of the
    row: for "dirichlet-multinomial" a scaled replica is not always what suits a row best. It also
    bounds the prior's part row by row, which expands fewer states.

    Figure 1 has one limit, `max_queue`, for prefixes of all lengths; a `beam` for each length finds
    better labels. When `max_queue` clusterings of as many rows were expanded, those of fewer rows
    are dropped: without that the search may take for ever.

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
        component: str = "normal-gamma",
        alpha: float = 1.0,
        prior: Mapping[str, Any] | None = None,
        scoring: str = "inadmissible",
        beam: int | None = 10,
        order: str = "ascending",
        max_queue: int | None = None,
        refine: bool | str = True,
        allow_missing: bool = False,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.component = component
        self.alpha = alpha
        self.prior = prior
        self.scoring = scoring
        self.beam = beam
        self.order = order
        self.max_queue = max_queue
        self.refine = refine
        self.allow_missing = allow_missing
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Search for the most probable partition of the rows of `X`.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
            Rows, as in `MAPDPM.fit`.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            A row of weight w stands for w equal rows that share a label, as in `MAPDPM.fit`.

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
        data = self._read(X).weighted(sample_weight)
        rng = check_random_state(self.random_state)
        table = data.take(data.has_weight())
        prior = self._family().prior(self.prior, table)
        component = self._component(prior)
        problem = Problem(table.rows(), component, float(self.alpha))
        search, labels = self._run(problem, rng)
        found = self._partition(table, labels.copy(), prior, problem.alpha)
        verify_joint(search.neg_log_joint, found, table)
        gap, certified = self._gap(search, found.neg_log_joint, found.least_gain)
        refined = None
        if self.refine and not certified:
            context = Search(verbose=bool(self.verbose)).context(problem, rng)
            refined = refine(context, labels, quick=self.refine == "quick")
            final = self._partition(table, refined.labels(), prior, problem.alpha)
            verify_joint(refined.neg_log_joint, final, table)
            gap, certified = self._gap(search, final.neg_log_joint, final.least_gain)
        else:
            final = found
        self._keep(data, final, prior)
        self._keep_refinement(refined, found.neg_log_joint, certified)
        self.n_enqueued_, self.n_expanded_ = search.n_enqueued, search.n_expanded
        self.certified_, self.optimality_gap_ = certified, gap
        self.neg_log_loo_ = inference.neg_log_loo(final)
        self._remember_columns(X, data.shape[1])
        return self

    def _check_parameters(self) -> None:
        check_positive("alpha", self.alpha)
        check_choice("scoring", self.scoring, SCORINGS)
        check_choice("order", self.order, ORDERS)
        for name, value in (("beam", self.beam), ("max_queue", self.max_queue)):
            if value is not None:
                check_count(name, value)
        if isinstance(self.refine, str):
            check_choice("refine", self.refine, REFINES, "True, False or ")
        else:
            check_bool("refine", self.refine)
        check_verbose(self.verbose)
        self._family()
        if self.scoring == "tight" and self.component not in TIGHT:
            raise ValueError(
                f"scoring 'tight' is proven for component {', '.join(map(repr, TIGHT))} only, "
                f"got {self.component!r}"
            )

    def _run(
        self, problem: Problem, rng: np.random.Generator
    ) -> tuple[inference.PrefixSearch, Labels]:
        """The search, when it is over, and its labels."""
        order = row_order(problem, self.order, rng)
        search = inference.PrefixSearch(
            problem.rows,
            problem.component.like(),
            problem.alpha,
            order,
            self.scoring,
            self.beam,
            self.max_queue,
        )
        run(search, bool(self.verbose))
        labels = np.empty(len(order), dtype=np.intp)
        search.write_labels(labels)
        return search, labels

    def _gap(
        self, search: inference.PrefixSearch, neg_log_joint: float, slack: float
    ) -> tuple[float, bool]:
        """By how much the optimum may be better, and whether that is nothing but rounding."""
        if self.scoring == "inadmissible":
            return float("nan"), False
        gap = neg_log_joint - search.neg_log_bound
        return (0.0, True) if gap <= slack else (gap, False)

    def _keep_refinement(self, refined: SearchResult | None, found: float, certified: bool) -> None:
        trace = [found] if refined is None else [found, *refined.trace]
        self.search_neg_log_joint_ = found
        self.neg_log_joint_trace_ = np.minimum.accumulate(trace)
        self.n_sweeps_ = 0 if refined is None else refined.n_sweeps
        self.n_empty_clusters_ = 0 if refined is None else refined.n_emptied
        self.converged_ = certified or (refined is not None and refined.converged)
