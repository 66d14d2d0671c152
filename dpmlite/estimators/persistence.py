"""Models as files of plain data: numpy's npz with a JSON header, no pickle.

The zip's checksums detect damage; the header names format and version, so that a foreign file
is told apart from a damaged one. Modules for JSON and zip files are imported only when a model is
saved or loaded, for their imports take longer than most of dpmlite.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from typing import IO, Any, TypeVar

import numpy as np

from dpmlite.estimators.fitted import fitted_mixture

FORMAT = "dpmlite model"
VERSION = 1

T = TypeVar("T")


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator's parameters and fitted attributes.

    Raises
    ------
    ValueError
        If a parameter cannot be written as plain data.
    """
    import json

    arrays: dict[str, np.ndarray[Any, Any]] = {}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(estimator).__name__,
        "parameters": {
            name: _pack(f"parameter {name}", value, arrays)
            for name, value in estimator.get_params(deep=False).items()
        },
        "fitted": {
            name: _pack(name, value, arrays)
            for name, value in vars(estimator).items()
            if name.endswith("_") and not name.startswith("_")
        },
    }
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file to write, which replaces an older one at `path` only when it is complete.

    It gets the older file's permissions. A pipe or a device at `path` is written to directly.
    """
    if not os.path.basename(os.fsdecode(path)):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    target = os.path.realpath(os.fsdecode(path))
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    if not os.path.isdir(os.path.dirname(target)):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    name = f".{os.urandom(8).hex()}.unfinished"  # several threads may save at once
    unfinished = os.path.join(os.path.dirname(target), name)
    try:
        with _opened(unfinished, path) as file:
            if os.path.exists(target):
                os.chmod(unfinished, stat.S_IMODE(os.stat(target).st_mode))
            yield file
        os.replace(unfinished, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)


def _opened(unfinished: str, path: str | os.PathLike[str]) -> IO[bytes]:
    """A new file, opened; errors name `path`, the file that it will become."""
    try:
        return open(unfinished, "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def load(cls: type[T], path: str | os.PathLike[str]) -> T:
    """Read an estimator of class `cls` from a file that `save` wrote.

    Raises
    ------
    ValueError
        If the file is foreign, damaged, or written by a newer version.
    OSError
        If it cannot be read.
    """
    import json
    import zipfile

    foreign = f"{os.fspath(path)} is not a dpmlite model"
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError(f"{foreign}, or it is damaged: it is no zip file")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as data:
                arrays = {name: data[name] for name in data.files}
            header = json.loads(str(arrays.pop("header")))
        except Exception as error:
            raise ValueError(f"{foreign}, or it is damaged: {error}") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{foreign}: its header says so")
    try:
        return _restored(cls, header, arrays, os.fspath(path))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{foreign}, or it is damaged: {error!r}") from error


def _restored(
    cls: type[T], header: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]], path: str
) -> T:
    if header["version"] > VERSION:
        raise ValueError(
            f"{path} has format version {header['version']}, "
            f"this dpmlite reads versions up to {VERSION}: upgrade it"
        )
    if header["estimator"] != cls.__name__:
        raise ValueError(f"{path} holds a {header['estimator']}, not a {cls.__name__}")
    estimator: Any = cls(**{k: _unpack(v, arrays) for k, v in header["parameters"].items()})
    for name, value in header["fitted"].items():
        if not name.endswith("_") or name.startswith("_"):
            raise KeyError(name)
        setattr(estimator, name, _unpack(value, arrays))
    _check_fitted(estimator)
    return estimator  # type: ignore[no-any-return]


def _check_fitted(estimator: Any) -> None:
    """Raise KeyError unless alpha is positive and every cluster has statistics of the family."""
    if not 0.0 < estimator.alpha_ < float("inf"):
        raise KeyError(f"alpha_ {estimator.alpha_}")
    clusters = getattr(estimator, "cluster_of_component_", np.arange(estimator.n_clusters_))
    if len(estimator.statistics_) != len(clusters) or len(set(clusters)) != estimator.n_clusters_:
        raise KeyError(f"statistics_ of {len(clusters)} components")
    try:
        fitted_mixture(estimator)
    except ValueError as error:
        raise KeyError(str(error)) from error


def _pack(name: str, value: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """A value as JSON; an array is put into `arrays` and replaced by its name there."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
        pairs = [_pack(name, item, arrays) for item in value.items()]
        return {"pairs": pairs}
    if isinstance(value, Mapping):
        return {"dict": {k: _pack(f"{name} {k}", v, arrays) for k, v in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_pack(name, item, arrays) for item in value]}
    if isinstance(value, list | range) or hasattr(value, "__array__"):  # of pandas, too
        array = np.asarray(value)
        if array.dtype == object:
            array = array.astype(str)
        if array.dtype.kind in "biufU":
            key = f"array{len(arrays)}"
            arrays[key] = array
            return {"array": key}
    raise ValueError(f"{name} cannot be saved as plain data: it is a {type(value).__name__}")


def _unpack(value: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        array = arrays[value["array"]]
        return array.astype(object) if array.dtype.kind == "U" else array
    if "tuple" in value:
        return tuple(_unpack(item, arrays) for item in value["tuple"])
    if "pairs" in value:
        return dict(_unpack(pair, arrays) for pair in value["pairs"])
    return {k: _unpack(v, arrays) for k, v in value["dict"].items()}
