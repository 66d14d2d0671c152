"""Fits whose memory runs out: ``LD_PRELOAD=LIBRARY python3 starved_fits.py LIBRARY 1000``.

The library, failing_memory.c, lets allocations of the kernels fail in turn, so many of each fit:
one alone, and all from there on. A fit then raises MemoryError and leaves the estimator as it was,
or does without.
"""

import copy
import ctypes
import sys

import numpy as np
from cases import blobs

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPSearch,
    VariationalDPM,
)

LAST = 2**31 - 1  # after all calls

ESTIMATORS = {
    "MAPDPM": MAPDPM(prior="paper", random_state=0),
    "default": MAPDPM(random_state=0),
    "Wishart": MAPDPM(component="normal-inverse-wishart", prior="paper", random_state=0),
    "counts": MAPDPM(component="dirichlet-multinomial", prior="paper", random_state=0),
    "threads": MAPDPM(prior="paper", n_jobs=2, random_state=0),
    "DPSearch": DPSearch(prior="paper", random_state=0),
    "trees": BayesianHierarchicalClustering(prior="paper", random_state=0),
    "samples": CollapsedGibbs(prior="paper", n_samples=2, random_state=0),
    "variational": VariationalDPM(prior="paper", n_components=4, random_state=0),
}


def main(library, n_at_most):
    """Print, for each kind of estimator, how many fits failed of how many."""
    memory = ctypes.CDLL(library)
    memory.fail_calls.argtypes, memory.calls.restype = [ctypes.c_long] * 2, ctypes.c_long
    X = blobs(n_rows=40, n_columns=3)[0].round() + 20.0
    for kind, estimator in ESTIMATORS.items():
        expected = copy.deepcopy(estimator)
        memory.fail_calls(LAST, LAST)
        expected.fit(X)
        places = np.unique(np.linspace(0, memory.calls() - 1, n_at_most).astype(int)).tolist()
        ends = [(first, last) for first in places for last in (first, LAST)]
        failed = [fails(memory, *end, estimator, X, expected.labels_) for end in ends]
        print(kind, sum(failed), len(failed), flush=True)


def fails(memory, first, last, estimator, X, labels):
    """Return whether a fit whose calls first..last fail ends with MemoryError."""
    fitted = copy.deepcopy(estimator)
    memory.fail_calls(first, last)
    try:
        fitted.fit(X)
    except MemoryError:
        assert vars(fitted).keys() == vars(estimator).keys(), (first, last)
        return True
    finally:
        memory.fail_calls(LAST, LAST)
    np.testing.assert_array_equal(fitted.labels_, labels)
    return False


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
