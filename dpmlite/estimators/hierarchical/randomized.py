"""Trees of many rows, in a time that grows as N log N.

After Heller & Ghahramani, "Randomized algorithms for fast Bayesian hierarchical clustering", 2005.
A random sample of the rows is merged into an exact tree. The other rows are filtered through it:
each joins the cluster of the sample that most probably has it, or those that no cluster has. These
groups are treated alike, until all pairs of their rows can be compared. Then the clusters of all
groups are merged, again exactly. So chance decides only which pairs are compared: every r_k, and
the bound, is that of all rows below the node.

In the algorithm of 2005, the first split of the sample's tree decides, and stays as it is. Here a
cluster that a sample has divided is made whole when clusters are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite import algorithms
from dpmlite.core.constants import UNPLACED
from dpmlite.estimators.hierarchical.assembly import Assembly
from dpmlite.estimators.hierarchical.growth import grow, tell_tenths

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.hierarchical.growth import Tree
    from dpmlite.search.context import Labels, Problem
    from dpmlite.search.progress import Progress

    Floats = npt.NDArray[np.float64]

# Rows of a sample, and of the largest group of which all pairs are compared. With half of them,
# bounds of 5,000 rows in a hundred clusters are 0.1 % lower; with twice, trees take twice the time.
SAMPLE_ROWS = 2000

# How often rows are filtered: first by the clusters of the sample, then by all rows of these. The
# second time mends most of what the sample got wrong.
N_FILTERS = 3

# Parts that one group is divided into, at most.
MAX_PARTS = 32

# Rows that are filtered by one call. For each there is a number a cluster.
ROWS_PER_CALL = 2**13


def grow_randomized(
    problem: Problem, rng: np.random.Generator, progress: Progress | None = None
) -> Tree:
    """A tree over single rows, grown from random samples.

    Parameters
    ----------
    problem : Problem
        N rows, prior and alpha.
    rng : Generator
        Source of the samples.
    progress : Progress, optional
        Where every tenth of the nodes is told.

    Returns
    -------
    Tree
        That of `grow` if there are no more rows than in a sample.
    """
    return RandomizedGrowth(problem, rng, progress).tree()


class RandomizedGrowth:
    """The growth of one tree; parameters are those of `grow_randomized`."""

    def __init__(
        self, problem: Problem, rng: np.random.Generator, progress: Progress | None
    ) -> None:
        self._problem, self._rng, self._progress = problem, rng, progress
        self._assembly = Assembly(len(problem.rows))

    def tree(self) -> Tree:
        """The finished tree."""
        rows = np.arange(len(self._problem.rows), dtype=np.intp)
        labels, nodes = self._leaves(rows)
        self._add(self._merged(rows, labels, nodes), nodes)
        return self._assembly.tree()

    def _leaves(self, rows: Labels) -> tuple[Labels, Labels]:
        """Nodes to be merged into a tree of some rows, and which of them each row is in."""
        if len(rows) <= SAMPLE_ROWS:
            return np.arange(len(rows), dtype=np.intp), rows
        labels, nodes = np.empty_like(rows), rows[:0]
        for members in members_of(groups_of(self._problem.of_rows(rows), self._rng)):
            clusters, roots = self._clusters(rows[members])
            labels[members] = len(nodes) + clusters
            nodes = np.append(nodes, roots)
        return labels, nodes

    def _clusters(self, rows: Labels) -> tuple[Labels, Labels]:
        """The cluster of each of some rows in a tree of them, and the node of each cluster."""
        labels, nodes = self._leaves(rows)
        tree = self._merged(rows, labels, nodes)
        clusters = np.empty_like(nodes)
        algorithms.cut(tree.children, tree.log_odds, clusters)
        return clusters[labels], self._add(tree, nodes, clusters)

    def _merged(self, rows: Labels, labels: Labels, nodes: Labels) -> Tree:
        """The exact tree over nodes that some rows are in."""
        trees = None if len(rows) <= SAMPLE_ROWS else self._assembly.evidence(nodes)
        return grow(self._problem.of_rows(rows), labels, trees=trees)

    def _add(self, tree: Tree, nodes: Labels, clusters: Labels | None = None) -> Labels:
        before = self._assembly.n_nodes
        roots = self._assembly.add(tree, nodes, clusters)
        last = 2 * len(self._problem.rows) - 1
        tell_tenths(self._progress, before, self._assembly.n_nodes, last)
        return roots


def members_of(groups: Labels) -> list[Labels]:
    """The rows of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def groups_of(problem: Problem, rng: np.random.Generator) -> Labels:
    """Labels of groups, none of which has more than half of the rows, shape (N,).

    The groups are the clusters of a sample, with the rows that are filtered to them, and the rows
    for which a new cluster is more probable. If one has more than half of the rows, it is divided.
    """
    labels = np.full(len(problem.rows), UNPLACED, dtype=np.intp)
    sample = np.sort(rng.choice(len(labels), SAMPLE_ROWS, replace=False)).astype(np.intp)
    tree = grow(problem.of_rows(sample), np.arange(SAMPLE_ROWS, dtype=np.intp))
    clusters = np.empty_like(sample)
    algorithms.cut(tree.children, tree.log_odds, clusters)
    labels[sample] = clusters
    for _ in range(N_FILTERS):
        labels = filtered(problem, labels)
    labels[labels == UNPLACED] = labels.max() + 1
    sizes = np.bincount(labels)
    largest = np.flatnonzero(labels == sizes.argmax()).astype(np.intp)
    if 2 * len(largest) > len(labels):
        labels[largest] = len(sizes) + parts_of(problem.of_rows(largest), rng)
    return labels


