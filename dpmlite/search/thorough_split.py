"""The move that splits large clusters by more of their rows, when all other moves were in vain.

The usual split tries a division on few rows of a cluster. A wide prior hides in few rows that one
of the groups in a cluster is apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite.moves import split_memory_of
from dpmlite.search.merge_and_split import split

if TYPE_CHECKING:
    from dpmlite.search.context import Context
    from dpmlite.search.result import SearchResult

# Clusters of more rows are split thoroughly: what one pair of seeds misses in them may gain a lot.
MAX_SMALL_ROWS = 200


def split_thoroughly(context: Context, result: SearchResult) -> bool:
    """Split large clusters that do not look normal, also along the order of a column."""
    partition = result.partition
    memory = split_memory_of(partition)
    slots = zip(partition.sizes, memory.looked_normal, strict=True)
    large = [k for k, (size, normal) in enumerate(slots) if size > MAX_SMALL_ROWS and not normal]
    for k in large:
        memory.mark_untried(k)
    if not large:
        return False
    splits = split(context, partition, thorough=True)
    result.record("split", splits, context.progress)
    return splits > 0
