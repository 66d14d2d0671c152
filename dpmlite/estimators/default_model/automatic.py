"""The default model of `MAPDPM`: family and hyperparameters by the joint, evidence that saturates.

A fit has three steps. A sample of the rows chooses family and hyperparameters. Under these, all
rows find their components. Components that no valley separates are one cluster.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.default_model.alternation import same_partition
from dpmlite.estimators.default_model.choose_prior import draw_sample
from dpmlite.estimators.default_model.completion import (
    clusters_of,
    completed_by_draws,
    redrawn_in_turns,
)
from dpmlite.estimators.default_model.first_cells import completed_by_neighbours
from dpmlite.estimators.default_model.principal_halves import principal_halves
from dpmlite.estimators.default_model.trials import Trials
from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.priors import FAMILIES
from dpmlite.estimators.priors.lacking import lacks_cells
from dpmlite.estimators.priors.moments import Moments, constant_columns
from dpmlite.search.sampled_start import joined
from dpmlite.search.search import Search

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.default_model.model import Model, Seeds
    from dpmlite.estimators.inputs.data import Data, Indices
    from dpmlite.estimators.priors.base import Family
    from dpmlite.search.progress import Progress

# Rows, drawn at random, that choose family and hyperparameters, at most.
SAMPLE_ROWS = 2000

# What the variance that the first prior expects in a cluster is multiplied by, at most: from few
# wide clusters the search finds many small ones less surely than from many.
MAX_FIRST_WIDTH = 0.1

# The part of the volume of all rows that such a cluster takes, at most: in one or two columns,
# wider ones would leave no room for many.
MAX_FIRST_VOLUME = 1.0 / 32.0

# From this number of columns on, a table in which the first search finds one cluster is also cut
# into halves: where few columns tell, the first prior makes each cluster pay too much for its means
# in all the others. What the halves show of the means' spread, the search that follows can use.
MIN_HALVED_COLUMNS = 20

# Full covariance matrices are tried up to this number of columns: they cost D^2 a row and cluster.
MAX_FULL_COLUMNS = 40


def candidates(n_columns: int) -> list[Family]:
    """The families of numbers among which the joint chooses."""
    found = [FAMILIES["normal-gamma"]]
    if 1 < n_columns <= MAX_FULL_COLUMNS:
        found.append(FAMILIES["normal-inverse-wishart"])
    return found


def choose_model(
    search: Search,
    families: list[Family],
    table: Data,
    template: Model,
    seeds: Seeds,
    found: Indices | None = None,
) -> tuple[Model, Data, Indices]:
    """The model with the least joint on a sample of a table, and labels of all rows under it.

    Parameters
    ----------
    search : Search
        Its start is the first start of the sample.
    families : list of Family
        Families that can fit their prior.
    table : Data
        N dense rows of positive weight.
    template : Model
        Whose family finds the first labels; its power, for all rows, and concentration are kept.
    seeds : ndarray of int
    found : ndarray of int, optional
        Labels of the sample that `first_labels_of_sample` has found. Default: they are searched.

    Returns
    -------
    model : Model
    table : Data
        The table, completed by draws if cells are missing that the family needs.
    labels : ndarray of int, shape (N,)
        -1 for rows that fit none of the sample's components.
    """
    chosen = draw_sample(table, SAMPLE_ROWS, np.random.default_rng(seeds))
    sample = table.take(chosen)
    power = min(1.0, template.power * table.total_weight / sample.total_weight)
    search, of_sample = replace(search.of_rows(chosen), quick=True), replace(template, power=power)
    varying = varying_columns(sample)
    parts = (sample, table) if varying.all() else (sample.part(varying), table.part(varying))
    trials = Trials(search, of_sample, *parts, seeds)
    if found is None:
        first = template.family
        width = first_width(int(varying.sum()))
        found = first_labels(
            search, of_sample, trials.rows(first), trials.scales(first), width, seeds
        )
    best = trials.best_of(families, starts_from(found, parts[0]))
    family, prior, rows, labels = best.family, best.prior, best.rows, best.labels
    if not varying.all():
        rows = _with_constant_columns(completed_by_neighbours(family, sample), varying, rows)
        sums, scales = family.sums(rows, labels, power), family.column_scales(rows, table)
        prior = family.fit_prior(sums, scales, None)[0]
    model = replace(of_sample, family=family, prior=prior)
    if not varying.all() and lacks_cells(family, sample):  # also those of constant columns
        rng = np.random.default_rng(seeds)
        rows, labels = redrawn_in_turns(model, sample, rows, labels, rng)
    if lacks_cells(family, table):
        table = rows if chosen.all() else _completed(model, table, rows, labels, seeds)
        model = replace(model, has_missing=table.has_missing())
    labels = _labels_of_all(search, model, template.power, rows, labels, table, chosen)
    return replace(model, power=template.power), table, labels


def _completed(model: Model, table: Data, sample: Data, labels: Indices, seeds: Seeds) -> Data:
    """A table completed from the clusters of a sample."""
    clusters, rng = clusters_of(model, sample, labels), np.random.default_rng(seeds)
    return completed_by_draws(model.family, table, model.prior, clusters, model.alpha, rng)[0]


def _with_constant_columns(table: Data, varying: npt.NDArray[np.bool_], of_varying: Data) -> Data:
    """A table of all columns, with the cells of the varying ones from another table."""
    assert table.values is not None
    values = table.values.copy()
    values[:, varying] = of_varying.values
    return replace(table.with_values(values), log_drawn=of_varying.log_drawn)


def most_probable_labels(
    model: Model, table: Data, rng: np.random.Generator, progress: Progress
) -> Indices:
    """Labels that the search of `MAPDPM` finds under a model, the largest cluster first."""
    seeds = rng.integers(2**63, size=1)
    found = Search(progress=progress).best(model.problem(table), seeds)
    return largest_first(found.labels(), table.weights)


def varying_columns(sample: Data) -> npt.NDArray[np.bool_]:
    """Mask of the columns that tell something; all, if none varies, or the table is mixed.

    A constant column tells nothing of clusters. Its density depends on a width that no row
    shows, by which families would be compared.
    """
    constant = constant_columns(sample)
    if sample.columns is not None or constant.all():
        return np.ones_like(constant)
    return ~constant


def starts_from(found: Indices, rows: Data) -> list[Indices]:
    """The labels from which the search of each family starts: those of a search, and one cluster.

    They were found under a narrow prior with columns apart, which cuts clusters into slices. From
    slices a search may not find the whole. If it was found among many columns, halves are tried.
    """
    whole = np.zeros_like(found)
    if not same_partition(found, whole):
        return [found, whole]
    if rows.columns is not None or rows.shape[1] < MIN_HALVED_COLUMNS:
        return [found]
    assert rows.values is not None
    return [found, principal_halves(rows.values, Moments.of(rows).variances(warn_constant=False))]


def first_width(n_columns: int) -> float:
    """What the variance that the first prior expects in a cluster is multiplied by."""
    return min(MAX_FIRST_WIDTH, float(MAX_FIRST_VOLUME ** (2.0 / n_columns)))


def first_labels(
    search: Search, model: Model, sample: Data, scales: Any, width: float, seeds: Seeds
) -> Indices:
    """Labels under the first prior of the model's family.

    `width` multiplies the variance that is expected in a cluster. No row counts more than one: for
    a search, many equal rows are a cluster of their own, and slow. The search is brief: under
    fitted hyperparameters rows move anew.
    """
    prior = model.family.first_prior(scales, sample.total_weight, width)
    power = 1.0 if sample.weights is None else min(1.0, 1.0 / sample.weights.max())
    problem = replace(model, prior=prior, power=power).problem(sample)
    return replace(search, brief=True).best(problem, seeds).labels().copy()


def first_labels_of_sample(
    search: Search, model: Model, table: Data, seeds: Seeds
) -> tuple[Data, Indices]:
    """A sample of a coded table, and labels under the first prior of the model's family."""
    chosen = draw_sample(table, SAMPLE_ROWS, np.random.default_rng(seeds))
    sample = table.take(chosen)
    rows = completed_by_neighbours(model.family, model.family.prepared(sample))
    scales = model.family.column_scales(rows, rows)
    search = replace(search.of_rows(chosen), quick=True)
    return sample, first_labels(search, model, rows, scales, 1.0, seeds)


def _labels_of_all(
    search: Search,
    model: Model,
    power: float,
    sample: Data,
    labels: Indices,
    table: Data,
    chosen: npt.NDArray[np.bool_],
) -> Indices:
    """Labels of all rows under a power: those outside the sample join its components.

    The power of `model` is that of the sample.
    """
    if chosen.all():
        return labels
    partition = model.problem(sample).partition(labels.copy())
    problem = model.with_power(power).problem(table)
    everyone = joined(search.context(problem, np.random.default_rng(0)), partition)
    everyone[chosen] = np.asarray(partition.labels)
    return everyone
