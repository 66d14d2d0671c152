"""Moves of large clusters by more of their rows, which are tried when all others were in vain.

The usual moves try a division on few rows of a cluster. A wide prior hides in few rows that one of
the groups in a cluster is apart, or belongs to another cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite.search.exchange import propose_exchanges
from dpmlite.search.merge_and_split import split

if TYPE_CHECKING:
    from dpmlite.search.context import Context
    from dpmlite.search.result import SearchResult

# Clusters of more rows are split thoroughly: what one pair of seeds misses in them may gain a lot.
MAX_SMALL_ROWS = 200

N_THOROUGH_SEEDS = 4  # pairs of seeds for each neighbour


def split_thoroughly(context: Context, result: SearchResult) -> bool:
    """Split large clusters that do not look normal, also along the order of a column."""
    partition = result.partition
    slots = zip(partition.sizes, partition.normal, strict=True)
    large = [k for k, (size, normal) in enumerate(slots) if size > MAX_SMALL_ROWS and not normal]
    for k in large:
        partition.mark_changed(k)
    if not large:
        return False
    splits = split(context, partition, thorough=True)
    result.record("split", splits, context.verbose)
    return splits > 0


def exchange_thoroughly(context: Context, result: SearchResult) -> bool:
    """Exchange rows between neighbours; whether that gains enough to go on."""
    joint = result.neg_log_joint
    exchanges = propose_exchanges(context, result, N_THOROUGH_SEEDS, thorough=True)
    result.converged = result.converged and exchanges == 0
    gain = joint - result.neg_log_joint
    return gain > context.problem.worthwhile_gain(result.partition.n_rows)
