"""The family of each column of numbers by the joint, for labels that a first search has found.

Columns are independent in a cluster, so that each is decided alone. Log probabilities of whole
numbers, and log densities of numbers, compare: a density times the width of the cells in which
equal values were spread is a probability, and that of logarithms is divided by the value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.column_families.by_cells import (
    MAX_LEVELS,
    are_bits,
    are_counts,
    family_of_numbers,
)
from dpmlite.estimators.column_families.by_rule import COMPLETE_FAMILIES
from dpmlite.estimators.empirical_bayes.spread_ties import cell_widths
from dpmlite.estimators.inputs.columns import (
    CATEGORICAL,
    COUNTS,
    EXPOSURE,
    LOG_NORMAL,
    LOGARITHMS,
    NAMES_OF_BLOCK,
    NORMAL,
    ZERO_INFLATED,
    ZERO_LOG_NORMAL,
    ZERO_NORMAL,
    Columns,
)
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.inputs.user_warnings import warn
from dpmlite.estimators.priors import mixed_family
from dpmlite.estimators.priors.mixed import MixedFamily
from dpmlite.partition import Partition

if TYPE_CHECKING:
    from collections.abc import Collection

    from dpmlite.core.stop import Stop
    from dpmlite.estimators.inputs.columns import Cells, Column, Key
    from dpmlite.estimators.inputs.data import Floats, Indices
    from dpmlite.estimators.priors.base import Family


def columns_by_joint(
    table: Data, sample: Data, labels: Indices, stop: Stop, fixed: Collection[Column] = ()
) -> Columns:
    """The families of columns with the least joint for given labels.

    Parameters
    ----------
    table : Data
        Coded rows, all of which a family must be able to describe.
    sample : Data
        N of them, by which families are compared.
    labels : ndarray of int, shape (N,)
    stop : Stop
        Once it is set, columns keep their family: to compare those of thousands takes seconds.
    fixed : collection of columns
        Columns that keep their family; so do columns of text.
    """
    columns = table.columns
    assert columns is not None
    assert table.values is not None
    assert sample.values is not None
    component, levels, logs = dict(columns.component), dict(columns.levels), set(columns.logs)
    cells_of_sample = columns.decode(sample.values)
    exposures = None if columns.exposure is None else cells_of_sample[columns.exposure]
    for column in columns.levels:
        cells, name = columns.cells_of(column, table.values), component.get(column)
        if name is None or column in fixed or cells.dtype.kind != "f":
            continue
        names = alternatives(name, cells)
        if len(names) == 1 or stop.is_set():
            continue
        seen = cells_of_sample[column]
        costs = [_cost(each, seen, sample.weights, labels, exposures) for each in names]
        best = names[int(np.argmin(costs))]
        component[column] = best
        levels[column] = _levels_of(best, cells)
        logs = logs | {column} if best in LOGARITHMS else logs - {column}
    if columns.exposure is not None and COUNTS not in component.values():
        warn(f"no column is better as counts: the exposure {columns.exposure!r} is not used")
    return Columns(component, levels, tuple(column for column in levels if column in logs))


def recoded(table: Data, columns: Columns) -> Data:
    """A coded table under other families of its columns; not coded if all are normal."""
    assert table.columns is not None
    assert table.values is not None
    known = table.columns
    if set(columns.component.values()) == {NORMAL}:
        return decoded(table)
    if (known.blocks, known.logs) == (columns.blocks, columns.logs):
        return table
    cells = known.decode(table.values)
    return replace(table.with_values(columns.encode(cells)), columns=columns)


def coded_for(table: Data, family: Family) -> Data:
    """A table as a family reads it, of which the joint may have chosen the families of columns."""
    if table.columns is None:
        return table
    return recoded(table, family.columns) if isinstance(family, MixedFamily) else decoded(table)


def decoded(table: Data) -> Data:
    """The numbers of a coded table, not coded."""
    assert table.columns is not None
    assert table.values is not None
    cells = table.columns.decode(table.values)
    return replace(table.with_values(np.stack(list(cells.values()), axis=1)), columns=None)


def alternatives(name: str, cells: Floats) -> list[str]:
    """Families that may describe a column of numbers, the present one first.

    Two levels are described in full by their probability: of bits, another family's joint could be
    lower by chance alone.
    """
    if name == CATEGORICAL and are_bits(cells[~np.isnan(cells)]):
        return [name]
    others: list[str] = []
    if name == COUNTS:
        others.extend(dict.fromkeys([family_of_numbers(cells, COMPLETE_FAMILIES), NORMAL]))
    if name in (CATEGORICAL, LOG_NORMAL):
        others.append(NORMAL)
    if name == ZERO_LOG_NORMAL:
        others.append(ZERO_NORMAL)
    if name in (CATEGORICAL, NORMAL, *NAMES_OF_BLOCK[ZERO_INFLATED]) and are_counts(cells):
        others.append(COUNTS)
    return [name, *others]


def _levels_of(name: str, cells: Floats) -> Cells | None:
    return np.unique(cells[~np.isnan(cells)]) if name == CATEGORICAL else None


def _cost(
    name: str, cells: Floats, weights: Floats | None, labels: Indices, exposures: Floats | None
) -> float:
    """Minus the log of a column's part of the joint, in nats, with fitted hyperparameters."""
    names: dict[Key, str] = {0: name}
    levels: dict[Column, Cells | None] = {0: _levels_of(name, cells)}
    found: dict[Column, Cells] = {0: cells}
    if exposures is not None and name == COUNTS:
        names[1], levels[1], found[1] = EXPOSURE, None, exposures
    columns = Columns(names, levels, (0,) if name in LOGARITHMS else ())
    values = columns.encode(found)
    table = Data(values.shape, values, weights=weights, columns=columns)
    family = mixed_family(columns)
    spread = family.prepared(table)
    prior, penalty = family.fit_prior(
        family.sums(spread, labels, 1.0), family.column_scales(spread, spread), None
    )
    component = family.component(prior, allow_missing=True)
    partition = Partition(spread.rows(), np.unique(labels, return_inverse=True)[1], component, 1.0)
    log_marginals = (partition.component.log_marginal(k) for k in range(partition.n_clusters))
    volume = spread.total_log_volume() - _log_units(cells, weights) * (name in (NORMAL, LOG_NORMAL))
    return penalty + volume - sum(log_marginals)


def _log_units(cells: Floats, weights: Floats | None) -> float:
    """Sum of the logs of the widths of cells about values of few levels; 0 for whole numbers."""
    known = ~np.isnan(cells)
    distinct, index = np.unique(cells[known], return_inverse=True)
    if not 1 < len(distinct) <= MAX_LEVELS or (distinct == np.floor(distinct)).all():
        return 0.0
    widths = np.log(cell_widths(distinct))[index]
    return float(widths.sum() if weights is None else weights[known] @ widths)
