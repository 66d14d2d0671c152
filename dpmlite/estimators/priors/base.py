"""The interface of a family to an estimator: its tables, its prior and its draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.priors.moments import Moments

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices

    Parameters = dict[str, Floats]  # theta of K clusters; the first axis of each array is K
    Totals = npt.NDArray[Any] | None  # sums of rows of words, or exposures of rows of events
    Rng = np.random.Generator


class Family(ABC):
    """A component family: it reads tables, chooses and checks priors, and draws rows.

    Attributes
    ----------
    name : str
        The family's value of the parameter `component`.
    prior_keys : tuple of str
        Keys of its prior. A default may depend on the values of earlier keys.
    scales : tuple of tuples of str
        Groups of prior keys that ``prior="nll"`` multiplies by a common factor.
    width : tuple of str
        The group of `scales` that sets the expected width of a cluster.
    takes_missing : bool
        Whether cells may be missing.
    takes_sparse : bool
        Whether tables hold counts, which are not negative and may be sparse.
    takes_counts : bool
        Whether a row is counts of words, of which there may be any number.
    fixed_keys : tuple of str
        Prior keys that `convert_statistics` cannot change.
    can_fit_prior : bool
        Whether there is `fit_prior`, and what it needs.
    has_covariance : bool
        Whether there is `covariance`: clusters are normals.
    has_shares : bool
        Whether one probability describes a column of a component: of a word, or of a 1.
    is_full : bool
        Whether some columns have a full covariance matrix.
    knows_power : bool
        Whether components take a power of the likelihood.
    column_keys : list or None
        What columns of the coded table are called in a mixed table; None for other tables.
    """

    name: str
    prior_keys: tuple[str, ...]
    scales: tuple[tuple[str, ...], ...]
    width: tuple[str, ...]
    takes_missing = False
    takes_sparse = False
    takes_counts = False
    fixed_keys: tuple[str, ...] = ()
    can_fit_prior = False
    has_covariance = False
    has_shares = False
    is_full = False
    knows_power = False
    column_keys: list[Any] | None = None

    def read(self, X: Any, allow_missing: bool) -> Data:
        """The table of a user, checked.

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
        """The table, checked; `allow_missing` is False unless the family takes missing values."""

    def prior(
        self, given: Mapping[str, Any] | None, data: Data, moments: Moments | None = None
    ) -> Prior:
        """The given values and the defaults of the other keys, checked against the table.

        Parameters
        ----------
        given : mapping, optional
            Values of a user.
        data : Data
            The table.
        moments : Moments, optional
            Moments for the defaults. Default: those of the table.

        Raises
        ------
        ValueError
            If a key is unknown or a value breaks its rule, or rows lie too far from the prior.
        """
        known = Moments.of(data) if moments is None else moments
        checked = self.prior_of_moments(given, known)
        self.check_reach(data, checked, known)
        return checked

    def prior_of_moments(self, given: Mapping[str, Any] | None, moments: Moments) -> Prior:
        """The given values and the defaults of the other keys, for rows of these moments.

        Raises
        ------
        ValueError
            If a key is unknown or a value breaks its rule.
        """
        prior = self._known(given)
        for key in self.prior_keys:
            if key not in prior:
                prior[key] = self.default(key, moments, prior)
        return self.check_prior(prior, len(moments.cells))

    def convert_statistics(self, statistics: Floats, old: Prior, new: Prior) -> Floats:
        """Statistics of clusters under an old prior, converted to a new one.

        Parameters
        ----------
        statistics : ndarray, shape (K, L)
            ``MAPDPM.statistics_``, in units of `old`.
        old, new : dict
            Checked priors that agree in `fixed_keys`.

        Returns
        -------
        ndarray, shape (K, L)
            Statistics of the same rows in units of `new`. By default `statistics`, for counts have
            no unit.

        Raises
        ------
        ValueError
            If a cluster lies so far from the new prior that `check_reach` would refuse its rows.
        """
        return statistics

    def scale_statistics(self, statistics: Floats, prior: Prior, parts: Floats) -> Floats:
        """Statistics of clusters of which each row counts a part, by eq. (13) exactly.

        Parameters
        ----------
        statistics : ndarray, shape (K, L)
            In units of `prior`.
        prior : dict
            Checked.
        parts : ndarray, shape (K, 1)
            What a row of each cluster counts, 0..1.

        Returns
        -------
        ndarray, shape (K, L)
            By default `statistics` times `parts`, for counts add.
        """
        return statistics * parts

    def full_prior(self, given: Mapping[str, Any] | None, n_columns: int) -> Prior:
        """The given prior, checked; no key has a default.

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
            raise ValueError(f"prior must be a dict of its keys, or None, got {shown(given)}")
        prior = dict(given or {})
        unknown = sorted(set(prior) - set(self.prior_keys), key=str)
        if unknown:
            keys = ", ".join(self.prior_keys)
            raise ValueError(f"prior must have keys among {keys}, got {unknown[0]!r}")
        return prior

    @abstractmethod
    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        """The default of a key, given the values of earlier keys."""

    @abstractmethod
    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        """The prior with every value checked, as floats and arrays of full shape."""

    def prepared(self, table: Data) -> Data:
        """The rows of which the joint chooses hyperparameters. By default the table itself."""
        return table

    def column_scales(self, sample: Data, table: Data) -> Any:
        """What `first_prior` and `fit_prior` need to know of the columns of a sample of a table.

        By default the default prior, which these two return: it is not fitted.
        """
        return self.prior_of_moments(None, Moments.of(sample))

    def first_prior(self, scales: Any, weight: float, width: float) -> Prior:
        """The prior under which a search starts, for rows of a total weight.

        `width` multiplies the variance that is expected in a cluster.
        """
        return dict(scales)

    def sums(self, table: Data, labels: Indices, power: float) -> Any:
        """Statistics of clusters for `fit_prior`; each row's weight is multiplied by `power`."""
        return None

    def fit_prior(self, sums: Any, scales: Any, start: Prior | None) -> tuple[Prior, float]:
        """The prior with the least joint for the labels of `sums`, and its own penalty in nats.

        Parameters
        ----------
        sums
            As `sums` returns it.
        scales
            As `column_scales` returns it.
        start : dict, optional
            A prior near it.
        """
        return dict(scales), 0.0

    def check_reach(self, data: Data, prior: Prior, moments: Moments) -> None:
        """Raise ValueError if a row lies so far from the prior that kernels would clip it.

        `moments` are of these rows, and maybe of others. By default no row is too far.
        """
        return

    def takes_cells(self, cells: Floats) -> npt.NDArray[np.bool_]:
        """Mask of the cells of coded rows that `read_table` may give, or of non-zeros; not NaN."""
        return np.isfinite(cells)

    def check_statistics(self, statistics: Floats, prior: Prior, allow_missing: bool) -> None:
        """Raise ValueError unless statistics of clusters, in range, are those of some rows.

        Parameters
        ----------
        statistics : ndarray, shape (K, L)
            Those that a component holds, each in its range.
        prior : dict
            Checked.
        allow_missing : bool
        """
        if not (statistics[:, 0] > 0.0).all():
            raise ValueError("statistics_ must have a weight above 0 in every cluster")

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes that say which family this is."""
        return {"component_": self.name}

    @abstractmethod
    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        """A component of this prior without slots, for a likelihood to the power `power`."""

    @abstractmethod
    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        """A cluster's posterior with the keys of a prior, which conjugacy allows."""

    def covariance(self, posterior: Mapping[str, Any]) -> Floats:
        """Variances of the rows of a cluster, shape (D,), or their covariance, shape (D, D)."""
        raise NotImplementedError

    def full_covariances(self, posterior: Mapping[str, Any]) -> list[tuple[slice, Floats]]:
        """Coded columns that share a covariance matrix, and this matrix; for each group of them."""
        return [(slice(None), self.covariance(posterior))] if self.is_full else []

    @property
    def full_columns(self) -> list[slice]:
        """The groups of coded columns that share a covariance matrix."""
        return [slice(None)] if self.is_full else []

    def variances(self, prior: Prior) -> Floats:
        """Variance of a row's cells, given the expected parameters under a prior, shape (D,)."""
        raise NotImplementedError

    @abstractmethod
    def means(self, prior: Prior) -> Floats:
        """Expected row under a prior, shape (D,)."""

    def coded_means(self, prior: Prior) -> Floats:
        """Expected row of the coded table, shape (D,); the same unless columns are coded."""
        return self.means(prior)

    def typical_total(self, statistics: Floats, prior: Prior) -> float | None:
        """What `draw_rows` takes as total for rows like those of some clusters; None for nothing.

        `statistics`, shape (K, L), are in units of `prior`.
        """
        return None

    def on_scale(self, means: Floats) -> Floats:
        """Means of the columns on the scale of `variances`: logarithms of log-normal ones."""
        return means

    def level_probabilities(self, prior: Prior) -> dict[Any, Floats]:
        """Expected probabilities of the levels of each categorical column."""
        return {}

    @abstractmethod
    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        """Parameters theta of `size` clusters, drawn from the prior."""

    @abstractmethod
    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        """A row for each label, drawn from its cluster, shape (N, D)."""

    def expected_rows(self, X: Floats, prior: Prior) -> Floats:
        """Coded rows of a cluster that are expected given the cells of X that are not missing.

        Only columns of full covariance depend on the others.
        """
        return np.broadcast_to(self.coded_means(prior), X.shape)

    def draw_missing(self, X: Floats, prior: Prior, rng: Rng) -> tuple[Floats, Floats]:
        """Rows of a cluster with missing cells of full covariance drawn, given the known cells.

        Parameters
        ----------
        X : ndarray, shape (N, D)
            Coded rows; NaN is a missing cell.
        prior : dict
            The posterior of the cluster, with the keys of a prior.
        rng : Generator

        Returns
        -------
        X : ndarray, shape (N, D)
        log_density : ndarray, shape (N,)
            Of what was drawn, in nats.
        """
        return X, np.zeros(len(X))

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        """Parameters of clusters, each expected under its prior; the first axis is the cluster."""
        raise NotImplementedError

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        """Mean of the cells of a cluster's rows, shape (D,); NaN in a column without any."""
        raise NotImplementedError

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        """Log p(x_id | theta_k) of each column, shape (N, K, D); 0 where a cell is missing."""
        raise NotImplementedError

    def mixture_column_log_density(self, X: Floats, theta: Parameters, weights: Floats) -> Floats:
        """Log of the sum over k of w_k p(x_id | theta_k) of each column, shape (N, D)."""
        with np.errstate(divide="ignore"):
            terms = self.column_log_density(X, theta) + np.log(weights)[:, None]
            most = np.maximum(terms.max(axis=1, keepdims=True), np.finfo(float).min)
            return np.asarray(most[:, 0] + np.log(np.exp(terms - most).sum(axis=1)))

    def n_coded(self, n_columns: int) -> int:
        """Number of coded columns of a table of `n_columns`."""
        return n_columns

    def decoded(self, X: Floats) -> npt.NDArray[Any]:
        """The cells of coded rows as a user's, shape (N, D); the same unless columns are coded."""
        return X

    def log_density(self, X: Floats, theta: Parameters) -> Floats:
        """Log p(x_i | theta_k), shape (N, K); columns are independent unless overridden."""
        return np.asarray(self.column_log_density(X, theta).sum(axis=2))
