"""The heuristic of prefix search: what the rows to come add to the log joint (Daumé 2007).

A clustering of the first d rows of an order is scored by its log joint and by a bound, or a guess,
of what the rows from d on add at best: a part of the prior and a part of the data. Equation numbers
are those of Daumé (2007). The prior score is "partition", the probability of a partition, eq. (1)
of Raykov, Boukouvalas & Little (2014), or "sizes", that of the multiplicities of its cluster sizes,
eq. (2): see `crp`.

"sizes" counts alpha / size of each cluster as rows are placed. Factorials of multiplicities, which
only lower a score, count once all rows are placed. The part of the prior is a bound.

Of "partition", for rows of weight 1 the prior's part is exact. For others it is a bound: row j
multiplies eq. (1) by alpha Gamma(w_j), or by rising(n_j, w_j) at most, where n_j is the weight of
the largest cluster and of the rows between. The product of the latter is rising(n, R), R the weight
of the rows to come. Its logarithm is increased by what a row gains by being alone instead, which is
greatest where n_j is the weight of the first row.

The data's part is a sum over the rows to come of log densities p(x_j | its cluster):

- "trivial", eq. (7): no row is more probable than 1. For densities, no row is more probable than a
  row at the prior's mean is in a cluster whose rows all lie there: no cluster of as many rows is
  narrower. So the bound holds whatever the units are.
- "tight", section 3.3: row j joins the best cluster there is, or a new one, and the rows between
  are those that suit it best. `Component.log_bound` is an upper bound of that. Here the part of the
  prior is bounded row by row as well, which is tighter: a cluster has its own rows and those
  between at most, and a new cluster has those between.
- "inadmissible", eq. (12): each row is alone in its cluster. That is no bound.
"""

from math import inf, isnan, log, log1p

from dpmlite.core.constants import EMPTY_SLOT, SPARE_SLOT
from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.core.special import log_gamma, log_rising
from dpmlite.families.component import Component
from dpmlite.partition.crp import log_best_completion, log_best_growth, log_best_sizes


