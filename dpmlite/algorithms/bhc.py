"""Bayesian hierarchical clustering: trees are merged in pairs, the most probable merge first.

Equation numbers are those of Xu, Heller & Ghahramani (2009). With f(D) = alpha Gamma(n) p(D | H_1)
and e(T) = d p(D | T), the recursions for pi_k and d_k turn eq. (7) and (8) into

    e(T_k) = f(D_k) + e(T_i) e(T_j),   r_k = f(D_k) / e(T_k),

for pi_k = alpha Gamma(n_k) / d_k and 1 - pi_k = d_i d_j / d_k. So e(T_k) is the sum of eq. (5)
without its denominator, over the partitions that are consistent with the tree.

Pairs are compared by log r_k / (1 - r_k) = log f(D_k) - log e(T_i) - log e(T_j), which still has
digits where r_k rounds to 1.
"""

from math import inf, log

from dpmlite.algorithms.leaves import rows_of_leaves
from dpmlite.algorithms.trees import log_add
from dpmlite.core.constants import NO_NODE, TIE
from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.core.special import log_gamma
from dpmlite.families.component import Component


class Forest:
    """Trees over some rows, merged until one is left.

    Nodes are numbered as they are made: the leaves are 0..M-1, and merge i makes node M + i. Each
    root keeps its best partner among the roots before it. If that one has been merged, the root
    looks for another one only when its pair would be merged next: the odds of a pair never change,
    so the odds that it keeps are never too low.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        The data.
    leaves : sequence of int, length N
        The leaf of each row, in 0..M-1; every leaf has a row. Rows of a leaf share a cluster in
        every partition that is summed over.
    component : Component
        The family and its prior; it does not change.
    alpha : float
        Concentration of the Dirichlet process.
    trees : sequence of pairs of float, (M, 2), optional
        log e and log d of leaves that are trees themselves. Default: each leaf is one cluster.

    Attributes
    ----------
    n_leaves : int
        M.
    n_nodes : int
        Number of nodes made so far.
    children : list of (int, int)
        The nodes of each merge, the earlier one first.
    log_odds : list of float
        log r_k / (1 - r_k) of each merge, eq. (8).
    counts : list of float
        Rows below each node, by weight.
    log_f : list of float
        log of alpha Gamma(n_k) p(D_k | H_1), eq. (6), of each node.
    log_e : list of float
        log of d_k p(D_k | T_k), eq. (7), of each node.
    log_d : list of float
        log d_k of each node.

    Raises
    ------
    ValueError
        If there is no row, a leaf has no row, `leaves` or `trees` has the wrong length, rows have
        the wrong width, or `alpha` is not positive.

    Notes ----- Log odds that differ by less than 1e-8 (in large tables, 1e-14 per cell) are equal.
    Among equally good partners a node takes the first, and among equally good pairs the first node
    is merged.
    """

    def __init__(
        self,
        X: Rows | Values,
        leaves: Values,
        component: Component,
        alpha: float,
        trees: Values | None = None,
    ) -> None:
        self._X = as_rows(X)
        component._check_rows(self._X)
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {float(alpha)}")
        self._members = rows_of_leaves(leaves, len(self._X))
        if trees is not None and len(trees) != len(self._members):
            raise ValueError(f"trees must have {len(self._members)} rows, got {len(trees)}")
        self._trees = trees
        self._log_alpha = log(alpha)
        self._slack = TIE * max(1.0, 1e-6 * len(self._X) * component.n_columns)
        self._component = component.like()  # slot k: node k
        self._roots: list[int] = []  # ascending
        self._partner: dict[int, int] = {}
        self._best: dict[int, float] = {}  # log odds with the partner
        self.n_leaves = len(self._members)
        self.children: list[tuple[int, int]] = []
        self.log_odds: list[float] = []
        self.log_f: list[float] = []
        self.log_e: list[float] = []
        self.log_d: list[float] = []

    @property
    def n_nodes(self) -> int:
        return len(self.log_f)

    @property
    def counts(self) -> list[float]:
        return list(self._component.counts)

    def grow(self, n_nodes: int) -> int:
        """Make further nodes: first the leaves, then merges.

        Parameters
        ----------
        n_nodes : int
            Number of nodes, at most.

        Returns
        -------
        int
            Number of nodes that are still to be made; a tree has 2 M - 1.
        """
        last = 2 * self.n_leaves - 1
        for _ in range(min(n_nodes, last - self.n_nodes)):
            self._component.resize(self.n_nodes + 1)
            if self.n_nodes < self.n_leaves:
                self._add_leaf()
            else:
                self._merge(*self._best_pair())
            self._roots.append(self.n_nodes - 1)
            self._find_partner(self.n_nodes - 1)
        return last - self.n_nodes

    def _add_leaf(self) -> None:
        """Make the node of the next leaf."""
        node = self.n_nodes
        for i in self._members[node]:
            self._component.add(self._X.values(i), node, self._X.weight(i))
        self._weigh(node)
        log_d = self._log_alpha + log_gamma(self._component.counts[node])
        tree = (self.log_f[node], log_d) if self._trees is None else self._trees[node]
        self.log_e.append(tree[0])
        self.log_d.append(tree[1])

    def _merge(self, i: int, j: int) -> None:
        """Make a node of two roots: eq. (7) and the recursion for d_k."""
        node = self.n_nodes
        self._component.copy(node, self._component, j)
        self._component.merge(node, self._with_copy(i))
        self._component.resize(node + 1)
        self._weigh(node)
        apart = self.log_e[i] + self.log_e[j]
        self.log_e.append(log_add(self.log_f[node], apart))
        log_gamma_n = log_gamma(self._component.counts[node])
        self.log_d.append(log_add(self._log_alpha + log_gamma_n, self.log_d[i] + self.log_d[j]))
        self.log_odds.append(self.log_f[node] - apart)
        self.children.append((i, j))
        self._roots.remove(i)
        self._roots.remove(j)

    def _with_copy(self, i: int) -> int:
        """Copy slot `i` to a new last slot; return its number."""
        n_slots = self._component.n_slots
        self._component.resize(n_slots + 1)
        self._component.copy(n_slots, self._component, i)
        return n_slots

    def _weigh(self, node: int) -> None:
        """Append log f of a new node, eq. (6)."""
        n = self._component.counts[node]
        self.log_f.append(self._log_alpha + log_gamma(n) + self._component.log_marginal(node))

    def _best_pair(self) -> tuple[int, int]:
        """Find the roots to merge; a root whose partner is gone gets another one here."""
        while True:
            most = max(self._best[k] for k in self._roots)
            node = next(k for k in self._roots if self._best[k] >= most - self._slack)
            if self._partner[node] in self._roots:
                return self._partner[node], node
            self._find_partner(node)

    def _find_partner(self, node: int) -> None:
        """Find the best partner of a root among the roots before it."""
        odds = [(self._log_odds(k, node), k) for k in self._roots if k < node]
        most = max((o for o, _ in odds), default=inf)
        best, partner = next(
            (pair for pair in odds if pair[0] >= most - self._slack), (-inf, NO_NODE)
        )
        self._best[node], self._partner[node] = best, partner

    def _log_odds(self, i: int, j: int) -> float:
        """Log r_k / (1 - r_k) of eq. (8) for two roots."""
        n = self._component.counts[i] + self._component.counts[j]
        log_f = self._log_alpha + log_gamma(n) + self._component.log_marginal_merged(i, j)
        return log_f - self.log_e[i] - self.log_e[j]
