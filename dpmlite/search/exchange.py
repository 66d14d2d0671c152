"""The move that exchanges rows between neighbouring clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite import moves

if TYPE_CHECKING:
    from dpmlite.search.context import Context
    from dpmlite.search.result import SearchResult

# Neighbours of each cluster with which rows are exchanged, and pairs of seeds for each of them.
# `asv_benchmarks/benchmarks/search.py` shows what others cost and gain.
N_NEIGHBOURS = 2
N_EXCHANGE_SEEDS = 1


def exchange(context: Context, result: SearchResult) -> bool:
    """Divide the rows of neighbouring clusters anew between them, from random pairs of seeds."""
    partition = result.partition
    shape = (partition.component.n_slots, N_NEIGHBOURS, N_EXCHANGE_SEEDS, 2)
    exchanges: int = moves.exchange(partition, context.rng.random(shape))
    result.record("exchange", exchanges, context.progress)
    return exchanges > 0
