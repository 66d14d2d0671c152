"""Costs of a partition's rows: Q of eq. (15), (22) and (23)."""

from collections.abc import Sequence
from math import isnan, log

from dpmlite.core.constants import MIN_OTHERS_FRACTION, UNPLACED
from dpmlite.core.special import log_gamma, log_rising
from dpmlite.partition.partition_rows import PartitionRows


class PartitionCosts(PartitionRows):
    """What each row of a partition costs in each slot.

    Attributes are those of `Partition`.
    """

    alpha: float
    discount: float
    _sizes: list[int]

    @property
    def n_clusters(self) -> int:
        return sum(n > 0.0 for n in self.component.counts)

    def costs(self, i: int) -> list[float]:
        """Q of eq. (15) for row `i` and every slot: -log of weight times predictive density.

        The row's own slot counts without the row, eq. (22); an empty slot is a new cluster,
        eq. (23).
        """
        self._check_row(i)
        row, weight, own = self._rows[i], self._weights[i], self.labels[i]
        scores = self.component.log_predictive_all(row, weight)
        n_clusters = self._n_clusters_without(i)
        costs = [
            -self._log_weight(n, weight, n_clusters) - p
            for n, p in zip(self.component.counts, scores, strict=True)
        ]
        if own != UNPLACED:
            costs[own] = -self.member_log_weight(i) - self._log_predictive_member(i)
        return costs

    def member_log_weight(self, i: int) -> float:
        """Log of the numerator of eq. (22) for row `i`, which has a label, and its own slot."""
        self._check_row(i)
        n_clusters = self._n_clusters_without(i)
        return self._log_weight(self._weight_of_others(i), self._weights[i], n_clusters)

    def scores_with(self, i: int, members: Sequence[int]) -> list[float]:
        """`per_copy` of each of some rows in a cluster that holds row `i` alone.

        With a power of the likelihood, the row is there as often as makes it count as one.
        """
        for row in (i, *members):
            self._check_row(row)
        alone = self.component.like()
        alone.resize(1)
        alone.add(self._rows[i], 0, self._weights[i] / alone.power)
        rows = [(self._rows[m], self._weights[m]) for m in members]
        return [alone.per_copy(alone.log_predictive(x, 0, w), x, w) for x, w in rows]

    def per_copy(self, i: int, score: float) -> float:
        """A log density of row `i` as `Component.per_copy` has it."""
        self._check_row(i)
        return self.component.per_copy(score, self._rows[i], self._weights[i])

    def _log_predictive_member(self, i: int) -> float:
        """Log p(x_i | the other rows of its cluster).

        If the slot's statistics have too few digits without the row, those of the others are
        computed anew.
        """
        own, weight = self.labels[i], self._weights[i]
        if self._sizes[own] > 1 and not self._outweighs(weight, own):
            score = self.component.log_predictive_member(self._rows[i], own, weight)
            if not isnan(score):
                return score
        others = self.component.like()
        others.resize(2)
        self._add_members(others, 0, own, i)
        return others.log_predictive(self._rows[i], 0, weight)

    def _outweighs(self, weight: float, own: int) -> bool:
        """Whether a row of this weight leaves too few digits of the others in its slot's sums."""
        return bool(self.component.counts[own] - weight < MIN_OTHERS_FRACTION * weight)

    def _n_clusters_without(self, i: int) -> int:
        """The number of clusters that the other rows are in."""
        own = self.labels[i]
        return self.n_clusters - int(own != UNPLACED and self._sizes[own] == 1)

    def _weight_of_others(self, i: int) -> float:
        own, weight = self.labels[i], self._weights[i]
        if self._sizes[own] == 1:
            return 0.0
        if not self._outweighs(weight, own):
            return float(self.component.counts[own] - weight)
        others: float = sum(self._groups.counts[g] for g in self.groups_in([own]))
        for j in self.members(own):
            others += 0.0 if j == i else self._weights[j]
        return others

    def _log_weight(self, n: float, weight: float, n_clusters: int) -> float:
        """Log of the numerator of eq. (2) for a row of this weight, as of equal rows in turn.

        `n_clusters` are those of the other rows, on which a new one's weight depends if there is a
        discount. With a power of the likelihood, it is the ratio of what the slot weighs with and
        without the row in the prior of `log_prob_counts`, its log divided by the power.
        """
        power, discount = self.component.power, self.discount
        if n > 0.0:
            return log_rising(power * n - discount, power * weight) / power
        alpha = self.alpha * power + n_clusters * discount
        new = log(alpha) + log_gamma(power * weight - discount)
        return (new - log_gamma(1.0 - discount) if discount > 0.0 else new) / power
