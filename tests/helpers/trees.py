"""Bayesian hierarchical clustering by its definition, and the partitions that a tree stands for.

Equation numbers are those of Xu, Heller & Ghahramani (2009). Nothing here is shared with
the library.
"""

from math import exp, lgamma, log

import numpy as np


def definition(X, log_marginal, alpha):
    """Children and log r_k of each merge: eq. (6) to (8) for all pairs, at every merge.

    Of r_k whose log odds are within 1e-8, the pair whose later node came first is merged; of those,
    the one whose earlier node did.
    """
    nodes = {i: ([i], log_marginal(X[[i]]), log(alpha)) for i in range(len(X))}
    children, log_odds = [], []
    while len(nodes) > 1:
        found = {
            (j, i): hypotheses(X, log_marginal, alpha, nodes[i], nodes[j])
            for i in nodes
            for j in nodes
            if i < j
        }
        most = max(one - more for one, more, _ in found.values())
        j, i = min(pair for pair, (one, more, _) in found.items() if one - more >= most - 1e-8)
        one, more, log_d = found[j, i]
        new = len(X) + len(children)
        nodes[new] = (nodes.pop(i)[0] + nodes.pop(j)[0], np.logaddexp(one, more), log_d)
        children.append((i, j))
        log_odds.append(one - more)
    return children, log_odds, nodes.popitem()[1][1:]


def of_merges(X, log_marginal, alpha, children):
    """Log odds of each merge of a given tree, and log p(X | T) and log d at its root."""
    nodes = [([i], log_marginal(X[[i]]), log(alpha)) for i in range(len(X))]
    log_odds = []
    for i, j in children:
        one, more, log_d = hypotheses(X, log_marginal, alpha, nodes[i], nodes[j])
        nodes.append((nodes[i][0] + nodes[j][0], np.logaddexp(one, more), log_d))
        log_odds.append(one - more)
    return log_odds, nodes[-1][1:]


def hypotheses(X, log_marginal, alpha, one, other):
    """Both terms of eq. (7), and log d_k."""
    rows = one[0] + other[0]
    log_gamma = log(alpha) + lgamma(len(rows))
    log_d = np.logaddexp(log_gamma, one[2] + other[2])
    log_pi, log_rest = log_gamma - log_d, one[2] + other[2] - log_d
    return log_pi + log_marginal(X[rows]), log_rest + one[1] + other[1], log_d


def blocks_of(children, n):
    """The leaves below each node."""
    below = [frozenset([i]) for i in range(n)]
    for i, j in children:
        below.append(below[i] | below[j])
    return below


def consistent(children, n):
    """Every partition that is consistent with a tree, as a set of blocks."""
    below = blocks_of(children, n)

    def of(node):
        if node < n:
            return [frozenset([below[node]])]
        i, j = children[node - n]
        return [frozenset([below[node]])] + [p | q for p in of(i) for q in of(j)]

    return of(2 * n - 2)


def relocated(children, n):
    """Every partition of every alternative tree, eq. (10): {(merge, side): partitions}."""
    below = blocks_of(children, n)

    def of(node):
        if node < n:
            return [frozenset([below[node]])]
        return consistent_below(node)

    def consistent_below(node):
        i, j = children[node - n]
        return [frozenset([below[node]])] + [p | q for p in of(i) for q in of(j)]

    def up(node, partitions):
        """Figure 3: nothing is merged on the way to the root."""
        for parent, pair in enumerate(children, start=n):
            if node in pair:
                sibling = pair[0] if pair[1] == node else pair[1]
                return up(parent, [p | q for p in partitions for q in of(sibling)])
        return partitions

    found = {}
    for k, (one, other) in enumerate(children):
        for side in (0, 1) if other >= n else ():
            moved, left = children[other - n][side], children[other - n][1 - side]
            joined = frozenset([below[moved] | below[one]])
            found[k, side] = up(n + k, [joined | p for p in of(left)])
    return found


def labels_of(partition, n):
    """Labels of a set of blocks."""
    labels = np.empty(n, dtype=int)
    for k, block in enumerate(partition):
        labels[list(block)] = k
    return labels


def log_sum(terms):
    """Log of a sum of exponentials."""
    most = max(terms)
    return most + log(sum(exp(term - most) for term in terms))


def dendrogram_purity(children, truth):
    """Mean purity of the smallest tree that has two random rows of one class, Heller's measure."""
    n = len(truth)
    below = np.zeros((2 * n - 1, truth.max() + 1))  # [node, class] rows
    below[np.arange(n), truth] = 1.0
    for k, (i, j) in enumerate(children, n):
        below[k] = below[i] + below[j]
    one, other = np.asarray(children).T
    pairs = below[one] * below[other]  # [merge, class] pairs of that class that meet here
    purities = below[n:] / below[n:].sum(axis=1, keepdims=True)
    return (pairs * purities).sum() / pairs.sum()
