"""Search among clusterings of prefixes: A* and beam search (Daumé 2007, Figure 1).

A state is a clustering of the first d rows of an order. Its score is a bound, or a guess, of the
log joint of its best completion: the log joint of the prefix, what the prior adds at best, and what
the data add. Equation numbers are those of Daumé (2007). The prior is that of a partition, eq. (1)
of Raykov, Boukouvalas & Little (2014), not that of a vector of multiplicities, eq. (2): see `crp`.

For rows of weight 1 the prior's part is exact. For others it is a bound: row j multiplies eq. (1)
by alpha Gamma(w_j), or at most by rising(n_j, w_j), n_j being the weight of the largest cluster and
of the rows between. The latter add up to log rising(n, R); to them comes what a row gains by being
alone instead, and that is greatest where n_j is the weight of the first row.

What the data add, for the densities p(x_j | its cluster) of the rows to come, depends on `scoring`:

- "trivial", eq. (7): no row is more probable than 1. For densities, no row is more probable than a
  row at the prior's mean is to a cluster whose rows all lie there: such a cluster is the narrowest
  that so many rows can make. So the bound holds whatever the units are.
- "tight", section 3.3: row j joins the best cluster there is, or a new one, and the rows between
  are what suits it best. `Component.log_bound` is an upper bound of that. Here the prior's part is
  bounded row by row as well, which is tighter: a cluster has its own rows and those between at
  most, and a new one those between. So no cluster is given the weight of the largest.
- "inadmissible", eq. (12): each row is alone in its cluster. That is no bound.
"""

from dataclasses import dataclass
from math import inf, isnan, log

from dpmlite.algorithms.max_queue import MaxQueue
from dpmlite.algorithms.shared_clusters import SharedClusters
from dpmlite.core.constants import EMPTY, SPARE
from dpmlite.core.rows import Rows, as_rows
from dpmlite.core.special import log_gamma, log_rising
from dpmlite.core.types import Buffer, Values
from dpmlite.families.component import Component
from dpmlite.partition.crp import log_best_completion

SCORINGS = ("trivial", "tight", "inadmissible")


@dataclass
class _State:
    """A clustering that is in the queue: another one, whose cluster k its last row joins."""

    clustering: int
    k: int
    labels: tuple[int, ...]
    log_joint: float
    n_largest: float
    score: float


