"""Models as files of plain data: numpy's npz with a JSON header, no pickle.

A file is data and nothing else, and no file can hurt: `load` checks all of it before use. What it
then returns works in every method.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from dpmlite.estimators.fitted.clusters import described_clusters
from dpmlite.estimators.fitted.partitions import described_components, fitted_family, fitted_mixture
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.model_files.archive import (
    CHECKSUM,
    checksum,
    read_archive,
    write_archive,
)
from dpmlite.estimators.model_files.attributes import (
    COMPUTED,
    attributes_of,
    check_declared,
    checked_attributes,
)
from dpmlite.estimators.model_files.packing import pack, unpack
from dpmlite.estimators.model_files.replacing import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    Arrays = dict[str, np.ndarray[Any, Any]]

FORMAT = "dpmlite model"
VERSION = 2  # 1 had no checksum, and all attributes

T = TypeVar("T")


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator's parameters and fitted attributes.

    Raises
    ------
    ValueError
        If a parameter cannot be written as plain data, or the estimator has a fitted attribute of
        which `load` does not know what it may be.
    """
    arrays: Arrays = {}
    kind = type(estimator).__name__
    check_declared(kind, vars(estimator))
    header = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": kind,
        "parameters": {
            name: pack(f"parameter {name}", value, arrays)
            for name, value in estimator.get_params(deep=False).items()
        },
        "fitted": {
            name: pack(name, vars(estimator)[name], arrays)
            for name in sorted(attributes_of(kind) & vars(estimator).keys())
        },
    }
    with replacing(path) as file:
        write_archive(file, header, arrays)


def load(cls: type[T], path: str | os.PathLike[str]) -> T:
    """Read an estimator of class `cls` from a file that `save` wrote.

    Raises
    ------
    ValueError
        If the file is foreign, damaged, or written by a newer version.
    OSError
        If it cannot be read.
    """
    foreign = f"{os.fspath(path)!s} is not a dpmlite model"
    with open(path, "rb") as file:
        content = file.read()
    try:
        header, arrays = read_archive(content)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{foreign}, or it is damaged: {_said(error)}") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{foreign}: its header says so")
    _check_kind(header, cls.__name__, os.fspath(path))
    try:
        return _restored(cls, header, arrays)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{foreign}, or it is damaged: {_said(error)}") from error


def _said(error: Exception) -> str:
    """What an error says; errors of Python itself need their name."""
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


def _check_kind(header: Mapping[str, Any], kind: str, path: Any) -> None:
    """Raise ValueError unless a file is of a known version, and of the class that is asked for."""
    version, found = header.get("version"), header.get("estimator")
    if not isinstance(version, int) or version < 1:
        raise ValueError(f"{path} is damaged: format version {shown(version)}")
    if version > VERSION:
        raise ValueError(
            f"{path} has format version {version}, "
            f"this dpmlite reads versions up to {VERSION}: upgrade it"
        )
    if found != kind:
        raise ValueError(f"{path} holds a {found}, not a {kind}")


def _restored(cls: type[T], header: dict[str, Any], arrays: Arrays) -> T:
    """The estimator of a header and arrays, after checks of all that they have."""
    if header["version"] > 1 and header.get(CHECKSUM) != checksum(header, arrays):
        raise ValueError("its checksum is not that of its contents")
    for name in ("parameters", "fitted"):
        if not isinstance(header.get(name), dict):
            raise ValueError(f"it has no {name}")
    parameters = {name: unpack(value, arrays) for name, value in header["parameters"].items()}
    fitted = {name: unpack(value, arrays) for name, value in header["fitted"].items()}
    if arrays:
        raise ValueError(f"member {min(arrays)!r} is of no use")
    for name in COMPUTED:
        fitted.pop(name, None)
    estimator: Any = cls(**parameters)
    estimator._check_parameters()
    vars(estimator).update(checked_attributes(cls.__name__, fitted))
    _compute(estimator)
    return estimator  # type: ignore[no-any-return]


def _compute(estimator: Any) -> None:
    """Make the attributes that are not in files."""
    mixture, family = fitted_mixture(estimator), fitted_family(estimator)
    n_components = len(estimator.statistics_)
    described = described_components(mixture, n_components, family, estimator.prior_)
    vars(estimator).update(described)
    if hasattr(estimator, "cluster_of_component_"):
        clusters = estimator.cluster_of_component_
        vars(estimator).update(described_clusters(estimator, clusters))
