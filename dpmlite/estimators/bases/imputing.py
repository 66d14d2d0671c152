"""The base class of fitted mixtures that fill in missing cells, and draw rows of components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import algorithms
from dpmlite.estimators.bases.family_estimator import FamilyEstimator
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.fitted.partitions import fitted_family, fitted_mixture
from dpmlite.estimators.inputs.parameters import check_count, check_random_state
from dpmlite.estimators.inputs.reading import as_frame_of
from dpmlite.estimators.priors.mixed import MixedFamily

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Totals


class ImputingMixture(FamilyEstimator):
    """A fitted mixture that says what it expects in missing cells."""

    alpha_: float
    statistics_: Floats

    def impute(self, X: Any, n_samples: int | None = None, random_state: Any = None) -> Any:
        """Fill in missing cells: what the model expects, given the other cells of the row.

        This is exact: clusters are weighted by their probabilities given the cells that are known,
        and in a cluster columns are independent, or of full covariance, where the known cells tell
        of the missing ones by regression.

        Parameters
        ----------
        X : array-like, shape (N, D)
            Rows with missing cells.
        n_samples : int, optional
            Number of draws of the missing cells. Default: none; a missing number becomes its mean,
            of a log-normal column its median, and a category its most probable level. One of a
            zero-inflated column becomes 0 if that is more probable than all other numbers.
        random_state : None, int, Generator or RandomState, default None
            Source of chance of the draws.

        Returns
        -------
        ndarray, shape (N, D), or (n_samples, N, D)
            A data frame of the kind of `X` if it is one, and there is no `n_samples`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If the model was fitted without `allow_missing`, or the family takes no missing values.
        """
        require_fitted(self, "statistics_")
        if not self.allow_missing_:
            raise ValueError("impute needs a model that was fitted with allow_missing=True")
        table = self._read_new(X)
        mixture = fitted_mixture(self)
        weights = np.empty((table.shape[0], mixture.n_slots))
        algorithms.responsibilities(table.rows(), mixture, self.alpha_, weights, self.discount_)
        decoded = fitted_family(self).decoded
        if n_samples is None:
            filled: npt.NDArray[Any] = decoded(self._expected_cells(table, weights))
            return as_frame_of(X, filled)
        rng = check_random_state(random_state)
        draws = (
            decoded(self._drawn_cells(table, weights, rng))
            for _ in range(check_count("n_samples", n_samples))
        )
        return np.asarray(np.stack(list(draws)))

    def _priors(self, n_empty: int = 0) -> list[Prior]:
        """The posterior of every component, and of empty ones, with the keys of a prior."""
        family, mixture = fitted_family(self), fitted_mixture(self)
        slots = range(len(self.statistics_) + n_empty)
        return [family.as_prior(mixture.posterior(k), self.prior_) for k in slots]

    def _expected_cells(self, table: Data, weights: Floats) -> Floats:
        """Coded rows whose missing cells are what clusters of some weights expect, shape (N, D)."""
        family, priors, cells = fitted_family(self), self._priors(n_empty=1), table.dense()
        expected = np.zeros(cells.shape)
        for prior, weight in zip(priors, weights.T, strict=True):
            expected += weight[:, None] * family.expected_rows(cells, prior)
        if isinstance(family, MixedFamily):
            levels = [family.level_probabilities(prior) for prior in priors]
            for key in levels[0]:
                probabilities = weights @ np.array([each[key] for each in levels])
                expected[:, family.columns.coded.index(key)] = probabilities.argmax(axis=1)
            expected = family.at_exposures(expected, self._exposures(table))
        return np.where(np.isnan(cells), expected, cells)

    def _drawn_cells(self, table: Data, weights: Floats, rng: np.random.Generator) -> Floats:
        """Coded rows whose missing cells are drawn from clusters of some weights, shape (N, D)."""
        below = np.cumsum(weights, axis=1) < rng.random((len(weights), 1))
        slots = np.minimum(below.sum(axis=1), weights.shape[1] - 1)
        cells = table.dense().copy()
        mixture, family = fitted_mixture(self), fitted_family(self)
        drawn = self._drawn_from(mixture, slots, rng, self._exposures(table))
        for k in np.unique(slots) if family.is_full else ():
            cluster, rows = family.as_prior(mixture.posterior(int(k)), self.prior_), slots == k
            cells[rows] = family.draw_missing(cells[rows], cluster, rng)[0]
        return np.where(np.isnan(cells), drawn, cells)

    def _drawn_from(
        self,
        mixture: families.Component,
        slots: Indices,
        rng: np.random.Generator,
        totals: Totals = None,
    ) -> Floats:
        """A coded row drawn from each of some slots of a mixture, of typical totals or of these."""
        family = fitted_family(self)
        totals = self._typical_totals(slots) if totals is None else totals
        X = np.empty((len(slots), family.n_coded(self.n_features_in_)))
        for k in np.unique(slots):
            drawn = np.flatnonzero(slots == k)
            cluster = family.as_prior(mixture.posterior(int(k)), self.prior_)
            theta = family.draw_parameters(cluster, len(drawn), rng)
            of_rows = None if totals is None else totals[drawn]
            X[drawn] = family.draw_rows(theta, np.arange(len(drawn)), of_rows, rng)
        return X

    def _exposures(self, table: Data) -> Floats | None:
        """The exposures of coded rows, 1 where none is known; None if counts have none."""
        family = fitted_family(self)
        return family.exposures(table.dense()) if isinstance(family, MixedFamily) else None

    def _typical_totals(self, slots: Indices) -> Totals:
        """Mean total or exposure of the rows of each slot's cluster; of all rows for a new one."""
        family, n_clusters = fitted_family(self), len(self.statistics_)
        chosen = [self.statistics_[k : k + 1] for k in range(n_clusters)] + [self.statistics_]
        found = [family.typical_total(each, self.prior_) for each in chosen]
        return None if found[0] is None else np.array(found)[slots]
