"""The fit of a mixture to rows that lie in chunks, by any engine.

A random sample of the rows chooses the model and finds its first components, by the rules of `fit`.
From there the descent in the joint of all rows goes on where the chunks are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.core.threads import threads_for, use_threads
from dpmlite.distributed.chunked_partition import ChunkedPartition
from dpmlite.distributed.descent import descend
from dpmlite.distributed.proposals import GATHERED_ROWS, scaled
from dpmlite.distributed.steps import Mixture
from dpmlite.estimators.column_families.by_rule import AUTO
from dpmlite.estimators.default_model.model import design_effect_of
from dpmlite.estimators.fitted.partitions import replace_cluster_attributes
from dpmlite.estimators.inputs.parameters import check_random_state
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.map_dpm.chunk_tables import (
    ChunkReader,
    check_reach,
    describe,
    grids_between,
    read_weighted,
)
from dpmlite.estimators.map_dpm.first_sample import FirstSample
from dpmlite.estimators.map_dpm.long_fits import why_long
from dpmlite.estimators.map_dpm.streaming import moments_of_all
from dpmlite.estimators.priors.moments import Moments
from dpmlite.search.alpha import AlphaResult

if TYPE_CHECKING:
    from dpmlite.distributed.engine import Engine
    from dpmlite.estimators.default_model.model import Model, Seeds
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Family
    from dpmlite.search.search import Search

# Attributes of `fit` that describe rows, or a search among them in memory.
FROM_ROWS = ("labels_", "component_labels_", "first_rows_", "neg_log_loo_", "n_empty_clusters_")


@dataclass(frozen=True, eq=False, repr=False)
class SampledTable:
    """A sample as a table, and what is known of all rows before the search.

    Attributes
    ----------
    table : Data
        The sample, as chunks are read.
    moments : Moments
        Of all rows, with the weights that were given.
    log_volume : float
        Sum of `Data.log_volumes` of all rows.
    unit : float
        The weight that counts as 1 in tables.
    """

    table: Data
    moments: Moments
    log_volume: float
    unit: float

    @classmethod
    def by(cls, engine: Engine, reader: ChunkReader, sample: Any) -> SampledTable:
        """What an engine's chunks are, which it reads from now on by a reader."""
        engine.read(reader)
        found = engine.run(describe, [None] * engine.n_chunks)
        moments = moments_of_all([moments.times(reader.unit) for moments, _ in found])
        log_volume = sum(volume for _, volume in found)
        return cls(reader(sample), moments, log_volume, reader.unit)


