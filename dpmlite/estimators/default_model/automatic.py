"""The default model of `MAPDPM`: family and hyperparameters by the joint, evidence that saturates.

A fit has three steps. A sample of the rows chooses family and hyperparameters. Under these, all
rows find their components. Components that no valley separates are one cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.default_model.alternation import MAX_ROUNDS, alternate, same_partition
from dpmlite.estimators.default_model.choose_prior import draw_sample
from dpmlite.estimators.default_model.principal_halves import principal_halves
from dpmlite.estimators.empirical_bayes.design_effect import design_effect
from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.priors import FAMILIES
from dpmlite.estimators.priors.moments import Moments, constant_columns
from dpmlite.partition import Partition
from dpmlite.search.context import Problem, coarsened_alpha
from dpmlite.search.sampled_start import joined
from dpmlite.search.search import Search

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.default_model.alternation import Chosen
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Indices
    from dpmlite.estimators.priors.base import Family
    from dpmlite.search.progress import Progress
    from dpmlite.search.result import SearchResult

    Seeds = npt.NDArray[np.int64]

#: Rows up to which evidence grows; more only make it surer of the same clusters.
SATURATION = 2000.0

# Rows, drawn at random, that choose family and hyperparameters, at most.
SAMPLE_ROWS = 2000

# What the variance that the first prior expects in a cluster is multiplied by: from few wide
# clusters the search finds many small ones less surely than from many.
FIRST_WIDTH = 0.1

# From this number of columns on, a table in which the first search finds one cluster is also cut
# into halves: where few columns tell, the first prior makes each cluster pay too much for its means
# in all the others. What the halves show of the means' spread, the search that follows can use.
MIN_HALVED_COLUMNS = 20

# A trial with more clusters than this fraction of the rows counts only if all have: where the cells
# of many columns have heavy tails, a cluster for each row describes them best, and tells nothing.
MAX_FRACTION_OF_CLUSTERS = 0.5

# Full covariance matrices are tried up to this number of columns: they cost D^2 a row and cluster.
MAX_FULL_COLUMNS = 40


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A family with its prior, and the power with which the likelihood of a row counts.

    Attributes
    ----------
    family : Family
    allow_missing : bool
    prior : dict
    alpha : float
        Concentration.
    power : float
    as_weights : bool
        Whether rows have the power as weights: then the predictive densities of a search's
        components are densities. It takes longer.
    has_missing : bool
        Whether a cell of the whole table may be missing. If none is, problems have the component
        of complete rows: it has the same joint, and takes less time.
    discount : float
        Discount of the Pitman-Yor process; 0 unless the power is 1.
    """

    family: Family
    allow_missing: bool
    prior: Prior
    alpha: float
    power: float = 1.0
    as_weights: bool = False
    has_missing: bool = True
    discount: float = 0.0

    def problem(self, table: Data) -> Problem:
        """The problem of the rows of a table; its joints are in units of `unit` nats.

        Rows with the power as weights have the same objective with another concentration.
        """
        if self._component_knows_power():
            component = self._searched(self.power)
            return Problem(table.rows(), component, self.alpha, discount=self.discount)
        alpha = self.power * coarsened_alpha(self.alpha, self.power)
        return Problem(times(table, self.power).rows(), self._searched(1.0), alpha)

    def weighted_partition(self, table: Data, labels: Indices) -> Partition:
        """A partition whose rows have the power as weights, from which to predict."""
        rows, component = times(table, self.power).rows(), self.component()
        return Partition(rows, labels, component, self.alpha, discount=self.discount)

    def with_power(self, power: float) -> Model:
        """The model with another power."""
        return replace(self, power=power)

    def component(self) -> families.Component:
        """A component of the prior without slots, and without the power."""
        return self.family.component(self.prior, self.allow_missing)

    def _searched(self, power: float) -> families.Component:
        """The component of a search among rows of the table."""
        return self.family.component(self.prior, self.allow_missing and self.has_missing, power)

    @property
    def unit(self) -> float:
        """Nats in one unit of a problem's joint."""
        return self.power if self._component_knows_power() else 1.0

    def _component_knows_power(self) -> bool:
        return self.power == 1.0 or (self.family.knows_power and not self.as_weights)


def times(table: Data, factor: float) -> Data:
    """A table whose weights are multiplied by a factor."""
    if factor == 1.0:
        return table
    weights = np.ones(table.shape[0]) if table.weights is None else table.weights
    return replace(table, weights=factor * weights)


def power_of(total_weight: float, saturation: float | None, design_effect: float = 1.0) -> float:
    """The power of the likelihood of rows of a total weight (Miller & Dunson 2019, section 3).

    What saturates is the evidence of ``total_weight / design_effect`` rows.
    """
    return 1.0 if saturation is None else saturation / (design_effect * saturation + total_weight)


