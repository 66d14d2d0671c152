"""Choosing the scales of a prior by the joint, or a bound: "empirical Bayes" on a grid."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpmlite.estimators.priors.moments import constant_columns
from dpmlite.estimators.validation import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from dpmlite.estimators.data import Data
    from dpmlite.estimators.priors.base import Family, Prior
    from dpmlite.estimators.priors.moments import Moments
    from dpmlite.estimators.problem import Labels, Problem

# Factors go up or down by the first of these while that lowers the joint, then by the next.
STEPS = (4.0, 2.0)

# Factors stay between these: rounded values, of which many are equal, would want none of width.
LEAST_FACTOR, MOST_FACTOR = 2.0**-14, 2.0**14

# The scales are chosen on so many rows at most, drawn at random.
SAMPLE_ROWS = 2000


class Found(Protocol):
    """What a search found under one prior."""

    @property
    def objective(self) -> float:
        """In nats, lower is better; comparable between priors."""

    def labels(self) -> Labels:
        """The clusters that were found."""


class Method(Protocol):
    """How to search under a prior."""

    def best(self, problem: Problem, seeds: npt.NDArray[np.int64]) -> Found:
        """What is found from scratch."""

    def climb_on(self, problem: Problem, labels: Labels, seed: int, name: str) -> Found:
        """What is found from labels."""


@dataclass(eq=False, repr=False)
class ScaleSearch:
    """Coordinate descent on the factors of a prior's scales.

    Each candidate climbs on from the best labels so far, under its own prior, and is kept if that
    lowers the objective. Constant columns keep the default prior, for they would gain from any that
    is narrower, and candidates that a row of the table lies too far from are passed over.

    Attributes
    ----------
    search : Method
    problem_of : callable
        The problem of the rows that are used, under a prior.
    family : Family
    table, sample : Data
        All rows, and those that are used.
    moments : Moments
        Of all rows.
    prior : dict
        The default.
    seeds : ndarray of int
    start : float
        The factor of the width to start from; 1 is that of the others.
    """

    search: Method
    problem_of: Callable[[Prior], Problem]
    family: Family
    table: Data
    moments: Moments
    sample: Data
    prior: Prior
    seeds: npt.NDArray[np.int64]
    start: float = 1.0
    factors: dict[tuple[str, ...], float] = field(init=False)
    best: Found = field(init=False)

    def run(self) -> Prior:
        """The prior with the best factors."""
        self.factors = {**dict.fromkeys(self.family.scales, 1.0), self.family.width: self.start}
        self.best = self.search.best(self.problem_of(self._scaled(self.factors)), self.seeds)
        for step in STEPS:
            while any(self._walk(keys, step) for keys in self.family.scales):
                pass
        self._warn_of_the_least()
        return self._scaled(self.factors)

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
        prior = self._scaled(factors)
        if not self._within_reach(prior):
            return False
        problem = self.problem_of(prior)
        climb = self.search.climb_on(problem, self.best.labels(), int(self.seeds[0]), "prior")
        gain = self.best.objective - climb.objective
        if not gain > problem.worthwhile(len(problem.rows)):
            return False
        self.best, self.factors = climb, factors
        return True

    def _scaled(self, factors: dict[tuple[str, ...], float]) -> Prior:
        """The prior with the keys of each group multiplied by its factor."""
        prior = dict(self.prior)
        for keys, factor in factors.items():
            for key in keys:
                prior[key] = self._spared(factor * prior[key], prior[key])
        return prior

    def _spared(self, value: Any, default: Any) -> Any:
        """A value of the prior, or the default where a column is constant."""
        if self.sample.values is None or np.ndim(value) == 0:
            return value
        constant = constant_columns(self.sample)
        spared = constant if np.ndim(value) == 1 else constant[:, None] | constant
        return np.where(spared, default, value)

    def _within_reach(self, prior: Prior) -> bool:
        try:
            self.family.check_reach(self.table, prior, self.moments)
        except ValueError:
            return False
        return True

    def _warn_of_the_least(self) -> None:
        if self.factors[self.family.width] < LEAST_FACTOR * STEPS[-1]:
            warn(
                f"prior 'nll' ended at the least {' and '.join(self.family.width)} that is tried, "
                f"{LEAST_FACTOR:.0e} of the default: where many rows or cells are equal, the joint "
                "improves as long as the prior narrows; rather give the prior"
            )
