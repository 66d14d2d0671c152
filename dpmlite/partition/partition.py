"""A partition of rows into clusters: the state that inference moves.

It holds labels, the statistics of every cluster and the exact joint of data and labels,
-log p(z | alpha) - sum_k log p(x_k | theta_0), which every change keeps up to date. With a power
of the likelihood, which is the component's, the joint is divided by it.

Rows that are gone may live on as absorbed groups. A group is the statistics of some rows, which
stay in one cluster together: the cluster may be merged or divided, the group is not.

With a discount d, labels are of a Pitman-Yor process (crp.py). Those of some clusters' rows, given
that the other rows have K' clusters, are of such a process with concentration alpha + K' d: `part`
takes it.
"""

from collections.abc import Collection, Sequence

from dpmlite.core.checks import check_discount, check_least_weight
from dpmlite.core.constants import MIN_OTHERS_FRACTION, TIE, UNPLACED
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows
from dpmlite.core.special import log_rising
from dpmlite.families.component import Component
from dpmlite.partition.crp import log_prob_counts
from dpmlite.partition.listener import PartitionListener
from dpmlite.partition.partition_costs import PartitionCosts


class Partition(PartitionCosts):
    """Labels of rows, with the statistics of their clusters.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        The data.
    labels : mutable sequence of int, length n_rows
        The slot of each row, or -1 for a row that is in no cluster yet. Changed in place.
    component : Component
        Statistics; whatever they hold is replaced.
    alpha : float
        Concentration of the Dirichlet process.
    rows : sequence of int, length n_rows, optional
        The rows of `X` to use, in the order in which sweeps visit them. Default: all.
    absorbed_groups : Component, optional
        Each slot holds the statistics of an absorbed group, under the same prior. Not changed.
    group_labels : mutable sequence of int, optional
        The slot of each absorbed group. Changed in place.
    discount : float, default 0.0
        Discount of the Pitman-Yor process, at least 0 and below 1; 0 is the Dirichlet process.

    Attributes
    ----------
    X : Rows
        The data.
    n_rows, labels, component, alpha, group_labels, discount
        As given.
    n_clusters : int
        Slots that hold rows.
    sizes : list of int
        Rows in each slot, whatever their weights; an absorbed group counts as one.
    neg_log_joint : float
        The exact joint of the absorbed rows and of those that have labels, kept incrementally.
    least_gain : float
        A move of whole clusters must lower the joint by at least this: it is above the rounding of
        sums over the whole table.
    n_emptied : int
        The number of moves of a row that left a slot empty.
    listeners : list of PartitionListener
        They are told of each move, merge, division and renumbering.

    Raises
    ------
    ValueError
        If the numbers of labels and rows differ, or those of group labels and absorbed groups; if
        a label is out of range, rows have the wrong width, `alpha` is not positive, or `discount`
        is out of range or not below the weight of every row and group.
    IndexError
        If `rows` has a number that is no row of `X`.

    Notes
    -----
    At least one slot is empty at any time: it is the new cluster of eq. (10). Statistics follow
    the moves; they are rebuilt when as many rows have moved as there are, long before rounding
    could show.
    """

    def __init__(
        self,
        X: Rows | Values,
        labels: Buffer,
        component: Component,
        alpha: float,
        rows: Values | None = None,
        absorbed_groups: Component | None = None,
        group_labels: Buffer | None = None,
        discount: float = 0.0,
    ) -> None:
        super().__init__(X, labels, component, rows, absorbed_groups, group_labels)
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {float(alpha)}")
        check_discount(discount, self.component.power)
        if discount > 0.0:
            weights = [self.X.weight(i) for i in range(len(self.X))]
            check_least_weight(discount, min([*weights, *self._groups.counts], default=1.0))
        self.alpha, self.discount = alpha, discount
        self.n_emptied = 0
        self.listeners: list[PartitionListener] = []
        self.component.resize(max([*labels, *self.group_labels], default=UNPLACED) + 2)
        self._rebuild_slots()
        self._renumber()
        self.neg_log_joint = self.exact_neg_log_joint()

    @property
    def least_gain(self) -> float:
        n_rows = self.n_rows + sum(self._groups.counts)
        return TIE * max(1.0, 1e-6 * n_rows * self.component.n_columns)

    @property
    def sizes(self) -> list[int]:
        return list(self._sizes)

    def add_listener(self, listener: PartitionListener) -> None:
        """Tell a listener of the slots that there are, and of each change from now on."""
        listener.slots_made(0, self.component.n_slots)
        self.listeners.append(listener)

    def part(
        self, members: Values, labels: Buffer, slots: Sequence[int] = (), step: int = 1
    ) -> "Partition":
        """A partition of its own for some rows, under the same model.

        The absorbed groups of `slots` come along, those of ``slots[j]`` in cluster j. If there are
        none, and members are every `step`-th of some rows, a power of the likelihood below 1 is
        `step` times as large, but at most 1: the part is then as sure of its clusters as all rows.
        """
        component, power = self.component.like(), self.component.power
        chosen = self.rows_of(members)
        alpha = self.alpha_given_others({*slots, *(self.labels[i] for i in members)} - {UNPLACED})
        if not self.groups_in(slots):
            if step > 1 and power < 1.0:
                component = component.with_power(min(step * power, 1.0))
            return Partition(self.X, labels, component, alpha, chosen, discount=self.discount)
        groups = self._copied_groups(slots)
        group_labels = [slots.index(self.group_labels[g]) for g in self.groups_in(slots)]
        return Partition(
            self.X, labels, component, alpha, chosen, groups, group_labels, self.discount
        )

    def alpha_given_others(self, slots: Collection[int]) -> float:
        """The concentration of a partition of the rows in some slots, given the other clusters."""
        return self.alpha + (self.n_clusters - len(slots)) * self.discount

    def move(self, i: int, k: int, change: float) -> None:
        """Put row `i` into slot `k`, which changes the joint by `change`."""
        self._check_row(i)
        self.component._check_slot(k)
        row, weight, own = self._rows[i], self._weights[i], self.labels[i]
        self.labels[i] = k
        if own == UNPLACED:  # the denominator of eq. (2)
            power = self.component.power
            placed = self.alpha + power * sum(self.component.counts)
            change += log_rising(placed, power * weight) / power
        else:
            self._sizes[own] -= 1
            if self._sizes[own] == 0:
                self.component.clear(own)
                self.n_emptied += 1
            elif (
                not self.component.remove(row, own, weight)
                or self.component.counts[own] < MIN_OTHERS_FRACTION * weight
            ):
                self._rebuild_slot(own)
        self.component.add(row, k, weight)
        self._sizes[k] += 1
        self._n_moves += 1
        self.neg_log_joint += change
        for listener in self.listeners:
            listener.row_moved(i, own, k)
        self._keep_an_empty_slot()

    def merge(self, j: int, k: int, change: float) -> None:
        """Put all rows of slot `k` into slot `j`, which changes the joint by `change`."""
        self.component.merge(j, k)
        self._sizes[j] += self._sizes[k]
        self._sizes[k] = 0
        moved = self.members(k)
        for i in moved:
            self.labels[i] = j
        for g in self.groups_in([k]):
            self.group_labels[g] = j
        self.neg_log_joint += change
        for listener in self.listeners:
            for i in moved:
                listener.row_moved(i, k, j)
            listener.slots_merged(j, k)
        self._keep_an_empty_slot()

    def replace(
        self, slots: Sequence[int], members: Values, other: "Partition", change: float
    ) -> None:
        """Divide the rows of some slots anew.

        `members` are all rows of `slots`; `other` is a tidy partition of them, made by `part` with
        these slots. Its clusters take `slots` in order, then empty slots. It changes the joint by
        `change`.
        """
        if len(members) != other.n_rows:
            raise ValueError(f"members must have {other.n_rows} values, got {len(members)}")
        groups, n_groups = self.groups_in(slots), len(other.group_labels)
        if len(groups) != n_groups:
            raise ValueError(f"slots must have {n_groups} absorbed groups, got {len(groups)}")
        for i in members:
            self._check_row(i)
        targets = self._place_clusters(slots, other)
        left = [self.labels[i] for i in members]
        for i, label in zip(members, other.labels, strict=True):
            self.labels[i] = targets[label]
        for g, label in zip(groups, other.group_labels, strict=True):
            self.group_labels[g] = targets[label]
        self.neg_log_joint += change
        for listener in self.listeners:
            for i, own in zip(members, left, strict=True):
                listener.row_moved(i, own, self.labels[i])
            listener.slots_replaced(slots, targets, other)

    def tidy(self) -> None:
        """Drop empty slots; rebuild the statistics if as many rows have moved as there are."""
        self._renumber()
        if self._n_moves >= self.n_rows:
            self._rebuild_slots()

    def set_alpha(self, alpha: float) -> None:
        """Change the concentration, and with it the joint."""
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {float(alpha)}")
        before = self._neg_log_prior()
        self.alpha = alpha
        self.neg_log_joint += self._neg_log_prior() - before

    def rebuild(self) -> None:
        """Compute the statistics anew from the labels and the absorbed groups."""
        n_slots = self.component.n_slots
        if max(self.labels, default=UNPLACED) >= n_slots:
            raise ValueError(f"labels must be below {n_slots}, got {max(self.labels)}")
        self._rebuild_slots()
        for listener in self.listeners:
            listener.rebuilt()

    def exact_neg_log_joint(self) -> float:
        """The joint from the statistics alone: minus log of eq. (1), minus the log marginals."""
        total = self._neg_log_prior()
        for k in range(self.component.n_slots):
            total -= self.component.log_marginal(k)
        return total

    def _neg_log_prior(self) -> float:
        """Minus the log of eq. (1), divided by the power of the likelihood."""
        counts, power = [n for n in self.component.counts if n > 0.0], self.component.power
        return -log_prob_counts(counts, self.alpha, power, self.discount) / power

    def _rebuild_slots(self) -> None:
        n_slots = self.component.n_slots
        self._n_moves = 0
        self.component.resize(0)
        self.component.resize(n_slots)
        self._sizes = [0] * n_slots
        for g, k in enumerate(self.group_labels):
            self._add_group(self.component, k, g)
            self._sizes[k] += 1
        for row, weight, k in zip(self._rows, self._weights, self.labels, strict=True):
            if k != UNPLACED:
                self.component.add(row, k, weight)
                self._sizes[k] += 1

    def _rebuild_slot(self, k: int) -> None:
        self.component.clear(k)
        self._add_members(self.component, k, k, None)

    def _place_clusters(self, slots: Sequence[int], other: "Partition") -> list[int]:
        """Clear some slots, and copy each cluster of `other` to one of them or an empty slot.

        Returns the slot of each cluster.
        """
        targets = []
        for k in slots:
            self.component.clear(k)
            self._sizes[k] = 0
        for j in range(other.n_clusters):
            k = slots[j] if j < len(slots) else self.component.counts.index(0.0)
            targets.append(k)
            self.component.copy(k, other.component, j)
            self._sizes[k] = other._sizes[j]
            self._keep_an_empty_slot()
        return targets

    def _keep_an_empty_slot(self) -> None:
        if self.component.counts[-1] > 0.0:
            self.component.resize(self.component.n_slots + 1)
            self._sizes.append(0)
            self._tell_of_the_last_slot()

    def _renumber(self) -> None:
        """Give the clusters slots 0, 1, ... in the order of their slots, and one empty slot."""
        used = [k for k, n in enumerate(self.component.counts) if n > 0.0]
        new_slot = {k: j for j, k in enumerate(used)}
        for i, k in enumerate(self.labels):
            self.labels[i] = UNPLACED if k == UNPLACED else new_slot[k]
        for g, k in enumerate(self.group_labels):
            self.group_labels[g] = new_slot[k]
        for j, k in enumerate(used):
            if j != k:
                self.component.copy(j, self.component, k)
        self._sizes = [self._sizes[k] for k in used] + [0]
        self.component.resize(len(used))
        self.component.resize(len(used) + 1)
        for listener in self.listeners:
            listener.slots_renumbered(new_slot)
        self._tell_of_the_last_slot()

    def _tell_of_the_last_slot(self) -> None:
        for listener in self.listeners:
            listener.slots_made(self.component.n_slots - 1, self.component.n_slots)