def design_effect_of(table: Data, rows_per_row: float = 1.0) -> float:
    """The design effect of values that rows share, before they are spread: see `design_effect`."""
    if table.values is None:
        return 1.0
    if table.columns is None:
        return design_effect(list(table.values.T), rows_per_row)
    columns = table.columns.decode(table.values).values()
    numbers = [cells if cells.dtype.kind == "f" else None for cells in columns]
    return design_effect(numbers, rows_per_row)


def candidates(n_columns: int, allow_missing: bool) -> list[Family]:
    """The families of numbers among which the joint chooses."""
    found = [FAMILIES["normal-gamma"]]
    if 1 < n_columns <= MAX_FULL_COLUMNS and not allow_missing:
        found.append(FAMILIES["normal-inverse-wishart"])
    return found


def choose_model(
    search: Search,
    families: list[Family],
    table: Data,
    template: Model,
    seeds: Seeds,
    found: Indices | None = None,
) -> tuple[Model, Indices]:
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
    labels : ndarray of int, shape (N,)
        -1 for rows that fit none of the sample's components.
    """
    chosen = draw_sample(table, SAMPLE_ROWS, np.random.default_rng(seeds))
    sample = table.take(chosen)
    power = min(1.0, template.power * table.total_weight / sample.total_weight)
    of_sample = replace(template, power=power)
    search = replace(search.of_rows(chosen), quick=True)
    varying = varying_columns(sample)
    rows = sample if varying.all() else sample.part(varying)
    scales = {
        family: family.column_scales(rows, table if varying.all() else table.part(varying))
        for family in {template.family, *families}
    }
    if found is None:
        first_scales = scales[template.family]
        found = first_labels(search, of_sample, rows, first_scales, FIRST_WIDTH, seeds)
    trials = [
        _fitted(search, family, of_sample, rows, scales[family], labels, seeds, None)
        for family in families
        for labels in starts_from(found, rows)
    ]
    best = least_joint(trials)
    best = _fitted(
        search, best.family, of_sample, rows, scales[best.family], best.labels, seeds, best.prior
    )
    if not varying.all():
        sums = best.family.sums(sample, best.labels, power)
        all_scales = best.family.column_scales(sample, table)
        best = replace(best, prior=best.family.fit_prior(sums, all_scales, None)[0])
    model = replace(template, family=best.family, prior=best.prior)
    return model, _labels_of_all(search, model, power, best, table, chosen)


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


def least_joint(trials: list[Chosen]) -> Chosen:
    """The trial with the least joint, of those that have far fewer clusters than rows."""
    most = MAX_FRACTION_OF_CLUSTERS * len(trials[0].labels)
    few = [each for each in trials if each.labels.max() < most]
    return min(few or trials, key=lambda each: each.objective)


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
    rows = model.family.prepared(sample)
    scales = model.family.column_scales(rows, rows)
    search = replace(search.of_rows(chosen), quick=True)
    return sample, first_labels(search, model, rows, scales, 1.0, seeds)


def _fitted(
    search: Search,
    family: Family,
    model: Model,
    sample: Data,
    scales: Any,
    labels: Indices,
    seeds: Seeds,
    start: Prior | None,
) -> Chosen:
    """What one family finds from labels and a prior; in a single round, a trial, without a prior.

    One cluster stays whole in its trial: that tells whether slices are worth their joint. Rounds
    after the first are brief: under hardly other hyperparameters the other moves find little, and
    the search among all rows makes them once more.
    """
    is_trial, rng = start is None, np.random.default_rng(seeds)
    brief = replace(search, brief=True)
    if is_trial and not labels.any():
        brief = replace(brief, split_merge=False)
    searches = chain([] if is_trial else [search], repeat(brief))

    def find(prior: Prior, labels: Indices) -> tuple[SearchResult, float]:
        own = replace(model, family=family, prior=prior)
        seed = int(rng.integers(2**63))  # attempts that failed are not made again
        return next(searches).go_on(own.problem(sample), labels, seed, family.name), own.unit

    def joint_of(prior: Prior, labels: Indices) -> float:
        own = replace(model, family=family, prior=prior)
        return own.unit * own.problem(sample).partition(labels.copy()).neg_log_joint

    max_rounds = 1 if is_trial else MAX_ROUNDS
    return alternate(find, joint_of, family, sample, scales, labels, model.power, start, max_rounds)


def _labels_of_all(
    search: Search, model: Model, power: float, best: Chosen, table: Data, chosen: np.ndarray
) -> Indices:
    """Labels of all rows: those outside the sample join its components."""
    if chosen.all():
        return best.labels
    sample = replace(model, power=power).problem(table.take(chosen)).partition(best.labels.copy())
    labels = joined(search.context(model.problem(table), np.random.default_rng(0)), sample)
    labels[chosen] = np.asarray(sample.labels)
    return labels
