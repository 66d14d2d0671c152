"""Calls with arguments of every kind: each has an answer, or is refused in one clear line."""

import copy
import traceback

import numpy as np
import pandas as pd
import scipy.sparse
from mutations import NUMBERS, TYPES
from saved_models import all_models
from seeds import try_each
from use import is_clear

from dpmlite.estimators.inputs.shown import shown

# A call that takes longer than this, in seconds, hangs.
MAX_SECONDS = 30

CHEAP = ("predict", "predict_proba", "score_samples", "new_cluster_proba", "score", "impute")
LEARNING = ("fit", "fit_predict", "partial_fit")

VALUES = (
    None, True, False, -1, 0, 1, 2, 3, 2**31, 2**63, 10**30, 10**5000, 0.5, -0.5, 1e-300, 1e308,
    np.nan, np.inf, -np.inf, "", "auto", "x", b"x", (), [], {}, [1.0, 2.0], (1.0, 1.0),
    {"c0": -1.0}, {"x": 1.0}, np.float32(2.0), np.int64(2), np.array(1.0), np.array([1.0]),
    np.ones((3, 1)), object, print, 1j,
)  # fmt: skip
LONG = "The feature names should match"  # scikit-learn's error, a line for each name
OTHERS = (
    None, 5, "text", b"", {}, [], [[]], [[1.0], [1.0, 2.0]], {1, 2}, object(), [None], "x.csv",
)  # fmt: skip


def run(first, last, seconds):
    """Make the calls of seeds from `first` up to `last`, as long as there is time."""
    models = list(all_models().values())

    def check(seed):
        rng = np.random.default_rng(seed)
        model, X = models[seed % len(models)]
        kind = rng.choice(["rows", "learning", "parameter", "method"], p=[0.7, 0.1, 0.1, 0.1])
        return kind, CALLS[kind](rng, model, X)

    try_each(first, last, seconds, MAX_SECONDS, check)


def of_rows(rng, model, X):
    """Methods of a fitted model, given the same rows."""
    rows, failures = any_rows(rng, X), []
    for name in CHEAP if rng.random() < 0.9 else ("outlier_score",):
        if hasattr(model, name):
            failures += tried(name, getattr(model, name), rows)
    return failures


def of_learning(rng, model, X):
    """A fit or a batch of rows, with weights; an estimator that failed is as it was before."""
    model = quick(model)
    name = str(rng.choice([name for name in LEARNING if hasattr(model, name)]))
    weights = None if name == "partial_fit" or rng.random() < 0.5 else any_weights(rng, X)
    options = {} if weights is None else {"sample_weight": weights}
    before = model.statistics_.copy()

    def learned(rows):
        try:
            return getattr(model, name)(rows, **options)
        except Exception:
            np.testing.assert_array_equal(model.statistics_, before)
            raise

    failures = tried(name, learned, any_rows(rng, X))
    finite = np.isfinite(model.statistics_).all()
    return failures if finite else [*failures, f"{name}: {model.statistics_} are not finite"]


def of_parameters(rng, model, X):
    """A fit with another value of a parameter."""
    model = quick(model)
    name = str(rng.choice(sorted(set(model.get_params(deep=False)) - {"verbose", "n_jobs"})))
    value = VALUES[rng.integers(len(VALUES))]

    def fitted():
        model.set_params(**{name: value})
        return model.fit(X)

    return [f"{name} = {shown(value)}, {failure}" for failure in tried("fit", fitted)]


def of_methods(rng, model, X):
    """A method that takes no rows, with another argument."""
    value = VALUES[rng.integers(len(VALUES))]
    if isinstance(value, int | float) and value > 1e6:  # a million is right, and takes its time
        value = 7
    name, argument = METHODS[rng.integers(len(METHODS))]
    if not hasattr(model, name):
        return []
    options = {argument: value}
    return [
        f"{options} {failure}" for failure in tried(name, lambda: getattr(model, name)(**options))
    ]


