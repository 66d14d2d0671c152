"""What every part of a search is given: the problem, random numbers, threads and limits.

A problem makes partitions of its rows. Absorbed groups are rows that are gone, of which statistics
are left: the clusters of batches seen before, or of other models. Each stays together, in the
cluster that is its label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import moves
from dpmlite.partition import Partition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from dpmlite import core, families
    from dpmlite.core.stop import Stop
    from dpmlite.search.progress import Progress

    Labels = npt.NDArray[np.intp]

    #: `move(context, result)` changes a result of the search; it returns whether the joint fell by
    #: enough to sweep and try all moves again.
    Move = Callable[..., bool]

#: Labels of absorbed groups where there are none.
NO_GROUPS = np.empty(0, dtype=np.intp)

# The least gain in the joint that makes further search worth its time, in nats for each cell.
WORTHWHILE_GAIN_PER_CELL = 1e-5

# Cells times clusters from which on a quick search leaves out what takes many sweeps: each takes
# tens of milliseconds. Rows are scattered then, and hundreds of clusters describe them.
MAX_QUICK_TERMS = 2e7


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Rows to be partitioned, and the prior.

    Attributes
    ----------
    rows : Rows
    component : Component
        The family with its prior; its statistics are not used.
    alpha : float
        Concentration.
    absorbed_groups : Component, optional
        Statistics of absorbed groups, one a slot.
    discount : float
        Discount of the Pitman-Yor process; 0 if the likelihood has a power.
    """

    rows: core.Rows
    component: families.Component
    alpha: float
    absorbed_groups: families.Component | None = None
    discount: float = 0.0

    @cached_property
    def coarsened_alpha(self) -> float:
        """The concentration that a partition counts with."""
        return coarsened_alpha(self.alpha, self.component.power)

    def worthwhile_gain(self, n_rows: int) -> float:
        """The least gain, in nats, for which a search among `n_rows` rows goes on."""
        return WORTHWHILE_GAIN_PER_CELL * n_rows * self.component.n_columns

    def of_rows(self, rows: Labels) -> Problem:
        """The problem of copies of some rows, without absorbed groups.

        A power of the likelihood below 1 is the larger the fewer they are, but at most 1: they are
        then as sure of clusters as all rows.
        """
        component, power = self.component, self.component.power
        if power < 1.0 and self.absorbed_groups is None:
            component = component.with_power(min(power * len(self.rows) / len(rows), 1.0))
        return replace(self, rows=self.rows.take(rows), component=component, absorbed_groups=None)

    def of_every(self, step: int) -> Problem:
        """The problem of every `step`-th row, of which no copies are made."""
        power = self.component.power
        if power == 1.0 or step == 1 or self.absorbed_groups is not None:
            return self
        return replace(self, component=self.component.with_power(min(step * power, 1.0)))

    def of_groups(self, groups: Labels) -> Problem:
        """The problem with only some of the absorbed groups."""
        if self.absorbed_groups is None:
            return self
        some = self.absorbed_groups.like()
        some.resize(len(groups))
        for j, g in enumerate(groups):
            some.copy(j, self.absorbed_groups, g)
        return replace(self, absorbed_groups=some)

    def partition(
        self, labels: Labels, order: Labels | None = None, group_labels: Labels | None = None
    ) -> Partition:
        """A partition of the rows `order` (default: all), which owns and changes `labels`.

        It owns `group_labels`, those of the absorbed groups, too; by default each is a cluster.
        """
        if self.absorbed_groups is not None and group_labels is None:
            group_labels = np.arange(self.absorbed_groups.n_slots)
        return Partition(
            self.rows,
            labels,
            self.component.like(),
            self.coarsened_alpha,
            order,
            self.absorbed_groups,
            group_labels,
            self.discount,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Context:
    """A problem, and the means to solve it.

    Attributes
    ----------
    problem : Problem
    rng : Generator
        Source of all random numbers.
    progress : Progress
        Where steps are told, and what ends the search between two of them.
    moves : sequence of Move
        What a descent tries, in this order, when sweeps move few rows; empty for sweeps alone.
    max_sweeps : int
        Limit of the sweeps of a descent, and of those between two merges.
    quick : bool
        Whether a start ends after the first descent that gains little.
    shuffled : bool
        Whether each sweep of a descent visits rows in a new random order.
    """

    problem: Problem
    rng: np.random.Generator
    progress: Progress
    moves: Sequence[Move] = ()
    max_sweeps: int = 1000
    quick: bool = False
    shuffled: bool = False

    @property
    def stop(self) -> Stop:
        """Ends the search between two steps when set."""
        return self.progress.stop

    def cuts_short(self, n_clusters: int) -> bool:
        """Whether a quick search leaves out long steps: sweeps over so many clusters are slow."""
        n_cells = len(self.problem.rows) * self.problem.component.n_columns
        return self.quick and n_cells * n_clusters > MAX_QUICK_TERMS

    def of_rows(self, rows: Labels) -> Context:
        """The context of copies of some rows."""
        return replace(self, problem=self.problem.of_rows(rows))

    def partition(
        self, labels: Labels, order: Labels | None = None, group_labels: Labels | None = None
    ) -> Partition:
        """A partition as `Problem.partition` makes it."""
        return self.problem.partition(labels, order, group_labels)


def coarsened_alpha(alpha: float, power: float) -> float:
    """A concentration for a likelihood to a power: above 1 it has the power, too.

    It would else reward each row that founds a cluster in full, while to stay in one gains a row
    little: all rows would be clusters.
    """
    return alpha**power if alpha > 1.0 else alpha


def labels_of_groups(partition: Partition) -> Labels:
    """Labels of the absorbed groups."""
    return np.array(partition.group_labels, dtype=np.intp)


def rows_in_slots(partition: Partition) -> Labels:
    """Rows in each slot, without its absorbed groups."""
    n_groups = np.bincount(labels_of_groups(partition), minlength=partition.component.n_slots)
    return np.asarray(partition.sizes, dtype=np.intp) - n_groups


def is_complete(partition: Partition) -> bool:
    """Whether every row has a label."""
    return bool(rows_in_slots(partition).sum() == partition.n_rows)


def normal_fraction(partition: Partition) -> float:
    """Fraction of the clusters that looked normal when they were last tried to be split."""
    return sum(moves.split_memory_of(partition).looked_normal) / partition.n_clusters
