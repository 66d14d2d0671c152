"""The family "categorical": columns of levels, each with unknown probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families
from dpmlite.estimators.empirical_bayes.categorical import LevelCounts, fit_categorical
from dpmlite.estimators.inputs.number_tables import read_real
from dpmlite.estimators.priors.base import Family
from dpmlite.estimators.priors.checks import are_whole, check_cells_of, counts_per_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Parameters, Rng, Totals
    from dpmlite.estimators.priors.moments import Moments

# What the concentration of each column is before it is fitted.
FIRST_MASS = 2.0


class CategoricalFamily(Family):
    """x ~ Categorical(p), p ~ Dirichlet(beta0) in every column; a cell is the index of its level.

    Levels of all columns lie side by side in `beta0`. Default: 1 for every level.

    Parameters
    ----------
    n_levels : sequence of int, length D
        Number of levels of each column.
    """

    name = "categorical"
    prior_keys = ("beta0",)
    scales = (("beta0",),)
    width = ("beta0",)
    takes_missing = True
    can_fit_prior = True
    knows_power = True

    def __init__(self, n_levels: Sequence[int]) -> None:
        self.n_levels = list(n_levels)

    def read_table(self, X: Any, allow_missing: bool) -> Data:
        return read_real(X, allow_missing)

    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        return 1.0

    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        return {"beta0": counts_per_column("beta0", prior["beta0"], sum(self.n_levels))}

    def column_scales(self, sample: Data, table: Data) -> Floats:
        """Frequencies of all levels in a sample, to each of which one row is added."""
        counts = self.sums(sample, np.zeros(sample.shape[0], dtype=np.intp), 1.0).counts[0] + 1.0
        return np.concatenate([part / part.sum() for part in self.by_column(counts)])

    def first_prior(self, scales: Floats, weight: float, width: float) -> Prior:
        return {"beta0": FIRST_MASS * scales}

    def sums(self, table: Data, labels: Indices, power: float) -> LevelCounts:
        return LevelCounts.of(table, labels, power, self.n_levels)

    def fit_prior(
        self, sums: LevelCounts, scales: Floats, start: Prior | None
    ) -> tuple[Prior, float]:
        return fit_categorical(sums, scales, start)

    def takes_cells(self, cells: Floats) -> npt.NDArray[np.bool_]:
        return are_whole(cells, np.array(self.n_levels) - 1.0)

    def check_statistics(self, statistics: Floats, prior: Prior, allow_missing: bool) -> None:
        super().check_statistics(statistics, prior, allow_missing)
        cells = [part.sum(axis=1) for part in self.by_column(statistics[:, 1:])]
        check_cells_of(statistics[:, 0], np.stack(cells, axis=1), allow_missing)

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        beta0 = [part.tolist() for part in self.by_column(prior["beta0"])]
        return families.Categorical(beta0, power=power)

    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        return {"beta0": np.concatenate([np.asarray(beta) for beta in posterior["beta"]])}

    def means(self, prior: Prior) -> Floats:
        """NaN for every column: levels have no mean."""
        return np.full(len(self.n_levels), np.nan)

    def variances(self, prior: Prior) -> Floats:
        return np.full(len(self.n_levels), np.nan)

    def probabilities(self, prior: Prior) -> list[Floats]:
        """Expected probabilities of the levels of each column."""
        return [beta / beta.sum() for beta in self.by_column(prior["beta0"])]

    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        drawn = [rng.dirichlet(beta, size=size) for beta in self.by_column(prior["beta0"])]
        return {"probability": np.hstack(drawn)}

    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        cells = []
        for p in self.by_column(theta["probability"][labels]):
            below = np.cumsum(p, axis=-1) < rng.random((len(p), 1))
            cells.append(np.minimum(below.sum(axis=-1), p.shape[1] - 1))
        return np.stack(cells, axis=1).astype(np.float64)

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        return {"probability": np.array([np.concatenate(self.probabilities(p)) for p in priors])}

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        return np.full(len(self.n_levels), np.nan)

    def level_shares(self, posterior: Mapping[str, Any], prior: Prior) -> list[Floats]:
        """Share of each level in the cells of a cluster's rows, of each column; NaN without any."""
        counts = np.concatenate([np.asarray(beta) for beta in posterior["beta"]]) - prior["beta0"]
        with np.errstate(invalid="ignore"):
            return [part / part.sum() for part in self.by_column(counts)]

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        density = np.zeros((len(X), len(theta["probability"]), len(self.n_levels)))
        with np.errstate(divide="ignore"):
            columns = self.by_column(np.log(theta["probability"]))
        for d, log_p in enumerate(columns):
            known = ~np.isnan(X[:, d])
            density[known, :, d] = log_p.T[X[known, d].astype(np.intp)]
        return density

    def mixture_column_log_density(self, X: Floats, theta: Parameters, weights: Floats) -> Floats:
        """As for other families; here a mixture has the probabilities of one cluster."""
        mixture = {"probability": weights[None] @ theta["probability"]}
        return self.column_log_density(X, mixture)[:, 0]

    def by_column(self, of_levels: Floats) -> list[Floats]:
        """Numbers of all levels, on the last axis, split by column."""
        return np.split(of_levels, np.cumsum(self.n_levels)[:-1], axis=-1)
