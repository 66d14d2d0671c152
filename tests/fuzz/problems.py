"""Random tables, weights and parameters: what a user may pass, ordinary and extreme."""

import numpy as np
import pandas as pd

from dpmlite.estimators.inputs.domain import (
    ALPHA,
    EXACT_WEIGHT,
    MAX_TOTAL_WEIGHT,
    MAX_WEIGHT_RATIO,
    PSEUDO_COUNT,
    ROBUSTNESS,
    SHAPE,
    WORTH,
)

COMPONENTS = (
    "normal-gamma",
    "normal-inverse-wishart",
    "normal-known-variance",
    "dirichlet-multinomial",
    "beta-bernoulli",
)
COUNTED = ("dirichlet-multinomial", "beta-bernoulli")


def table(rng, component):
    """Rows with some structure: clusters, ties, copies, constant columns, outliers."""
    n_rows, n_columns = int(rng.choice([1, 2, 3, 7, 15, 24, 40])), int(rng.integers(1, 5))
    group = rng.integers(rng.integers(1, 4), size=n_rows)
    if component == "dirichlet-multinomial":
        rates = rng.gamma(0.5, size=(4, n_columns)) * rng.choice([1.0, 30.0, 1e6])
        return rng.poisson(rates[group]).astype(float)
    if component == "beta-bernoulli":
        return (rng.random((n_rows, n_columns)) < rng.random((4, n_columns))[group]).astype(float)
    centres = rng.normal(0.0, rng.choice([0.0, 1.0, 10.0]), size=(4, n_columns))
    X = centres[group] + rng.normal(size=(n_rows, n_columns))
    kind = rng.integers(8)
    if kind == 0:
        X = np.round(X)
    elif kind == 1:
        X[:] = X[rng.integers(n_rows, size=n_rows)]
    elif kind == 2:
        X[:, 0] = X[0, 0]
    elif kind == 3:
        X[0, 0] = 10.0 ** rng.uniform(2.0, 12.0)
    elif kind == 4:
        X = rng.standard_cauchy(size=X.shape)
    if rng.random() < 0.2:
        return X.astype(np.float32).astype(float)
    return X * rng.choice([1.0, 1.0, 1e-6, 1e6, 1e-100, 1e100]) + rng.choice([0.0, 0.0, 1e3])


def mixed(rng):
    """A data frame, and the families of some of its columns."""
    n_rows = int(rng.choice([5, 12, 40, 80]))
    group = rng.integers(2, size=n_rows)
    frame = pd.DataFrame(
        {
            "real": rng.normal(5.0 * group, 1.0),
            "positive": np.exp(rng.normal(group, 1.0)),
            "level": rng.choice(np.array(["a", "b", "c"], dtype=object), size=n_rows),
            "count": rng.poisson(1.0 + 9.0 * group).astype(float),
            "bit": (rng.random(n_rows) < 0.5).astype(float),
            "known": rng.normal(group, 1.0),
            "days": rng.uniform(0.5, 30.0, n_rows),
        }
    )
    names = {
        "real": "normal-gamma",
        "positive": "log-normal",
        "level": "categorical",
        "count": "poisson-gamma",
        "bit": "beta-bernoulli",
        "known": "normal-known-variance",
        "days": "exposure",
    }
    chosen = [name for name in names if rng.random() < 0.6] or ["real"]
    return frame[chosen], {name: names[name] for name in chosen if rng.random() < 0.7}


def in_another_layout(rng, X, component):
    """The same numbers in another kind of array."""
    kind = rng.integers(8)
    if kind == 0:
        return np.asfortranarray(X)
    if kind == 1:
        return np.repeat(X, 2, axis=0)[::2]
    if kind == 2:
        return X.astype(">f8")
    if kind == 3:
        room = np.empty(X.nbytes + 1, dtype=np.uint8)[1:]
        moved = room[: X.nbytes].view(X.dtype).reshape(X.shape)
        moved[...] = X
        return moved
    if kind == 4 and component in COUNTED:
        import scipy.sparse

        return scipy.sparse.csr_array(X)
    if kind == 5:
        return X.tolist()
    if kind == 6 and (X.astype(np.float32) == X).all():
        return X.astype(np.float32, order=rng.choice(["C", "F"]))
    return X


def log_uniform(rng, ends):
    return float(np.exp(rng.uniform(*np.log(ends))).clip(*ends))


def weights(rng, n_rows):
    """None, or weights of a part of their range."""
    kind = rng.integers(6)
    if kind < 3:
        return None
    if kind == 3:
        return rng.integers(0, 4, size=n_rows).astype(float) + (np.arange(n_rows) == 0)
    least = log_uniform(rng, (EXACT_WEIGHT, 1e3))
    most = min(MAX_WEIGHT_RATIO * least, MAX_TOTAL_WEIGHT / (2 * n_rows))
    found = np.array([log_uniform(rng, (least, most)) for _ in range(n_rows)])
    return found if kind == 4 else np.where(rng.random(n_rows) < 0.3, 0.0, found)


def alpha(rng):
    return 1.0 if rng.random() < 0.5 else log_uniform(rng, ALPHA)


def prior(rng, component, X):
    """A prior that has some of its keys, ordinary or extreme."""
    if rng.random() < 0.4:
        return "paper"
    variance = float(np.var(X)) or 1.0
    n_columns = X.shape[1]
    ranges = {
        "normal-gamma": {"c0": WORTH, "a0": SHAPE},
        "normal-inverse-wishart": {"kappa0": WORTH},
        "normal-known-variance": {},
        "dirichlet-multinomial": {"beta0": PSEUDO_COUNT},
        "beta-bernoulli": {"a0": PSEUDO_COUNT, "b0": PSEUDO_COUNT},
    }[component]
    found = {key: log_uniform(rng, ends) for key, ends in ranges.items() if rng.random() < 0.7}
    if component == "normal-gamma" and rng.random() < 0.7:
        found["b0"] = variance * found.get("a0", 1.0) * log_uniform(rng, (1e-2, 1e2))
    if component == "normal-inverse-wishart" and rng.random() < 0.7:
        more = log_uniform(rng, SHAPE)
        found["nu0"] = n_columns - 1.0 + more
        found["psi0"] = variance * max(more, 1.0) * np.eye(n_columns)
    if component == "normal-known-variance" and rng.random() < 0.7:
        found["sigma2"] = variance * log_uniform(rng, (1e-3, 1e3))
        found["tau2"] = found["sigma2"] * log_uniform(rng, (1e-9, 1e9))
    return found


def robustness(rng):
    return None if rng.random() < 0.7 else log_uniform(rng, ROBUSTNESS)
