"""Tables with known clusters: seeded generators, and the table that is shipped."""

from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmlite.estimators.functions import crp_sample
from dpmlite.estimators.validation import check_count, check_positive, check_random_state
from dpmlite.tables import parse_table

#: Columns of the imaginary milling machine, in mm/s, deg C and W.
COLUMNS = ("vibration", "temperature", "power")

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
    n_columns = check_count("n_columns", n_columns)
    for name, value in {"c0": c0, "a0": a0, "b0": b0}.items():
        check_positive(name, value)
    rng = check_random_state(random_state)
    labels = crp_sample(check_count("n_samples", n_samples), alpha, rng)
    shape = (int(labels.max()) + 1, n_columns)
    tau = rng.gamma(a0, 1.0 / b0, size=shape)
    mu = rng.normal(m0, 1.0 / np.sqrt(c0 * tau))
    return rng.normal(mu[labels], 1.0 / np.sqrt(tau[labels])), labels


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
