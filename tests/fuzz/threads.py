"""Random fits of a few hundred rows on several threads: the labels are those of one thread."""

import numpy as np
import problems
from seeds import try_each
from use import is_clear

from dpmlite import MAPDPM

# Fits that take longer than this, in seconds, hang; on a sanitizer build they are slow.
MAX_SECONDS = 600

# Rows that screening and the shared work of sweeps need, and more than a sample has.
N_ROWS = (100, 300, 600)

WITH_GAPS = ("auto", "normal-gamma", "beta-bernoulli")


def run(first, last, seconds):
    """Fit the problems of seeds from `first` up to `last`, as long as there is time."""
    try_each(first, last, seconds, MAX_SECONDS, check)


def check(seed):
    """Fit a table on one thread and on several; failures are what differs."""
    rng = np.random.default_rng(seed)
    component = str(rng.choice([*problems.COMPONENTS, "auto"]))
    X = many_rows(rng, component)
    gaps = component in WITH_GAPS and bool(rng.random() < 0.4)
    if gaps:
        X[rng.random(X.shape) < rng.choice([0.02, 0.3])] = np.nan
    rows = problems.in_another_layout(rng, X, component)
    parameters = {
        "component": component,
        "init": str(rng.choice(["auto", "search", "random", "singletons"], p=[0.5, 0.2, 0.2, 0.1])),
        "n_init": int(rng.choice([1, 2, 4])),
        "max_sweeps": 30,
        "allow_missing": gaps,
        "random_state": 0,
    }
    if component != "auto":
        parameters["prior"] = "paper"
    weights = problems.weights(rng, len(X))
    one, several = (MAPDPM(n_jobs=n_jobs, **parameters) for n_jobs in (1, int(rng.integers(2, 5))))
    try:
        one.fit(rows, sample_weight=weights)
    except ValueError as error:
        # The paper's prior does not reach outliers as far out as there are; the default does.
        if component == "auto" or not is_clear(error):
            raise
        return "refused", []
    return component, differences(one, several.fit(rows, sample_weight=weights), rows)


def many_rows(rng, component):
    """Rows that repeat those of a small table, with noise where they are numbers."""
    n_rows = int(rng.choice(N_ROWS))
    X = problems.table(rng, component)
    X = X[rng.integers(len(X), size=n_rows)]
    if component in problems.COUNTED or rng.random() < 0.2:
        return X
    return X + rng.normal(0.0, 0.1 * X.std(axis=0), size=X.shape)


def differences(one, several, rows):
    """Names of what differs between two models, and both values."""
    found = {
        "labels_": (one.labels_, several.labels_),
        "neg_log_joint_": (one.neg_log_joint_, several.neg_log_joint_),
        "predict": (one.predict(rows), several.predict(rows)),
        "score_samples": (one.score_samples(rows), several.score_samples(rows)),
    }
    return [f"{name}: {both}" for name, both in found.items() if not np.array_equal(*both)]
