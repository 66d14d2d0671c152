"""The family "dirichlet-multinomial": rows of counts, such as the words of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families
from dpmlite.estimators.inputs.domain import MAX_COUNT
from dpmlite.estimators.inputs.number_tables import read_counts
from dpmlite.estimators.priors.base import Family
from dpmlite.estimators.priors.checks import are_whole, check_counts_of, counts_per_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Parameters, Rng, Totals
    from dpmlite.estimators.priors.moments import Moments


class DirichletMultinomialFamily(Family):
    """The words of a row are drawn one by one from p, and p ~ Dirichlet(beta0).

    Words are ordered: there is no multinomial coefficient.
    """

    name = "dirichlet-multinomial"
    prior_keys = ("beta0",)
    scales = (("beta0",),)
    width = ("beta0",)
    takes_sparse = True
    has_shares = True
    takes_counts = True

    def read_table(self, X: Any, allow_missing: bool) -> Data:
        return read_counts(X, MAX_COUNT, allow_missing)

    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        return 1.0

    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        return {"beta0": counts_per_column("beta0", prior["beta0"], n_columns)}

    def takes_cells(self, cells: Floats) -> npt.NDArray[np.bool_]:
        return are_whole(cells, MAX_COUNT)

    def check_statistics(self, statistics: Floats, prior: Prior, allow_missing: bool) -> None:
        super().check_statistics(statistics, prior, allow_missing)
        check_counts_of(statistics[:, :1], statistics[:, 1:], MAX_COUNT)

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        return families.DirichletMultinomial(**prior)

    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        return {"beta0": np.asarray(posterior["beta"])}

    def means(self, prior: Prior) -> Floats:
        """Expected share of each word, shape (D,)."""
        return np.asarray(prior["beta0"] / prior["beta0"].sum())

    def variances(self, prior: Prior) -> Floats:
        return self.means(prior) * (1.0 - self.means(prior))

    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        return {"probability": rng.dirichlet(prior["beta0"], size=size)}

    def typical_total(self, statistics: Floats, prior: Prior) -> float | None:
        """Mean number of words of the rows."""
        return round(float(statistics[:, 1:].sum() / statistics[:, 0].sum()))

    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        if totals is None:
            raise ValueError("totals, the number of words in each row, must be given")
        words = rng.multinomial(totals, theta["probability"][labels])
        return words.astype(np.float64)

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        return {"probability": np.array([self.means(prior) for prior in priors])}

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        """Share of each word in the words of the rows."""
        words = np.asarray(posterior["beta"]) - prior["beta0"]
        return words / words.sum() if words.sum() > 0.0 else np.full(len(words), np.nan)

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        """Log probabilities of a row's words of each kind."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(theta["probability"])
            return np.asarray(np.where(X[:, None] > 0.0, X[:, None] * logs, 0.0))
