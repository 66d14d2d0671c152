"""The model that a file has: its family and columns, its prior, and statistics of its clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.distributed.statistics import load
from dpmlite.estimators.column_families.by_rule import check_component
from dpmlite.estimators.inputs.columns import CATEGORICAL, FULL, LOGARITHMS, Columns, members
from dpmlite.estimators.inputs.domain import MIN_CLUSTER_WEIGHT
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.model_files.quantities import count, flag, floats
from dpmlite.estimators.priors import FAMILIES, mixed_family

if TYPE_CHECKING:
    from dpmlite.estimators.model_files.quantities import Sizes
    from dpmlite.estimators.priors import Family

#: The attributes that say what the model is; those of mixed tables are missing in others.
MODEL = ("component_", "allow_missing_", "prior_", "statistics_", "n_features_in_")
OF_COLUMNS = ("levels_", "log_columns_")


def check_model(fitted: dict[str, Any], sizes: Sizes) -> tuple[dict[str, Any], Family]:
    """The attributes of `MODEL` and `OF_COLUMNS`, after checks, and the family.

    Raises
    ------
    ValueError
        If they are not those of a fitted model.
    """
    allow_missing = flag("allow_missing_", fitted["allow_missing_"], sizes)
    sizes["D"] = n_features = count(1)("n_features_in_", fitted["n_features_in_"], sizes)
    statistics = floats("C", "L")("statistics_", fitted["statistics_"], sizes)
    family, attributes = _family(fitted)
    if family.name == "mixed" and len(attributes["levels_"]) != n_features:
        raise ValueError(f"levels_ must be of {n_features} columns")
    if allow_missing and not family.takes_missing:
        raise ValueError(f"allow_missing_ must be False for {family.name!r}, got True")
    sizes["coded D"] = n_columns = family.n_coded(n_features)
    if not 0 < n_columns < sizes["L"] or sizes["C"] < 1:  # a cell has a statistic at least
        raise ValueError(f"statistics_ of {n_columns} columns have shape {statistics.shape}")
    prior = family.full_prior(fitted["prior_"], n_columns)
    component = family.component(prior, allow_missing)
    load(component, statistics)
    family.check_statistics(statistics, prior, allow_missing)
    least = statistics[:, 0].min()
    if not least >= MIN_CLUSTER_WEIGHT:
        raise ValueError(f"weights of clusters must be at least {MIN_CLUSTER_WEIGHT}, got {least}")
    return {
        **attributes,
        "allow_missing_": allow_missing,
        "n_features_in_": n_features,
        "prior_": prior,
        "statistics_": np.ascontiguousarray(statistics),
    }, family


def _family(fitted: dict[str, Any]) -> tuple[Family, dict[str, Any]]:
    """The family of a model, and the attributes that say which it is."""
    name = fitted["component_"]
    if isinstance(name, str):
        if name not in FAMILIES:
            raise ValueError(f"component_ must be one of {', '.join(FAMILIES)}, got {shown(name)}")
        return FAMILIES[name], {"component_": name}
    missing = [attribute for attribute in OF_COLUMNS if attribute not in fitted]
    if not isinstance(name, dict) or missing:
        raise ValueError("component_ must be a name, or a dict beside levels_ and log_columns_")
    columns = Columns(name, fitted["levels_"], fitted["log_columns_"])
    check_columns(columns)
    family = mixed_family(columns)
    return family, family.attributes()


def check_columns(columns: Columns) -> None:
    """Raise ValueError unless each column has one family, and levels if it is categorical."""
    levels, component = columns.levels, columns.component
    if not isinstance(levels, dict) or not all(isinstance(c, str | int) for c in levels):
        raise ValueError("levels_ must be a dict whose keys are names or numbers of columns")
    check_component(component)
    if "auto" in component.values():
        raise ValueError("component_ must have no column with 'auto'")
    named = [column for key in component for column in members(key)]
    if len(named) != len(levels) or set(named) != set(levels) or not named:
        raise ValueError("component_ must have the columns of levels_, each once")
    with_levels = {key for key, name in component.items() if name == CATEGORICAL}
    for column, known in levels.items():
        if (known is not None) != (column in with_levels):
            raise ValueError(f"levels_ of column {column!r} must be there if it is categorical")
        if known is not None and not _are_levels(known):
            raise ValueError(f"levels_ of column {column!r} must be an array of different values")
    _check_logs(columns)


def _are_levels(known: Any) -> bool:
    if not isinstance(known, np.ndarray) or known.ndim != 1 or not len(known):
        return False
    return len(set(known.tolist())) == len(known) and known.dtype.kind in "biufO"


def _check_logs(columns: Columns) -> None:
    """Raise ValueError unless logarithms are of columns that may have them."""
    logs, component = columns.logs, columns.component
    if not isinstance(logs, tuple) or len(set(logs)) < len(logs):
        raise ValueError("log_columns_ must be a tuple of columns")
    normal = {
        column
        for key, name in component.items()
        if name in LOGARITHMS or (isinstance(key, tuple) and name == FULL)
        for column in members(key)
    }
    always = {key for key, name in component.items() if name in LOGARITHMS}
    if not set(logs) <= normal or not {c for key in always for c in members(key)} <= set(logs):
        raise ValueError("log_columns_ must be the log-normal columns")
