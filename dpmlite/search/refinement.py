"""What `DPSearch` does with the labels that its search has found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dpmlite.search.descent import descend
from dpmlite.search.reseeding import reseed_rows
from dpmlite.search.result import SearchResult
from dpmlite.search.sampled_start import SampledStart
from dpmlite.search.seeded_descents import DESCENT_SWEEPS

if TYPE_CHECKING:
    from dpmlite.search.context import Context, Labels


def refine(context: Context, labels: Labels, quick: bool) -> SearchResult:
    """A descent from labels of all rows, which are not changed.

    Where rows are few, it begins with crossovers of the labels, or, unless it is to be `quick`, of
    the end of another descent from them. A quick one leaves out reseeding too, which takes longer
    than it gains.
    """
    without = replace(context, moves=[move for move in context.moves if move is not reseed_rows])
    start = SampledStart(replace(context, max_sweeps=DESCENT_SWEEPS))
    if not start.is_of_all:
        return descend_from(without if quick else context, labels)
    if quick:
        return start.counted(descend_from(without, start.improve(labels.copy())))
    first = descend_from(without, labels)
    result = start.counted(descend_from(context, start.improve(first.labels())))
    result.follow(first)
    return result


def descend_from(context: Context, labels: Labels) -> SearchResult:
    """The end of a descent from labels."""
    return descend(context, SearchResult(context.partition(labels.copy()), name="search"))
