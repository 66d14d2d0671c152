"""The estimator `BayesianHierarchicalClustering`."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from dpmlite import algorithms
from dpmlite.core.constants import UNPLACED
from dpmlite.estimators.bases.estimator import all_or_nothing
from dpmlite.estimators.bases.mixture import MixtureEstimator
from dpmlite.estimators.default_model.automatic import most_probable_labels
from dpmlite.estimators.default_model.choose_prior import ScaledPrior, draw_sample
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.fitted.partitions import final_partition, fitted_component
from dpmlite.estimators.hierarchical.assembly import Assembly
from dpmlite.estimators.hierarchical.growth import TreeSearch, bayes_kmeans, grow
from dpmlite.estimators.hierarchical.randomized import grow_randomized, members_of
from dpmlite.estimators.hierarchical.tree import AlternativeTree, linkage, relocate
from dpmlite.estimators.inputs.choices import PriorOrScales, TreeApproximation
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.inputs.parameters import (
    check_alpha,
    check_choice,
    check_count,
    check_random_state,
    check_verbose,
)
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.priors.moments import Moments
from dpmlite.search.progress import Progress
from dpmlite.search.result import first_of_best

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.default_model.model import Model
    from dpmlite.estimators.hierarchical.growth import Tree
    from dpmlite.estimators.inputs.choices import Component, Prior
    from dpmlite.search.context import Labels, Problem

APPROXIMATIONS: tuple[str, ...] = get_args(TreeApproximation)
PRIOR_CHOICES: tuple[str, ...] = get_args(PriorOrScales)

# ``prior="nll"`` starts from each of these factors of the width, for trees are greedy and the bound
# has many local optima. Each start grows some twenty trees over a random sample of rows.
START_FACTORS = (1.0, 2.0**-4)
SAMPLE_ROWS = 500

# Rows of a cluster of `MAPDPM` up to which all pairs are compared.
MAX_EXACT_GROUP = 5000


class BayesianHierarchicalClustering(MixtureEstimator):
    """A tree of merges, each with the probability that it is one cluster.

    Bayesian hierarchical clustering (BHC) of [1]_ and [2]_ repeatedly merges the pair of trees with
    the highest probability r_k that their rows are one cluster, against all partitions that are
    consistent with the two trees. The result is a tree, clusters, a lower bound on the evidence of
    the Dirichlet process mixture, and a density.

    Parameters
    ----------
    component : str, default "auto"
        Family of the clusters, as in `MAPDPM`.
    alpha : float, default 1.0
        Concentration of the Dirichlet process.
    prior : {"auto", "paper", "nll"} or dict, default "auto"
        Hyperparameters of the family, as in `MAPDPM`. "auto" takes those that `MAPDPM` chooses, and
        merges the rows with equal values spread, each of which counts whole. "paper" expects
        clusters as wide as the table. "nll" multiplies the scales of "paper", as `MAPDPM` does, by
        the factors with the greatest lower bound, chosen on 500 rows at most.
    approximate : {None, "bayes-kmeans", "map-dpm", "randomized"}, default "map-dpm"
        None, the algorithm of the papers: all pairs of rows are compared. The time grows as N^2,
        and what the first merges join wrongly stays together.

        - "bayes-kmeans", section 5 of [2]_: rows join about sqrt(N) random seeds or new clusters,
          one by one; then clusters are merged as long as the joint improves. These clusters are the
          leaves.
        - "map-dpm": the rows of each cluster of `MAPDPM` are merged into a tree, and then these
          trees. Every row is a leaf. The bound is above the joint of the clusters, and mostly
          tighter than that of None. A cluster of more than 5000 rows gets a "randomized" tree.
        - "randomized", after [3]_: the other rows are filtered through the tree of a random sample
          of 2000, each to the cluster that most probably has it. The rows of each cluster are
          merged in the same way, and then the clusters of all. Every row is a leaf. The time grows
          as N log N, and up to 2000 rows the tree is that of None.
    alternative_trees : bool or int, default False
        Whether to relocate branches at each node, section 4 of [2]_; or the first node at which to
        do so, from M to 2 M - 2 for M leaves.
    allow_missing : bool, default False
        Whether NaN is a missing value, as in `MAPDPM`.
    random_state : None, int, Generator or RandomState, default None
        Source of chance for ``prior="auto"``, for the sample of rows of ``prior="nll"``, for
        `approximate`, and for `sample`.
    verbose : bool or int, default False
        Whether to print a line for every tenth of the nodes, or log it by the logger "dpmlite".

    Attributes
    ----------
    labels_ : ndarray of int, shape (N,)
        The cluster of each row, numbered by decreasing weight: the tree is cut from the root down
        at nodes with r_k < 0.5. `predict`, `predict_proba` and `sample` use these clusters, and
        these attributes describe them, as in `MAPDPM`: `n_clusters_`, `statistics_`, `counts_`,
        `weights_`, `means_`, `alpha_`, `neg_log_joint_`. ``MAPDPM(init=model.labels_)`` improves
        them.
    n_leaves_ : int
        Number of leaves, M: that of rows of positive weight, or fewer with `approximate`.
    leaves_ : ndarray of int, shape (N,)
        The leaf of each row, 0..M-1; -1 for rows without weight.
    children_ : ndarray of int, shape (M - 1, 2)
        The two nodes of each merge, as in scikit-learn's ``AgglomerativeClustering``: leaves are
        0..M-1, merge i makes node M + i.
    linkage_ : ndarray, shape (M - 1, 4)
        Linkage matrix for scipy's ``dendrogram``: children, height, leaves below. The height is
        -log r_k, or that of the lowest node above if that is less, so that clusters are the trees
        below a height of log 2.
    log_r_ : ndarray, shape (M - 1,)
        Log probability that the rows below a node are one cluster, eq. (8).
    log_odds_ : ndarray, shape (M - 1,)
        Log of r_k / (1 - r_k), which is precise where r_k rounds to 1.
    node_counts_ : ndarray, shape (2 M - 1,)
        Weight of the rows below each node.
    log_evidence_bound_ : float
        Lower bound on log p(X | alpha, prior), eq. (9), in nats, every constant included. With
        weights, only partitions that keep the copies of a row together count.
    log_evidence_approximation_ : float
        log p(X | T) of eq. (7), which is no bound.
    log_increments_ : ndarray, shape (M - 1, 2)
        With `alternative_trees`: log of the term that the relocation of the first and of the second
        branch of each node adds to the bound, eq. (12); minus infinity for nodes before the first
        to be relocated, and for nodes of two leaves. Large values mark uncertain clusters.
    log_evidence_bound_alternative_ : float
        With `alternative_trees`: the tighter lower bound of Theorem 1, with all increments.
    training_rows_ : dict
        A copy of the rows that were fitted, for `score_samples`.
    component_, allow_missing_, prior_ : str, bool, dict
        Family, treatment of NaN and prior that were used.
    n_features_in_ : int
        D.
    feature_names_in_ : ndarray of str, shape (D,)
        Column names, if `X` was a data frame.

    See Also
    --------
    MAPDPM : One partition, which the tree's labels may start.
    log_evidence_exact : What the bounds of the tree bound.
    dpmlite.plotting.plot_dendrogram : The tree as a picture.

    References
    ----------
    .. [1] Heller & Ghahramani, "Bayesian hierarchical clustering", 2005.
    .. [2] Xu, Heller & Ghahramani, "Tree-based inference for Dirichlet process mixtures", 2009.
    .. [3] Heller & Ghahramani, "Randomized algorithms for fast Bayesian hierarchical clustering",
       2005.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import BayesianHierarchicalClustering
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 10)])
    >>> model = BayesianHierarchicalClustering().fit(X)
    >>> model.n_clusters_, model.children_.shape
    (2, (99, 2))
    """

    prior_choices = PRIOR_CHOICES

    def __init__(
        self,
        *,
        component: Component | Mapping[Any, str] = "auto",
        alpha: float = 1.0,
        prior: Mapping[str, Any] | PriorOrScales | None = "auto",
        approximate: TreeApproximation | None = "map-dpm",
        alternative_trees: bool | int = False,
        allow_missing: bool = False,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.component = component
        self.alpha = alpha
        self.prior = prior
        self.approximate = approximate
        self.alternative_trees = alternative_trees
        self.allow_missing = allow_missing
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Merge the rows of `X` into one tree.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
            Rows, as in `MAPDPM.fit`.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            Weights of the rows, as in `DPSearch.fit`.

        Returns
        -------
        BayesianHierarchicalClustering
            Itself, fitted.

        Raises
        ------
        ValueError, TypeError
            If `X` or a parameter breaks its rule; the message states it.
        """
        self._check_parameters()
        progress = Progress(bool(self.verbose))
        data = self._read(X).weighted(sample_weight)
        used = data.has_weight()
        table = data.take(used)
        rng = check_random_state(self.random_state)
        model, table = self._find_model(table, rng, progress)
        problem = model.problem(table)
        leaves = self._leaves(problem, rng)
        self._check_start(int(leaves.max()) + 1)
        if self.approximate == "map-dpm":
            groups = most_probable_labels(model, table, rng, progress)
            tree = self._grow_nested(problem, groups, rng, progress)
        elif self.approximate == "randomized":
            tree = grow_randomized(problem, rng, progress)
        else:
            tree = grow(problem, leaves, progress)
        self._keep_tree(tree, leaves, used)
        labels = np.empty(self.n_leaves_, dtype=np.intp)
        algorithms.cut(self.children_, self.log_odds_, labels)
        final = final_partition(table, labels[leaves], model.component(), model.alpha)
        self._keep(data, table, final, model.prior, model.family)
        self.training_rows_ = table.to_dict()
        self._keep_increments(tree.log_e)
        self._remember_columns(X, data.n_features)
        return self

    def score_samples(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log predictive density of new rows, averaged over the tree's partitions, in nats.

        Heller & Ghahramani (2005) weight the predictive density of each node by omega_k, the
        product of its r_k and the 1 - r_i of the nodes above: the probability that it is a cluster
        of a partition consistent with the tree. These weights do not sum to 1. Here they are
        omega_k n_k / (N + alpha), and alpha / (N + alpha) for a new cluster, as in the Dirichlet
        process, so that the density integrates to 1.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (L, D)

        Returns
        -------
        ndarray, shape (L,)

        Raises
        ------
        NotFittedError, ValueError, TypeError
            As `predict`.
        """
        rows = self._read_new(X).rows()
        weights = np.empty(2 * self.n_leaves_)
        algorithms.log_node_weights(
            self.children_, self.log_odds_, self.node_counts_, self.alpha_, weights
        )
        out = np.empty(len(rows))
        algorithms.log_mixture_density(rows, self._nodes(), weights, out)
        return out

    def alternative_clusterings(self, n_trees: int = 1) -> list[AlternativeTree]:
        """The alternative trees that add most to the lower bound, and their clusters.

        Parameters
        ----------
        n_trees : int, default 1
            Number of trees at most.

        Returns
        -------
        list of AlternativeTree
            By decreasing `AlternativeTree.log_increment`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If the model was fitted without `alternative_trees`.
        """
        n_trees = check_count("n_trees", n_trees)
        require_fitted(self, "statistics_")
        if not hasattr(self, "log_increments_"):
            raise ValueError("alternative_trees must be True or a node in fit, got False")
        best = np.argsort(-self.log_increments_.ravel(), kind="stable")[:n_trees]
        found = (divmod(int(at), 2) for at in best if self.log_increments_.flat[at] > -np.inf)
        return [self._alternative(merge, side) for merge, side in found]

    def _check_parameters(self) -> None:
        self._check_model_parameters()
        check_alpha("alpha", self.alpha)
        if self.approximate is not None:
            check_choice("approximate", self.approximate, APPROXIMATIONS, "None or ")
        if not isinstance(self.alternative_trees, bool | np.bool_ | Integral):
            raise ValueError(
                "alternative_trees must be True, False or the number of a node, "
                f"got {shown(self.alternative_trees)}"
            )
        check_verbose(self.verbose)

    def _find_model(
        self, table: Data, rng: np.random.Generator, progress: Progress | None = None
    ) -> tuple[Model, Data]:
        if not (isinstance(self.prior, str) and self.prior == "nll"):
            return super()._find_model(table, rng, progress)
        sample = table.take(draw_sample(table, SAMPLE_ROWS, rng))
        scaled = ScaledPrior(self._family(), table, Moments.of(table), sample)
        default = self._model(scaled.family, table, scaled.default)

        def problem_of(rows: Data, prior: Prior) -> Problem:
            return replace(default, prior=prior).problem(rows)

        seeds = np.zeros(1, dtype=np.int64)
        found = [scaled.choose(TreeSearch(), problem_of, seeds, width) for width in START_FACTORS]
        slack = default.problem(sample).worthwhile_gain(sample.shape[0])
        best = first_of_best([objective for _, objective in found], slack)
        return replace(default, prior=found[best][0]), table

    def _leaves(self, problem: Problem, rng: np.random.Generator) -> Labels:
        if self.approximate == "bayes-kmeans":
            return bayes_kmeans(problem, rng)
        return np.arange(len(problem.rows), dtype=np.intp)

    def _grow_nested(
        self, problem: Problem, groups: Labels, rng: np.random.Generator, progress: Progress
    ) -> Tree:
        """The tree that merges the rows of each group, and then the groups."""
        assembly = Assembly(len(groups))
        roots = np.empty(int(groups.max()) + 1, dtype=np.intp)
        for k, rows in enumerate(members_of(groups)):
            group = problem.of_rows(rows)
            if len(rows) > MAX_EXACT_GROUP:
                branch = grow_randomized(group, rng, progress)
            else:
                branch = grow(group, np.arange(len(rows), dtype=np.intp), progress)
            roots[k] = assembly.add(branch, rows)[0]
        assembly.add(grow(problem, groups, progress, assembly.evidence(roots)), roots)
        return assembly.tree()

    def _keep_tree(self, tree: Tree, leaves: Labels, used: npt.NDArray[np.bool_]) -> None:
        """Keep the tree, and the leaf of each row that is `used`; others have no leaf."""
        self.n_leaves_ = tree.n_leaves
        self.leaves_ = np.full(len(used), UNPLACED, dtype=np.intp)
        self.leaves_[used] = leaves
        self.children_, self.log_odds_ = tree.children, tree.log_odds
        self.node_counts_ = tree.counts
        with np.errstate(under="ignore"):
            self.log_r_ = -np.logaddexp(0.0, -self.log_odds_)
        self.linkage_ = linkage(self.children_, self.log_r_)
        self.log_evidence_bound_ = tree.lower_bound(float(self.alpha))
        self.log_evidence_approximation_ = float(tree.log_e[-1] - tree.log_d[-1])

    def _check_start(self, n_leaves: int) -> None:
        """Raise ValueError if `alternative_trees` is a number, but not that of a merge."""
        start, low, high = self.alternative_trees, n_leaves, 2 * n_leaves - 2
        if not isinstance(start, bool | np.bool_) and not low <= start <= high:
            raise ValueError(f"alternative_trees must be a node from {low} to {high}, got {start}")

    def _keep_increments(self, log_e: npt.NDArray[np.float64]) -> None:
        """Keep what relocated branches add to the bound, from the logs of e_k of all nodes."""
        start = self.alternative_trees
        for name in ("log_increments_", "log_evidence_bound_alternative_"):
            self.__dict__.pop(name, None)
        if isinstance(start, bool | np.bool_) and not start:
            return
        found = np.empty((self.n_leaves_ - 1, 2))
        algorithms.log_increments(self._nodes(), self.children_, log_e, self.alpha_, found)
        if not isinstance(start, bool | np.bool_):
            found[: start - self.n_leaves_] = -np.inf
        self.log_increments_ = found
        terms = np.append(found.ravel(), self.log_evidence_bound_)
        with np.errstate(under="ignore"):
            self.log_evidence_bound_alternative_ = float(np.logaddexp.reduce(terms))

    def _nodes(self) -> families.Component:
        """A component with a slot for each node, and an empty one."""
        component = fitted_component(self)
        rows = Data.from_dict(self.training_rows_).rows()
        algorithms.hold(rows, self.leaves_[self.leaves_ != UNPLACED], component, self.children_)
        return component

    def _alternative(self, merge: int, side: int) -> AlternativeTree:
        """The tree with a branch of the merge relocated, and its most probable clusters."""
        children, log_odds = relocate(self.children_, self.log_odds_, merge, side)
        leaf_labels = np.empty(self.n_leaves_, dtype=np.intp)
        algorithms.cut(children, log_odds, leaf_labels)
        used = self.leaves_ != UNPLACED
        labels = np.full(len(used), UNPLACED, dtype=np.intp)
        weights = self.training_rows_["weights"]
        labels[used] = largest_first(leaf_labels[self.leaves_[used]], weights)
        increment = float(self.log_increments_[merge, side])
        return AlternativeTree(merge + self.n_leaves_, increment, children, labels)
