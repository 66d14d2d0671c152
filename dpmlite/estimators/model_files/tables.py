"""Rows that a file of a model has: those of a stream's start, or those that were fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.data import NONZEROS, Data
from dpmlite.estimators.inputs.domain import MAX_TOTAL_WEIGHT
from dpmlite.estimators.inputs.number_tables import check_parts
from dpmlite.estimators.model_files.quantities import floats, ints

if TYPE_CHECKING:
    from dpmlite.estimators.model_files.quantities import Sizes
    from dpmlite.estimators.priors import Family

DENSE, SPARSE = {"values"}, set(NONZEROS)


def check_table(name: str, value: Any, family: Family, n_columns: int, allow_missing: bool) -> Data:
    """The rows of which `Data.to_dict` made a value of a file, after all checks.

    Parameters
    ----------
    name : str
        Of the attribute.
    value
    family : Family
        Of the model.
    n_columns : int
        Of the coded table.
    allow_missing : bool

    Raises
    ------
    ValueError
        If they are no rows that `family` reads.
    """
    cells_of = SPARSE if family.takes_sparse else DENSE
    if not isinstance(value, dict) or value.keys() != {"shape", "weights", *cells_of}:
        raise ValueError(f"{name} must be a dict of the parts of a table")
    sizes: Sizes = {"D": n_columns}
    shape = ints(2)(f"{name} shape", value["shape"], sizes)
    if shape[0] < 1 or shape[1] != n_columns:
        raise ValueError(f"{name} must have rows of {n_columns} columns, got shape {tuple(shape)}")
    sizes["N"] = int(shape[0])
    parts = _sparse(name, value, sizes) if family.takes_sparse else _dense(name, value, sizes)
    weights = value["weights"]
    if weights is not None:
        weights = floats("N", least=0.0, most=MAX_TOTAL_WEIGHT)(f"{name} weights", weights, sizes)
    table = Data.from_dict({"shape": shape, "weights": weights, **parts})
    _check_cells(name, table, family, allow_missing)
    return table


def _dense(name: str, value: dict[str, Any], sizes: Sizes) -> dict[str, Any]:
    values = floats("N", "D", nan=True)(f"{name} values", value["values"], sizes)
    return {"values": np.ascontiguousarray(values)}


def _sparse(name: str, value: dict[str, Any], sizes: Sizes) -> dict[str, Any]:
    found = {
        "data": floats("V", nan=True)(f"{name} data", value["data"], sizes),
        "indices": ints("V", below="D")(f"{name} indices", value["indices"], sizes),
        "indptr": ints("P")(f"{name} indptr", value["indptr"], sizes),
    }
    check_parts((sizes["N"], sizes["D"]), *(found[part] for part in NONZEROS))
    return found


def _check_cells(name: str, table: Data, family: Family, allow_missing: bool) -> None:
    """Raise ValueError unless the family takes every cell."""
    cells = table.values if table.nonzeros is None else table.nonzeros[0]
    assert cells is not None
    good = family.takes_cells(cells) | (np.isnan(cells) if allow_missing else False)
    if not good.all():
        raise ValueError(f"{name} has a cell that {family.name!r} does not take: {cells[~good][0]}")
