"""Planted tables of numbers, money, categories and counts, and their density once more."""

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import gammaln

CITIES = np.array(["Oslo", "Paris", "Rome", "Wien"], dtype=object)


def planted(n_rows, n_clusters, seed, gaps=0.0, n_noise=0):
    """A data frame, its labels, and the labels that the true parameters would give."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(n_clusters, 5.0))
    labels = rng.choice(n_clusters, n_rows, p=share)
    columns, log_p = {}, np.tile(np.log(share), (n_rows, 1))

    def keep(name, cells, log_density):
        missing = rng.random(n_rows) < gaps
        log_p[~missing] += log_density[~missing]
        columns[name] = pd.Series(cells).mask(missing)

    for j in range(3):
        mean = rng.normal(0.0, 2.0, n_clusters)
        x = rng.normal(mean[labels])
        keep(f"number {j}", x, stats.norm.logpdf(x[:, None], mean))
    for j in range(2):
        mean = rng.normal(5.0, 1.5, n_clusters)
        x = rng.normal(mean[labels], 0.8)
        keep(f"money {j}", np.exp(x), stats.norm.logpdf(x[:, None], mean, 0.8))
    for j in range(3):
        p = rng.dirichlet(np.full(4, 0.6), n_clusters)
        code = (p[labels].cumsum(axis=1) < rng.random((n_rows, 1))).sum(axis=1).clip(0, 3)
        keep(f"city {j}", CITIES[code], np.log(p[:, code].T + 1e-300))
    for j in range(2):
        rate = np.exp(rng.normal(1.5, 1.0, n_clusters))
        x = rng.poisson(rate[labels])
        keep(f"visits {j}", x.astype(float), stats.poisson.logpmf(x[:, None], rate))
    for j in range(n_noise):
        columns[f"noise {j}"] = noise(rng, n_rows, j)
    return pd.DataFrame(columns), labels, log_p.argmax(axis=1)


def noise(rng, n_rows, j):
    """A column of the kind `j` that tells nothing."""
    kinds = (
        lambda: rng.normal(size=n_rows),
        lambda: np.exp(rng.normal(3.0, 1.0, n_rows)),
        lambda: rng.choice(CITIES, n_rows),
        lambda: rng.poisson(30.0, n_rows).astype(float),
        lambda: rng.random(n_rows) < 0.5,
    )
    return kinds[j % len(kinds)]()


def log_crp(sizes, alpha):
    """Log probability of a partition by the sizes of its clusters."""
    sizes = np.asarray(sizes, dtype=float)
    n = sizes.sum()
    return len(sizes) * np.log(alpha) + gammaln(sizes).sum() + gammaln(alpha) - gammaln(alpha + n)


def log_normal_gamma(x, m0, c0, a0, b0):
    """Log marginal of numbers under one normal of unknown mean and precision."""
    x = x[~np.isnan(x)]
    n = len(x)
    if n == 0:
        return 0.0
    mean, scatter = x.mean(), ((x - x.mean()) ** 2).sum()
    a, c = a0 + n / 2, c0 + n
    b = b0 + scatter / 2 + c0 * n * (mean - m0) ** 2 / (2 * c)
    return (
        gammaln(a) - gammaln(a0) + a0 * np.log(b0) - a * np.log(b)
        + 0.5 * np.log(c0 / c) - n / 2 * np.log(2 * np.pi)
    )  # fmt: skip


def log_categorical(counts, beta0):
    """Log marginal of levels, given how many rows have each."""
    counts, beta0 = np.asarray(counts, dtype=float), np.asarray(beta0, dtype=float)
    of_levels = (gammaln(beta0 + counts) - gammaln(beta0)).sum()
    return of_levels - gammaln(beta0.sum() + counts.sum()) + gammaln(beta0.sum())


def log_poisson_gamma(x, a0, b0, exposures=1.0):
    """Log marginal of counts of events under one rate."""
    known = ~np.isnan(x)
    x, e = x[known], np.broadcast_to(exposures, x.shape)[known]
    a, b = a0 + x.sum(), b0 + e.sum()
    of_rate = gammaln(a) - gammaln(a0) + a0 * np.log(b0) - a * np.log(b)
    return of_rate - gammaln(x + 1.0).sum() + (x * np.log(e)).sum()


def customers(n_rows=600, seed=0):
    """Three kinds of customers, told apart by income and city, hardly by age, not by shoes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n_rows)
    city = np.where(rng.random(n_rows) < 0.9, labels, rng.integers(0, 3, n_rows))
    X = pd.DataFrame(
        {
            "age": rng.normal(40.0 + labels, 10.0),
            "income": np.exp(rng.normal(7.0 + 2.0 * labels, 0.5)),
            "city": np.array(["Oslo", "Paris", "Rome"], dtype=object)[city],
            "shoes": rng.normal(42.0, 2.0, n_rows),
        }
    )
    return X, labels
