"""What tests of the search give to its parts."""

import numpy as np
from cases import empirical_prior

from dpmlite import core, families
from dpmlite.search.context import Context, Problem
from dpmlite.search.progress import Progress


def context_of(X, seed=0, stop=None, groups=None, **parameters):
    """Gaussian columns under the empirical prior, alpha 1; a seed, or a generator."""
    problem = Problem(core.Rows(X), families.NormalGamma(**empirical_prior(X)), 1.0, groups)
    progress = Progress()
    progress.stop = stop or progress.stop
    return Context(problem, np.random.default_rng(seed), progress, **parameters)
