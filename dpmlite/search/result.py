"""What a search has found, and what it took."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpmlite.partition import Partition
    from dpmlite.search.context import Labels
    from dpmlite.search.progress import Progress


class Told(Protocol):
    """What is told of a partition after a step."""

    @property
    def neg_log_joint(self) -> float:
        """The objective, in nats."""

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""


@dataclass(eq=False, repr=False)
class SearchResult:
    """A partition, and how it was found.

    Attributes
    ----------
    partition : Partition
    order : ndarray of int, shape (N,), or None
        The rows of the partition in the order of visits, which is that of its labels; None is
        0..N-1.
    name : str
        Name of the start, by which steps are told.
    trace : list of float
        The joint after each step of a descent that changed it.
    n_sweeps : int
        Sweeps done, with those of attempts that were not kept.
    n_emptied : int
        How many times a cluster lost its last row in these sweeps.
    converged : bool
        Whether the descent ended because no move lowered the joint.
    """

    partition: Partition
    order: Labels | None = None
    name: str = ""
    trace: list[float] = field(default_factory=list)
    n_sweeps: int = 0
    n_emptied: int = 0
    converged: bool = False

    @property
    def neg_log_joint(self) -> float:
        """The objective, in nats; lower is better."""
        return self.partition.neg_log_joint

    def labels(self) -> Labels:
        """Labels of rows 0..N-1."""
        found = np.asarray(self.partition.labels, dtype=np.intp)
        if self.order is None:
            return found
        labels = np.empty_like(found)
        labels[self.order] = found
        return labels

    def count(self, other: SearchResult) -> None:
        """Add the sweeps of an attempt to those of this result."""
        self.n_sweeps += other.n_sweeps
        self.n_emptied += other.n_emptied

    def follow(self, other: SearchResult) -> None:
        """Add the sweeps and the trace of a descent that ended where this one began."""
        self.count(other)
        self.trace[:0] = other.trace

    def record(self, step: str, count: int, progress: Progress) -> None:
        """Append the joint to the trace if a step has changed it, and tell the step."""
        if step in ("start", "sweep") or count:
            self.trace.append(self.neg_log_joint)
        tell_step(progress, self.name, step, count, self.partition)


def tell_step(progress: Progress, name: str, step: str, count: int, partition: Told) -> None:
    """Tell what a step has led to."""
    n_clusters, neg_log_joint = partition.n_clusters, partition.neg_log_joint
    if progress.tells:
        progress.tell(
            f"{name:<12} {step:<9} {count:>8}   clusters {n_clusters:>6}"
            f"   neg_log_joint {neg_log_joint:.4f}"
        )
    progress.step(f"{name} {step}", neg_log_joint, n_clusters)


def best_of(results: Sequence[SearchResult]) -> SearchResult:
    """The result with the least joint; of those that only rounding tells apart, the first."""
    joints = [result.neg_log_joint for result in results]
    return results[first_of_best(joints, results[0].partition.least_gain)]


def first_of_best(values: Sequence[float], slack: float) -> int:
    """Index of the first value within `slack` of the least, so that rounding does not choose."""
    least = min(values)
    return next(i for i, value in enumerate(values) if not value > least + slack)
