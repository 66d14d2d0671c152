"""What other samples tell of a large table, once a climb from one of them has ended.

The start is found on a sample, and a climb hardly leaves the way on which it sets out. Where
few clusters look normal, there are many ways to divide them. Starts from other samples lead to
other ways; the common refinement of two is made use of as in a start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpmlite import inference
from dpmlite.estimators.climb import N_SPLIT_SEEDS, Climb
from dpmlite.estimators.freeing import rejoined
from dpmlite.estimators.problem import part_normal, sweep
from dpmlite.estimators.starts import Recombination

if TYPE_CHECKING:
    from threading import Event

    import numpy as np

    from dpmlite.estimators.freeing import Attempt
    from dpmlite.estimators.problem import Problem

# So many samples in a row that improve little tell that others hardly will.
IN_VAIN = 2

# If so many clusters look normal, what the others could gain is little beside what it takes.
MOST_NORMAL = 0.5

# What larger tables gain takes minutes.
MOST_CELLS = 1_000_000


@dataclass(eq=False, repr=False)
class Resampling:
    """Further samples of the rows of a large table, each recombined with the best so far.

    Attributes
    ----------
    problem : Problem
    rng : Generator
    max_sweeps : int
        Sweeps of each climb, at most.
    verbose : bool
        Print a line for every step.
    stop : Event
        Ends the search between two steps when set.
    """

    problem: Problem
    rng: np.random.Generator
    max_sweeps: int
    verbose: bool
    stop: Event

    def improved(self, climb: Climb) -> Climb:
        """The climb, or the last of those that go on from it."""
        in_vain, worthwhile = 0, self.problem.worthwhile(len(self.problem.rows))
        while in_vain < IN_VAIN and self._may_improve(climb):
            attempt = self._attempt(climb)
            gain = climb.objective - attempt.partition.neg_log_joint
            in_vain = 0 if gain > worthwhile else in_vain + 1
            if in_vain == 0:
                climb = self._climbed(climb, attempt)
            climb.n_sweeps_aside += attempt.n_sweeps
            climb.n_emptied += attempt.n_emptied
        return climb

    def _may_improve(self, climb: Climb) -> bool:
        n_cells = len(self.problem.rows) * self.problem.component.n_columns
        is_open = n_cells <= MOST_CELLS and part_normal(climb.partition) < MOST_NORMAL
        return is_open and climb.converged and not self.stop.is_set()

    def _attempt(self, climb: Climb) -> Attempt:
        """What comes of the end of a climb and the start from another sample."""
        start = Recombination(self.problem, self.rng, self.max_sweeps, self.verbose, self.stop)
        other, n_threads = self.problem.partition(start.run()), self.problem.n_threads
        sweep(other, n_threads)
        uniforms = self.rng.random((other.component.n_slots, N_SPLIT_SEEDS, 2))
        inference.split(other, uniforms, n_threads)
        attempt = rejoined(self.problem, climb.partition, other, None, self.max_sweeps, self.stop)
        attempt.n_sweeps += 1
        return attempt

    def _climbed(self, before: Climb, attempt: Attempt) -> Climb:
        """A climb from what an attempt has found."""
        climb = Climb(
            self.problem, attempt.partition, None, self.max_sweeps, self.verbose, self.stop, "again"
        )
        climb.run(self.rng, split_merge=True)
        climb.follow(before)
        return climb
