"""The family of counts of events that were taken in different exposures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families
from dpmlite.estimators.empirical_bayes.poisson_gamma import CountSums
from dpmlite.estimators.inputs.domain import EXPOSURE, MAX_COUNT
from dpmlite.estimators.priors.base import Family
from dpmlite.estimators.priors.checks import STATISTICS_RTOL, are_whole
from dpmlite.estimators.priors.poisson_gamma import (
    LEAST_EVENTS,
    PoissonGammaFamily,
    log_poisson,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Parameters, Rng, Totals
    from dpmlite.estimators.priors.moments import Moments


class ExposedPoissonGammaFamily(PoissonGammaFamily):
    """x ~ Poisson(rate e), rate ~ Gamma(a0, b0) in every column but the last, the exposure e.

    Means and variances are those of a row of exposure 1. Default: a0 = 1, and b0 such that the
    prior's mean is the column's mean divided by that of the exposures.
    """

    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        if key == "a0":
            return 1.0
        least = LEAST_EVENTS / np.maximum(moments.cells[:-1], 1.0)
        exposure = moments.mean[-1] if moments.cells[-1] > 0.0 else 1.0
        return np.asarray(prior["a0"] * exposure / np.maximum(moments.mean[:-1], least))

    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        return super().check_prior(prior, n_columns - 1)

    def column_scales(self, sample: Data, table: Data) -> Floats:
        """Rate of each column of a sample, above 0, shape (D - 1,)."""
        total = self.sums(sample, np.zeros(sample.shape[0], dtype=np.intp), 1.0)
        exposure = np.where(total.n[0] > 0.0, total.n[0], 1.0)
        return np.asarray(np.maximum(total.events[0], LEAST_EVENTS) / exposure)

    def sums(self, table: Data, labels: Indices, power: float) -> CountSums:
        return CountSums.with_exposures(table, labels, power)

    def fit_prior(
        self, sums: CountSums, scales: Floats, start: Prior | None
    ) -> tuple[Prior, float]:
        if len(scales) == 0:  # the joint prefers other families to counts
            return self.first_prior(scales, 1.0, 1.0), 0.0
        return super().fit_prior(sums, scales, start)

    def takes_cells(self, cells: Floats) -> npt.NDArray[np.bool_]:
        counts, exposures = cells[:, :-1], cells[:, -1:]
        in_range = (exposures >= EXPOSURE.least) & (exposures <= EXPOSURE.most)
        return np.hstack([are_whole(counts, MAX_COUNT), in_range])

    def check_statistics(self, statistics: Floats, prior: Prior, allow_missing: bool) -> None:
        Family.check_statistics(self, statistics, prior, allow_missing)
        events, exposures = np.split(statistics[:, 1:-1], 2, axis=1)
        least, most = (statistics[:, :1] * end for end in EXPOSURE)
        least = least * (0.0 if allow_missing else 1.0 - STATISTICS_RTOL)
        if not ((exposures >= least) & (exposures <= most * (1.0 + STATISTICS_RTOL))).all():
            raise ValueError("statistics_ must have the exposures of each cluster's rows")
        if (events[exposures == 0.0] > 0.0).any():
            raise ValueError("statistics_ must have no counts where there is no exposure")

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        return families.ExposedPoissonGamma(**prior, power=power)

    def means(self, prior: Prior) -> Floats:
        return np.append(super().means(prior), 1.0)

    def variances(self, prior: Prior) -> Floats:
        return np.append(super().means(prior), 0.0)

    def mean_exposure(self, statistics: Floats) -> float:
        """Mean exposure of the rows of some clusters; 1 if none of them has a count."""
        _, exposures = np.split(statistics[:, 1:-1].sum(axis=0), 2)
        mean = exposures.max(initial=0.0) / statistics[:, 0].sum()
        return float(mean) if mean > 0.0 else 1.0

    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        """Rows of exposures `totals`; of 1 if there are none."""
        exposures = np.ones(len(labels)) if totals is None else np.asarray(totals, dtype=np.float64)
        counts = rng.poisson(theta["rate"][labels] * exposures[:, None])
        return np.column_stack([counts.astype(np.float64), exposures])

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        return {"rate": np.array([prior["a0"] / prior["b0"] for prior in priors])}

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        """Events per unit of exposure; 1 for the exposure."""
        return np.append(super().row_means(posterior, prior), 1.0)

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        """That of counts given the exposure; 0 for the exposure."""
        exposures = np.nan_to_num(X[:, -1, None, None], nan=1.0)
        terms = log_poisson(X[:, :-1], theta["rate"] * exposures)
        return np.concatenate([terms, np.zeros_like(terms[:, :, :1])], axis=2)
