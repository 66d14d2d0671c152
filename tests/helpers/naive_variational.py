"""Variational inference once more, as plainly as can be: every term of the bound by itself.

Posteriors are computed anew from rows and responsibilities; expectations and divergences are the
textbooks' closed forms, with mpmath's digamma. Nothing is shared with the library.
"""

import itertools
from math import lgamma, log, pi

import mpmath
import numpy as np
from families import CASES


def psi(x):
    return np.vectorize(lambda value: float(mpmath.digamma(value)))(np.asarray(x, dtype=float))


def log_gamma(x):
    return np.vectorize(lgamma)(np.asarray(x, dtype=float))


def log_beta(a, b):
    return log_gamma(a) + log_gamma(b) - log_gamma(np.asarray(a) + np.asarray(b))


def beta_divergence(a, b, a0, b0):
    """KL(Beta(a, b) | Beta(a0, b0))."""
    return (
        log_beta(a0, b0)
        - log_beta(a, b)
        + (a - a0) * psi(a)
        + (b - b0) * psi(b)
        + (a0 + b0 - a - b) * psi(a + b)
    )


def normal_gamma_terms(X, shares, prior):
    """E[log p(x_i | theta)] of every row, and the divergence, of one component."""
    a0, c0 = prior["a0"], prior["c0"]
    m0, b0 = np.asarray(prior["m0"]), np.asarray(prior["b0"])
    n = shares.sum()
    mean = shares @ X / n if n > 0.0 else m0
    c, a = c0 + n, a0 + 0.5 * n
    m = (c0 * m0 + n * mean) / c
    b = b0 + 0.5 * shares @ (X - mean) ** 2 + 0.5 * c0 * n * (mean - m0) ** 2 / c
    logs = 0.5 * (psi(a) - np.log(b) - log(2.0 * pi) - a / b * (X - m) ** 2 - 1.0 / c)
    divergence = 0.5 * (c0 * a / b * (m - m0) ** 2 + c0 / c - 1.0 - log(c0 / c))
    divergence += a0 * np.log(b / b0) - lgamma(a) + lgamma(a0)
    divergence += (a - a0) * psi(a) - (b - b0) * a / b
    return logs.sum(axis=1), divergence.sum()


def normal_known_variance_terms(X, shares, prior):
    m0, sigma2, tau2 = (np.asarray(prior[name]) for name in ("m0", "sigma2", "tau2"))
    v = 1.0 / (1.0 / tau2 + shares.sum() / sigma2)
    m = v * (m0 / tau2 + shares @ X / sigma2)
    logs = -0.5 * (np.log(2.0 * pi * sigma2) + ((X - m) ** 2 + v) / sigma2)
    divergence = 0.5 * (v / tau2 + (m - m0) ** 2 / tau2 - 1.0 - np.log(v / tau2))
    return logs.sum(axis=1), divergence.sum()


def normal_inverse_wishart_terms(X, shares, prior):
    """Sigma^-1 is Wishart with nu degrees of freedom and scale Psi^-1 (Bishop 2006, (B.79) on)."""
    m0, psi0 = np.asarray(prior["m0"]), np.asarray(prior["psi0"])
    kappa0, nu0, D, n = prior["kappa0"], prior["nu0"], X.shape[1], shares.sum()
    mean = shares @ X / n if n > 0.0 else m0
    kappa, nu = kappa0 + n, nu0 + n
    m = (kappa0 * m0 + n * mean) / kappa
    deviations = X - mean
    psi_n = psi0 + (shares[:, None] * deviations).T @ deviations
    psi_n = psi_n + kappa0 * n / kappa * np.outer(mean - m0, mean - m0)
    precision = nu * np.linalg.inv(psi_n)
    halves = 0.5 * (nu - np.arange(D))
    log_det, log_det0 = np.linalg.slogdet(psi_n)[1], np.linalg.slogdet(psi0)[1]
    log_det_precision = psi(halves).sum() + D * log(2.0) - log_det
    squares = np.einsum("ni,ij,nj->n", X - m, precision, X - m) + D / kappa
    logs = 0.5 * (log_det_precision - D * log(2.0 * pi) - squares)
    of_mean = kappa0 / kappa * D + kappa0 * (m - m0) @ precision @ (m - m0)
    divergence = 0.5 * (of_mean - D - D * log(kappa0 / kappa))
    constants = log_gamma(0.5 * (nu0 - np.arange(D))) - log_gamma(halves)
    divergence += constants.sum() + 0.5 * (nu * log_det - nu0 * log_det0)
    divergence += 0.5 * (nu - nu0) * (log_det_precision - D * log(2.0))
    divergence += 0.5 * (np.trace(psi0 @ precision) - nu * D)
    return logs, divergence


def beta_bernoulli_terms(X, shares, prior):
    a0, b0 = np.asarray(prior["a0"]), np.asarray(prior["b0"])
    a, b = a0 + shares @ X, b0 + shares @ (1.0 - X)
    logs = X * psi(a) + (1.0 - X) * psi(b) - psi(a + b)
    return logs.sum(axis=1), beta_divergence(a, b, a0, b0).sum()


