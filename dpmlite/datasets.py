"""Tables with known clusters: seeded generators, and the table that is shipped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import models
from dpmlite.estimators.functions import crp_sample
from dpmlite.estimators.priors import COMPONENTS, FAMILIES
from dpmlite.estimators.validation import (
    check_choice,
    check_count,
    check_positive,
    check_random_state,
    check_rows,
)
from dpmlite.tables import parse_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

#: Columns of the imaginary milling machine, in mm/s, deg C and W.
COLUMNS = ("vibration", "temperature", "power")

# What `dpm_mixture` can tell from rounding, and what it will hold.
LEAST_TOLERANCE = 1e-12
MOST_ATOMS = 1_000_000

# Counts of a row: of more, sums of many rows would not be exact.
MOST_TOTAL = 2**40

# Decimals to which its sensors are read.
DECIMALS = (3, 1, 1)

# Its states: rows, means and standard deviations of the columns.
STATES = {
    "off": (130, (0.05, 21.0, 3.0), (0.01, 0.6, 0.5)),
    "idle": (110, (0.6, 44.0, 180.0), (0.08, 1.5, 12.0)),
    "warm-up": (60, (2.4, 30.0, 760.0), (0.25, 1.8, 45.0)),
    "polishing": (80, (1.1, 55.0, 1250.0), (0.15, 1.4, 60.0)),
    "milling": (208, (3.6, 63.0, 1850.0), (0.4, 1.8, 90.0)),
    "worn bearing": (12, (7.8, 75.0, 1500.0), (0.6, 1.5, 80.0)),
}


def crp_mixture(
    n_samples: int = 600,
    n_columns: int = 2,
    *,
    alpha: float = 3.0,
    m0: float = 1.0,
    c0: float = 0.1,
    a0: float = 1.0,
    b0: float = 10.0,
    random_state: Any = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Draw a table from the Dirichlet process mixture that `MAPDPM` believes in.

    The defaults are those of section 4.1 of [1]_. Labels are drawn from the Chinese restaurant
    process; each cluster and column has a precision tau ~ Gamma(a0, rate b0) and a mean
    mu ~ N(m0, 1 / (c0 tau)); values are drawn from N(mu, 1 / tau).

    Parameters
    ----------
    n_samples : int, default 600
        Rows, N.
    n_columns : int, default 2
        Columns, D.
    alpha : float, default 3.0
        Concentration, positive.
    m0 : float, default 1.0
        Mean of the clusters' means.
    c0 : float, default 0.1
        Precision of a cluster's mean as a part of the precision of its values, positive.
    a0 : float, default 1.0
        Shape of the precisions, positive.
    b0 : float, default 10.0
        Rate of the precisions, positive.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.

    Returns
    -------
    X : ndarray, shape (N, D)
    labels : ndarray of int, shape (N,)
        Numbered in the order in which clusters appear.

    Raises
    ------
    ValueError
        If a parameter breaks its rule; the message states it.

    References
    ----------
    .. [1] Raykov, Boukouvalas & Little, "Simple approximate MAP inference for Dirichlet
       processes", 2014.
    """
    prior = {"m0": m0, "c0": c0, "a0": a0, "b0": b0}
    return dpm_sample(n_samples, n_columns, alpha=alpha, prior=prior, random_state=random_state)


