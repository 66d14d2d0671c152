"""The ranges of parameters and data in which joints are right to 1e-9 of their size.

They are decided by use, and not by what a double can hold: beyond them, a model says nothing that
the nearest one inside does not say. `docs/guide/ranges.md` lists them for users.
"""

from typing import NamedTuple


class Range(NamedTuple):
    """The least and the greatest value."""

    least: float
    most: float


#: Concentrations, and what their priors are given by.
ALPHA = Range(1e-12, 1e12)

#: Shapes of precisions, a0 of "normal-gamma"; nu0 is at most the greatest above D - 1. A precision
#: that a million rows tell is known: log b, of which a0 are taken, has 16 digits.
SHAPE = Range(1e-6, 1e6)

#: Rows that a prior mean is worth: c0, kappa0, tau2 / sigma2. The default c0 is 10 / N.
WORTH = Range(1e-20, 1e20)

#: Cells that a prior is worth: a0 and b0 of counts and of zeros and ones, beta0.
PSEUDO_COUNT = Range(1e-12, 1e12)

#: Scales of the data, in any unit: b0, sigma2, tau2 and variances of psi0.
SCALE = Range(1e-320, 1e308)

#: Rows up to which evidence grows.
ROBUSTNESS = Range(1e-3, 1e18)

#: Weights of rows: the least, and the greatest part of the least that the greatest is. Sums of
#: whole weights are exact up to `MAX_TOTAL_WEIGHT`. With a prior that is given, and not fitted,
#: joints are right from `EXACT_WEIGHT` on.
MIN_WEIGHT = 1e-100
EXACT_WEIGHT = 1e-12
MAX_WEIGHT_RATIO = 1e12
MAX_TOTAL_WEIGHT = 2.0**53

#: Weights of clusters: that of a row of the least weight, where many rows share the evidence.
MIN_CLUSTER_WEIGHT = 1e-120

#: Counts of words or events: log-gammas of greater ones lose the digits that tell clusters apart.
MAX_COUNT = 2.0**40

#: Exposures of counts: time, area or population, in any usual unit.
EXPOSURE = Range(1e-12, 1e12)

#: Starts of a search: each has a seed.
MAX_STARTS = 10**6

#: Any other whole number but seeds: kernels count in 64 bits.
MAX_WHOLE = 2**62
