"""The base class of `MAPDPM` that fits rows in memory, alone or beside absorbed components."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import algorithms
from dpmlite.core.constants import UNPLACED
from dpmlite.core.threads import threads_for, use_threads
from dpmlite.estimators.column_families.by_rule import AUTO
from dpmlite.estimators.default_model.completion import completed_by_draws, completed_in_rounds
from dpmlite.estimators.default_model.first_cells import completed_by_neighbours
from dpmlite.estimators.default_model.model import (
    certain_power_of,
    design_effect_of,
    power_of,
    times,
    weights_as_certainty,
)
from dpmlite.estimators.fitted.joint_check import verify_joint
from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.fitted.partitions import final_partition_with_groups
from dpmlite.estimators.inputs.parameters import check_random_state
from dpmlite.estimators.map_dpm.long_fits import why_long
from dpmlite.estimators.map_dpm.parameters import MapParameters
from dpmlite.estimators.map_dpm.streaming import (
    absorbed_clusters,
    absorbed_counts,
    absorbed_groups,
    moments_of_all,
    prior_of_all,
)
from dpmlite.estimators.priors.lacking import lacks_cells
from dpmlite.estimators.priors.moments import Moments
from dpmlite.search.alpha import AlphaResult
from dpmlite.search.context import Problem, coarsened_alpha

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.default_model.model import Model, Seeds
    from dpmlite.estimators.inputs.data import Data
    from dpmlite.estimators.map_dpm.streaming import FittedClusters
    from dpmlite.search.progress import Progress
    from dpmlite.search.result import SearchResult
    from dpmlite.search.search import Search


class MapFits(MapParameters):
    """A mixture that keeps the most probable partition that a search has found."""

    neg_log_joint_trace_: npt.NDArray[np.float64]
    neg_log_loo_: float
    n_sweeps_: int
    n_empty_clusters_: int

    def _fit(self, data: Data, progress: Progress) -> None:
        if self._weighs_certainty():
            data = data.with_bounded_weights().without_negligible_weights()
        progress.explain(partial(why_long, data))
        search = self._search(data, progress)
        with use_threads(threads_for(self.n_jobs)):
            seeds = check_random_state(self.random_state).integers(2**63, size=self.n_init)
            table = data.take(data.has_weight())
            moments = Moments.of(table)
            search, table, model = self._model_to_search(search, table, moments, seeds)
            if isinstance(self.alpha, str):
                model = replace(model, as_weights=self.alpha == "cv")
                found = self._choose_alpha(search, table, model, seeds)
            else:
                found = AlphaResult(search.best(model.problem(table), seeds), model.alpha)
            labels = self._keep_found(data, table, replace(model, alpha=found.alpha), found)
            self.power_ = model.power * table.total_weight / moments.weight
            self._keep_moments(moments)
            self._keep_clusters(table, labels)

    def _model_to_search(
        self, search: Search, table: Data, moments: Moments, seeds: Seeds
    ) -> tuple[Search, Data, Model]:
        """The model, and the table as it is searched under it.

        If the joint chose the model, the labels that chose it are the search's start by default.
        """
        weight, n_rows, saturation = table.total_weight, table.shape[0], self._saturation()
        if not self._is_automatic():
            power = min(1.0, power_of(weight, saturation))
            if self._weighs_certainty():
                power = certain_power_of(weight, n_rows, saturation)
                table, power = weights_as_certainty(table, power)
            return search, *self._given_model_of_complete_rows(search, table, moments, seeds, power)
        power = certain_power_of(weight, n_rows, saturation, design_effect_of(table))
        model, table, labels = self._choose_model(
            search, table, moments, seeds, power, completes=True
        )
        if not isinstance(self.init, str) or self.init == AUTO:
            search = replace(search, init=labels)
        return search, table, model

    def _given_model_of_complete_rows(
        self, search: Search, table: Data, moments: Moments, seeds: Seeds, power: float
    ) -> tuple[Data, Model]:
        """The table, with cells drawn that its family needs, and the model of the parameters."""
        rows = completed_by_neighbours(self._family_of(table), table)
        model = self._given_model(search, rows, moments, seeds, power)
        if not lacks_cells(model.family, table):
            return table, model
        model = replace(model, has_missing=rows.has_missing())
        return completed_in_rounds(search, model, table, rows, seeds), model

    def _keep_found(
        self, data: Data, table: Data, model: Model, found: AlphaResult
    ) -> npt.NDArray[np.intp]:
        """Make all fitted attributes of what a search among the rows with weight has found.

        Returns the component of each of these rows.
        """
        result, labels = found.result, found.result.labels()
        largest_first(labels, table.weights, labels, np.array(result.partition.sizes))
        searched = model.problem(table).partition(labels.copy())
        verify_joint(result.neg_log_joint, searched, table)
        final = searched
        if model.power != 1.0 or model.allow_missing:
            final = model.weighted_partition(table, labels)
        self._keep(data, table, final, model.prior, model.family)
        log_volume = model.power * table.total_log_volume()
        self.neg_log_joint_ = model.unit * searched.neg_log_joint + log_volume
        self._keep_scores(found.scores)
        self._keep_result(result, model.unit)
        self.neg_log_joint_trace_ += log_volume
        if model.allow_missing and not model.has_missing:  # scores of complete rows take less time
            final = replace(model, allow_missing=False).weighted_partition(table, labels)
        self.neg_log_loo_ = algorithms.neg_log_loo(final) + log_volume
        return labels

    def _learn(self, before: FittedClusters, data: Data, progress: Progress) -> None:
        """Add new rows to the fitted components, which stay whole as absorbed groups."""
        if self._weighs_certainty():
            data = data.with_bounded_weights().without_negligible_weights()
        moments = moments_of_all([before.moments, Moments.of(data.take(data.has_weight()))])
        prior = prior_of_all([before], moments)
        alpha = self.alpha_ if isinstance(self.alpha, str) else float(self.alpha)
        groups, discount = absorbed_groups([before], prior), float(self.discount)
        data = times(data, before.power)
        before.family.check_reach(data.take(data.has_weight()), prior, moments)
        if lacks_cells(before.family, data):
            rng = self._rng_of_batch(before)
            data = completed_by_draws(before.family, data, prior, groups, alpha, rng)[0]
        table = data.take(data.has_weight())
        concentration = concentration_of_parts(alpha, self._part_of_row(before.power, table))
        problem = Problem(table.rows(), groups.like(), concentration, groups, discount)
        result = self._place_and_descend(problem, progress)
        group_labels = np.asarray(result.partition.group_labels, dtype=np.intp)
        final = final_partition_with_groups(
            table, result.labels(), concentration, groups, group_labels, discount
        )
        verify_joint(result.neg_log_joint, final, table)
        self._keep(data, table, final, prior, before.family)
        self.alpha_ = alpha
        self.counts_ += absorbed_counts(before.counts, final)
        if not isinstance(self.alpha, str):
            self._keep_scores(None)
        self._keep_result(result)
        self._keep_moments(moments)
        self.__dict__.pop("neg_log_loo_", None)
        self._keep_joined(self._limited(absorbed_clusters([before], final)))

    def _part_of_row(self, power: float, table: Data) -> float:
        """What part of a row is one in the prior of the labels: see `weights_as_certainty`."""
        if not self._weighs_certainty() or table.weights is None:
            return power
        return float(table.weights.min())

    def _rng_of_batch(self, before: FittedClusters) -> np.random.Generator:
        """A source of chance that depends on the rows seen before.

        From one seed, the cells of all batches of one row would be at the same quantile.
        """
        seed = int(check_random_state(self.random_state).integers(2**63))
        return np.random.default_rng([seed, int(before.counts.sum())])

    def _place_and_descend(self, problem: Problem, progress: Progress) -> SearchResult:
        """Place all rows one by one, and descend from there."""
        seed = int(check_random_state(self.random_state).integers(2**63))
        labels = np.full(len(problem.rows), UNPLACED, dtype=np.intp)
        return self._search_from("sequential", progress).go_on(problem, labels, seed, "batch")

    def _keep_result(self, result: SearchResult, unit: float = 1.0) -> None:
        self.neg_log_joint_trace_ = unit * np.array(result.trace)
        self.n_sweeps_ = result.n_sweeps
        self.n_empty_clusters_ = result.n_emptied
        self.converged_ = result.converged

    def _keep_moments(self, moments: Moments) -> None:
        self.moments_ = moments.numbers()
        self.n_samples_seen_ = int(self.counts_.sum())

    def _keep_scores(self, scores: npt.NDArray[np.float64] | None) -> None:
        """Keep the scores of the candidates for alpha; for None, delete those of an earlier fit."""
        for name in ("alphas_", "alpha_scores_"):
            self.__dict__.pop(name, None)
        if scores is not None:
            self.alphas_, self.alpha_scores_ = self._grid(), scores


def concentration_of_parts(alpha: float, part: float) -> float:
    """The concentration of rows that count as a part of one, as if they were whole.

    part^n_k Gamma(part n_k) has the place of Gamma(n_k). With `alpha` itself, the smaller the part
    is, the more rows would be clusters.
    """
    return part * coarsened_alpha(alpha, part) if part < 1.0 else alpha
