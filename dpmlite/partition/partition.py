"""A partition of rows into clusters: the state that inference moves.

It holds labels, the statistics of every cluster and the exact joint of data and labels,
-log p(z | alpha) - sum_k log p(x_k | theta_0), which every change keeps up to date.

Rows that are gone may live on as settled groups: the statistics of some rows that share a label for
good. A group takes part in everything its cluster does; only it cannot be divided.
"""

from collections.abc import Sequence
from math import isnan, log

from dpmlite.core.constants import LEAST_LEFT, TIE, UNPLACED
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.core.special import log_gamma, log_rising
from dpmlite.families.component import Component
from dpmlite.partition.crp import log_prob_counts

# More clusters than memory holds statistics of.
MOST_SLOTS = 2**31


class Partition:
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
    settled : Component, optional
        Each slot holds the statistics of a settled group, under the same prior. Never changed.
    homes : mutable sequence of int, optional
        The slot of each settled group, as `labels` for rows. Changed in place.

    Attributes
    ----------
    X : Rows
        The data.
    n_rows, labels, component, alpha, homes
        As given.
    n_clusters : int
        Slots that hold rows.
    sizes : list of int
        Rows in each slot, whatever their weights; a settled group counts as one.
    neg_log_joint : float
        The exact joint of the settled rows and of those that have labels, kept incrementally.
    changed : list of int
        How many rows came to each slot or left it since `mark_unchanged`; N for a slot that was
        made, merged or divided since.
    normal : list of bool
        Whether the rows of each slot looked normal then; False for a slot that was made, merged or
        divided since.
    least_gain : float
        What a move of whole clusters must lower the joint by: more than the rounding of sums
        over the whole table.
    n_emptied : int
        How many moves of a row have left a slot empty.

    Raises
    ------
    ValueError
        If there are not as many labels as rows or homes as settled groups, a label is out of range,
        rows have the wrong width, or `alpha` is not positive.
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
        settled: Component | None = None,
        homes: Buffer | None = None,
    ) -> None:
        self.X = as_rows(X)
        self._chosen = list(range(len(X)) if rows is None else rows)
        self._rows = [self.X.values(i) for i in self._chosen]
        self._weights = [self.X.weight(i) for i in self._chosen]
        if len(labels) != len(self._rows):
            raise ValueError(f"labels must have {len(self._rows)} values, got {len(labels)}")
        component._check_rows(self.X)
        for k in labels:
            if not UNPLACED <= k < MOST_SLOTS:
                raise ValueError(f"labels must be from -1 to {MOST_SLOTS - 1}, got {k}")
        self.component = component
        self._settled = component.like() if settled is None else settled
        self.homes = [] if homes is None else homes
        self._check_settled()
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {float(alpha)}")
        self.labels = labels
        self.alpha = alpha
        used = max([*labels, *self.homes], default=UNPLACED) + 1
        self.component.resize(used + 1)
        self.changed = [self.n_rows] * self.component.n_slots
        self.normal = [False] * self.component.n_slots
        self.n_emptied = 0
        self.rebuild()
        self._renumber()
        self.neg_log_joint = self.exact_neg_log_joint()

    @property
    def n_rows(self) -> int:
        return len(self._rows)

    @property
    def least_gain(self) -> float:
        n_rows = self.n_rows + sum(self._settled.counts)
        return TIE * max(1.0, 1e-6 * n_rows * self.component.n_columns)

    @property
    def n_clusters(self) -> int:
        return sum(n > 0.0 for n in self.component.counts)

    @property
    def sizes(self) -> list[int]:
        return list(self._sizes)

    def members(self, k: int) -> list[int]:
        """Positions of the rows in slot `k`."""
        return [i for i, label in enumerate(self.labels) if label == k]

    def settled_in(self, slots: Sequence[int]) -> list[int]:
        """Numbers of the settled groups in some slots."""
        return [g for g, home in enumerate(self.homes) if home in slots]

    def costs(self, i: int) -> list[float]:
        """Q of eq. (15) for row `i` and every slot: -log of weight times predictive density.

        The row's own slot counts without the row, eq. (22); an empty slot is a new cluster,
        eq. (23).
        """
        self._check_row(i)
        row, weight, own = self._rows[i], self._weights[i], self.labels[i]
        scores = self.component.log_predictive_all(row, weight)
        costs = [
            -self._log_weight(n, weight) - p
            for n, p in zip(self.component.counts, scores, strict=True)
        ]
        if own != UNPLACED:
            costs[own] = -self.member_log_weight(i) - self._log_predictive_member(i)
        return costs

    def member_log_weight(self, i: int) -> float:
        """Log of the numerator of eq. (22) for row `i`, which has a label, and its own slot."""
        self._check_row(i)
        return self._log_weight(self._weight_of_others(i), self._weights[i])

    def part(self, members: Values, labels: Buffer, slots: Sequence[int] = ()) -> "Partition":
        """A partition of its own for some rows, under the same model.

        The settled groups of `slots` come along, those of ``slots[j]`` in cluster j.
        """
        groups = self.settled_in(slots)
        settled = self.component.like()
        settled.resize(len(groups))
        for j, g in enumerate(groups):
            settled.copy(j, self._settled, g)
        homes = [slots.index(self.homes[g]) for g in groups]
        chosen = self.rows_of(members)
        return Partition(self.X, labels, self.component.like(), self.alpha, chosen, settled, homes)

    def rows_of(self, members: Values) -> list[int]:
        """The rows of X that these are."""
        for i in members:
            self._check_row(i)
        return [self._chosen[i] for i in members]

    def scores_with(self, i: int, members: Sequence[int]) -> list[float]:
        """`per_copy` of each of some rows in a cluster that holds row `i` alone."""
        for row in (i, *members):
            self._check_row(row)
        alone = self.component.like()
        alone.resize(1)
        alone.add(self._rows[i], 0, self._weights[i])
        rows = [(self._rows[m], self._weights[m]) for m in members]
        return [alone.per_copy(alone.log_predictive(x, 0, w), x, w) for x, w in rows]

    def per_copy(self, i: int, score: float) -> float:
        """A log density of row `i` as `Component.per_copy` has it."""
        self._check_row(i)
        return self.component.per_copy(score, self._rows[i], self._weights[i])

    def weight(self, i: int) -> float:
        """How many equal rows row `i` stands for."""
        self._check_row(i)
        return self._weights[i]

    def move(self, i: int, k: int, change: float) -> None:
        """Put row `i` into slot `k`, which changes the joint by `change`."""
        self._check_row(i)
        self.component._check_slot(k)
        row, weight, own = self._rows[i], self._weights[i], self.labels[i]
        self.labels[i] = k
        if own == UNPLACED:  # the denominator of eq. (2)
            change += log_rising(self.alpha + sum(self.component.counts), weight)
        else:
            self._sizes[own] -= 1
            if self._sizes[own] == 0:
                self.component.clear(own)
                self.n_emptied += 1
            elif (
                not self.component.remove(row, own, weight)
                or self.component.counts[own] < LEAST_LEFT * weight
            ):
                self._rebuild_slot(own)
            self.changed[own] += 1
        self.component.add(row, k, weight)
        self._sizes[k] += 1
        self.changed[k] += 1
        self._n_moves += 1
        self.neg_log_joint += change
        self._keep_an_empty_slot()

    def merge(self, j: int, k: int, change: float) -> None:
        """Put all rows of slot `k` into slot `j`, which changes the joint by `change`."""
        self.component.merge(j, k)
        self._sizes[j] += self._sizes[k]
        self._sizes[k] = 0
        self.changed[j] = self.changed[k] = self.n_rows
        self.normal[j] = self.normal[k] = False
        for i in self.members(k):
            self.labels[i] = j
        for g in self.settled_in([k]):
            self.homes[g] = j
        self.neg_log_joint += change
        self._keep_an_empty_slot()

    def replace(
        self, slots: Sequence[int], members: Values, other: "Partition", change: float
    ) -> None:
        """Divide the rows of some slots anew.

        `members` are all rows of `slots`; `other` is a tidy partition of them, made by `part` with
        these slots. Its clusters take `slots` in order, then empty slots, and are as `changed` as
        they are there. It changes the joint by `change`.
        """
        if len(members) != other.n_rows:
            raise ValueError(f"members must have {other.n_rows} values, got {len(members)}")
        groups = self.settled_in(slots)
        if len(groups) != len(other.homes):
            raise ValueError(
                f"slots must have {len(other.homes)} settled groups, got {len(groups)}"
            )
        for i in members:
            self._check_row(i)
        target = []
        for k in slots:
            self.component.clear(k)
            self._sizes[k] = 0
            self.changed[k], self.normal[k] = self.n_rows, False
        for j in range(other.n_clusters):
            target.append(slots[j] if j < len(slots) else self.component.counts.index(0.0))
            self.component.copy(target[j], other.component, j)
            self._sizes[target[j]] = other._sizes[j]
            self.changed[target[j]], self.normal[target[j]] = other.changed[j], other.normal[j]
            self._keep_an_empty_slot()
        for i, label in zip(members, other.labels, strict=True):
            self.labels[i] = target[label]
        for g, home in zip(groups, other.homes, strict=True):
            self.homes[g] = target[home]
        self.neg_log_joint += change

    def tidy(self) -> None:
        """Drop empty slots; rebuild the statistics if so many rows moved that rounding adds up."""
        self._renumber()
        if self._n_moves >= self.n_rows:
            self.rebuild()

    def set_alpha(self, alpha: float) -> None:
        """Change the concentration, and with it the joint."""
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {float(alpha)}")
        counts = [n for n in self.component.counts if n > 0.0]
        self.neg_log_joint += log_prob_counts(counts, self.alpha) - log_prob_counts(counts, alpha)
        self.alpha = alpha

    def mark_unchanged(self, k: int, normal: bool = False) -> None:
        """Forget that slot `k` changed; remember whether its rows look normal."""
        self.component._check_slot(k)
        self.changed[k], self.normal[k] = 0, normal

    def mark_changed(self, k: int) -> None:
        """Slot `k` is to be looked at as if it were new."""
        self.component._check_slot(k)
        self.changed[k], self.normal[k] = self.n_rows, False

    def rebuild(self) -> None:
        """Compute the statistics anew from the labels and the settled groups."""
        n_slots = self.component.n_slots
        if max(self.labels, default=UNPLACED) >= n_slots:
            raise ValueError(f"labels must be below {n_slots}, got {max(self.labels)}")
        self._n_moves = 0
        self.component.resize(0)
        self.component.resize(n_slots)
        self._sizes = [0] * n_slots
        for g, k in enumerate(self.homes):
            self._add_settled(self.component, k, g)
            self._sizes[k] += 1
        for row, weight, k in zip(self._rows, self._weights, self.labels, strict=True):
            if k != UNPLACED:
                self.component.add(row, k, weight)
                self._sizes[k] += 1

    def exact_neg_log_joint(self) -> float:
        """The joint from the statistics alone: minus log of eq. (1), minus the log marginals."""
        counts = [n for n in self.component.counts if n > 0.0]
        total = -log_prob_counts(counts, self.alpha)
        for k in range(self.component.n_slots):
            total -= self.component.log_marginal(k)
        return total

    def _check_row(self, i: int) -> None:
        if not 0 <= i < self.n_rows:
            raise IndexError(f"row must be in 0..{self.n_rows - 1}, got {i}")

    def _check_settled(self) -> None:
        self.component._check_same(self._settled)
        if len(self.homes) != self._settled.n_slots:
            raise ValueError(
                f"homes must have {self._settled.n_slots} values, got {len(self.homes)}"
            )
        for g, k in enumerate(self.homes):
            if not 0 <= k < MOST_SLOTS:
                raise ValueError(f"homes must be from 0 to {MOST_SLOTS - 1}, got {k}")
            if self._settled.counts[g] == 0.0:
                raise ValueError(f"settled groups must hold rows, group {g} holds none")

    def _add_settled(self, component: Component, k: int, g: int) -> None:
        """Put a settled group into slot `k` of a component whose last slot is empty."""
        spare = component.n_slots - 1
        if component.counts[k] == 0.0:
            component.copy(k, self._settled, g)
        else:
            component.copy(spare, self._settled, g)
            component.merge(k, spare)

    def _rebuild_slot(self, k: int) -> None:
        self.component.clear(k)
        for g in self.settled_in([k]):
            self._add_settled(self.component, k, g)
        for i in self.members(k):
            self.component.add(self._rows[i], k, self._weights[i])

    def _log_predictive_member(self, i: int) -> float:
        """Log p(x_i | the other rows of its cluster), from these anew if need be."""
        own, weight = self.labels[i], self._weights[i]
        if self._sizes[own] > 1 and not self._outweighs(weight, own):
            score = self.component.log_predictive_member(self._rows[i], own, weight)
            if not isnan(score):
                return score
        others = self.component.like()
        others.resize(2)
        for g in self.settled_in([own]):
            self._add_settled(others, 0, g)
        for j in self.members(own):
            if j != i:
                others.add(self._rows[j], 0, self._weights[j])
        return others.log_predictive(self._rows[i], 0, weight)

    def _outweighs(self, weight: float, own: int) -> bool:
        """Whether so much is in a row that what the others have is lost in the slot's sums."""
        return bool(self.component.counts[own] - weight < LEAST_LEFT * weight)

    def _weight_of_others(self, i: int) -> float:
        own, weight = self.labels[i], self._weights[i]
        if self._sizes[own] == 1:
            return 0.0
        if not self._outweighs(weight, own):
            return float(self.component.counts[own] - weight)
        others: float = sum(self._settled.counts[g] for g in self.settled_in([own]))
        for j in self.members(own):
            others += 0.0 if j == i else self._weights[j]
        return others

    def _log_weight(self, n: float, weight: float) -> float:
        """Numerator of eq. (2) for a row of this weight: that of so many rows one by one."""
        return log_rising(n, weight) if n > 0.0 else log(self.alpha) + log_gamma(weight)

    def _keep_an_empty_slot(self) -> None:
        if self.component.counts[-1] > 0.0:
            self.component.resize(self.component.n_slots + 1)
            self._sizes.append(0)
            self.changed.append(self.n_rows)
            self.normal.append(False)

    def _renumber(self) -> None:
        """Give the clusters slots 0, 1, ... in the order of their slots, and one empty slot."""
        used = [k for k, n in enumerate(self.component.counts) if n > 0.0]
        slot = {k: j for j, k in enumerate(used)}
        slot[UNPLACED] = UNPLACED
        for i, k in enumerate(self.labels):
            self.labels[i] = slot[k]
        for g, k in enumerate(self.homes):
            self.homes[g] = slot[k]
        for j, k in enumerate(used):
            if j != k:
                self.component.copy(j, self.component, k)
        self.changed = [self.changed[k] for k in used] + [self.n_rows]
        self.normal = [self.normal[k] for k in used] + [False]
        self._sizes = [self._sizes[k] for k in used] + [0]
        self.component.resize(len(used))
        self.component.resize(len(used) + 1)