@dataclass(frozen=True, eq=False, repr=False)
class ChunkedFit:
    """The fit of a `MAPDPM` to the chunks of an engine.

    Attributes
    ----------
    estimator : MAPDPM
        Its parameters are checked and its model is chosen by its own methods.
    engine : Engine
    """

    estimator: Any
    engine: Engine

    def run(self) -> None:
        """Make all fitted attributes but labels: the engine has the component of each row.

        Raises
        ------
        ValueError, TypeError
            If a chunk or a parameter breaks its rule; the message states it, and names the chunk.
        """
        to_fit = self.estimator
        to_fit._check_parameters()
        self._check_parameters()
        seeds = check_random_state(to_fit.random_state).integers(2**63, size=to_fit.n_init)
        rng, progress = np.random.default_rng(seeds), to_fit._new_progress()
        search = to_fit._search_from(to_fit.init, progress)
        with use_threads(threads_for(to_fit.n_jobs)):
            sample = FirstSample.draw(self.engine, rng)
            known, model, search = self._model(sample, search, seeds)
            found, mixture = self._first_components(sample, known.table, model, search, seeds)
            model = replace(model, alpha=found.alpha)
            partition = ChunkedPartition(self.engine, model, mixture, known.table, sample.lengths)
            trace, converged = descend(partition, replace(search, init=to_fit.init), rng)
            self._keep_components(partition, model, known.unit)
            self._join_components(*partition.sample_of_all(GATHERED_ROWS, rng))
        log_volume = model.power * known.log_volume
        to_fit.neg_log_joint_trace_ = model.unit * np.array(trace) + log_volume
        to_fit.neg_log_joint_ = float(to_fit.neg_log_joint_trace_[-1])
        to_fit.n_sweeps_, to_fit.converged_ = partition.n_sweeps, converged
        to_fit._keep_scores(found.scores)
        to_fit._keep_moments(known.moments)
        to_fit._remember_columns(sample.raw, known.table.n_features)
        to_fit._keep_stop(progress)

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that need all rows at once."""
        if not isinstance(self.estimator.init, str):
            raise ValueError("init must be the name of a start for rows in chunks, got labels")
        if self.estimator.discount > 0.0:
            raise ValueError(
                f"discount must be 0 for rows in chunks, got {float(self.estimator.discount)}"
            )
        if self.estimator.outlier_level is not None:
            raise ValueError(
                "outlier_level must be None for rows in chunks, which have outlier_score, "
                f"got {shown(self.estimator.outlier_level)}"
            )

    def _model(
        self, sample: FirstSample, search: Search, seeds: Seeds
    ) -> tuple[SampledTable, Model, Search]:
        """What is known of all rows, their model, and the search among those of the sample."""
        to_fit = self.estimator
        table, saturation = self._read(sample), to_fit._saturation()
        search.progress.explain(partial(why_long, table))
        is_automatic, certain = to_fit._is_automatic(), to_fit._weighs_certainty()
        if certain:
            sample.check_weights_alike()
        effect = design_effect_of(table, sample.factor) if is_automatic else 1.0
        power = sample.power_of_rows(saturation, effect, certain)
        if is_automatic:
            moments = Moments.of(table)
            of_sample = sample.power_of_sample(saturation, effect, table.total_weight)
            model, spread, labels = to_fit._choose_model(search, table, moments, seeds, of_sample)
            search = replace(search, init=labels) if to_fit.init == AUTO else search
            grids = grids_between(model.family.read(sample.raw, to_fit.allow_missing), spread)
            known = self._describe(sample, table, model.family, grids, sample.least_weight)
        else:
            unit = sample.least_weight if certain else 1.0
            known = self._describe(sample, table, to_fit._family_of(table), {}, unit)
            model = to_fit._given_model(search, known.table, known.moments, seeds, power)
            check_reach_of_chunks(self.engine, model, known.moments)
        return known, replace(model, power=power, has_missing=to_fit.allow_missing), search

    def _read(self, sample: FirstSample) -> Data:
        """The table of a sample; an error is that of the chunk that has the bad row."""
        reader = partial(read_weighted, self.estimator._read)
        try:
            return reader(sample.chunk)
        except (ValueError, TypeError):
            self.engine.read(reader)
            self.engine.run(describe, [None] * self.engine.n_chunks)
            raise

    def _describe(
        self,
        sample: FirstSample,
        table: Data,
        family: Family,
        grids: dict[int, Floats],
        unit: float,
    ) -> SampledTable:
        """Let the engine read chunks as the sample says, and describe them."""
        allow_missing = bool(self.estimator.allow_missing)
        reader = ChunkReader(family, allow_missing, table.n_features, grids, unit)
        return SampledTable.by(self.engine, reader, sample.chunk)

    def _first_components(
        self, sample: FirstSample, table: Data, model: Model, search: Search, seeds: Seeds
    ) -> tuple[AlphaResult, Mixture]:
        """What the search of `fit` finds in the sample, which is as sure of it as all rows."""
        to_fit = self.estimator
        model = scaled(replace(model, as_weights=to_fit.alpha == "cv"), sample.factor)
        if isinstance(to_fit.alpha, str):
            found = to_fit._choose_alpha(search, table, model, seeds)
        else:
            found = AlphaResult(search.best(model.problem(table), seeds), model.alpha)
        clusters = found.result.partition
        model = replace(model, alpha=found.alpha)
        return found, Mixture.of(model, clusters.component, clusters.n_clusters)

    def _keep_components(self, partition: ChunkedPartition, model: Model, unit: float) -> None:
        """Keep the components of all rows, the largest first."""
        weights = np.array(partition.totals.counts)
        order = np.argsort(np.argsort(-weights, kind="stable"), kind="stable")
        final = partition.finish(replace(model, as_weights=True), order)
        to_fit = self.estimator
        for name in FROM_ROWS:
            vars(to_fit).pop(name, None)
        replace_cluster_attributes(to_fit, final, model.family, model.prior, to_fit.allow_missing)
        vars(to_fit).update(
            alpha_=model.alpha,
            counts_=partition.clusters.sizes.sum(axis=0),
            power_=model.power / unit,
        )

    def _join_components(self, table: Data, labels: Indices) -> None:
        """Join components to clusters by the valleys that a sample of the rows shows."""
        self.estimator.labels_ = labels
        self.estimator._keep_clusters(table, labels)
        for name in ("labels_", "component_labels_"):
            delattr(self.estimator, name)


def check_reach_of_chunks(engine: Engine, model: Model, moments: Moments) -> None:
    """Raise ValueError if a row of a chunk lies too far from the prior."""
    message = (model.family, model.prior, moments)
    errors = engine.run(check_reach, [message] * engine.n_chunks)
    for number, error in zip(engine.numbers, errors, strict=True):
        if error is not None:
            raise ValueError(f"chunk {number}: {error}")