def dirichlet_multinomial_terms(X, shares, prior):
    beta0 = np.asarray(prior["beta0"])
    beta = beta0 + shares @ X
    logs = psi(beta) - psi(beta.sum())
    divergence = lgamma(beta.sum()) - lgamma(beta0.sum())
    divergence += (log_gamma(beta0) - log_gamma(beta) + (beta - beta0) * logs).sum()
    return X @ logs, divergence


def categorical_terms(X, shares, prior):
    """Each column is a multinomial of its levels, one of which a row has."""
    logs, divergence = np.zeros(len(X)), 0.0
    for x, beta0 in zip(X.T, prior["beta0"], strict=True):
        levels = (x[:, None] == np.arange(len(beta0))).astype(float)
        more, of_column = dirichlet_multinomial_terms(levels, shares, {"beta0": beta0})
        logs, divergence = logs + more, divergence + of_column
    return logs, divergence


def poisson_gamma_terms(X, shares, prior):
    a0, b0 = np.asarray(prior["a0"]), np.asarray(prior["b0"])
    a, b = a0 + shares @ X, b0 + shares.sum()
    logs = X * (psi(a) - np.log(b)) - a / b - log_gamma(X + 1.0)
    divergence = (a - a0) * psi(a) - log_gamma(a) + log_gamma(a0)
    divergence += a0 * np.log(b / b0) + a * (b0 - b) / b
    return logs.sum(axis=1), divergence.sum()


def product_terms(X, shares, prior):
    """Parts are independent: their terms add up."""
    parts = CASES["product of numbers and levels"].parts(prior["n_columns"])
    terms = [
        TERMS[case.name](X[:, columns], shares, of_part)
        for (case, columns), of_part in zip(parts, prior["parts"], strict=True)
    ]
    return sum(logs for logs, _ in terms), sum(divergence for _, divergence in terms)


TERMS = {
    "normal-gamma": normal_gamma_terms,
    "normal-known-variance": normal_known_variance_terms,
    "normal-inverse-wishart": normal_inverse_wishart_terms,
    "beta-bernoulli": beta_bernoulli_terms,
    "dirichlet-multinomial": dirichlet_multinomial_terms,
    "categorical": categorical_terms,
    "poisson-gamma": poisson_gamma_terms,
    "product of numbers and levels": product_terms,
}


def lower_bound(family, X, responsibilities, prior, alpha):
    """The bound of truncated-stick VB, each factor being best for these responsibilities."""
    r = np.asarray(responsibilities)
    positive = r[r > 0.0]
    total = -(positive * np.log(positive)).sum()
    counts = r.sum(axis=0)
    before = 0.0
    for k, n in enumerate(counts):
        logs, divergence = TERMS[family](X, r[:, k], prior)
        total += r[:, k] @ logs - divergence
        log_v = log_rest = 0.0
        if k < len(counts) - 1:
            a, b = 1.0 + n, alpha + counts[k + 1 :].sum()
            log_v, log_rest = psi(a) - psi(a + b), psi(b) - psi(a + b)
            total -= beta_divergence(a, b, 1.0, alpha)
        total += n * (before + log_v)
        before += log_rest
    return float(total)


def log_prior_sticks(counts, alpha):
    """Log p(z) of labels with these counts, the stick being broken T - 1 times."""
    total = 0.0
    for k in range(len(counts) - 1):
        total += log_beta(1.0 + counts[k], alpha + sum(counts[k + 1 :])) - log_beta(1.0, alpha)
    return float(total)


def log_prior_dirichlet(counts, alpha):
    part = alpha / len(counts)
    total = lgamma(alpha) - lgamma(alpha + sum(counts))
    return total + sum(lgamma(part + n) - lgamma(part) for n in counts)


def labellings(n_rows, n_components):
    return (np.array(z) for z in itertools.product(range(n_components), repeat=n_rows))


def log_evidence(case, X, prior, alpha, n_components, log_prior, copies=None):
    """Log p(X) of the mixture of T components, every labelling summed; rows may be copied."""
    n = len(X)
    copies = np.ones(n, dtype=int) if copies is None else copies
    sets = [np.flatnonzero([bits >> i & 1 for i in range(n)]) for bits in range(2**n)]
    marginals = np.array(
        [case.log_marginal(X[s].repeat(copies[s], axis=0), prior) if len(s) else 0.0 for s in sets]
    )
    labels = np.array(list(labellings(n, n_components)))
    members = labels[:, :, None] == np.arange(n_components)
    joints = marginals[(2 ** np.arange(n)) @ members].sum(axis=1)
    counts, which = np.unique(copies @ members, axis=0, return_inverse=True)
    priors = np.array([log_prior(row, alpha) for row in counts.tolist()])
    joints += priors[which.ravel()]
    return joints.max() + log(np.exp(joints - joints.max()).sum())
