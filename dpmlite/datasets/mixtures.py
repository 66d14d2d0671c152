"""Random mixtures, with their true density."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.arrays import check_rows
from dpmlite.estimators.inputs.parameters import (
    check_alpha,
    check_choice,
    check_count,
    check_positive,
    check_random_state,
)
from dpmlite.estimators.priors import COMPONENTS, FAMILIES
from dpmlite.partition import stick_breaking

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

# A smaller tolerance of `dpm_mixture` would be lost in rounding; more atoms take too much memory.
MIN_TOLERANCE = 1e-12
MAX_ATOMS = 1_000_000

# The greatest total count of a row: sums of greater ones over many rows would not be exact.
MAX_TOTAL = 2**40


@dataclass(frozen=True, eq=False)
class RandomMixture:
    """A finite mixture with known weights and parameters.

    Attributes
    ----------
    component : str
        Family of the atoms.
    n_columns : int
        D.
    weights : ndarray, shape (K,)
        Weights of the atoms; they sum to 1.
    parameters : dict of ndarray
        Parameters of the atoms; the first axis of each array is the atom.

    See Also
    --------
    dpm_mixture : Draws one from a Dirichlet process.
    unequal_gaussians : Draws one with a given number of clusters.

    Examples
    --------
    The best that any method can do on these rows, for it is told the truth:

    >>> from dpmlite.datasets import unequal_gaussians
    >>> truth = unequal_gaussians(2, 4, spread=10.0, random_state=0)
    >>> X, labels = truth.sample(500, random_state=0)
    >>> round(float((truth.predict(X) == labels).mean()), 3)
    0.934
    """

    component: str
    n_columns: int
    weights: npt.NDArray[np.float64]
    parameters: dict[str, npt.NDArray[np.float64]]

    def score_samples(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log density of rows under the mixture.

        Parameters
        ----------
        X : array-like, shape (N, D)

        Returns
        -------
        ndarray, shape (N,)

        Raises
        ------
        ValueError, TypeError
            If `X` is no table for the family, or does not have D columns.
        """
        with np.errstate(under="ignore"):
            return np.asarray(np.logaddexp.reduce(self._log_joint(X), axis=1))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Most probable atom of each row under the true parameters.

        Parameters
        ----------
        X : array-like, shape (N, D)

        Returns
        -------
        ndarray of int, shape (N,)

        Raises
        ------
        ValueError, TypeError
            As `score_samples`.
        """
        return np.asarray(self._log_joint(X).argmax(axis=1), dtype=np.intp)

    def _log_joint(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log (weight_k p(x_i | theta_k)), shape (N, K)."""
        rows = check_rows(X)
        data = FAMILIES[self.component].read(rows, allow_missing=False)
        if data.shape[1] != self.n_columns:
            raise ValueError(f"X must have {self.n_columns} columns, got {data.shape[1]}")
        log_density = FAMILIES[self.component].log_density(rows, self.parameters)
        with np.errstate(divide="ignore"):  # a weight may be less than a double can hold
            return np.asarray(log_density + np.log(self.weights))

    def sample(
        self, n_samples: int, *, row_total: int = 100, random_state: Any = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_samples : int
            Rows, N.
        row_total : int, default 100
            Words in each row of "dirichlet-multinomial".
        random_state : None, int, Generator or RandomState, default None
            Source of chance.

        Returns
        -------
        X : ndarray, shape (N, D)
        labels : ndarray of int, shape (N,)
            The atom of each row.

        Raises
        ------
        ValueError
            If `n_samples` is not positive, or `row_total` is negative.
        """
        rng = check_random_state(random_state)
        n_samples = check_count("n_samples", n_samples)
        labels = rng.choice(len(self.weights), size=n_samples, p=self.weights).astype(np.intp)
        totals = constant_totals(n_samples, row_total)
        family = FAMILIES[self.component]
        return family.draw_rows(self.parameters, labels, totals, rng), labels


def dpm_mixture(
    n_columns: int,
    *,
    component: str = "normal-gamma",
    alpha: float = 1.0,
    prior: Mapping[str, Any],
    tolerance: float = 1e-9,
    random_state: Any = None,
) -> RandomMixture:
    """Draw a density from a Dirichlet process mixture: section 1.1 of [1]_.

    Atoms are drawn by stick-breaking until a weight of about `tolerance` is left, which the last
    atom gets.

    Parameters
    ----------
    n_columns : int
        Columns, D.
    component, alpha, prior, random_state
        As in `dpm_sample`.
    tolerance : float, default 1e-9
        Weight at which stick-breaking ends, at least 1e-12.

    Returns
    -------
    RandomMixture

    Raises
    ------
    ValueError
        If a parameter breaks its rule; the message states it.

    See Also
    --------
    dpm_sample : Rows without their density.
    unequal_gaussians : A given number of normal clusters.

    References
    ----------
    .. [1] "Notes on Gibbs sampling for Dirichlet process mixtures".

    Examples
    --------
    >>> from dpmlite.datasets import dpm_mixture
    >>> prior = {"m0": 0.0, "c0": 0.01, "a0": 1.0, "b0": 1.0}
    >>> truth = dpm_mixture(2, alpha=2.0, prior=prior, random_state=0)
    >>> len(truth.weights), round(float(truth.weights.sum()), 6)
    (38, 1.0)
    """
    family = FAMILIES[check_choice("component", component, COMPONENTS)]
    full = family.full_prior(prior, check_count("n_columns", n_columns))
    alpha = check_alpha("alpha", alpha)
    is_number = isinstance(tolerance, float | int | np.floating)
    if not (is_number and MIN_TOLERANCE <= tolerance < 1.0):
        raise ValueError(f"tolerance must be from {MIN_TOLERANCE} to below 1, got {tolerance!r}")
    rng = check_random_state(random_state)
    # Each atom multiplies what is left by 1 - Beta(1, alpha), whose log has mean -1 / alpha.
    n_atoms = 10 + round(2.0 * alpha * -math.log(tolerance))
    if n_atoms > MAX_ATOMS:
        raise ValueError(f"alpha must need no more than {MAX_ATOMS} atoms, got {alpha}")
    weights = np.array(stick_breaking(rng.random(n_atoms), alpha))
    enough = np.cumsum(weights) >= 1.0 - tolerance
    weights = summing_to_one(weights[: int(enough.argmax()) + 1 if enough.any() else n_atoms])
    parameters = family.draw_parameters(full, len(weights), rng)
    return RandomMixture(component, n_columns, weights, parameters)


def unequal_gaussians(
    n_columns: int,
    n_clusters: int,
    *,
    alpha: float | None = None,
    spread: float = 1.5,
    random_state: Any = None,
) -> RandomMixture:
    """Draw a mixture of overlapping normal clusters of very unequal sizes and widths.

    Weights are drawn by stick-breaking, eq. (1) of the notes that `dpm_mixture` names, and the last
    cluster gets the rest; means are N(0, spread^2), variances 1 / Gamma(4, rate 4).

    Parameters
    ----------
    n_columns, n_clusters : int
        D and K.
    alpha : float, optional
        Concentration; small values make weights unequal. Default: `n_clusters` / 5.
    spread : float, default 1.5
        Standard deviation of the clusters' means, positive.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.

    Returns
    -------
    RandomMixture

    Raises
    ------
    ValueError
        If a parameter breaks its rule; the message states it.

    See Also
    --------
    planted_gaussians : Round clusters of equal width.
    dpm_mixture : A mixture drawn from a Dirichlet process.

    Examples
    --------
    >>> from dpmlite.datasets import unequal_gaussians
    >>> unequal_gaussians(2, 4, random_state=0).weights.round(2).tolist()
    [0.72, 0.09, 0.01, 0.18]
    """
    shape = (check_count("n_clusters", n_clusters), check_count("n_columns", n_columns))
    alpha = shape[0] / 5.0 if alpha is None else check_alpha("alpha", alpha)
    rng = check_random_state(random_state)
    weights = summing_to_one(np.array(stick_breaking(rng.random(shape[0]), alpha)))
    means = rng.normal(0.0, check_positive("spread", spread), size=shape)
    deviations = 1.0 / np.sqrt(rng.gamma(4.0, 1.0 / 4.0, size=shape))
    return RandomMixture(
        "normal-gamma", shape[1], weights, {"mean": means, "deviation": deviations}
    )


def constant_totals(n_samples: int, row_total: int) -> npt.NDArray[np.int64]:
    """`row_total` for each row, shape (n_samples,)."""
    if check_count("row_total", row_total, least=0) > MAX_TOTAL:
        raise ValueError(f"row_total must be at most 2**40, got {row_total}")
    return np.full(n_samples, row_total, dtype=np.int64)


def summing_to_one(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Weights whose last is changed so that they sum to 1; it stays at 0 or above."""
    weights[-1] = max(weights[-1] + (1.0 - weights.sum()), 0.0)
    return weights
