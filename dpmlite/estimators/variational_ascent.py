"""Coordinate ascent on the lower bound of variational inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpmlite import algorithms

if TYPE_CHECKING:
    from dpmlite import core, families
    from dpmlite.estimators.inputs.data import Floats


@dataclass
class Ascent:
    """An ascent from given responsibilities.

    Attributes
    ----------
    rows : Rows
        N rows.
    component : Component
        A component of the prior without slots; its slots become the T components.
    mixing : Mixing
        Distribution of the labels.
    responsibilities : ndarray, shape (N, T)
        Responsibilities, those of the start first; changed in place.
    converged : bool
        Whether the last iteration changed the bound by less than the tolerance.
    trace : list of float
        The bound at the start and after each iteration.
    """

    rows: core.Rows
    component: families.Component
    mixing: algorithms.Mixing
    responsibilities: Floats
    converged: bool = False

    def __post_init__(self) -> None:
        bound = algorithms.absorb(self.rows, self.component, self.mixing, self.responsibilities)
        self.trace = [bound]

    @property
    def gain(self) -> float:
        """Change of the bound in the last iteration, in nats."""
        return self.trace[-1] - self.trace[-2]

    def step(self, reorder: bool) -> None:
        """Renew components and responsibilities once; `reorder` as in `VariationalDPM`."""
        bound = algorithms.step(
            self.rows, self.component, self.mixing, self.responsibilities, reorder
        )
        self.trace.append(bound)

    def n_components(self) -> int:
        """Number of components that half a row or more is expected in."""
        return sum(count >= 0.5 for count in self.mixing.counts)

    def log_evidence_bound(self) -> float:
        """Lower bound on the evidence under the Dirichlet process, whose stick is not truncated."""
        unbroken = algorithms.unbroken_log_evidence(self.mixing.counts, self.mixing.alpha)
        return self.trace[-1] - self.mixing.log_evidence() + unbroken
