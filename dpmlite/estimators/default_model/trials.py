"""Families that are fitted to one sample of a table, to be compared by their joints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.default_model.alternation import MAX_ROUNDS, alternate
from dpmlite.estimators.default_model.completion import N_COMPLETIONS, redrawn_in_turns
from dpmlite.estimators.default_model.first_cells import completed_by_neighbours
from dpmlite.estimators.priors.lacking import lacks_cells

if TYPE_CHECKING:
    from dpmlite.estimators.default_model.alternation import Chosen
    from dpmlite.estimators.default_model.model import Model, Seeds
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Indices
    from dpmlite.estimators.priors.base import Family
    from dpmlite.search.result import SearchResult
    from dpmlite.search.search import Search

# A trial with more clusters than this fraction of the rows counts only if all have: where the cells
# of many columns have heavy tails, a cluster for each row describes them best, and tells nothing.
MAX_FRACTION_OF_CLUSTERS = 0.5


@dataclass(eq=False, repr=False)
class Trials:
    """A sample of a table, and what families find in it.

    Attributes
    ----------
    search : Search
        Its start is the first start of the sample.
    model : Model
        Its power is that of the sample; its family and prior are not used.
    sample : Data
        N dense rows.
    table : Data
        All rows, whose extent priors have to reach.
    seeds : ndarray of int
    """

    search: Search
    model: Model
    sample: Data
    table: Data
    seeds: Seeds

    def __post_init__(self) -> None:
        self._rows: dict[Family, Data] = {}
        self._scales: dict[Family, Any] = {}

    def rows(self, family: Family) -> Data:
        """The sample, in which no cell is missing that the family needs."""
        if family not in self._rows:
            self._rows[family] = completed_by_neighbours(family, self.sample)
        return self._rows[family]

    def scales(self, family: Family) -> Any:
        """What the family needs to know of the columns."""
        if family not in self._scales:
            self._scales[family] = family.column_scales(self.rows(family), self.table)
        return self._scales[family]

    def best_of(self, families: list[Family], starts: list[Indices]) -> Chosen:
        """The best that families find from some labels, in rounds until nothing changes.

        One round from each tells which family is the best, unless cells are drawn: the first draws
        are poor.
        """
        trials = [[self._fit(family, labels, None) for labels in starts] for family in families]
        if not any(lacks_cells(family, self.sample) for family in families):
            return self._fit_further(least_joint([*chain(*trials)]))
        return least_joint([self._fit_further(least_joint(own)) for own in trials])

    def _fit_further(self, trial: Chosen) -> Chosen:
        """What the family of a trial finds from there, in rounds until nothing changes.

        If cells are missing that it needs, they are drawn anew from what was found.
        """
        for _ in range(N_COMPLETIONS if lacks_cells(trial.family, self.sample) else 1):
            trial = self._fit(trial.family, trial.labels, trial)
        return trial

    def _fit(self, family: Family, labels: Indices, before: Chosen | None) -> Chosen:
        """What one family finds from labels; in a single round if it has found nothing before."""
        rows = self.rows(family) if before is None else before.rows
        start = None if before is None else before.prior
        if not lacks_cells(family, self.sample):
            return self._alternate(self.model, family, rows, labels, start)
        model = replace(self.model, has_missing=rows.has_missing())
        return self._with_new_draws(self._alternate(model, family, rows, labels, start))

    def _with_new_draws(self, found: Chosen) -> Chosen:
        """What was found with completed rows, with their missing cells drawn from it."""
        rows, labels, rng = found.rows, found.labels, np.random.default_rng(self.seeds)
        model = replace(
            self.model, family=found.family, prior=found.prior, has_missing=rows.has_missing()
        )
        before = _joint(model, rows, labels) + model.power * self.sample.total_log_volume()
        rows, labels = redrawn_in_turns(model, self.sample, rows, labels, rng)
        after = _joint(model, rows, labels) + model.power * rows.total_log_volume()
        objective = found.objective + after - before
        return replace(found, rows=rows, labels=labels, objective=objective)

    def _alternate(
        self, model: Model, family: Family, rows: Data, labels: Indices, start: Prior | None
    ) -> Chosen:
        """Labels and hyperparameters in turn, from labels and a prior.

        One cluster stays whole in a trial, without a prior: that tells whether slices are worth
        their joint. Rounds after the first are brief: hyperparameters change little then, so that
        the other moves find little, and the search among all rows makes them once more.
        """
        is_trial, rng = start is None, np.random.default_rng(self.seeds)
        brief = replace(self.search, brief=True)
        if is_trial and not labels.any():
            brief = replace(brief, split_merge=False)
        searches = chain([] if is_trial else [self.search], repeat(brief))
        model, scales = replace(model, family=family), self.scales(family)

        def find(prior: Prior, labels: Indices) -> tuple[SearchResult, float]:
            own = replace(model, prior=prior)
            seed = int(rng.integers(2**63))  # attempts that failed are not made again
            return next(searches).go_on(own.problem(rows), labels, seed, family.name), own.unit

        def joint_of(prior: Prior, labels: Indices) -> float:
            return _joint(replace(model, prior=prior), rows, labels)

        max_rounds = 1 if is_trial else MAX_ROUNDS
        return alternate(
            find, joint_of, family, rows, scales, labels, model.power, start, max_rounds
        )


def least_joint(trials: list[Chosen]) -> Chosen:
    """The trial with the least joint, of those that have far fewer clusters than rows."""
    most = MAX_FRACTION_OF_CLUSTERS * len(trials[0].labels)
    few = [each for each in trials if each.labels.max() < most]
    return min(few or trials, key=lambda each: each.objective)


def _joint(model: Model, rows: Data, labels: Indices) -> float:
    """Minus the log joint of rows and their labels, in nats."""
    return model.unit * model.problem(rows).partition(labels.copy()).neg_log_joint
