"""Fits and calls of methods, counted as a fuzzer makes them; those inside other calls are not."""

import functools
import inspect
from collections import Counter

import dpmlite

FITS = ("fit", "partial_fit", "fit_predict")
FUNCTIONS = ("merge_models", "to_micropython", "from_micropython", "read_table")
ESTIMATORS = (
    dpmlite.MAPDPM,
    dpmlite.BayesianHierarchicalClustering,
    dpmlite.CollapsedGibbs,
    dpmlite.DPMeans,
    dpmlite.DPSearch,
    dpmlite.VariationalDPM,
)

COUNTS = Counter()
_inside = False


def count_calls():
    """Let public methods and functions count from now on, apart from those of parameters.

    What is imported from `dpmlite` after it counts.
    """
    for estimator in ESTIMATORS:
        for name, method in inspect.getmembers(estimator, inspect.isroutine):
            if not name.startswith(("_", "get_", "set_")):
                setattr(estimator, name, _counted(method, "fits" if name in FITS else "calls"))
    for name in FUNCTIONS:
        setattr(dpmlite, name, _counted(getattr(dpmlite, name), "calls"))


def _counted(function, kind):
    @functools.wraps(function)
    def counted(*args, **kwargs):
        global _inside
        if _inside:
            return function(*args, **kwargs)
        _inside = True
        COUNTS[kind] += 1
        try:
            return function(*args, **kwargs)
        finally:
            _inside = False

    return counted
