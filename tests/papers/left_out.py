"""Figure 6 of Xu, Heller & Ghahramani (2009): mean log densities of rows left out.

`densities(train, test, prior)` gives {method: mean log density}, and so do these, means of it.
"""

import numpy as np
from tree_tables import SET_PRIOR, SIZES, draw_set, sample


def synthetic_density(densities, name, size):
    """Each row left out in turn."""
    X = draw_set(name, max(SIZES), 0)[:size]
    return _mean_of(
        densities(np.delete(X, i, axis=0), X[i : i + 1], SET_PRIOR) for i in range(size)
    )


def real_density(densities, name, size, prior, n_samples):
    """A tenth of the rows left out, in some samples."""
    samples = (sample(name, size, seed) for seed in range(n_samples))
    return _mean_of(densities(X[size // 10 :], X[: size // 10], prior) for X in samples)


def _mean_of(results):
    """Mean of each value of dicts with the same keys."""
    results = list(results)
    return {key: np.mean([result[key] for result in results]) for key in results[0]}
