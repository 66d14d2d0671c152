"""What a component family is to an estimator: its tables, its prior, its draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpmlite.estimators.priors.columns import Moments

if TYPE_CHECKING:
    import numpy as np

    from dpmlite import models
    from dpmlite.estimators.data import Data, Floats, Indices

    Prior = dict[str, Any]
    Parameters = dict[str, Floats]  # theta: the first axis of every array is the cluster
    Totals = Indices | None
    Rng = np.random.Generator


class Family(ABC):
    """A component family: how tables are read, priors are chosen and rows are drawn.

    Attributes
    ----------
    name : str
        The value of `component` that means it.
    prior_keys : tuple of str
        Symbols of its prior. A default may depend on the values of keys before it.
    scales : tuple of tuples of str
        Keys of the prior that ``prior="nll"`` multiplies by a factor, together if in one tuple.
    width : tuple of str
        The one of `scales` that says how wide a cluster is.
    takes_missing : bool
        Whether cells may be missing.
    takes_sparse : bool
        Whether tables hold counts, which are not negative and may be sparse.
    lasting : tuple of str
        Keys of the prior without which statistics mean nothing: `rebased` cannot change them.
    """

    name: str
    prior_keys: tuple[str, ...]
    scales: tuple[tuple[str, ...], ...]
    width: tuple[str, ...]
    takes_missing = False
    takes_sparse = False
    lasting: tuple[str, ...] = ()

    def read(self, X: Any, allow_missing: bool) -> Data:
        """Check a table that a user gave.

        Raises
        ------
        ValueError, TypeError
            If it is not a table for this family; the message names the first bad cell.
        """
        if allow_missing and not self.takes_missing:
            raise ValueError(f"component {self.name!r} takes no missing values: drop allow_missing")
        return self.read_table(X, allow_missing)

    @abstractmethod
    def read_table(self, X: Any, allow_missing: bool) -> Data:
        """`read`, once it is known that missing values are allowed only where they can be."""

    def prior(
        self, given: Mapping[str, Any] | None, data: Data, moments: Moments | None = None
    ) -> Prior:
        """The prior of a table: what the user gave, and defaults for the rest.

        Defaults are by `moments`, which may be those of more rows; by default, of the table's.

        Raises
        ------
        ValueError
            If a key is unknown or a value breaks its rule, or rows lie too far from the prior.
        """
        known = Moments.of(data) if moments is None else moments
        checked = self.prior_by(given, known)
        self.check_reach(data, checked, known)
        return checked

    def prior_by(self, given: Mapping[str, Any] | None, moments: Moments) -> Prior:
        """`prior`, whatever rows lie too far from it."""
        prior = self._known(given)
        for key in self.prior_keys:
            if key not in prior:
                prior[key] = self.default(key, moments, prior)
        return self.check_prior(prior, len(moments.cells))

    def rebased(self, statistics: Floats, old: Prior, new: Prior) -> Floats:
        """Statistics of clusters under one prior as those of the same rows under another.

        Parameters
        ----------
        statistics : ndarray, shape (K, L)
            As of `MAPDPM`.
        old, new : dict
            Checked priors with the same `lasting` values.

        Returns
        -------
        ndarray, shape (K, L)
            Counts, by default, which no prior changes.

        Raises
        ------
        ValueError
            If a cluster lies so far from the new prior that `check_reach` would refuse its rows.
        """
        return statistics

    def full_prior(self, given: Mapping[str, Any] | None, n_columns: int) -> Prior:
        """A prior that does not depend on a table: every key must be given.

        Raises
        ------
        ValueError
            If a key is missing or unknown, or a value breaks its rule.
        """
        prior = self._known(given)
        missing = [key for key in self.prior_keys if key not in prior]
        if missing:
            raise ValueError(
                f"prior must have keys {', '.join(self.prior_keys)}, {missing[0]!r} is missing"
            )
        return self.check_prior(prior, n_columns)

    def _known(self, given: Mapping[str, Any] | None) -> Prior:
        if not isinstance(given, Mapping | None):
            raise ValueError(f"prior must be a dict of its keys, or None, got {given!r}")
        prior = dict(given or {})
        unknown = sorted(set(prior) - set(self.prior_keys), key=str)
        if unknown:
            keys = ", ".join(self.prior_keys)
            raise ValueError(f"prior must have keys among {keys}, got {unknown[0]!r}")
        return prior

    @abstractmethod
    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        """The default of one key, given the keys before it."""

    @abstractmethod
    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        """The prior with every value checked, as numbers and arrays of full shape."""

    def check_reach(self, data: Data, prior: Prior, moments: Moments) -> None:
        """Raise ValueError if rows lie so far from the prior that kernels would clip them.

        `moments` are of these rows, and maybe of others. By default nothing is too far.
        """
        return

    @abstractmethod
    def component(self, prior: Prior, allow_missing: bool) -> models.Component:
        """Sufficient statistics without any slot."""

    @abstractmethod
    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        """A cluster's posterior, under a prior, as a prior of the same family: conjugacy."""

    @abstractmethod
    def means(self, prior: Prior) -> Floats:
        """The expected row under a prior, shape (D,)."""

    @abstractmethod
    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        """Draw the parameters theta of `size` clusters; every array's first axis is the cluster."""

    @abstractmethod
    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        """Draw a row for each label from its cluster; `totals` are the sums of rows of counts."""

    @abstractmethod
    def log_density(self, X: Floats, theta: Parameters) -> Floats:
        """Log p(row | theta_k), shape (N, K)."""
