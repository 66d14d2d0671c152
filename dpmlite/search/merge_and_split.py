"""The move that merges clusters, and splits others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite import moves

if TYPE_CHECKING:
    from dpmlite.partition import Partition
    from dpmlite.search.context import Context
    from dpmlite.search.result import SearchResult

# Pairs of seeds that are tried for each cluster that may be split.
# `asv_benchmarks/benchmarks/search.py` shows what more cost and gain.
N_SPLIT_SEEDS = 1


def merge_and_split(context: Context, result: SearchResult) -> bool:
    """Merge pairs of clusters, then split clusters; True also after a stop."""
    merges = moves.merge(result.partition)
    result.record("merge", merges, context.progress)
    splits = split(context, result.partition)
    result.record("split", splits, context.progress)
    return merges > 0 or splits > 0 or context.stop.is_set()


def split(context: Context, partition: Partition, thorough: bool = False) -> int:
    """Number of splits from random pairs of seeds."""
    n_seeds = min(N_SPLIT_SEEDS, partition.n_rows)
    uniforms = context.rng.random((partition.component.n_slots, n_seeds, 2))
    return moves.split(partition, uniforms, thorough)
