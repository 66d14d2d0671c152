"""The model a third time, as plainly as numpy allows: eq. (1), (13), (15), (22) and (23).

Nothing here is shared with the library: statistics are computed anew from the rows at every use.
A prior may have a "power" of the likelihood: then each row weighs that much in all statistics, and
log densities and the objective are divided by it.
"""

from math import inf, lgamma, log, pi

import numpy as np


def posterior(rows, prior):
    """m, c, b, a of eq. (13) for a cluster's rows."""
    n, power = prior.get("power", 1.0) * len(rows), prior.get("power", 1.0)
    if n == 0:
        return prior["m0"], prior["c0"], prior["b0"], prior["a0"]
    mean = rows.mean(axis=0)
    c = prior["c0"] + n
    m = (prior["c0"] * prior["m0"] + n * mean) / c
    b = (
        prior["b0"]
        + 0.5 * power * ((rows - mean) ** 2).sum(axis=0)
        + prior["c0"] * n * (mean - prior["m0"]) ** 2 / (2.0 * c)
    )
    return m, c, b, prior["a0"] + 0.5 * n


def log_student(x, rows, prior):
    """Log of the product of Student-t densities, eq. (11)."""
    if prior.get("power", 1.0) < 1.0:
        return log_marginal(np.vstack([rows, x]), prior) - log_marginal(rows, prior)
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
    power, d = prior.get("power", 1.0), rows.shape[1]
    n = power * len(rows)
    _, c, b, a = posterior(rows, prior)
    a0, b0, c0 = prior["a0"], prior["b0"], prior["c0"]
    logs = a0 * np.log(b0) - a * np.log(b)
    total = logs.sum() + d * (lgamma(a) - lgamma(a0) + 0.5 * log(c0 / c))
    return float(total - 0.5 * n * d * log(2.0 * pi)) / power


def log_crp(labels, alpha, power=1.0):
    """Eq. (1); with a power, clusters weigh alpha Gamma(1 + power n) / n."""
    _, counts = np.unique(labels, return_counts=True)
    total = lgamma(alpha) - lgamma(power * len(labels) + alpha) + len(counts) * log(alpha)
    return total + sum(lgamma(1.0 + power * n) - log(n) for n in counts)


def log_pitman_yor(labels, alpha, discount):
    """Log probability of labels under a Pitman-Yor process, row after row."""
    total, counts = 0.0, {}
    for i, k in enumerate(labels):
        weight = counts[k] - discount if k in counts else alpha + len(counts) * discount
        total += log(weight / (i + alpha))
        counts[k] = counts.get(k, 0) + 1
    return total


def neg_log_joint(X, labels, alpha, prior, discount=0.0):
    """The objective."""
    labels = np.asarray(labels)
    data = sum(log_marginal(X[labels == k], prior) for k in np.unique(labels))
    power = prior.get("power", 1.0)
    if discount:
        return -log_pitman_yor(labels.tolist(), alpha, discount) - data
    return -log_crp(labels, alpha, power) / power - data


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
