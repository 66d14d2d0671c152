"""The whole search of `MAPDPM` for given hyperparameters: restarts, on threads, and their best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite._threads import new_event, on_threads
from dpmlite.estimators.climb import Climb
from dpmlite.estimators.prefixes import search_labels
from dpmlite.estimators.problem import first_of_best
from dpmlite.estimators.resampling import Resampling
from dpmlite.estimators.starts import Recombination, simple_starts, start_labels

if TYPE_CHECKING:
    from threading import Event

    import numpy.typing as npt

    from dpmlite.estimators.problem import Labels, Problem


@dataclass(frozen=True, eq=False, repr=False)
class Search:
    """How to search: parameters of `MAPDPM`, checked.

    Attributes
    ----------
    init : str or ndarray of int
        The name of a start, or labels to start from.
    split_merge : bool
    max_sweeps : int
    n_threads : int
    verbose : bool
    """

    init: str | Labels
    split_merge: bool
    max_sweeps: int
    n_threads: int
    verbose: bool

    def on(self, chosen: npt.NDArray[np.bool_]) -> Search:
        """The same for some of the rows."""
        return self if isinstance(self.init, str) else replace(self, init=self.init[chosen])

    def best(self, problem: Problem, seeds: npt.NDArray[np.int64]) -> Climb:
        """The best climb of as many restarts as there are seeds; the first of equals."""
        stop = new_event()

        def restart(i: int) -> Climb:
            return self._restart(problem, i, np.random.default_rng(seeds[i]), stop)

        if len(seeds) == 1:
            problem = replace(problem, n_threads=self.n_threads)
        climbs = on_threads(restart, range(len(seeds)), self.n_threads, stop)
        return self._joined(problem, climbs, np.random.default_rng(seeds), stop)

    def climb_on(self, problem: Problem, labels: Labels, seed: int, name: str) -> Climb:
        """A climb from labels of all rows, which are not changed."""
        rng = np.random.default_rng(seed)
        return self._climb(problem, labels.copy(), None, rng, new_event(), name)

    def _restart(
        self, problem: Problem, restart: int, rng: np.random.Generator, stop: Event
    ) -> Climb:
        if not isinstance(self.init, str):
            return self._climb(problem, self.init.copy(), None, rng, stop, "given")
        if self._recombines():
            return self._climb_from_recombination(problem, rng, stop)
        shape = len(problem.rows), problem.component.n_columns
        climbs = []
        for name in simple_starts(self.init, restart, *shape):
            if name == "search":
                labels, order = search_labels(problem, restart, rng, stop), None
            else:
                labels, order = start_labels(name, shape[0], problem.alpha, rng)
            climbs.append(self._climb(problem, labels, order, rng, stop, name))
        return _best(climbs)

    def _recombines(self) -> bool:
        return isinstance(self.init, str) and self.init == "auto" and self.split_merge

    def _climb_from_recombination(
        self, problem: Problem, rng: np.random.Generator, stop: Event
    ) -> Climb:
        start = Recombination(problem, rng, self.max_sweeps, self.verbose, stop)
        climb = start.counted(self._climb(problem, start.run(), None, rng, stop, "best"))
        if start.is_of_all:
            return climb
        return Resampling(problem, rng, self.max_sweeps, self.verbose, stop).improved(climb)

    def _climb(
        self,
        problem: Problem,
        labels: Labels,
        order: Labels | None,
        rng: np.random.Generator,
        stop: Event,
        name: str,
    ) -> Climb:
        partition = problem.partition(labels, order)
        climb = Climb(problem, partition, order, self.max_sweeps, self.verbose, stop, name)
        climb.run(rng, self.split_merge)
        return climb

    def _joined(
        self, problem: Problem, climbs: list[Climb], rng: np.random.Generator, stop: Event
    ) -> Climb:
        """The best climb, or a better one from the refinement of two ends."""
        best = _best(climbs)
        for other in climbs if self._recombines() else []:
            if other is not best:
                both = problem.recombined(best.labels(), other.labels())
                labels = np.array(both.labels, dtype=np.intp)
                best = _best([best, self._climb(problem, labels, None, rng, stop, "joined")])
        return best


def _best(climbs: list[Climb]) -> Climb:
    """The first of equals."""
    joints = [climb.partition.neg_log_joint for climb in climbs]
    return climbs[first_of_best(joints, climbs[0].partition.least_gain)]