METHODS = (
    ("sample", "n_samples"),
    ("sample", "random_state"),
    ("explain", "k"),
    ("labels_at", "depth"),
    ("labels_at", "n_clusters"),
    ("alternative_clusterings", "n_trees"),
)
CALLS = {
    "rows": of_rows,
    "learning": of_learning,
    "parameter": of_parameters,
    "method": of_methods,
}


def quick(model):
    model = copy.deepcopy(model)
    if hasattr(model, "max_seconds"):
        model.max_seconds = 2.0
    return model


def tried(name, call, *args):
    """What is wrong with a call: an error that is not clear, or an answer that is none."""
    try:
        answer = call(*args)
    except Exception as error:
        if is_clear(error) or str(error).startswith(LONG):
            return []
        told = "".join(traceback.format_exception(error))
        return [f"{name}{[shown(arg) for arg in args]}: {told}"]
    wrong = isinstance(answer, np.ndarray) and answer.dtype.kind == "f" and np.isnan(answer).any()
    return [f"{name} returned NaN for {[shown(arg) for arg in args]}"] if wrong else []


def any_rows(rng, X):
    """Rows like those of a table, damaged; or something else."""
    kind = rng.random()
    if kind < 0.03:
        return OTHERS[rng.integers(len(OTHERS))]
    if isinstance(X, pd.DataFrame):
        return any_frame(rng, X) if kind < 0.8 else any_array(rng, X.to_numpy())
    return pd.DataFrame(X) if kind < 0.1 else any_array(rng, X)


def any_array(rng, X):
    X = X[rng.integers(len(X), size=int(rng.choice([0, 1, 2, 20, 200])))]
    kind = rng.integers(6)
    if kind < 2 and X.size:
        X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice([*NUMBERS, 1e19, 300.0])
    elif kind == 2:
        with np.errstate(all="ignore"):
            try:
                X = X.astype(rng.choice([*TYPES, "O"]))
            except (ValueError, TypeError, OverflowError):
                return X
    elif kind == 3:
        shapes = (X[:1].ravel(), X[:, :1], X[:, :0], X[None], np.hstack([X, X]), X.T, X[0:1, 0:0])
        return shapes[rng.integers(len(shapes))]
    return in_another_container(rng, X)


def in_another_container(rng, X):
    kind = rng.integers(9)
    if kind == 0:
        return X.tolist()
    if kind == 1:
        return np.asfortranarray(X)
    if kind == 2:
        return X[::-1, ::-1]
    if kind == 3 and len(X):
        return np.broadcast_to(X[0], X.shape)
    if kind == 4:
        return np.ma.masked_array(X, mask=rng.random(X.shape) < 0.1)
    if kind == 5 and X.dtype.kind in "fiu" and X.dtype.itemsize in (4, 8):
        return scipy.sparse.csr_array(X.astype(float))
    if kind == 6 and X.dtype != object:
        room = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:]
        return room[: X.nbytes].view(X.dtype).reshape(X.shape) if X.nbytes else X
    return X


def any_frame(rng, X):
    """A frame whose columns have other names, orders, types, levels or gaps."""
    X = X.sample(int(rng.choice([0, 1, 10, 60])), replace=True, random_state=int(rng.integers(99)))
    name, kind = str(rng.choice(X.columns)), rng.integers(9)
    if kind == 0:
        return X[rng.permutation(X.columns)]
    if kind == 1:
        return X.rename(columns={name: str(rng.choice(["x", *X.columns]))})
    if kind == 2:
        return X.drop(columns=name)
    if kind == 3:
        return X.astype({name: rng.choice(["object", "str", "category"])})
    if kind < 8 and len(X):
        cell = VALUES[rng.integers(len(VALUES))]
        X[name] = X[name].astype(object)
        X.iat[int(rng.integers(len(X))), X.columns.get_loc(name)] = cell
    return X


def any_weights(rng, X):
    weights = rng.random(len(X))
    kind = rng.integers(4)
    if kind == 0:
        weights[rng.integers(len(X))] = rng.choice(NUMBERS)
    elif kind == 1:
        weights[:] = rng.choice(NUMBERS)
    elif kind == 2:
        return (weights[:-1], weights[:, None], weights > 0.5, weights.astype(str), [], "x")[
            rng.integers(6)
        ]
    return weights
