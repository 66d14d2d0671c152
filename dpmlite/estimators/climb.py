"""The search of `MAPDPM`: which moves, in which order, from which starts.

It draws the random numbers; the moves themselves are in `dpmlite.inference`.
"""

import math
import threading
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpmlite import inference, models

# Proposals of a pass, found by trial on six UCI tables (tests/test_floors.py): seeds of splits for
# each cluster, and more for few clusters, since a first split decides much; of exchanges,
# neighbours of each cluster and seeds for each of them.
N_SPLIT_SEEDS = 8
N_SPLIT_SEEDS_IN_ALL = 100
N_NEIGHBOURS = 3
N_EXCHANGE_SEEDS = 3

# From singletons the first sweep costs N x N scores, and statistics need N times D numbers: larger
# tables start with one pass instead.
SINGLETONS_AT_MOST = 2000
SINGLETON_CELLS_AT_MOST = 2_000_000


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
        n_slots = self.partition.component.n_slots
        n_seeds = max(N_SPLIT_SEEDS, N_SPLIT_SEEDS_IN_ALL // self.partition.n_clusters)
        n_seeds = min(n_seeds, self.partition.n_rows)
        splits = inference.split(self.partition, rng.random((n_slots, n_seeds, 2)))
        self._record("split", splits)
        if merges or splits or self.stop.is_set():
            return merges + splits
        shape = (n_slots, N_NEIGHBOURS, N_EXCHANGE_SEEDS, 2)
        exchanges = inference.exchange(self.partition, rng.random(shape))
        self._record("exchange", exchanges)
        return exchanges

    def _record(self, step: str, count: int) -> None:
        joint = self.partition.neg_log_joint
        if step in ("start", "sweep") or count:
            self.trace.append(joint)
        if self.verbose:
            print(
                f"{self.name:<12} {step:<8} {count:>8}   clusters {self.partition.n_clusters:>6}"
                f"   neg_log_joint {joint:.4f}",
                flush=True,
            )


def starts(init: str, restart: int, n_rows: int, n_columns: int) -> list[str]:
    """Names of the starts of one restart; the best of their ends counts."""
    if init != "auto":
        return ["shuffled" if init == "sequential" and restart else init]
    if restart:
        return ["random" if restart % 2 else "shuffled"]
    small = n_rows <= SINGLETONS_AT_MOST and n_rows * n_columns <= SINGLETON_CELLS_AT_MOST
    return ["single", "singletons" if small else "sequential"]


def start_labels(
    name: str, n_rows: int, alpha: float, rng: np.random.Generator
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp] | None]:
    """Labels to start from, and the order of visits if it is not 0..N-1.

    "single" is one cluster, "singletons" one for each row; "sequential" places row after row,
    "shuffled" does so in random order; "random" draws labels of about twice as many clusters
    as the prior expects.
    """
    if name == "single":
        return np.zeros(n_rows, dtype=np.intp), None
    if name == "singletons":
        return np.arange(n_rows, dtype=np.intp), None
    if name == "sequential":
        return np.full(n_rows, -1, dtype=np.intp), None
    if name == "shuffled":
        return np.full(n_rows, -1, dtype=np.intp), rng.permutation(n_rows).astype(np.intp)
    expected = alpha * math.log1p(n_rows / alpha)
    n_clusters = min(max(2, round(2.0 * expected)), n_rows)
    return rng.integers(n_clusters, size=n_rows).astype(np.intp), None
