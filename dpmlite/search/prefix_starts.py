"""Searches among clusterings of prefixes: what `DPSearch` runs, and others start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite import algorithms

if TYPE_CHECKING:
    from dpmlite.core.stop import Stop
    from dpmlite.search.context import Labels, Problem
    from dpmlite.search.progress import Progress

ORDERS = ("ascending", "descending", "random", "given")

# Prefixes of each length that a start keeps; more take longer and gain little before a descent.
START_BEAM = 10

# States that are expanded between two checks for Ctrl-C, at microseconds each or far more.
EXPANSIONS_AT_ONCE = 64

# Expansions before the first line; each further line comes after twice as many.
FIRST_REPORT = 1024


def row_order(problem: Problem, name: str, rng: np.random.Generator) -> Labels:
    """The order in which rows are placed.

    By the log density of each row alone for "ascending" and "descending"; else as named.
    """
    n_rows = len(problem.rows)
    if name == "given":
        return np.arange(n_rows, dtype=np.intp)
    if name == "random":
        return rng.permutation(n_rows).astype(np.intp)
    densities = np.empty(n_rows)
    algorithms.prior_log_densities(problem.rows, problem.component.like(), densities)
    if name == "descending":
        densities = -densities
    # Rounded, for equal rows stay in the order given whatever the processor.
    return np.argsort(np.round(densities, 7), kind="stable").astype(np.intp)


def run(search: algorithms.PrefixSearch, stop: Stop, progress: Progress | None = None) -> bool:
    """Run a search to its end, and tell how far it is; False if a stop came first."""
    report_at = FIRST_REPORT
    while not search.run(EXPANSIONS_AT_ONCE):
        if stop.is_set():
            return False
        if progress and progress.tells and search.n_expanded >= report_at:
            progress.tell(line_of(search))
            report_at *= 2
    if progress and progress.tells:
        progress.tell(line_of(search))
    return True


def greedy_search(
    problem: Problem, order: Labels, prior_score: str = "partition"
) -> algorithms.PrefixSearch:
    """The finished search that places each row where it costs least, one after the other."""
    search = algorithms.PrefixSearch(
        problem.rows,
        problem.component.like(),
        problem.alpha,
        order,
        "inadmissible",
        beam=1,
        prior_score=prior_score,
    )
    while not search.run(EXPANSIONS_AT_ONCE):
        pass
    return search


def line_of(search: algorithms.PrefixSearch) -> str:
    """How far a search is."""
    return (
        f"search       expanded {search.n_expanded:>10}   enqueued {search.n_enqueued:>12}"
        f"   longest {search.longest:>8}   neg_log_bound {search.neg_log_bound:.4f}"
    )


def search_labels(
    problem: Problem,
    restart: int,
    rng: np.random.Generator,
    stop: Stop,
) -> Labels:
    """Labels that a search finds; after a stop, those of one cluster.

    The first restart has ascending order, the others have random orders. Rows count whole, whatever
    the power of the likelihood.
    """
    if restart:  # other threads read these rows, too, and one at a time may be copied to be read
        problem = problem.of_rows(np.arange(len(problem.rows)))
    order = row_order(problem, "random" if restart else "ascending", rng)
    component = problem.component.with_power(1.0)
    search = algorithms.PrefixSearch(
        problem.rows, component, problem.alpha, order, "inadmissible", START_BEAM
    )
    labels = np.zeros(len(problem.rows), dtype=np.intp)
    if run(search, stop):
        search.write_labels(labels)
    return labels
