"""Missing cells of columns that vary together, drawn given the known cells and the cluster.

With a full covariance matrix the joint of rows with missing cells has no closed form. So the table
is completed. The missing cells of each row are drawn from a density q, the predictive one of the
row's most probable cluster given its known cells y. Of the complete rows x,

    E[log p(x, labels) - log q(x | y)] <= log p(y, labels)

(Jensen), and the two are equal where q is the posterior of the missing cells. So the difference
tells the joint of the known cells, rather too low than too high, and compares with the joints of
families in which missing cells just drop out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import sweeps
from dpmlite.core import Rows
from dpmlite.distributed.statistics import load, loaded, statistics_of
from dpmlite.estimators.priors.lacking import lacking_cells, lacking_rows

if TYPE_CHECKING:
    from dpmlite import families
    from dpmlite.estimators.default_model.model import Model, Seeds
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Indices
    from dpmlite.estimators.priors.base import Family
    from dpmlite.search.search import Search

# Searches among rows whose missing cells were drawn from what the one before has found, and draws
# after each, the last of which counts.
N_COMPLETIONS = 2
N_DRAWS = 5

# A cluster of at most this number of rows may be one of cells that were drawn far out.
FEW_ROWS = 5


def completed_by_draws(
    family: Family,
    table: Data,
    prior: Prior,
    clusters: families.Component,
    alpha: float,
    rng: np.random.Generator,
) -> tuple[Data, Indices]:
    """A table whose missing cells of columns with full covariance are drawn from clusters.

    Parameters
    ----------
    family : Family
    table : Data
        N dense rows, some of which lack such cells.
    prior : dict
        That of the clusters.
    clusters : Component
        A cluster a slot, as sure of itself as its draws should be.
    alpha : float
        Concentration.
    rng : Generator

    Returns
    -------
    table : Data
        Its `log_drawn` is the log of the density q of the draws.
    labels : ndarray of int, shape (N,)
        The slot of each row that lacked cells: the most probable cluster, or one slot more, for a
        new cluster; -1 for other rows.
    """
    slots = clusters.like()
    load(slots, statistics_of(clusters, clusters.n_slots), n_empty=1)
    missing = lacking_cells(family, table)
    lacking = np.flatnonzero(missing.any(axis=1))
    assert table.values is not None
    values, log_drawn = table.values.copy(), np.zeros(table.shape[0])
    nearest, labels = np.empty(len(lacking), dtype=np.intp), np.full(table.shape[0], -1)
    sweeps.assign(Rows(values[lacking]), slots, alpha, nearest)
    labels[lacking] = np.where(nearest < 0, clusters.n_slots, nearest)
    for k in np.unique(labels[lacking]):
        rows = np.flatnonzero(labels == k)
        cluster = family.as_prior(slots.posterior(int(k)), prior)
        drawn, log_drawn[rows] = family.draw_missing(values[rows], cluster, rng)
        values[rows] = np.where(missing[rows], drawn, values[rows])
    complete = table.with_values(values)
    log_drawn -= complete.log_volumes() - table.log_volumes()
    return replace(complete, log_drawn=log_drawn), labels


def clusters_of(model: Model, table: Data, labels: Indices) -> families.Component:
    """A component with the clusters of labels as slots, which are as sure as the model."""
    partition = model.weighted_partition(table, labels.copy())
    return loaded(partition.component, statistics_of(partition.component, partition.n_clusters))


def redrawn(
    model: Model, table: Data, completed: Data, labels: Indices, rng: np.random.Generator
) -> tuple[Data, Indices]:
    """A table completed anew from the clusters of what was drawn before, and new labels.

    Completed rows of clusters of few rows do not count in these: a cell that was drawn far out
    would else keep its row in a cluster of its own.
    """
    lacking = lacking_rows(model.family, table)
    counts = ~(lacking & (np.bincount(labels)[labels] <= FEW_ROWS))
    if not counts.any():
        counts[:] = True
    kept = np.unique(labels[counts], return_inverse=True)[1]
    clusters = clusters_of(model, completed.take(counts), kept)
    rows, nearest = completed_by_draws(model.family, table, model.prior, clusters, model.alpha, rng)
    found = np.where(lacking, nearest, 0)
    found[counts & ~lacking] = kept[~lacking[counts]]
    return rows, np.unique(found, return_inverse=True)[1]


def redrawn_in_turns(
    model: Model, table: Data, completed: Data, labels: Indices, rng: np.random.Generator
) -> tuple[Data, Indices]:
    """A table completed `N_DRAWS` times, each from the clusters before, and the last labels."""
    for _ in range(N_DRAWS):
        completed, labels = redrawn(model, table, completed, labels, rng)
    return completed, labels


def completed_in_rounds(
    search: Search, model: Model, table: Data, rows: Data, seeds: Seeds
) -> Data:
    """A table completed under a given model, from searches among completed rows."""
    rng = np.random.default_rng(seeds)
    for _ in range(N_COMPLETIONS):
        labels = search.best(model.problem(rows), seeds).labels().copy()
        rows, labels = redrawn_in_turns(model, table, rows, labels, rng)
    return rows
