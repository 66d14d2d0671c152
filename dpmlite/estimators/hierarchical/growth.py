"""Growth of the trees of `BayesianHierarchicalClustering`, and of their leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import algorithms, core, moves, sweeps
from dpmlite.core.constants import UNPLACED

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.search.context import Labels, Problem
    from dpmlite.search.progress import Progress

# Values that a kernel call scores: pairs of nodes times columns. Ctrl-C is heeded between calls.
VALUES_PER_CALL = 2**22


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree over M leaves, in the symbols of Xu, Heller & Ghahramani (2009).

    Attributes
    ----------
    children : ndarray of int, shape (M - 1, 2)
        The two nodes of each merge.
    log_odds : ndarray, shape (M - 1,)
        Log of r_k / (1 - r_k) of each merge.
    counts : ndarray, shape (2 M - 1,)
        Weight of the rows below each node.
    log_e, log_d : ndarray, shape (2 M - 1,)
        Logs of e_k and d_k of each node.
    """

    children: npt.NDArray[np.intp]
    log_odds: npt.NDArray[np.float64]
    counts: npt.NDArray[np.float64]
    log_e: npt.NDArray[np.float64]
    log_d: npt.NDArray[np.float64]

    @property
    def n_leaves(self) -> int:
        """Number of leaves, M."""
        return len(self.children) + 1

    def lower_bound(self, alpha: float) -> float:
        """Lower bound on the log evidence: log of eq. (9) of Xu, Heller & Ghahramani (2009)."""
        return float(self.log_e[-1] - core.log_rising(alpha, float(self.counts[-1])))


def grow(
    problem: Problem,
    leaves: Labels,
    progress: Progress | None = None,
    trees: npt.NDArray[np.float64] | None = None,
) -> Tree:
    """The tree that merges the leaves greedily.

    Parameters
    ----------
    problem : Problem
        N rows, prior and alpha.
    leaves : ndarray of int, shape (N,)
        The leaf of each row, 0..M-1.
    progress : Progress, optional
        Where every tenth of the nodes is told.
    trees : ndarray, shape (M, 2), optional
        log_e and log_d of the leaves, where these are roots of trees.
    """
    forest = algorithms.Forest(problem.rows, leaves, problem.component, problem.alpha, trees)
    step = max(1, VALUES_PER_CALL // (forest.n_leaves * problem.component.n_columns))
    n_nodes, left = 2 * forest.n_leaves - 1, 1
    while left:
        before = forest.n_nodes
        left = forest.grow(step)
        tell_tenths(progress, before, forest.n_nodes, n_nodes)
    return Tree(
        np.array(forest.children, dtype=np.intp).reshape(-1, 2),
        np.array(forest.log_odds),
        np.array(forest.counts),
        np.array(forest.log_e),
        np.array(forest.log_d),
    )


def tell_tenths(progress: Progress | None, before: int, n_nodes: int, last: int) -> None:
    """Tell the number of nodes if a tenth of the `last` has been passed since `before`."""
    if progress and n_nodes * 10 // last > before * 10 // last:
        progress.tell(f"node {n_nodes:>8} of {last}")


@dataclass(frozen=True, eq=False)
class Bound:
    """A tree as a result of a search under one prior, for `ScaleSearch`.

    Attributes
    ----------
    neg_log_joint : float
        Minus the lower bound of the tree.
    leaves : ndarray of int, shape (N,)
        The leaf of each row.
    """

    neg_log_joint: float
    leaves: Labels

    def labels(self) -> Labels:
        """Labels to start a search from; `TreeSearch` needs none."""
        return self.leaves


class TreeSearch:
    """A search for `ScaleSearch` that grows a tree under each prior."""

    def best(self, problem: Problem, seeds: npt.NDArray[np.int64]) -> Bound:
        """The bound of the tree over single rows."""
        leaves = np.arange(len(problem.rows), dtype=np.intp)
        return Bound(-grow(problem, leaves).lower_bound(problem.alpha), leaves)

    def go_on(self, problem: Problem, labels: Labels, seed: int, name: str) -> Bound:
        """The bound of the tree over single rows, whatever the labels."""
        return self.best(problem, np.array([seed]))


def bayes_kmeans(problem: Problem, rng: np.random.Generator) -> Labels:
    """Labels by Bayes k-means, section 5 of Xu, Heller & Ghahramani (2009), shape (N,).

    About sqrt(N) random rows are seeds. The others, in random order, join the cluster of a seed or
    a new one, whichever has the lower joint; then the seeds may move. At last clusters are merged
    as long as that lowers the negative log joint.
    """
    n = len(problem.rows)
    order = rng.permutation(n).astype(np.intp)
    n_seeds = max(1, round(n**0.5))
    labels = np.full(n, UNPLACED, dtype=np.intp)
    labels[n - n_seeds :] = np.arange(n_seeds)
    partition = problem.partition(labels, order)
    sweeps.sweep(partition)
    moves.merge(partition)
    found = np.empty(n, dtype=np.intp)
    found[order] = np.asarray(partition.labels)
    return found
