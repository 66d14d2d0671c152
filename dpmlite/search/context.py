"""What every part of a search is given: the problem, random numbers, threads and limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Event

    import numpy as np

    from dpmlite import models
    from dpmlite.search.problem import Labels, Problem
    from dpmlite.search.result import SearchResult

    #: Changes a result; returns whether its joint fell by enough to sweep and try all moves again.
    Move = Callable[["Context", SearchResult], bool]


@dataclass(frozen=True, eq=False, repr=False)
class Context:
    """A problem, and the means to solve it.

    Attributes
    ----------
    problem : Problem
    rng : Generator
        Source of all random numbers.
    stop : Event
        Ends the search between two steps when set.
    moves : sequence of Move
        What a descent tries, in this order, when sweeps move few rows; empty for sweeps alone.
    max_sweeps : int
        Limit of the sweeps of a descent, and of those between two merges.
    n_threads : int
        Threads that share the work.
    verbose : bool
        Print a line for each step.
    """

    problem: Problem
    rng: np.random.Generator
    stop: Event
    moves: Sequence[Move] = ()
    max_sweeps: int = 1000
    n_threads: int = 1
    verbose: bool = False

    def of_rows(self, rows: Labels) -> Context:
        """The context of copies of some rows."""
        return replace(self, problem=self.problem.of_rows(rows, self.n_threads))

    def partition(
        self, labels: Labels, order: Labels | None = None, group_labels: Labels | None = None
    ) -> models.Partition:
        """A partition as `Problem.partition` makes it, by all threads."""
        return self.problem.partition(labels, order, group_labels, self.n_threads)
