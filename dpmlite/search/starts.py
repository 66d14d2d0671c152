"""Starts for all rows at once, by name: one cluster, singletons, one pass, random labels, ..."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import sweeps
from dpmlite.core import log_rising
from dpmlite.core.constants import UNPLACED
from dpmlite.search.prefix_starts import search_labels
from dpmlite.search.result import SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpmlite.search.context import Context, Labels

# From singletons the first sweep costs N x N scores, and statistics need N times D numbers: larger
# tables start with one pass instead.
MAX_SINGLETON_ROWS = 2000
MAX_SINGLETON_CELLS = 2_000_000


def starts_of(init: str | Labels, context: Context, restart: int) -> Iterator[SearchResult]:
    """The starts of one restart.

    `init` is the name of a start, or the labels of one.
    """
    if not isinstance(init, str):
        yield SearchResult(context.partition(init.copy()), name="given")
        return
    problem, n_rows = context.problem, len(context.problem.rows)
    for name in names_of_starts(init, restart, n_rows, problem.component.n_columns):
        if name == "search":
            labels = search_labels(problem, restart, context.rng, context.stop)
            yield SearchResult(context.partition(labels), name=name)
        elif name == "unreinforced":
            yield unreinforced_start(context, shuffled=context.shuffled or restart > 0)
        else:
            labels, order = start_labels(name, n_rows, problem.alpha, context.rng, problem.discount)
            yield SearchResult(context.partition(labels, order), order, name)


def unreinforced_start(context: Context, shuffled: bool) -> SearchResult:
    """What an unreinforced sweep makes of one cluster, visiting rows in a random order or not."""
    n_rows = len(context.problem.rows)
    order = context.rng.permutation(n_rows).astype(np.intp) if shuffled else None
    partition = context.partition(np.zeros(n_rows, dtype=np.intp), order)
    sweeps.unreinforced_sweep(partition)
    return SearchResult(partition, order, "unreinforced", n_sweeps=1, n_emptied=partition.n_emptied)


def names_of_starts(init: str, restart: int, n_rows: int, n_columns: int) -> list[str]:
    """Names of the starts of one restart; the best of their descents counts."""
    if init != "auto":
        return ["shuffled" if init == "sequential" and restart else init]
    if restart:
        return ["random" if restart % 2 else "shuffled"]
    small = n_rows <= MAX_SINGLETON_ROWS and n_rows * n_columns <= MAX_SINGLETON_CELLS
    return ["single", "singletons" if small else "sequential"]


def start_labels(
    name: str, n_rows: int, alpha: float, rng: np.random.Generator, discount: float = 0.0
) -> tuple[Labels, Labels | None]:
    """Labels to start from, and the order of visits if it is not 0..N-1.

    "single" is one cluster, "singletons" one for each row; "sequential" places row after row,
    "shuffled" does so in random order; "random" draws labels of about twice as many clusters
    as the prior expects.
    """
    if name == "single":
        return np.zeros(n_rows, dtype=np.intp), None
    if name == "singletons":
        return np.arange(n_rows, dtype=np.intp), None
    if name == "sequential":
        return np.full(n_rows, UNPLACED, dtype=np.intp), None
    if name == "shuffled":
        return np.full(n_rows, UNPLACED, dtype=np.intp), rng.permutation(n_rows).astype(np.intp)
    expected = expected_clusters(n_rows, alpha, discount)
    n_clusters = min(max(2, round(2.0 * expected)), n_rows)
    return rng.integers(n_clusters, size=n_rows).astype(np.intp), None


def expected_clusters(n_rows: int, alpha: float, discount: float) -> float:
    """About the number of clusters that the prior expects; with a discount exactly that."""
    if discount == 0.0:
        return alpha * math.log1p(n_rows / alpha)
    log_ratio = log_rising(alpha + discount, n_rows) - log_rising(alpha, n_rows)
    return alpha / discount * math.expm1(log_ratio)
