"""The whole search of `MAPDPM` for given hyperparameters: restarts, and their best."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.core.threads import on_threads
from dpmlite.search import descent
from dpmlite.search.context import Context
from dpmlite.search.descent import descend
from dpmlite.search.partition_crossover import cross_over
from dpmlite.search.progress import Progress
from dpmlite.search.restart_from_sample import improve_from_other_samples
from dpmlite.search.result import SearchResult, best_of
from dpmlite.search.sampled_start import SampledStart
from dpmlite.search.starts import starts_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.search.context import Labels, Move, Problem

    Seeds = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Search:
    """How to search: parameters of `MAPDPM`, checked.

    Attributes
    ----------
    init : str or ndarray of int
        The name of a start, or labels to start from.
    split_merge : bool
        Whether a descent has other moves than sweeps.
    max_sweeps : int
    progress : Progress
        Where steps are told, and what ends the search between two of them.
    quick : bool
        Whether to leave out what takes most time for its gain.
    shuffled : bool
        Whether each sweep of a descent visits rows in a new random order.
    brief : bool
        Whether a descent has no other moves than sweeps, merges and splits.
    """

    init: str | Labels = "auto"
    split_merge: bool = True
    max_sweeps: int = 1000
    progress: Progress = field(default_factory=Progress)
    quick: bool = False
    shuffled: bool = False
    brief: bool = False

    def of_rows(self, chosen: npt.NDArray[np.bool_]) -> Search:
        """The search among some of the rows."""
        return self if isinstance(self.init, str) else replace(self, init=self.init[chosen])

    def best(self, problem: Problem, seeds: Seeds) -> SearchResult:
        """The best result of a restart for each seed; if there are several, threads share them."""
        context = self.context(problem, np.random.default_rng(seeds))
        if len(seeds) == 1:
            return self._restart(context, 0, seeds[0])

        def restart(i: int) -> SearchResult:
            return self._restart(context, i, seeds[i])

        results = on_threads(restart, range(len(seeds)), context.stop)
        return self._crossed_over(context, results) if self._samples() else best_of(results)

    def go_on(self, problem: Problem, labels: Labels, seed: int, name: str) -> SearchResult:
        """The result of a descent from labels of all rows, which are not changed."""
        context = self.context(problem, np.random.default_rng(seed))
        return descend(context, SearchResult(context.partition(labels.copy()), name=name))

    def from_sample(self, problem: Problem, seed: int) -> SearchResult:
        """The result of a descent from one sample of the rows; `best` goes on with others."""
        context = self.context(problem, np.random.default_rng(seed))
        labels = SampledStart(context).run()
        return descend(context, SearchResult(context.partition(labels), name="sample"))

    def context(self, problem: Problem, rng: np.random.Generator) -> Context:
        """What each part of a search among the rows of a problem is given."""
        return Context(
            problem,
            rng,
            self.progress,
            self._moves(),
            self.max_sweeps,
            self.quick,
            self.shuffled,
        )

    def _moves(self) -> tuple[Move, ...]:
        """What a descent tries when sweeps move few rows."""
        if not self.split_merge:
            return ()
        if self.brief:
            return descent.BRIEF_MOVES
        return descent.QUICK_MOVES if self.quick else descent.MOVES

    def _samples(self) -> bool:
        """Whether the start is one that is found on a sample."""
        return isinstance(self.init, str) and self.init == "auto" and self.split_merge

    def _restart(self, context: Context, restart: int, seed: int) -> SearchResult:
        """The result of one restart, with its own random numbers."""
        context = replace(context, rng=np.random.default_rng(seed))
        if self._samples():
            start = SampledStart(context)
            result = descend(context, SearchResult(context.partition(start.run()), name="best"))
            if start.is_of_all:
                return start.counted(result)
            return improve_from_other_samples(context, result)
        starts = starts_of(self.init, context, restart)
        return best_of([descend(context, start) for start in starts])

    def _crossed_over(self, context: Context, results: list[SearchResult]) -> SearchResult:
        """The best result, or a better one from its crossover with another."""
        best = best_of(results)
        for other in results:
            if other is not best:
                both = cross_over(context, best.labels(), other.labels())
                labels = np.array(both.labels, dtype=np.intp)
                start = SearchResult(context.partition(labels), name="joined")
                best = best_of([best, descend(context, start)])
        return best
