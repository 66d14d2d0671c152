"""The models of all families for tests: priors, random rows, and log marginals.

The marginals are a third statement of the models: numpy and lgamma, computed from all rows at once.
"""

from math import lgamma, log, pi

import naive
import numpy as np


def _lgamma(x):
    return np.array([lgamma(v) for v in np.ravel(x)]).reshape(np.shape(x))


def _positive(rng, n_columns, low=0.3, high=3.0):
    return np.exp(rng.uniform(np.log(low), np.log(high), size=n_columns))


def normal_gamma_prior(rng, n_columns):
    return {
        "m0": rng.normal(size=n_columns),
        "c0": float(_positive(rng, 1)[0]),
        "a0": float(_positive(rng, 1)[0]),
        "b0": _positive(rng, n_columns),
    }


def incomplete_log_marginal(rows, prior):
    """Column by column, from the cells that are there."""
    total = 0.0
    for d in range(rows.shape[1]):
        column = {
            **prior,
            "m0": np.asarray(prior["m0"])[d : d + 1],
            "b0": np.asarray(prior["b0"])[d : d + 1],
        }
        cells = rows[~np.isnan(rows[:, d]), d : d + 1]
        total += naive.log_marginal(cells, column) if len(cells) else 0.0
    return total


def normal_inverse_wishart_prior(rng, n_columns):
    root = np.eye(n_columns) + 0.3 * rng.normal(size=(n_columns, n_columns))
    return {
        "m0": rng.normal(size=n_columns),
        "kappa0": float(_positive(rng, 1)[0]),
        "nu0": n_columns - 1.0 + float(_positive(rng, 1, 0.5, 5.0)[0]),
        "psi0": root @ root.T + 0.1 * np.eye(n_columns),
    }


def normal_inverse_wishart_log_marginal(rows, prior):
    """Ratio of the normal-inverse-Wishart's normalising constants; see naive.py for a power."""
    power, d = prior.get("power", 1.0), rows.shape[1]
    n = power * len(rows)
    kappa, nu = prior["kappa0"] + n, prior["nu0"] + n
    mean = rows.mean(axis=0) if n else np.zeros(d)
    centred, shift = rows - mean, mean - prior["m0"]
    psi = np.asarray(prior["psi0"]) + power * centred.T @ centred
    psi = psi + prior["kappa0"] * n / kappa * np.outer(shift, shift)
    j = np.arange(d)
    gammas = _lgamma(0.5 * (nu - j)) - _lgamma(0.5 * (prior["nu0"] - j))
    determinants = 0.5 * prior["nu0"] * np.linalg.slogdet(prior["psi0"])[1]
    determinants -= 0.5 * nu * np.linalg.slogdet(psi)[1]
    total = gammas.sum() + determinants + 0.5 * d * log(prior["kappa0"] / kappa)
    return float(total - 0.5 * n * d * log(pi)) / power


def normal_known_variance_prior(rng, n_columns):
    return {
        "m0": rng.normal(size=n_columns),
        "sigma2": _positive(rng, n_columns),
        "tau2": _positive(rng, n_columns, 0.5, 10.0),
    }


def normal_known_variance_log_marginal(rows, prior):
    """Rows of a column are jointly normal: covariance sigma2 I + tau2."""
    n = len(rows)
    total = 0.0
    for d in range(rows.shape[1] if n else 0):
        covariance = prior["sigma2"][d] * np.eye(n) + prior["tau2"][d]
        centred = rows[:, d] - prior["m0"][d]
        total -= 0.5 * (n * log(2.0 * pi) + np.linalg.slogdet(covariance)[1])
        total -= 0.5 * centred @ np.linalg.solve(covariance, centred)
    return float(total)


def dirichlet_multinomial_prior(rng, n_columns):
    return {"beta0": _positive(rng, n_columns, 0.05, 3.0)}


def dirichlet_multinomial_log_marginal(rows, prior):
    """Ratio of Dirichlet normalising constants."""
    beta0 = np.asarray(prior["beta0"])
    beta = beta0 + rows.sum(axis=0)
    total = (_lgamma(beta) - _lgamma(beta0)).sum()
    return float(total - lgamma(beta.sum()) + lgamma(beta0.sum()))


def beta_bernoulli_prior(rng, n_columns):
    return {"a0": _positive(rng, n_columns), "b0": _positive(rng, n_columns)}


def beta_bernoulli_log_marginal(rows, prior):
    """Ratios of Beta functions, from the cells that are there."""
    ones, cells = np.nansum(rows, axis=0), (~np.isnan(rows)).sum(axis=0)
    a0, b0 = np.asarray(prior["a0"]), np.asarray(prior["b0"])
    a, b = a0 + ones, b0 + cells - ones
    log_beta = _lgamma(a) + _lgamma(b) - _lgamma(a + b)
    return float((log_beta - _lgamma(a0) - _lgamma(b0) + _lgamma(a0 + b0)).sum())


