"""Sensor readings of an imaginary milling machine, the table that is shipped as an example."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.parameters import check_random_state
from dpmlite.tables import parse_table

if TYPE_CHECKING:
    import numpy.typing as npt

#: Names of the columns, in mm/s, deg C and W.
COLUMNS = ("vibration", "temperature", "power")

# Decimals of the readings of each column.
DECIMALS = (3, 1, 1)

# For each state: number of rows, means and standard deviations of the columns.
STATES = {
    "off": (130, (0.05, 21.0, 3.0), (0.01, 0.6, 0.5)),
    "idle": (110, (0.6, 44.0, 180.0), (0.08, 1.5, 12.0)),
    "warm-up": (60, (2.4, 30.0, 760.0), (0.25, 1.8, 45.0)),
    "polishing": (80, (1.1, 55.0, 1250.0), (0.15, 1.4, 60.0)),
    "milling": (208, (3.6, 63.0, 1850.0), (0.4, 1.8, 90.0)),
    "worn bearing": (12, (7.8, 75.0, 1500.0), (0.6, 1.5, 80.0)),
}


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

    See Also
    --------
    load_sensors : The table that is shipped.

    Examples
    --------
    >>> from dpmlite.datasets import machine_states
    >>> X, states, columns = machine_states(random_state=1)
    >>> X.shape, columns
    ((600, 3), ['vibration', 'temperature', 'power'])
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
    """Read the example table that is shipped: the readings of ``machine_states(0)``.

    Returns
    -------
    X : ndarray, shape (600, 3)
        Vibration in mm/s, temperature in deg C, power in W.
    labels : ndarray of str, shape (600,)
        The state of the machine in each row.
    columns : list of str
        Names of the columns.

    See Also
    --------
    machine_states : Further tables of this machine.
    planted_gaussians : Drawn tables of any size.

    Examples
    --------
    >>> from dpmlite import MAPDPM
    >>> from dpmlite.datasets import load_sensors
    >>> X, states, columns = load_sensors()
    >>> MAPDPM(random_state=0).fit(X).n_clusters_
    6
    """
    text = files("dpmlite").joinpath("data/sensors.csv").read_text(encoding="utf-8")
    table = parse_table(text, kinds={"state": "text"})
    columns = [name for name in table.columns if name != "state"]
    return np.asarray(table[columns]), table["state"].astype(str), columns