def dpm_sample(
    n_samples: int,
    n_columns: int,
    *,
    component: str = "normal-gamma",
    alpha: float = 1.0,
    prior: Mapping[str, Any],
    row_total: int = 100,
    random_state: Any = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Draw a table from a Dirichlet process mixture of any family.

    Labels are drawn from the Chinese restaurant process, the parameters of each cluster from the
    prior, and each row from its cluster: section 1.2 of [1]_.

    Parameters
    ----------
    n_samples : int
        Rows, N.
    n_columns : int
        Columns, D.
    component : str, default "normal-gamma"
        Family of the clusters, as in `MAPDPM`.
    alpha : float, default 1.0
        Concentration, positive.
    prior : dict
        All parameters of the family's prior; a scalar is for every column, but of ``psi0`` (D, D).
    row_total : int, default 100
        Words in each row of "dirichlet-multinomial".
    random_state : None, int, Generator or RandomState, default None
        Source of chance.

    Returns
    -------
    X : ndarray, shape (N, D)
    labels : ndarray of int, shape (N,)
        Numbered in the order in which clusters appear.

    Raises
    ------
    ValueError
        If a parameter breaks its rule; the message states it.

    References
    ----------
    .. [1] "Notes on Gibbs sampling for Dirichlet process mixtures".
    """
    family = FAMILIES[check_choice("component", component, COMPONENTS)]
    full = family.full_prior(prior, check_count("n_columns", n_columns))
    rng = check_random_state(random_state)
    labels = crp_sample(check_count("n_samples", n_samples), alpha, rng)
    parameters = family.draw_parameters(full, int(labels.max()) + 1, rng)
    totals = _totals(n_samples, row_total)
    return family.draw_rows(parameters, labels, totals, rng), labels


@dataclass(frozen=True, eq=False)
class RandomMixture:
    """A mixture drawn from a Dirichlet process prior, as `dpm_mixture` gives it.

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
    """

    component: str
    n_columns: int
    weights: npt.NDArray[np.float64]
    parameters: dict[str, npt.NDArray[np.float64]]

    def score_samples(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log density of rows, shape (N, D), under the mixture: shape (N,).

        Raises
        ------
        ValueError, TypeError
            If they are not rows of the family, or do not have D columns.
        """
        with np.errstate(under="ignore"):
            return np.asarray(np.logaddexp.reduce(self._log_joint(X), axis=1))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """The most probable atom of each row, by the true parameters: no labels are better.

        Raises
        ------
        ValueError, TypeError
            As `score_samples`.
        """
        return np.asarray(self._log_joint(X).argmax(axis=1), dtype=np.intp)

    def _log_joint(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log of weight times density, shape (N, K)."""
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
        totals = _totals(n_samples, row_total)
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

    Of infinitely many atoms, those before the stick is used up but for about `tolerance` are drawn;
    the last of them takes the rest.

    Parameters
    ----------
    n_columns : int
        Columns, D.
    component, alpha, prior, random_state
        As in `dpm_sample`.
    tolerance : float, default 1e-9
        Weight that may be left when the drawing of atoms ends, from 1e-12.

    Returns
    -------
    RandomMixture

    Raises
    ------
    ValueError
        If a parameter breaks its rule; the message states it.

    References
    ----------
    .. [1] "Notes on Gibbs sampling for Dirichlet process mixtures".
    """
    family = FAMILIES[check_choice("component", component, COMPONENTS)]
    full = family.full_prior(prior, check_count("n_columns", n_columns))
    alpha = check_positive("alpha", alpha)
    is_number = isinstance(tolerance, float | int | np.floating)
    if not (is_number and LEAST_TOLERANCE <= tolerance < 1.0):
        raise ValueError(f"tolerance must be from {LEAST_TOLERANCE} to below 1, got {tolerance!r}")
    rng = check_random_state(random_state)
    # Each atom multiplies what is left by 1 - Beta(1, alpha), whose log has mean -1 / alpha.
    n_atoms = 10 + round(2.0 * alpha * -math.log(tolerance))
    if n_atoms > MOST_ATOMS:
        raise ValueError(f"alpha must need no more than {MOST_ATOMS} atoms, got {alpha}")
    weights = np.array(models.stick_breaking(rng.random(n_atoms), alpha))
    enough = np.cumsum(weights) >= 1.0 - tolerance
    weights = _to_one(weights[: int(enough.argmax()) + 1 if enough.any() else n_atoms])
    parameters = family.draw_parameters(full, len(weights), rng)
    return RandomMixture(component, n_columns, weights, parameters)


def planted_gaussians(
    n_samples: int,
    n_columns: int,
    n_clusters: int,
    *,
    separation: float = 3.0,
    random_state: Any = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Draw round clusters of unit variance and equal probability.

    Parameters
    ----------
    n_samples : int
        Rows, N.
    n_columns : int
        Columns, D.
    n_clusters : int
        Clusters; few rows may leave some of them empty.
    separation : float, default 3.0
        Standard deviation of the clusters' means around 0, positive.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.

    Returns
    -------
    X : ndarray, shape (N, D)
    labels : ndarray of int, shape (N,)
        From 0 to `n_clusters` - 1.

    Raises
    ------
    ValueError
        If a parameter breaks its rule; the message states it.
    """
    shape = (check_count("n_clusters", n_clusters), check_count("n_columns", n_columns))
    rng = check_random_state(random_state)
    means = rng.normal(0.0, check_positive("separation", separation), size=shape)
    labels = rng.integers(n_clusters, size=check_count("n_samples", n_samples), dtype=np.intp)
    return rng.normal(means[labels], 1.0), labels


def unequal_gaussians(
    n_columns: int,
    n_clusters: int,
    *,
    alpha: float | None = None,
    spread: float = 1.5,
    random_state: Any = None,
) -> RandomMixture:
    """Draw a mixture of overlapping normal clusters of very unequal sizes and widths.

    Weights are those of a Dirichlet process, eq. (1) of the notes that `dpm_mixture` names, cut
    off at the last cluster; means are N(0, spread^2), variances 1 / Gamma(4, rate 4).

    Parameters
    ----------
    n_columns, n_clusters : int
        D and K.
    alpha : float, optional
        Concentration of the weights: the smaller, the less equal. Default: `n_clusters` / 5.
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
    """
    shape = (check_count("n_clusters", n_clusters), check_count("n_columns", n_columns))
    alpha = shape[0] / 5.0 if alpha is None else check_positive("alpha", alpha)
    rng = check_random_state(random_state)
    weights = _to_one(np.array(models.stick_breaking(rng.random(shape[0]), alpha)))
    means = rng.normal(0.0, check_positive("spread", spread), size=shape)
    deviations = 1.0 / np.sqrt(rng.gamma(4.0, 1.0 / 4.0, size=shape))
    return RandomMixture(
        "normal-gamma", shape[1], weights, {"mean": means, "deviation": deviations}
    )


def _totals(n_samples: int, row_total: int) -> npt.NDArray[np.int64]:
    """The same total of counts for every row."""
    if check_count("row_total", row_total, least=0) > MOST_TOTAL:
        raise ValueError(f"row_total must be at most 2**40, got {row_total}")
    return np.full(n_samples, row_total, dtype=np.int64)


def _to_one(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Weights whose last takes what is left, none of it if that is less than rounding."""
    weights[-1] = max(weights[-1] + (1.0 - weights.sum()), 0.0)
    return weights


def machine_states(
    random_state: Any = 0,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.str_], list[str]]:
    """Draw sensor readings of an imaginary milling machine in six states, one of them rare.

    Parameters
    ----------
    random_state : None, int, Generator or RandomState, default 0
        Source of chance; the default draws the table of `load_sensors`.

    Returns
    -------
    X : ndarray, shape (600, 3)
        Vibration in mm/s, temperature in deg C, power in W; rows in random order.
    labels : ndarray of str, shape (600,)
        The state of each row: "off", "idle", "warm-up", "polishing", "milling" or
        "worn bearing" (12 rows).
    columns : list of str
        Names of the columns.
    """
    rng = check_random_state(random_state)
    sizes, means, deviations = zip(*STATES.values(), strict=True)
    states = rng.permutation(np.repeat(np.arange(len(STATES)), sizes))
    readings = rng.normal(np.array(means)[states], np.array(deviations)[states])
    X = np.column_stack(
        [np.round(column, d) for column, d in zip(readings.T, DECIMALS, strict=True)]
    )
    return X, np.array(list(STATES))[states], list(COLUMNS)


def load_sensors() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.str_], list[str]]:
    """Read the table that is shipped as an example, the readings of `machine_states`.

    Returns
    -------
    X : ndarray, shape (600, 3)
        Vibration in mm/s, temperature in deg C, power in W.
    labels : ndarray of str, shape (600,)
        The state of the machine in each row.
    columns : list of str
        Names of the columns.

    Examples
    --------
    >>> from dpmlite import MAPDPM
    >>> from dpmlite.datasets import load_sensors
    >>> X, states, columns = load_sensors()
    >>> MAPDPM(random_state=0).fit(X).n_clusters_
    6
    """
    text = files("dpmlite").joinpath("data/sensors.csv").read_text(encoding="utf-8")
    table = parse_table(text.splitlines(), label_column="state")
    assert table.labels is not None  # they were asked for
    return table.rows, table.labels, table.columns
