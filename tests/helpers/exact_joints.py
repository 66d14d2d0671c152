"""Joints of partitions to 100 digits, from the equations: nothing is shared with dpmlite."""

import mpmath as mp
import numpy as np

DIGITS = 100


def neg_log_joint(X, labels, weights, alpha, component, prior):
    """The objective: -log p(z | alpha) - sum_k log p(x_k | theta_0), as a float."""
    with mp.workdps(DIGITS):
        total = log_crp(labels, weights, alpha)
        for k in np.unique(labels):
            rows = labels == k
            total += MARGINALS[component](X[rows], exact(weights[rows]), prior)
        return float(-total)


def exact(values):
    return [mp.mpf(float(value)) for value in values]


def log_crp(labels, weights, alpha):
    alpha = mp.mpf(alpha)
    total = mp.loggamma(alpha) - mp.loggamma(alpha + mp.fsum(exact(weights)))
    for k in np.unique(labels):
        total += mp.log(alpha) + mp.loggamma(mp.fsum(exact(weights[labels == k])))
    return total


def moments(column, w):
    """Total weight, mean and scatter."""
    x, n = exact(column), mp.fsum(w)
    mean = mp.fdot(x, w) / n
    return n, mean, mp.fsum(w_i * (x_i - mean) ** 2 for x_i, w_i in zip(x, w, strict=True))


def normal_gamma(X, w, prior):
    c0, a0, total = mp.mpf(prior["c0"]), mp.mpf(prior["a0"]), mp.mpf(0)
    columns = zip(X.T, exact(prior["m0"]), exact(prior["b0"]), strict=True)
    for column, m0, b0 in columns:
        n, mean, scatter = moments(column, w)
        a, b = a0 + n / 2, b0 + scatter / 2 + c0 * n * (mean - m0) ** 2 / (2 * (c0 + n))
        total += mp.loggamma(a) - mp.loggamma(a0) + a0 * mp.log(b0) - a * mp.log(b)
        total += mp.log(c0 / (c0 + n)) / 2 - n / 2 * mp.log(2 * mp.pi)
    return total


def normal_known_variance(X, w, prior):
    total = mp.mpf(0)
    parameters = (exact(prior[key]) for key in ("m0", "sigma2", "tau2"))
    for column, m0, sigma2, tau2 in zip(X.T, *parameters, strict=True):
        n, mean, scatter = moments(column, w)
        f = 1 + n * tau2 / sigma2
        squares = scatter / sigma2 + n * (mean - m0) ** 2 / (sigma2 * f)
        total -= (n * mp.log(2 * mp.pi * sigma2) + mp.log(f) + squares) / 2
    return total


def normal_inverse_wishart(X, w, prior):
    D, n = X.shape[1], mp.fsum(w)
    kappa0, nu0 = mp.mpf(prior["kappa0"]), mp.mpf(prior["nu0"])
    psi0 = psi = mp.matrix(np.asarray(prior["psi0"]).tolist())
    rows = [mp.matrix(exact(row)) for row in X]
    mean = sum((w_i * x for w_i, x in zip(w, rows, strict=True)), mp.matrix(D, 1)) / n
    for w_i, x in zip(w, rows, strict=True):
        psi = psi + w_i * (x - mean) * (x - mean).T
    away = mean - mp.matrix(exact(prior["m0"]))
    psi = psi + kappa0 * n / (kappa0 + n) * away * away.T
    total = mp.mpf(D) / 2 * (mp.log(kappa0 / (kappa0 + n)) - n * mp.log(mp.pi))
    total += nu0 / 2 * log_det(psi0) - (nu0 + n) / 2 * log_det(psi)
    for j in range(D):
        total += mp.loggamma((nu0 + n - j) / 2) - mp.loggamma((nu0 - j) / 2)
    return total


def log_det(matrix):
    """Log of the determinant; columns of unlike scales are brought to one before."""
    roots = [mp.sqrt(matrix[i, i]) for i in range(matrix.rows)]
    scaled = matrix.copy()
    for i in range(matrix.rows):
        for j in range(matrix.rows):
            scaled[i, j] /= roots[i] * roots[j]
    return mp.log(mp.det(scaled)) + 2 * mp.fsum(mp.log(root) for root in roots)


def log_rising(a, n):
    return mp.loggamma(a + n) - mp.loggamma(a)


def dirichlet_multinomial(X, w, prior):
    beta, words = exact(prior["beta0"]), [mp.fdot(exact(column), w) for column in X.T]
    total = mp.fsum(log_rising(b, n) for b, n in zip(beta, words, strict=True))
    return total - log_rising(mp.fsum(beta), mp.fsum(words))


def beta_bernoulli(X, w, prior):
    total = mp.mpf(0)
    for column, a, b in zip(X.T, exact(prior["a0"]), exact(prior["b0"]), strict=True):
        ones = mp.fdot(exact(column), w)
        zeros = mp.fsum(w) - ones
        total += log_rising(a, ones) + log_rising(b, zeros) - log_rising(a + b, ones + zeros)
    return total


def poisson_gamma(X, w, prior):
    total, n = mp.mpf(0), mp.fsum(w)
    for column, a, b in zip(X.T, exact(prior["a0"]), exact(prior["b0"]), strict=True):
        x = exact(column)
        events = mp.fdot(x, w)
        total += log_rising(a, events) + a * mp.log(b) - (a + events) * mp.log(b + n)
        total -= mp.fsum(w_i * mp.loggamma(x_i + 1) for x_i, w_i in zip(x, w, strict=True))
    return total


MARGINALS = {
    "normal-gamma": normal_gamma,
    "normal-known-variance": normal_known_variance,
    "normal-inverse-wishart": normal_inverse_wishart,
    "dirichlet-multinomial": dirichlet_multinomial,
    "beta-bernoulli": beta_bernoulli,
    "poisson-gamma": poisson_gamma,
}