def n_levels(d):
    """Levels of column d of drawn rows."""
    return (2, 1, 4, 3)[d % 4]


def categorical_prior(rng, n_columns):
    return {"beta0": [_positive(rng, n_levels(d)) for d in range(n_columns)]}


def categorical_log_marginal(rows, prior):
    """Ratios of Dirichlet normalising constants, from the cells that are there."""
    power, total = prior.get("power", 1.0), 0.0
    for d, beta0 in enumerate(prior["beta0"]):
        cells = [(rows[:, d] == level).sum() for level in range(len(beta0))]
        beta = beta0 + power * np.array(cells)
        total += (_lgamma(beta) - _lgamma(beta0)).sum()
        total -= lgamma(beta.sum()) - lgamma(np.sum(beta0))
    return float(total) / power


def poisson_gamma_prior(rng, n_columns):
    return {"a0": _positive(rng, n_columns), "b0": _positive(rng, n_columns)}


def poisson_gamma_log_marginal(rows, prior):
    """Ratios of the gammas' normalising constants, from the cells that are there."""
    power, a0, b0 = prior.get("power", 1.0), np.asarray(prior["a0"]), np.asarray(prior["b0"])
    a = a0 + power * np.nansum(rows, axis=0)
    b = b0 + power * (~np.isnan(rows)).sum(axis=0)
    total = _lgamma(a) - _lgamma(a0) + a0 * np.log(b0) - a * np.log(b)
    return float(total.sum() / power - _lgamma(rows[~np.isnan(rows)] + 1.0).sum())


def exposed_poisson_gamma_prior(rng, n_columns):
    return poisson_gamma_prior(rng, n_columns - 1)


def exposed_poisson_gamma_log_marginal(rows, prior):
    """Ratios of the gammas' normalising constants; the exposure of a row is its last cell."""
    power, a0, b0 = prior.get("power", 1.0), np.asarray(prior["a0"]), np.asarray(prior["b0"])
    counts, exposures = rows[:, :-1], rows[:, -1:]
    a = a0 + power * np.nansum(counts, axis=0)
    b = b0 + power * np.where(np.isnan(counts), 0.0, exposures).sum(axis=0)
    total = _lgamma(a) - _lgamma(a0) + a0 * np.log(b0) - a * np.log(b)
    base = np.nansum(counts * np.log(exposures)) - _lgamma(counts[~np.isnan(counts)] + 1.0).sum()
    return float(total.sum() / power + base)


def real_rows(rng, n_rows, n_columns):
    """Two groups, duplicates among them."""
    X = rng.normal(size=(n_rows, n_columns)) + 3.0 * rng.integers(2, size=(n_rows, 1))
    X[n_rows // 2 :] = np.round(X[n_rows // 2 :])
    return X


def real_with_gaps(rng, n_rows, n_columns):
    X = real_rows(rng, n_rows, n_columns)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


def counts_rows(rng, n_rows, n_columns):
    rates = rng.gamma(0.7, 2.0, size=(2, n_columns))
    return rng.poisson(rates[rng.integers(2, size=n_rows)]).astype(float)


def counts_with_gaps(rng, n_rows, n_columns):
    X = counts_rows(rng, n_rows, n_columns)
    X[rng.random(X.shape) < 0.1] *= 6.0
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


def exposed_with_gaps(rng, n_rows, n_columns):
    """Counts at exposures that differ by more than the rates do, which are the last column."""
    exposures = np.exp(rng.normal(scale=1.5, size=(n_rows, 1)))
    rates = rng.gamma(0.7, 2.0, size=(2, n_columns - 1))[rng.integers(2, size=n_rows)]
    counts = rng.poisson(rates * exposures).astype(float)
    counts[rng.random(counts.shape) < 0.25] = np.nan
    return np.hstack([counts, exposures])


def binary_rows(rng, n_rows, n_columns):
    shares = rng.beta(0.6, 0.6, size=(2, n_columns))[rng.integers(2, size=n_rows)]
    return (rng.random((n_rows, n_columns)) < shares).astype(float)


def binary_with_gaps(rng, n_rows, n_columns):
    X = binary_rows(rng, n_rows, n_columns)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


def levels_rows(rng, n_rows, n_columns):
    """Two groups, each with shares of its own of every level."""
    group, X = rng.integers(2, size=n_rows), np.empty((n_rows, n_columns))
    for d in range(n_columns):
        ends = rng.dirichlet([0.6] * n_levels(d), size=2).cumsum(axis=1)[group, :-1]
        X[:, d] = (ends < rng.random((n_rows, 1))).sum(axis=1)
    return X


def levels_with_gaps(rng, n_rows, n_columns):
    X = levels_rows(rng, n_rows, n_columns)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X
