"""The hill-climbing of `MAPDPM`: which moves, in which order.

It draws the random numbers; the moves themselves are in `dpmlite.inference`.
"""

import threading
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpmlite import inference, models

# Proposals of a pass: pairs of seeds for each cluster that may be split; of exchanges, neighbours
# of each cluster and pairs of seeds for each of them. `asv_benchmarks/benchmarks/search.py` shows
# what others cost and gain.
N_SPLIT_SEEDS = 1
N_NEIGHBOURS = 2
N_EXCHANGE_SEEDS = 1


@dataclass(frozen=True)
class Problem:
    """What is to be partitioned, and what is believed of it.

    Attributes
    ----------
    rows : Rows
    component : Component
        Any of the family and its prior.
    alpha : float
    """

    rows: models.Rows
    component: models.Component
    alpha: float

    def partition(
        self, labels: npt.NDArray[np.intp], order: npt.NDArray[np.intp] | None = None
    ) -> models.Partition:
        """A partition of the rows `order` (default: all), with these labels."""
        return models.Partition(self.rows, labels, self.component.like(), self.alpha, order)


@dataclass
class Climb:
    """One descent of the joint: a partition, and how it came about.

    Attributes
    ----------
    partition : Partition
        Visits rows in `order`; its labels are in that order too.
    order : ndarray of int, shape (N,), or None
        The order of visits; None is 0..N-1.
    max_sweeps : int
        Sweeps over all rows at most.
    verbose : bool
        Print a line for every step.
    stop : threading.Event
        Ends the descent between two steps when set.
    name : str
        Of the start, for the lines of `verbose`.
    trace : list of float
        The joint after each step that changed something.
    n_sweeps : int
        Sweeps done.
    converged : bool
        Whether it ended because nothing helped.
    """

    partition: models.Partition
    order: npt.NDArray[np.intp] | None
    max_sweeps: int
    verbose: bool
    stop: threading.Event
    name: str
    trace: list[float] = field(default_factory=list)
    n_sweeps: int = 0
    converged: bool = False

    def run(self, rng: np.random.Generator, split_merge: bool) -> None:
        """Sweep until nothing moves; then merge, split and exchange until nothing helps."""
        placed = min(self.partition.labels, default=0) >= 0
        if placed:
            self._record("start", self.partition.n_clusters)
        while self._sweep() and split_merge and self._move_clusters(rng):
            self.converged = False

    def labels(self) -> npt.NDArray[np.intp]:
        """Labels of rows 0..N-1."""
        found = np.asarray(self.partition.labels, dtype=np.intp)
        if self.order is None:
            return found
        labels = np.empty_like(found)
        labels[self.order] = found
        return labels

    def _sweep(self) -> bool:
        """Sweep until no row moves. False if the limit of sweeps or a stop came first."""
        while self.n_sweeps < self.max_sweeps and not self.stop.is_set():
            moves = inference.sweep(self.partition)
            self.n_sweeps += 1
            self._record("sweep", moves)
            if moves == 0:
                self.converged = True
                return True
        return False

    def _move_clusters(self, rng: np.random.Generator) -> int:
        merges = inference.merge(self.partition)
        self._record("merge", merges)
        n_slots, n_rows = self.partition.component.n_slots, self.partition.n_rows
        shape = (n_slots, min(N_SPLIT_SEEDS, n_rows), 2)
        splits = inference.split(self.partition, rng.random(shape))
        self._record("split", splits)
        if merges or splits or self.stop.is_set():
            return merges + splits
        neighbours = (n_slots, N_NEIGHBOURS, N_EXCHANGE_SEEDS, 2)
        exchanges = inference.exchange(self.partition, rng.random(neighbours))
        self._record("exchange", exchanges)
        return exchanges

    def _record(self, step: str, count: int) -> None:
        joint = self.partition.neg_log_joint
        if step in ("start", "sweep") or count:
            self.trace.append(joint)
        if self.verbose:
            print_step(self.name, step, count, self.partition.n_clusters, joint)


def print_step(name: str, step: str, count: int, n_clusters: int, neg_log_joint: float) -> None:
    """Print a line of `verbose`."""
    print(
        f"{name:<12} {step:<9} {count:>8}   clusters {n_clusters:>6}"
        f"   neg_log_joint {neg_log_joint:.4f}",
        flush=True,
    )
