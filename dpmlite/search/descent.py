"""The descent in the joint: sweeps, and the moves that are tried when sweeps are at their end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.search.context import is_complete
from dpmlite.search.exchange import exchange
from dpmlite.search.merge_and_split import merge_and_split
from dpmlite.search.reseeding import reseed_rows
from dpmlite.search.sweeps import JointFalls, sweep
from dpmlite.search.thorough_split import split_thoroughly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpmlite.search.context import Context, Labels, Move
    from dpmlite.search.result import SearchResult

#: The cheapest first: each is tried only if those before it did not lower the joint.
MOVES: tuple[Move, ...] = (merge_and_split, exchange, reseed_rows, split_thoroughly)

#: Those for labels that only serve to choose hyperparameters.
QUICK_MOVES = MOVES[:-1]

#: Those for labels that are a start, or that only serve to compare hyperparameters: most of what
#: the others gain lasts no longer than the hyperparameters do.
BRIEF_MOVES = MOVES[:1]

# Sweeps between other moves need not end at a fixed point: only until no more than this fraction
# of the rows moves. It counts for more than 1,000 rows.
MAX_MOVED_FRACTION = 1e-3


def descend(
    context: Context, result: SearchResult, max_moved: float = MAX_MOVED_FRACTION
) -> SearchResult:
    """Lower the joint of a result's partition until no sweep and no move does; return the result.

    Sweep until no more than the fraction `max_moved` of the rows moves, then try the moves of the
    context in turn. After the first that helps, sweep again.
    """
    partition = result.partition
    if is_complete(partition):
        result.record("start", partition.n_clusters, context.progress)
    falls, sweeps_left = JointFalls(), iter(range(context.max_sweeps))
    while (
        sweep_until_few_move(context, result, sweeps_left, max_moved if context.moves else 0.0)
        and context.moves
        and falls(result.partition)
        and any(move(context, result) for move in context.moves)
    ):
        result.converged = False
    if not result.converged:
        sweep_until_few_move(context, result, sweeps_left, 0.0)
    return result


def sweep_until_few_move(
    context: Context, result: SearchResult, sweeps_left: Iterator[int], max_moved: float
) -> bool:
    """Sweep until at most a fraction of the rows moves; False if a limit or a stop comes first.

    A stop waits for the sweep that places rows without a label.
    """
    partition = result.partition
    while next(sweeps_left, None) is not None:
        if context.stop.is_set() and is_complete(partition):
            break
        emptied = partition.n_emptied
        moves = sweep(partition, order_of_visits(context, partition.n_rows))
        result.n_sweeps += 1
        result.n_emptied += partition.n_emptied - emptied
        result.record("sweep", moves, context.progress)
        if moves <= max_moved * partition.n_rows:
            result.converged = moves == 0
            return True
    return False


def order_of_visits(context: Context, n_rows: int) -> Labels | None:
    """A random order of the rows if sweeps are to be shuffled, else None."""
    return context.rng.permutation(n_rows).astype(np.intp) if context.shuffled else None