class PrefixSearch:
    """The search for the clustering with the greatest joint.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        The data.
    component : Component
        The family and its prior; whatever it holds is replaced.
    alpha : float
        Concentration of the Dirichlet process.
    order : sequence of int, length N
        The rows in the order in which they are placed: each number from 0 to N - 1.
    scoring : {"trivial", "tight", "inadmissible"}
        What is added for the rows to come.
    beam : int, optional
        Prefixes of each length that are kept, the best. All of a length are expanded before longer
        ones are. Default: the best prefix of any length is expanded next.
    max_queue : int, optional
        States that are kept in the queue, the best: the b of Figure 1. With a beam, this is another
        limit of the prefixes of a length. Default: all; without a beam, the search is A*.

    Attributes
    ----------
    n_enqueued, n_expanded : int
        States that were put into the queue, and those that were taken out and extended by a row.
    n_queued : int
        States in the queue now.
    longest : int
        Rows of the longest prefix that was expanded.
    neg_log_joint : float
        Minus the log joint of the clustering that was found; infinity before.
    neg_log_bound : float
        Minus the best score of what was found, dropped or is in the queue. With an admissible
        scoring, no clustering has a neg_log_joint below it.

    Raises
    ------
    ValueError
        If an argument breaks its rule, or "tight" has no bound for the family.

    Notes
    -----
    One thing is not in Figure 1: when `max_queue` prefixes of a length were expanded, shorter ones
    are dropped, so that `max_queue` N states are expanded at most. As printed the search can take
    for ever where scores fall with each row, since longer prefixes are dropped for shorter ones.
    For the same reason `beam` has prefixes compete with others of their length only.
    """

    def __init__(
        self,
        X: Rows | Values,
        component: Component,
        alpha: float,
        order: Values,
        scoring: str,
        beam: int | None = None,
        max_queue: int | None = None,
    ) -> None:
        rows = as_rows(X)
        _check(rows, component, alpha, order, scoring, beam, max_queue)
        if scoring == "tight":
            component.bound_over(rows)
        self._order = list(order)
        self._rows = [rows.values(i) for i in order]
        self._weights = [rows.weight(i) for i in order]
        self._before = [0.0]  # weight of the first 0, 1, 2, ... rows
        for weight in self._weights:
            self._before.append(self._before[-1] + weight)
        self._unit_weights = all(weight == 1.0 for weight in self._weights)
        self._alpha, self._scoring = alpha, scoring
        both = beam is not None and max_queue is not None
        self._beam = min(beam, max_queue) if both else beam  # type: ignore[type-var]
        self._max_queue = max_queue
        self._clusters = SharedClusters(component)
        self._queue, self._longer = MaxQueue(), MaxQueue()  # the latter is for what a beam keeps
        self._data_left, self._alone_left = self._sums_from_the_end()
        self._states: dict[int, _State] = {}
        self._n_expanded_at = [0] * (len(rows) + 1)
        self._log_dropped = -inf
        self._found: tuple[int, ...] | None = None
        self.neg_log_joint = inf
        self.n_enqueued = self.n_expanded = self.longest = 0
        denominator = -log_rising(alpha, self._before[-1])
        self._push(_State(self._clusters.first(), 0, (), denominator, 0.0, denominator))

    @property
    def n_queued(self) -> int:
        return len(self._queue) + len(self._longer)

    @property
    def neg_log_bound(self) -> float:
        scores = [state.score for state in self._states.values()]
        return -max(-self.neg_log_joint, self._log_dropped, *scores, -inf)

    def run(self, n_expansions: int) -> bool:
        """Expand states, the best first.

        Parameters
        ----------
        n_expansions : int
            How many, at most.

        Returns
        -------
        bool
            Whether a clustering of all rows is found, being the best of the queue.
        """
        for _ in range(n_expansions):
            if self._found is not None:
                break
            if not len(self._queue):
                self._queue, self._longer = self._longer, self._queue
            state = self._states.pop(self._queue.pop_best())
            if len(state.labels) == len(self._rows):
                self._found, self.neg_log_joint = state.labels, -state.log_joint
                self._clusters.release(state.clustering)
            else:
                self._expand(state)
        return self._found is not None

    def write_labels(self, out: Buffer) -> None:
        """Labels of the clustering that was found, in the order in which clusters appear.

        Parameters
        ----------
        out : mutable sequence of int, length N
            OUT: of rows 0..N-1 of `X`.

        Raises
        ------
        ValueError
            If none is found yet, or `out` has the wrong length.
        """
        if self._found is None:
            raise ValueError("no clustering is found yet")
        if len(out) != len(self._rows):
            raise ValueError(f"out must have {len(self._rows)} values, got {len(out)}")
        for i, k in zip(self._order, self._found, strict=True):
            out[i] = k

    def _expand(self, state: _State) -> None:
        """Put every clustering into the queue that the state becomes by one row."""
        d, c = len(state.labels), state.clustering
        if d:
            c = self._clusters.grow(c, state.k, self._rows[d - 1], self._weights[d - 1])
        self.n_expanded += 1
        self.longest = max(self.longest, d)
        self._count(d)
        component, weight = self._clusters.component, self._weights[d]
        slots = self._clusters.slots(c)
        tight_left = self._tight_left(slots, d) if self._scoring == "tight" else None
        for k, slot in enumerate([*slots, EMPTY]):
            n = component.counts[slot]
            log_joint = state.log_joint + self._log_weight(n, weight)
            log_joint += component.log_predictive(self._rows[d], slot, weight)
            n_largest = max(state.n_largest, n + weight)
            if tight_left is None:
                left = self._prior_left(n_largest, d + 1) + self._data_left[d + 1]
            else:
                left = tight_left[k]
            self._clusters.hold(c)
            labels = *state.labels, k
            self._push(_State(c, k, labels, log_joint, n_largest, log_joint + left))
            self.n_enqueued += 1
        self._clusters.release(c)
        self._shrink()

    def _push(self, state: _State) -> None:
        number = self.n_enqueued
        self._states[number] = state
        queue = self._queue if self._beam is None else self._longer
        queue.push(state.score, len(state.labels), number)

    def _count(self, d: int) -> None:
        """Count an expansion; drop what is not longer if no other such will be expanded."""
        self._n_expanded_at[d] += 1
        if self._beam is None and self._n_expanded_at[d] == self._max_queue:
            numbers = [self._queue.pop_best() for _ in range(self.n_queued)]
            for number in numbers:
                state = self._states[number]
                if len(state.labels) > d:
                    self._queue.push(state.score, len(state.labels), number)
                else:
                    self._drop(number)

    def _shrink(self) -> None:
        for queue, limit in ((self._longer, self._beam), (self._queue, self._max_queue)):
            while limit is not None and len(queue) > limit:
                self._drop(queue.pop_worst())

    def _drop(self, number: int) -> None:
        state = self._states.pop(number)
        self._log_dropped = max(self._log_dropped, state.score)
        self._clusters.release(state.clustering)

    def _log_weight(self, n: float, weight: float) -> float:
        """What a row multiplies the numerator of eq. (1) by."""
        return log_rising(n, weight) if n > 0.0 else log(self._alpha) + log_gamma(weight)

    def _prior_left(self, n_largest: float, d: int) -> float:
        """What the rows from d on multiply it by, at best (section 3.1)."""
        n_left = self._before[-1] - self._before[d]
        if self._unit_weights:
            return log_best_completion(n_largest, n_left, self._alpha)
        return log_rising(n_largest, n_left) + self._alone_left[d]

    def _sums_from_the_end(self) -> tuple[list[float], list[float]]:
        """What all rows from 0, 1, 2, ... on add at best: the data's part, and being alone."""
        data, alone = [0.0], [0.0]
        for j in reversed(range(len(self._rows))):
            weight = self._weights[j]
            data.append(data[-1] + (self._log_data(j) if self._scoring != "tight" else 0.0))
            joined = log_rising(self._weights[0], weight)
            alone.append(alone[-1] + max(self._log_weight(0.0, weight) - joined, 0.0))
        return data[::-1], alone[::-1]

    def _log_data(self, j: int) -> float:
        """Log density of row j on its own, eq. (12), or the greatest there is, eq. (7)."""
        component, row, weight = self._clusters.component, self._rows[j], self._weights[j]
        if self._scoring == "inadmissible":
            return component.log_predictive(row, EMPTY, weight)
        means = getattr(component, "m0", None)  # of densities; other rows have probabilities
        if means is None:
            return 0.0
        centre = [x if isnan(x) else m for x, m in zip(row, means, strict=True)]
        component.clear(SPARE)
        if j:
            component.add(centre, SPARE, self._before[j])
        return component.log_predictive(centre, SPARE, weight)

    def _tight_left(self, slots: list[int], d: int) -> list[float]:
        """What rows after row d add at best, when row d is in cluster 0, 1, ... or a new one."""
        component, slots = self._clusters.component, [*slots, EMPTY]
        left = range(d + 1, len(self._rows))
        bounds = [[self._bound(j, slot, d) for slot in slots] for j in left]
        totals = []
        for k, slot in enumerate(slots):
            component.copy(SPARE, component, slot)
            component.add(self._rows[d], SPARE, self._weights[d])
            total = 0.0
            for j, of_slots in zip(left, bounds, strict=True):
                others = [b for i, b in enumerate(of_slots) if i != k or slot == EMPTY]
                total += max(self._bound(j, SPARE, d), *others)
            totals.append(total)
        return totals

    def _bound(self, j: int, slot: int, d: int) -> float:
        """Of what row j adds in the slot's cluster, if rows between row d and row j may be there.

        In a new cluster, it is the first row, or one of them is.
        """
        between = self._before[j] - self._before[d + 1]
        component, row, weight = self._clusters.component, self._rows[j], self._weights[j]
        alone = -inf
        if slot == EMPTY:
            alone = self._log_weight(0.0, weight) + component.log_predictive(row, EMPTY, weight)
        n = component.counts[slot] + between
        if n == 0.0:
            return alone
        bound = component.log_bound(row, slot, between, weight)
        return max(alone, log_rising(n, weight) + bound)


