"""Choice of the scales of a prior by the joint, or a bound of it: empirical Bayes on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from dpmlite.search.context import Labels, Problem

    Seeds = npt.NDArray[np.int64]
    Factors = dict[tuple[str, ...], float]

# Factors go up or down by the first of these while that lowers the joint, then by the next.
STEPS = (4.0, 2.0)

# Factors stay between these: of rounded values many are equal, and want a prior of width 0.
MIN_FACTOR, MAX_FACTOR = 2.0**-14, 2.0**14


class Scored(Protocol):
    """What a search found under one prior."""

    @property
    def neg_log_joint(self) -> float:
        """The objective, in nats, comparable between priors; lower is better."""

    def labels(self) -> Labels:
        """The clusters that were found."""


class Method(Protocol):
    """A search under a given prior."""

    def best(self, problem: Problem, seeds: Seeds) -> Scored:
        """What is found from scratch."""

    def go_on(self, problem: Problem, labels: Labels, seed: int, name: str) -> Scored:
        """What is found from labels."""


@dataclass(eq=False, repr=False)
class ScaleSearch:
    """Coordinate descent on the factors of a prior's scales.

    Each candidate goes on from the best labels so far, under its own prior, and is kept if that
    lowers the objective by enough.

    Attributes
    ----------
    method : Method
    problem_of : callable
        The problem under the prior with given factors.
    is_possible : callable
        Whether no row of the table lies too far from the prior with given factors.
    seeds : ndarray of int
    factors : dict
        The factor of each group of the prior's keys; first those to start from.
    """

    method: Method
    problem_of: Callable[[Factors], Problem]
    is_possible: Callable[[Factors], bool]
    seeds: Seeds
    factors: Factors

    def run(self) -> float:
        """Set the factors to the best; return the objective under them."""
        self.best = self.method.best(self.problem_of(self.factors), self.seeds)
        for step in STEPS:
            while any(self._walk(keys, step) for keys in self.factors):
                pass
        return self.best.neg_log_joint

    def _walk(self, keys: tuple[str, ...], step: float) -> bool:
        """Multiply a factor by `step`, or divide it, while that helps; whether it did."""
        for ratio in (step, 1.0 / step):
            n_steps = 0
            while self._try(keys, ratio):
                n_steps += 1
            if n_steps:
                return True
        return False

    def _try(self, keys: tuple[str, ...], ratio: float) -> bool:
        """Multiply a factor by `ratio` if that lowers the objective by enough; whether it did."""
        factors = {**self.factors, keys: self.factors[keys] * ratio}
        if not MIN_FACTOR <= factors[keys] <= MAX_FACTOR or not self.is_possible(factors):
            return False
        problem = self.problem_of(factors)
        found = self.method.go_on(problem, self.best.labels(), int(self.seeds[0]), "prior")
        gain = self.best.neg_log_joint - found.neg_log_joint
        if not gain > problem.worthwhile_gain(len(problem.rows)):
            return False
        self.best, self.factors = found, factors
        return True
