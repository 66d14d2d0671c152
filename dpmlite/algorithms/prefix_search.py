"""Search among clusterings of prefixes: A* and beam search (Daumé 2007, Figure 1).

A state is a clustering of the first d rows of an order. Its score is its log joint and what the
rows to come add at best (`search_heuristic`): a bound, or a guess, of the log joint of its best
completion. Equation numbers are those of Daumé (2007).
"""

from dataclasses import dataclass
from math import inf

from dpmlite.algorithms.max_queue import MaxQueue
from dpmlite.algorithms.search_heuristic import SearchHeuristic
from dpmlite.algorithms.shared_clusters import SharedClusters
from dpmlite.core.checks import check_order
from dpmlite.core.constants import EMPTY_SLOT
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.families.component import Component

SCORINGS = ("trivial", "tight", "inadmissible")
PRIOR_SCORES = ("partition", "sizes")


@dataclass
class _State:
    """A clustering of a prefix that is in a queue."""

    clustering: int  # of the rows before the last
    k: int  # the cluster of it that the last row joins
    labels: tuple[int, ...]
    log_joint: float
    n_largest: float  # weight of the largest cluster
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
        What the rows to come add, as of `SearchHeuristic`.
    beam : int, optional
        Number of prefixes of each length that are kept: the best. All prefixes of one length are
        expanded before longer ones. Default: the best prefix of any length is expanded next.
    max_queue : int, optional
        Number of states that are kept in the queue, the best: the b of Figure 1. With a beam, it
        also limits the prefixes of each length. Default: all; without a beam, the search is A*.
    prior_score : {"partition", "sizes"}, default "partition"
        The probability of labels in scores: that of the partition, or that of the multiplicities of
        its cluster sizes, eq. (2), which needs rows of weight 1.

    Attributes
    ----------
    n_enqueued, n_expanded : int
        States that were put into the queue, and states that were taken out and extended by a row.
    n_queued : int
        States in the queue now.
    longest : int
        Rows of the longest prefix that was expanded.
    neg_log_joint : float
        Minus the log of data and prior score of the clustering that was found; infinity before one
        is. It is the joint if the prior score is "partition".
    neg_log_bound : float
        Minus the best score of any state that was found or dropped, or is in the queue. With an
        admissible scoring, no clustering has a neg_log_joint below it.

    Raises
    ------
    ValueError
        If an argument breaks its rule, or "tight" has no bound for the family.

    Notes
    -----
    One rule is not in Figure 1: once `max_queue` prefixes of a length were expanded, shorter ones
    are dropped, so that at most `max_queue` N states are expanded. As printed, the search need not
    end where scores fall with each row, because longer prefixes are dropped for shorter ones. For
    the same reason, prefixes in a `beam` compete only with others of their length.
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
        prior_score: str = "partition",
    ) -> None:
        rows = as_rows(X)
        _check(rows, component, alpha, order, scoring, beam, max_queue)
        _check_prior_score(rows, prior_score)
        self._order = list(order)
        self._rows = [rows.values(i) for i in order]
        self._weights = [rows.weight(i) for i in order]
        both = beam is not None and max_queue is not None
        self._beam = min(beam, max_queue) if both else beam  # type: ignore[type-var]
        self._max_queue = max_queue
        self._clusters = SharedClusters(component)
        self._queue, self._longer = MaxQueue(), MaxQueue()  # the latter: kept by a beam
        self._heuristic = SearchHeuristic(rows, component, alpha, order, scoring, prior_score)
        self._states: dict[int, _State] = {}
        self._n_expanded_at = [0] * (len(rows) + 1)
        self._log_dropped = -inf
        self._found: tuple[int, ...] | None = None
        self.neg_log_joint = inf
        self.n_enqueued = self.n_expanded = self.longest = 0
        denominator = -self._heuristic.log_denominator()
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
            Number of states, at most.

        Returns
        -------
        bool
            Whether a clustering of all rows is found: it is the best of the queue.
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
        """Put every clustering into the queue that the state becomes by one more row."""
        d, c = len(state.labels), state.clustering
        if d:
            c = self._clusters.grow(c, state.k, self._rows[d - 1], self._weights[d - 1])
        self.n_expanded += 1
        self.longest = max(self.longest, d)
        self._count(d)
        component, weight = self._clusters.component, self._weights[d]
        slots = self._clusters.slots(c)
        scores = self._heuristic.scores(slots, d, state.n_largest)
        for k, slot in enumerate([*slots, EMPTY_SLOT]):
            n = component.counts[slot]
            log_joint = state.log_joint + self._heuristic.log_factor(n, weight)
            log_joint += component.log_predictive(self._rows[d], slot, weight)
            if d + 1 == len(self._rows):
                sizes = [component.counts[s] + (s == slot) for s in slots]
                log_joint -= self._heuristic.log_repeats([*sizes, 1] if k == len(slots) else sizes)
            n_largest = max(state.n_largest, n + weight)
            self._clusters.hold(c)
            labels = *state.labels, k
            self._push(_State(c, k, labels, log_joint, n_largest, log_joint + scores[k]))
            self.n_enqueued += 1
        self._clusters.release(c)
        self._shrink()

    def _push(self, state: _State) -> None:
        number = self.n_enqueued
        self._states[number] = state
        queue = self._queue if self._beam is None else self._longer
        queue.push(state.score, len(state.labels), number)

    def _count(self, d: int) -> None:
        """Count the expansion of a prefix of d rows; after the last allowed, drop the others."""
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


def prior_log_densities(X: Rows | Values, component: Component, out: Buffer) -> None:
    """Log density of each row on its own, H(x), by which rows are ordered (section 3.4).

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
    check_order(order, len(rows))
    if scoring not in SCORINGS:
        raise ValueError(f"scoring must be one of {', '.join(SCORINGS)}, got {scoring!r}")
    for name, value in (("beam", beam), ("max_queue", max_queue)):
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")


def _check_prior_score(rows: Rows, prior_score: str) -> None:
    if prior_score not in PRIOR_SCORES:
        raise ValueError(
            f"prior_score must be one of {', '.join(PRIOR_SCORES)}, got {prior_score!r}"
        )
    for i in range(len(rows)):
        if prior_score == "sizes" and rows.weight(i) != 1.0:
            raise ValueError(f"prior_score 'sizes' needs rows of weight 1, got {rows.weight(i)}")
