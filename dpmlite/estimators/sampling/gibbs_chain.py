"""Markov chains of partitions: Gibbs scans, split-merge proposals and draws of alpha."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpmlite import moves, sweeps
from dpmlite.partition import alpha_given_eta

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from dpmlite.partition import Partition
    from dpmlite.search.progress import Progress

# A concentration is at least this; a draw of it may round to 0.
MIN_ALPHA = 1e-100


class Moves(NamedTuple):
    """The moves of a sweep: split-merge proposals, then Gibbs scans of all rows.

    Attributes
    ----------
    n_proposals : int
        Split-merge proposals.
    n_restricted : int or None
        Restricted Gibbs scans before each proposal; None proposes splits by fair coins.
    n_scans : int
        Gibbs scans.
    """

    n_proposals: int
    n_restricted: int | None
    n_scans: int


# Variants of Jain & Neal (2004), by the value of `split_merge`; "interleaved" is their (5, 1, 1).
# Variants without scans make five proposals, for a proposal changes two clusters at most.
VARIANTS = {
    None: Moves(n_proposals=0, n_restricted=None, n_scans=1),
    "random": Moves(n_proposals=5, n_restricted=None, n_scans=0),
    "restricted": Moves(n_proposals=5, n_restricted=5, n_scans=0),
    "interleaved": Moves(n_proposals=1, n_restricted=5, n_scans=1),
}


@dataclass(frozen=True)
class Sample:
    """A partition of a chain, its joint and its concentration."""

    labels: npt.NDArray[np.intp]
    neg_log_joint: float
    alpha: float
    n_clusters: int


class Chain:
    """A Markov chain of partitions.

    Parameters
    ----------
    partition : Partition
        The start; changed in place. Rows without a label are placed by a sweep of `MAPDPM`.
    moves : Moves
        Moves of a sweep.
    alpha_prior : tuple of two floats, optional
        Shape and rate of the gamma prior from which alpha is drawn anew after every sweep.
        Default: alpha is fixed.
    rng : Generator
        Source of chance.

    Attributes
    ----------
    best : Sample
        The state with the least joint so far, the start included.
    n_empty_clusters : int
        Clusters that lost their last row in Gibbs scans.
    n_proposals, n_accepted : int
        Split-merge proposals, and accepted ones.
    """

    def __init__(
        self,
        partition: Partition,
        moves: Moves,
        alpha_prior: tuple[float, float] | None,
        rng: np.random.Generator,
    ) -> None:
        self.partition = partition
        self.rng = rng
        self.n_empty_clusters = self.n_proposals = self.n_accepted = 0
        self._moves = moves
        self._alpha_prior = alpha_prior
        if min(partition.labels) < 0:
            sweeps.sweep(partition)
        self.best = self._sample()

    def samples(
        self, n_samples: int, burn_in: int, thin: int, progress: Progress
    ) -> Iterator[Sample]:
        """Run the chain; after `burn_in` sweeps, yield a sample after every `thin` sweeps.

        A stop ends it after a sweep, which makes a sample if none did.
        """
        n_sweeps, n_found = burn_in + n_samples * thin, 0
        for sweep in range(1, n_sweeps + 1):
            self._sweep()
            if self.partition.neg_log_joint < self.best.neg_log_joint:
                self.best = self._sample()
            self._tell(sweep, n_sweeps, progress)
            stopped = sweep < n_sweeps and progress.stop.is_set()
            if (sweep > burn_in and (sweep - burn_in) % thin == 0) or (stopped and not n_found):
                n_found += 1
                yield self._sample()
            if stopped:
                break

    def _sweep(self) -> None:
        """Make the proposals and scans of one sweep, then draw alpha if it has a prior."""
        n_rows, (n_proposals, n_restricted, n_scans) = self.partition.n_rows, self._moves
        for _ in range(n_proposals):
            per_row = 1 if n_restricted is None else n_restricted + 2
            uniforms = self.rng.random(3 + per_row * n_rows)
            self.n_accepted += moves.propose_split_merge(self.partition, n_restricted, uniforms)
            self.n_proposals += 1
        for _ in range(n_scans):
            self.n_empty_clusters += sweeps.gibbs_sweep(self.partition, self.rng.random(n_rows))
        if self._alpha_prior is not None:
            self._resample_alpha(*self._alpha_prior)

    def _resample_alpha(self, shape: float, rate: float) -> None:
        """Draw alpha given the partition: Escobar & West (1995), section 6."""
        weight = sum(self.partition.component.counts)
        log_eta = float(np.log(self.rng.beta(self.partition.alpha + 1.0, weight)))
        shape, rate = alpha_given_eta(
            self.partition.n_clusters, weight, shape, rate, log_eta, self.rng.random()
        )
        drawn = self.rng.gamma(shape, 1.0 / rate)
        self.partition.set_alpha(max(float(drawn), MIN_ALPHA))

    def _sample(self) -> Sample:
        partition = self.partition
        labels = np.array(partition.labels, dtype=np.intp)
        return Sample(labels, partition.neg_log_joint, partition.alpha, partition.n_clusters)

    def _tell(self, sweep: int, n_sweeps: int, progress: Progress) -> None:
        n_clusters, joint = self.partition.n_clusters, self.partition.neg_log_joint
        if progress.tells and sweep * 10 // n_sweeps > (sweep - 1) * 10 // n_sweeps:
            progress.tell(
                f"sweep {sweep:>8} of {n_sweeps}   clusters {n_clusters:>6}"
                f"   neg_log_joint {joint:.4f}"
            )
        progress.step(f"sweep {sweep} of {n_sweeps}", joint, n_clusters)
