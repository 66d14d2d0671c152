"""Starts from other samples of a large table, once a descent from the first has ended.

A descent hardly leaves the way on which its start sets out, and the start is found on a sample.
Where few clusters look normal, there are many ways to divide them. The start from another sample
leads to another way, with which the result is crossed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite.search.context import normal_fraction
from dpmlite.search.descent import descend
from dpmlite.search.merge_and_split import split
from dpmlite.search.partition_crossover import descend_and_cross_over
from dpmlite.search.sampled_start import SampledStart
from dpmlite.search.sweeps import sweep

if TYPE_CHECKING:
    from dpmlite.search.context import Context
    from dpmlite.search.result import SearchResult

# Samples in a row that may gain little.
MAX_FAILURES = 2

# If this fraction of the clusters looks normal, the others could gain little.
ENOUGH_NORMAL_FRACTION = 0.5

# What larger tables gain takes minutes.
MAX_CELLS = 1_000_000


def improve_from_other_samples(context: Context, result: SearchResult) -> SearchResult:
    """The result, or that of the last descent that goes on from it."""
    n_failures, worthwhile_gain = 0, context.problem.worthwhile_gain(len(context.problem.rows))
    while n_failures < MAX_FAILURES and may_improve(context, result):
        attempt = cross_over_with_sample(context, result)
        if result.neg_log_joint - attempt.neg_log_joint > worthwhile_gain:
            attempt.name, n_failures = "again", 0
            descend(context, attempt).follow(result)
            result = attempt
        else:
            n_failures += 1
            result.count(attempt)
    return result


def may_improve(context: Context, result: SearchResult) -> bool:
    """Whether a table is small enough, and too few clusters look normal."""
    n_cells = len(context.problem.rows) * context.problem.component.n_columns
    is_open = n_cells <= MAX_CELLS and normal_fraction(result.partition) < ENOUGH_NORMAL_FRACTION
    return is_open and result.converged and not context.stop.is_set()


def cross_over_with_sample(context: Context, result: SearchResult) -> SearchResult:
    """The crossover of a result and a short descent from the start of another sample."""
    other = context.partition(SampledStart(context).run())
    sweep(other)
    split(context, other)
    attempt = descend_and_cross_over(context, result.partition, other, None)
    attempt.n_sweeps += 1
    return attempt
