"""Every method of a model, and what counts as a failure."""

import copy
import traceback
from pathlib import Path

import numpy as np

import dpmlite
from dpmlite import MAPDPM, merge_models, to_micropython

# A fit ends after so many seconds.
MAX_FIT_SECONDS = 5.0

# Methods that take more than a millisecond, and how many models of each hundred they are tried on.
DEAR = {"outlier_score": 5, "partial_fit": 10, "fit": 10, "save": 15, "merge_models": 15}
DEAR |= dict.fromkeys(("explain", "html", "summary", "column_information"), 15)

SOURCE = str(Path(dpmlite.__file__).parent)


def use(model, whole, X, folder, rng):
    """Call methods of a model, dear ones now and then; failures, by the name of the method.

    An error is a failure unless it is a ValueError or a TypeError of one line that dpmlite raises:
    a prior may be changed to another one, which rows may not fit.
    """
    failures = {}
    for name, call in methods(model, whole, X, folder).items():
        if rng.random() >= DEAR.get(name, 100) / 100.0:
            continue
        try:
            call()
        except Exception as error:
            if not is_clear(error):
                failures[name] = "".join(traceback.format_exception(error))
    return failures


def is_clear(error):
    """Whether an error is one line, raised by dpmlite itself."""
    frames = traceback.extract_tb(error.__traceback__)
    raised_here = frames[-1].filename.startswith((SOURCE, "dpmlite/"))  # the latter of kernels
    return isinstance(error, ValueError | TypeError) and raised_here and one_line(error)


def one_line(error):
    text = str(error)
    return len(text.splitlines()) < 2 and "please report" not in text


def methods(model, whole, X, folder):
    calls = {
        "predict": lambda: model.predict(X),
        "predict_proba": lambda: model.predict_proba(X),
        "new_cluster_proba": lambda: model.new_cluster_proba(X),
        "score_samples": lambda: model.score_samples(X),
        "score": lambda: model.score(X),
        "sample": lambda: model.sample(5, random_state=0),
        "summary": lambda: str(model.summary()),
        "explain": lambda: [str(model.explain(k)) for k in range(min(model.n_clusters_, 3))],
        "column_information": model.column_information,
        "impute": lambda: (model.impute(X), model.impute(X, 2, random_state=0)),
        "html": model._repr_html_,
        "repr": lambda: repr(model),
        "save": lambda: saved_and_loaded(model, folder),
        "fit": lambda: fitted_again(model, X),
    }
    if model.component_ != "dirichlet-multinomial" and not model.allow_missing_:
        calls["outlier_score"] = lambda: model.outlier_score(X)
    if isinstance(model, MAPDPM):
        calls |= {
            "labels_at": lambda: (model.labels_at(depth=1.0), model.labels_at(n_clusters=1)),
            "partial_fit": lambda: copy.deepcopy(model).partial_fit(X[:5]).partial_fit(X[5:]),
            "merge_models": lambda: (merge_models(model, whole), merge_models(whole, model)),
            "to_micropython": lambda: to_micropython(model, folder / "board.py"),
        }
    if hasattr(model, "alternative_clusterings"):
        calls["alternative_clusterings"] = lambda: model.alternative_clusterings(3)
    if hasattr(model, "co_clustering"):
        calls["co_clustering"] = model.co_clustering
    return calls


def fitted_again(model, X):
    """Fit with the parameters of the file; they may ask for a million samples: that is no hang."""
    again = copy.deepcopy(model)
    if hasattr(again, "max_seconds"):
        again.max_seconds = MAX_FIT_SECONDS
    again.fit(X)


def saved_and_loaded(model, folder):
    path = folder / "again.npz"
    model.save(path)
    again = type(model).load(path)
    assert vars(again).keys() == vars(model).keys()
    np.testing.assert_array_equal(again.statistics_, model.statistics_)
