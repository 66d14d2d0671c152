"""Growing the trees of `BayesianHierarchicalClustering`, and what they grow from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import inference, models
from dpmlite.estimators.problem import UNPLACED

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.problem import Labels, Problem

# Values that are scored between two looks at Ctrl-C: one for each pair of nodes and column.
CELLS_AT_A_TIME = 2**22


@dataclass(frozen=True, eq=False)
class Tree:
    """A finished `inference.Forest`, as arrays.

    Attributes
    ----------
    children : ndarray of int, shape (M - 1, 2)
    log_odds : ndarray, shape (M - 1,)
    counts, log_e, log_d : ndarray, shape (2 M - 1,)
    """

    children: npt.NDArray[np.intp]
    log_odds: npt.NDArray[np.float64]
    counts: npt.NDArray[np.float64]
    log_e: npt.NDArray[np.float64]
    log_d: npt.NDArray[np.float64]

    @property
    def n_leaves(self) -> int:
        """M."""
        return len(self.children) + 1

    def lower_bound(self, alpha: float) -> float:
        """Log of eq. (9) of Xu, Heller & Ghahramani (2009)."""
        return float(self.log_e[-1] - models.log_rising(alpha, float(self.counts[-1])))


def grow(
    problem: Problem,
    leaves: Labels,
    verbose: bool = False,
    trees: npt.NDArray[np.float64] | None = None,
) -> Tree:
    """One tree over the leaves, in steps, so that Ctrl-C need not wait for its end."""
    forest = inference.Forest(problem.rows, leaves, problem.component, problem.alpha, trees)
    step = max(1, CELLS_AT_A_TIME // (forest.n_leaves * problem.component.n_columns))
    n_nodes, left = 2 * forest.n_leaves - 1, 1
    while left:
        before = forest.n_nodes
        left = forest.grow(step)
        if verbose and forest.n_nodes * 10 // n_nodes > before * 10 // n_nodes:
            print(f"node {forest.n_nodes:>8} of {n_nodes}", flush=True)
    return Tree(
        np.array(forest.children, dtype=np.intp).reshape(-1, 2),
        np.array(forest.log_odds),
        np.array(forest.counts),
        np.array(forest.log_e),
        np.array(forest.log_d),
    )


def joined(branches: list[Tree], members: list[Labels], trunk: Tree) -> Tree:
    """The tree over all rows, from trees over some of them each, and one whose leaves are these.

    Merges are numbered branch after branch, then those of the trunk.
    """
    n_rows = n_nodes = sum(map(len, members))
    roots, children = [], []
    for branch, rows in zip(branches, members, strict=True):
        node = np.concatenate([rows, n_nodes + np.arange(len(rows) - 1)])
        children.append(node[branch.children])
        roots.append(node[-1])
        n_nodes += len(rows) - 1
    node = np.concatenate([roots, n_nodes + np.arange(len(roots) - 1)])
    children.append(node[trunk.children])

    def of_nodes(name: str) -> npt.NDArray[np.float64]:
        parts = [getattr(branch, name) for branch in branches]
        leaves = np.empty(n_rows)
        leaves[np.concatenate(members)] = np.concatenate(
            [part[: len(rows)] for part, rows in zip(parts, members, strict=True)]
        )
        merges = [part[len(rows) :] for part, rows in zip(parts, members, strict=True)]
        return np.concatenate([leaves, *merges, getattr(trunk, name)[len(roots) :]])

    log_odds = np.concatenate([tree.log_odds for tree in (*branches, trunk)])
    earlier_first = np.sort(np.concatenate(children), axis=1).astype(np.intp)
    return Tree(earlier_first, log_odds, of_nodes("counts"), of_nodes("log_e"), of_nodes("log_d"))


@dataclass(frozen=True, eq=False)
class Bound:
    """What `ScaleSearch` must know of a tree: minus its bound, and labels that nobody needs."""

    objective: float
    leaves: Labels

    def labels(self) -> Labels:
        """The leaves."""
        return self.leaves


class TreeSearch:
    """Trees as `ScaleSearch` wants them: each is grown from scratch."""

    def best(self, problem: Problem, seeds: npt.NDArray[np.int64]) -> Bound:
        """The tree over all rows."""
        leaves = np.arange(len(problem.rows), dtype=np.intp)
        return Bound(-grow(problem, leaves).lower_bound(problem.alpha), leaves)

    def climb_on(self, problem: Problem, labels: Labels, seed: int, name: str) -> Bound:
        """The same."""
        return self.best(problem, np.array([seed]))


def bayes_kmeans(problem: Problem, rng: np.random.Generator) -> Labels:
    """Labels by Bayes k-means: section 5 of Xu, Heller & Ghahramani (2009).

    Rows in random order join a seed or a new cluster, whichever the joint prefers; the seeds, as
    many as the square root of the rows, come last and may leave their clusters. Then clusters are
    merged while that improves the joint.
    """
    n = len(problem.rows)
    order = rng.permutation(n).astype(np.intp)
    n_seeds = max(1, round(n**0.5))
    labels = np.full(n, UNPLACED, dtype=np.intp)
    labels[n - n_seeds :] = np.arange(n_seeds)
    partition = problem.partition(labels, order)
    inference.sweep(partition)
    inference.merge(partition)
    found = np.empty(n, dtype=np.intp)
    found[order] = np.asarray(partition.labels)
    return found