def prior_log_densities(X: Rows | Values, component: Component, out: Buffer) -> None:
    """Log density of each row on its own, H(x): what orders of rows go by (section 3.4).

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        The family and its prior; whatever it holds is replaced.
    out : mutable sequence of float, length N
        OUT: log p(x_i | theta_0), as `Component.per_copy` has it.

    Raises
    ------
    ValueError
        If rows or `out` have the wrong length.
    """
    rows = as_rows(X)
    component._check_rows(rows)
    if len(out) != len(rows):
        raise ValueError(f"out must have {len(rows)} values, got {len(out)}")
    component.resize(0)
    component.resize(1)
    for i in range(len(rows)):
        row, weight = rows.values(i), rows.weight(i)
        out[i] = component.per_copy(component.log_predictive(row, 0, weight), row, weight)


def _check(
    rows: Rows,
    component: Component,
    alpha: float,
    order: Values,
    scoring: str,
    beam: int | None,
    max_queue: int | None,
) -> None:
    component._check_rows(rows)
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {float(alpha)}")
    if sorted(order) != list(range(len(rows))):
        raise ValueError(f"order must have each number from 0 to {len(rows) - 1} once")
    if scoring not in SCORINGS:
        raise ValueError(f"scoring must be one of {', '.join(SCORINGS)}, got {scoring!r}")
    for name, value in (("beam", beam), ("max_queue", max_queue)):
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