def filtered(problem: Problem, labels: Labels) -> Labels:
    """The most probable cluster of each row, -1 for a new one, as if labelled rows stood for all.

    Parameters
    ----------
    problem : Problem
    labels : ndarray of int, shape (N,)
        The cluster of each row, 0..K-1; -1 for rows that do not count.

    Returns
    -------
    ndarray of int, shape (N,)
        Clusters without rows are gone from the numbers.
    """
    n_clusters = int(labels.max()) + 1
    if n_clusters == 0:  # a great alpha: no cluster has kept a row
        return labels
    component = problem.partition(labels.copy()).component
    rows_per_label = len(labels) / np.count_nonzero(labels != UNPLACED)
    counts = rows_per_label * np.array(component.counts[:n_clusters])
    best = most_probable(problem, component, np.log(np.append(counts, problem.alpha)))
    used = np.bincount(best, minlength=n_clusters + 1) > 0
    used[n_clusters] = False
    return np.where(used, np.cumsum(used) - 1, UNPLACED)[best]


def parts_of(problem: Problem, rng: np.random.Generator) -> Labels:
    """Labels of parts, none of which has more than half of the rows, shape (N,).

    Rows join the random row that is most alike. If most join one, as equal rows do, parts are
    random.
    """
    n = len(problem.rows)
    n_parts = min(MAX_PARTS, 2 * n // SAMPLE_ROWS + 2)
    seeds = rng.choice(n, n_parts, replace=False).astype(np.intp)
    component = problem.of_rows(seeds).partition(np.arange(n_parts, dtype=np.intp)).component
    labels = most_probable(problem, component, np.append(np.zeros(n_parts), -np.inf))
    if 2 * np.bincount(labels).max() > n:
        return (rng.permutation(n) % n_parts).astype(np.intp)
    return labels


def most_probable(problem: Problem, component: families.Component, log_weights: Floats) -> Labels:
    """The slot of a mixture that most probably has each row, shape (N,)."""

    def of_few(first: int) -> Labels:
        few = np.arange(first, min(first + ROWS_PER_CALL, len(problem.rows)), dtype=np.intp)
        probabilities = np.empty((len(few), len(log_weights)))
        rows = problem.rows.take(few)
        algorithms.mixture_responsibilities(rows, component, log_weights, probabilities)
        return np.asarray(probabilities.argmax(axis=1), dtype=np.intp)

    return np.concatenate(list(map(of_few, range(0, len(problem.rows), ROWS_PER_CALL))))
