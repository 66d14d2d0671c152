"""Files that the command writes: checked before the work, written before anything is printed."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.plotting import check_picture, plot_clusters, plot_profiles
from dpmlite.plotting.clusters import shown_rows
from dpmlite.tables import write_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from dpmlite import MAPDPM
    from dpmlite.tables import Table


def check_outputs(paths: Sequence[Path | None], data: str, picture: Path | None = None) -> None:
    """Raise an error before the work if an output could not be written."""
    given = [path for path in paths if path]
    for i, path in enumerate(given):
        check_output(path)
        if path.exists() and os.path.exists(data) and path.samefile(data):
            raise ValueError(f"{path}: would overwrite the data")
        if path.resolve() in [other.resolve() for other in given[:i]]:
            raise ValueError(f"{path}: is given for two outputs")
    if picture:
        check_picture(picture)


def check_output(path: Path) -> None:
    """Raise an error if a file cannot be written."""
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def labelled_table(table: Table, model: MAPDPM, rows: Table, labels: npt.NDArray[np.intp]) -> str:
    """The text of a file with the cluster of each row, its probability and its outlier score.

    Parameters
    ----------
    table : Table
        The whole file.
    model : MAPDPM
    rows : Table
        The columns that the model takes.
    labels : ndarray, shape (N,)
    """
    probabilities = model.predict_proba(rows)[np.arange(len(labels)), labels]
    probabilities[labels < 0] = np.nan
    return _with_columns(
        table,
        {
            "cluster": labels,
            "probability": probabilities,
            "outlier_score": _outlier_scores(model, rows),
        },
    )


def scored_table(table: Table, model: MAPDPM, rows: Table, densities: npt.NDArray[Any]) -> str:
    """The text of a file with the log density of each row, in nats, and its outlier score."""
    return _with_columns(
        table, {"log_density": densities, "outlier_score": _outlier_scores(model, rows)}
    )


def _with_columns(table: Table, results: Mapping[str, npt.NDArray[Any]]) -> str:
    """The text of a file with more columns, written as the others are."""
    assert table.source is not None
    columns: dict[str, Sequence[str]] = dict(table.source.texts)
    for name, values in results.items():
        columns[_new_name(name, columns)] = _as_texts(values, table.source.decimal)
    return write_table(columns, table.source.separator)


def write_text(path: Path | None, text: str, encoding: str = "utf-8") -> None:
    """Write a text to a file, or to standard output if there is none."""
    if path is None:
        sys.stdout.write(text)
    else:
        path.write_text(text, encoding=encoding, newline="\n")


def encoding_of(table: Table) -> str:
    """UTF-8, with a byte order mark if the file that was read has one, for Excel."""
    assert table.source is not None
    return "utf-8-sig" if table.source.encoding == "utf-8-sig" else "utf-8"


def draw(path: Path, model: MAPDPM, rows: Table, labels: npt.NDArray[np.intp]) -> str:
    """Draw the columns of numbers, or what is typical if there are none; return what to tell."""
    numbers = [name for name, kind in rows.kinds.items() if kind == "number"]
    if not numbers:
        plot_profiles(model, path=path)
        return f"drew {path}"
    n_hidden = int(np.count_nonzero(~shown_rows(np.asarray(rows[numbers]))))
    if n_hidden == len(rows):
        return f"did not draw {path}: every row has a missing value"
    plot_clusters(rows[numbers], labels, path=path)
    return f"drew {path}" + (f" without {n_hidden} rows that miss values" if n_hidden else "")


def _outlier_scores(model: MAPDPM, rows: Table) -> npt.NDArray[np.float64]:
    """Outlier scores of the rows; NaN if the family has none."""
    if model.component_ == "dirichlet-multinomial":
        return np.full(len(rows), np.nan)
    return model.outlier_score(rows)


def _as_texts(values: npt.NDArray[Any], decimal: str) -> list[str]:
    return [
        "" if np.isnan(value) else f"{value:.6g}".replace(".", decimal) for value in values.tolist()
    ]


def _new_name(name: str, columns: dict[str, Sequence[str]]) -> str:
    """The name, with a number after it if the file has it already."""
    number, new = 2, name
    while new in columns:
        new, number = f"{name} ({number})", number + 1
    return new
