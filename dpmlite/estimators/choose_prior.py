"""Choosing the scales of a prior by the joint: "empirical Bayes" on a grid."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpmlite.estimators.climb import Climb
from dpmlite.estimators.families import Prior
from dpmlite.estimators.problem import Problem
from dpmlite.estimators.search import Search

# Factors go up or down by the first of these while that lowers the joint, then by the next.
STEPS = (4.0, 2.0)

# Factors stay between these: rounded values, of which many are equal, would want none of width.
LEAST_FACTOR, MOST_FACTOR = 2.0**-14, 2.0**14

# The scales are chosen on so many rows at most, drawn at random.
SAMPLE_ROWS = 2000


@dataclass
class ScaleSearch:
    """Coordinate descent on the factors of a prior's scales.

    Each candidate climbs on from the best labels so far, under its own prior, and is kept if that
    lowers the joint.

    Attributes
    ----------
    search : Search
    problem_of : callable
        The problem of the rows that are used, under a prior.
    prior : dict
        Where to start from.
    scales : tuple of tuples of str
        Keys of the prior that have a factor in common, as `Family.scales`.
    seeds : ndarray of int
    """

    search: Search
    problem_of: Callable[[Prior], Problem]
    prior: Prior
    scales: tuple[tuple[str, ...], ...]
    seeds: npt.NDArray[np.int64]
    factors: dict[tuple[str, ...], float] = field(init=False)
    best: Climb = field(init=False)

    def run(self) -> Prior:
        """The prior with the best factors."""
        self.factors = dict.fromkeys(self.scales, 1.0)
        self.best = self.search.best(self.problem_of(self.prior), self.seeds)
        for step in STEPS:
            while any(self._walk(keys, step) for keys in self.scales):
                pass
        return scaled(self.prior, self.factors)

    def _walk(self, keys: tuple[str, ...], step: float) -> bool:
        """Multiply a factor by `step`, or divide it, while that helps; whether it did."""
        walked = False
        for ratio in (step, 1.0 / step):
            while not walked and self._try(keys, ratio):
                while self._try(keys, ratio):
                    pass
                walked = True
        return walked

    def _try(self, keys: tuple[str, ...], ratio: float) -> bool:
        factor = self.factors[keys] * ratio
        if not LEAST_FACTOR <= factor <= MOST_FACTOR:
            return False
        factors = {**self.factors, keys: factor}
        problem = self.problem_of(scaled(self.prior, factors))
        climb = self.search.climb_on(problem, self.best.labels(), int(self.seeds[0]), "prior")
        gain = self.best.partition.neg_log_joint - climb.partition.neg_log_joint
        if not gain > problem.worthwhile(len(problem.rows)):
            return False
        self.best, self.factors = climb, factors
        return True


def scaled(prior: Prior, factors: dict[tuple[str, ...], float]) -> Prior:
    """The prior with the keys of each group multiplied by its factor."""
    return {
        **prior,
        **{key: prior[key] * factor for keys, factor in factors.items() for key in keys},
    }
