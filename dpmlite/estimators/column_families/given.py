"""Tables of which a user says the family, or those of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpmlite.estimators.column_families.by_rule import (
    AUTO,
    COLUMN_FAMILIES,
    check_component,
    columns_of,
)
from dpmlite.estimators.inputs.parameters import check_bool, check_choice
from dpmlite.estimators.inputs.reading import read_columns
from dpmlite.estimators.priors import COMPONENTS, FAMILIES, mixed_family
from dpmlite.estimators.priors.lacking import check_complete
from dpmlite.estimators.priors.mixed import coded_table

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.columns import Column
    from dpmlite.estimators.inputs.data import Data
    from dpmlite.estimators.inputs.reading import CellsOf
    from dpmlite.estimators.priors import Family


def given_table(X: Any, component: Any, allow_missing: Any) -> tuple[Family, Data]:
    """The family that a user says, and a table that is read by its rules.

    Parameters
    ----------
    X : array-like or data frame, shape (N, D)
    component : str or dict
        A family, or those of columns.
    allow_missing : bool

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule; the message states it.
    """
    allow_missing = check_bool("allow_missing", allow_missing)
    if isinstance(component, Mapping):
        check_component(component)
    elif component not in COLUMN_FAMILIES or component in (AUTO, *FAMILIES):
        family = FAMILIES[check_choice("component", component, COMPONENTS)]
        table = family.read(X, allow_missing)
        check_complete(family, table)
        return family, table
    table = mixed_table(read_columns(X), component, allow_missing)
    assert table.columns is not None
    family = mixed_family(table.columns)
    check_complete(family, table)
    return family, table


def mixed_table(
    cells: Mapping[Column, CellsOf],
    component: Mapping[Any, str] | str,
    allow_missing: bool,
    choices: tuple[str, ...] = COLUMN_FAMILIES,
) -> Data:
    """A table whose columns have families of their own, coded.

    `component` and `choices` are those of `columns_of`, which has the errors raised.
    """
    columns = columns_of(cells, component, choices)
    return coded_table(columns, {name: found.cells for name, found in cells.items()}, allow_missing)
