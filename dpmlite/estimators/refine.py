"""What `DPSearch` makes of the labels that its search has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpmlite._threads import new_event
from dpmlite.estimators.climb import Climb
from dpmlite.estimators.starts import DESCENT_SWEEPS, Recombination

if TYPE_CHECKING:
    from threading import Event

    import numpy as np

    from dpmlite.estimators.problem import Labels, Problem

# Sweeps of a climb over all rows, at most.
MAX_SWEEPS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Refinement:
    """How to refine.

    Attributes
    ----------
    quick : bool
        Leave out what takes longer than what it gains.
    verbose : bool
    """

    quick: bool
    verbose: bool

    def of(self, problem: Problem, labels: Labels, rng: np.random.Generator) -> Climb:
        """A climb from labels of all rows, which are not changed.

        Where rows are few, it begins with what descents make of the end of another climb, or, if it
        is to be quick, of the labels.
        """
        stop = new_event()
        start = Recombination(problem, rng, DESCENT_SWEEPS, self.verbose, stop)
        if not start.is_of_all:
            return self._climb(problem, labels.copy(), rng, stop, frees=not self.quick)
        if self.quick:
            better = start.improved(labels.copy())
            return start.counted(self._climb(problem, better, rng, stop, frees=False))
        first = self._climb(problem, labels.copy(), rng, stop, frees=False)
        better = start.improved(first.labels())
        climb = start.counted(self._climb(problem, better, rng, stop, frees=True))
        climb.follow(first)
        return climb

    def _climb(
        self,
        problem: Problem,
        labels: Labels,
        rng: np.random.Generator,
        stop: Event,
        frees: bool,
    ) -> Climb:
        partition = problem.partition(labels)
        climb = Climb(problem, partition, None, MAX_SWEEPS, self.verbose, stop, "search")
        climb.run(rng, True, frees)
        return climb
