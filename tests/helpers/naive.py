"""The model a third time, as plainly as numpy allows: eq. (1), (13), (15), (22) and (23).

Nothing here is shared with the library: statistics are computed anew from the rows at every use.
"""

from math import inf, lgamma, log, pi

import numpy as np


def posterior(rows, prior):
    """m, c, b, a of eq. (13) for a cluster's rows."""
    n = len(rows)
    if n == 0:
        return prior["m0"], prior["c0"], prior["b0"], prior["a0"]
    mean = rows.mean(axis=0)
    c = prior["c0"] + n
    m = (prior["c0"] * prior["m0"] + n * mean) / c
    b = (
        prior["b0"]
        + 0.5 * ((rows - mean) ** 2).sum(axis=0)
        + prior["c0"] * n * (mean - prior["m0"]) ** 2 / (2.0 * c)
    )
    return m, c, b, prior["a0"] + 0.5 * n


def log_student(x, rows, prior):
    """Log of the product of Student-t densities, eq. (11)."""
    m, c, b, a = posterior(rows, prior)
    precision, nu = a * c / (b * (c + 1.0)), 2.0 * a
    logs = (
        lgamma(0.5 * (nu + 1.0))
        - lgamma(0.5 * nu)
        + 0.5 * np.log(precision / (pi * nu))
        - 0.5 * (nu + 1.0) * np.log1p(precision * (x - m) ** 2 / nu)
    )
    return float(logs.sum())


def log_marginal(rows, prior):
    """Log p(rows | theta_0): the ratio of the normal-gamma's normalising constants."""
    n, d = rows.shape
    _, c, b, a = posterior(rows, prior)
    a0, b0, c0 = prior["a0"], prior["b0"], prior["c0"]
    logs = a0 * np.log(b0) - a * np.log(b)
    total = logs.sum() + d * (lgamma(a) - lgamma(a0) + 0.5 * log(c0 / c))
    return float(total - 0.5 * n * d * log(2.0 * pi))


def log_crp(labels, alpha):
    """Eq. (1)."""
    _, counts = np.unique(labels, return_counts=True)
    total = lgamma(alpha) - lgamma(len(labels) + alpha) + len(counts) * log(alpha)
    return total + sum(lgamma(n) for n in counts)


def neg_log_joint(X, labels, alpha, prior):
    """The objective."""
    labels = np.asarray(labels)
    data = sum(log_marginal(X[labels == k], prior) for k in np.unique(labels))
    return -log_crp(labels, alpha) - data


def sweep(X, labels, alpha, prior):
    """One sweep of Algorithm 1 over `labels`, a list of any numbers; returns rows moved."""
    moves = 0
    for i, x in enumerate(X):
        others = [k for j, k in enumerate(labels) if j != i]
        best, best_k = inf, None
        rest = np.delete(X, i, axis=0)
        for k in sorted(set(others)):
            mine = np.array([label == k for label in others])
            q = -log(mine.sum()) - log_student(x, rest[mine], prior)
            if q < best:
                best, best_k = q, k
        if -log(alpha) - log_student(x, rest[:0], prior) < best:
            alone = labels[i] not in others
            best_k = labels[i] if alone else max(labels) + 1
        moves += best_k != labels[i]
        labels[i] = best_k
    return moves


def canonical(labels):
    """Labels numbered in the order in which they appear."""
    numbers = {}
    return [numbers.setdefault(k, len(numbers)) for k in labels]


def partitions(n):
    """Every partition of n items, as labels."""
    if n == 0:
        yield []
        return
    for labels in partitions(n - 1):
        for k in range(max(labels, default=-1) + 2):
            yield [*labels, k]
