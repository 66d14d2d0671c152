"""The move that exchanges rows between neighbouring clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite import inference

if TYPE_CHECKING:
    from dpmlite.search.context import Context
    from dpmlite.search.result import SearchResult

# Neighbours of each cluster with which rows are exchanged, and pairs of seeds for each of them.
# `asv_benchmarks/benchmarks/search.py` shows what others cost and gain.
N_NEIGHBOURS = 2
N_EXCHANGE_SEEDS = 1


def exchange(context: Context, result: SearchResult) -> bool:
    """Divide the rows of neighbouring clusters anew between them."""
    return propose_exchanges(context, result, N_EXCHANGE_SEEDS) > 0


def propose_exchanges(
    context: Context, result: SearchResult, n_seeds: int, thorough: bool = False
) -> int:
    """Number of exchanges from random pairs of seeds that lowered the joint."""
    partition = result.partition
    uniforms = context.rng.random((partition.component.n_slots, N_NEIGHBOURS, n_seeds, 2))
    exchanges: int = inference.exchange(partition, uniforms, context.n_threads, thorough)
    result.record("exchange", exchanges, context.verbose)
    return exchanges