class SearchHeuristic:
    """Scores of the rows to come.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        The data.
    component : Component
        Clusters, an empty slot and a scratch slot, as `SharedClusters` makes them.
    alpha : float
        Concentration of the Dirichlet process.
    order : sequence of int, length N
        The rows in the order in which they are placed.
    scoring : {"trivial", "tight", "inadmissible"}
        What the data of the rows to come add.
    prior_score : {"partition", "sizes"}, default "partition"
        The probability that scores labels; "sizes" needs rows of weight 1.

    Attributes
    ----------
    total_weight : float
        Weight of all rows.

    Raises
    ------
    ValueError
        If "tight" has no bound for the family.
    """

    def __init__(
        self,
        X: Rows | Values,
        component: Component,
        alpha: float,
        order: Values,
        scoring: str,
        prior_score: str = "partition",
    ) -> None:
        rows = as_rows(X)
        if scoring == "tight":
            component.bound_over(rows)
        self._component, self._alpha, self._scoring = component, alpha, scoring
        self._rows = [rows.values(i) for i in order]
        self._weights = [rows.weight(i) for i in order]
        self._before = [0.0]  # weight of the first 0, 1, 2, ... rows
        for weight in self._weights:
            self._before.append(self._before[-1] + weight)
        self.total_weight = self._before[-1]
        self._unit_weights = all(weight == 1.0 for weight in self._weights)
        self._of_sizes = prior_score == "sizes"
        self._log_new = log_best_sizes(len(order), alpha)
        self._data_left, self._alone_left = self._sums_from_the_end()

    def log_factor(self, n: float, weight: float) -> float:
        """Log of what a row multiplies the numerator of the prior score by.

        Parameters
        ----------
        n : float
            Weight of the cluster that it joins; 0 for a new cluster.
        weight : float
            Weight of the row.

        Returns
        -------
        float
        """
        if self._of_sizes:
            return -log1p(1.0 / n) if n > 0.0 else log(self._alpha)
        return log_rising(n, weight) if n > 0.0 else log(self._alpha) + log_gamma(weight)

    def log_denominator(self) -> float:
        """Log of what the numerator of the prior score of all rows is divided by."""
        rising = log_rising(self._alpha, self.total_weight)
        return rising - log_gamma(self.total_weight + 1.0) if self._of_sizes else rising

    def log_repeats(self, sizes: Values) -> float:
        """Log of the product of m_i!, where m_i of all clusters have i rows; 0 for "partition".

        Parameters
        ----------
        sizes : sequence of float
            Rows of each cluster.

        Returns
        -------
        float
        """
        if not self._of_sizes:
            return 0.0
        return sum(log_gamma(list(sizes).count(n) + 1.0) for n in set(sizes))

    def scores(self, slots: Values, d: int, n_largest: float) -> list[float]:
        """Score the rows after row d, for each cluster that row d may join.

        Parameters
        ----------
        slots : sequence of int
            The clusters of rows 0..d-1 of the order.
        d : int
            Row of the order that is placed next.
        n_largest : float
            Weight of the largest of these clusters.

        Returns
        -------
        list of float
            What all rows after d add at best, in nats: row d in each cluster, and in a new one.
        """
        clusters = [*slots, EMPTY_SLOT]
        if self._scoring == "tight":
            return self._tight_scores(clusters, d)
        sizes = [self._component.counts[slot] + self._weights[d] for slot in clusters]
        return [self._prior_left(max(n_largest, n), d + 1) + self._data_left[d + 1] for n in sizes]

    def _prior_left(self, n_largest: float, d: int) -> float:
        """Log of what the rows from d on multiply the prior by, at most (section 3.1)."""
        n_left = self.total_weight - self._before[d]
        if self._of_sizes:
            return log_best_growth(n_largest, n_left, self._log_new)
        if self._unit_weights:
            return log_best_completion(n_largest, n_left, self._alpha)
        return log_rising(n_largest, n_left) + self._alone_left[d]

    def _sums_from_the_end(self) -> tuple[list[float], list[float]]:
        """Sums over all rows from 0, 1, 2, ... on: the data's part, and the gain of being alone."""
        data, alone = [0.0], [0.0]
        for j in reversed(range(len(self._rows))):
            weight = self._weights[j]
            data.append(data[-1] + (self._log_data(j) if self._scoring != "tight" else 0.0))
            joined = log_rising(self._weights[0], weight)
            alone.append(alone[-1] + max(self.log_factor(0.0, weight) - joined, 0.0))
        return data[::-1], alone[::-1]

    def _log_data(self, j: int) -> float:
        """Log density of row j on its own, eq. (12), or the greatest possible one, eq. (7)."""
        component, row, weight = self._component, self._rows[j], self._weights[j]
        if self._scoring == "inadmissible":
            return component.log_predictive(row, EMPTY_SLOT, weight)
        means = getattr(component, "m0", None)  # of families with densities; others: probabilities
        if means is None:
            return 0.0
        centre = [x if isnan(x) else m for x, m in zip(row, means, strict=True)]
        component.clear(SPARE_SLOT)
        if j:
            component.add(centre, SPARE_SLOT, self._before[j])
        return component.log_predictive(centre, SPARE_SLOT, weight)

    def _tight_scores(self, clusters: list[int], d: int) -> list[float]:
        component = self._component
        left = range(d + 1, len(self._rows))
        bounds = [[self._bound(j, slot, d) for slot in clusters] for j in left]
        totals = []
        for k, slot in enumerate(clusters):
            component.copy(SPARE_SLOT, component, slot)
            component.add(self._rows[d], SPARE_SLOT, self._weights[d])
            total = 0.0
            for j, of_slots in zip(left, bounds, strict=True):
                others = [b for i, b in enumerate(of_slots) if i != k or slot == EMPTY_SLOT]
                total += max(self._bound(j, SPARE_SLOT, d), *others)
            totals.append(total)
        return totals

    def _bound(self, j: int, slot: int, d: int) -> float:
        """Bound what row j adds in the slot's cluster, which rows between d and j may have joined.

        In a new cluster, it is the first row, or one of them is.
        """
        between = self._before[j] - self._before[d + 1]
        component, row, weight = self._component, self._rows[j], self._weights[j]
        alone = -inf
        if slot == EMPTY_SLOT:
            alone = self.log_factor(0.0, weight) + component.log_predictive(row, EMPTY_SLOT, weight)
        n = component.counts[slot] + between
        if n == 0.0:
            return alone
        bound = component.log_bound(row, slot, between, weight)
        return max(alone, self.log_factor(n, weight) + bound)
