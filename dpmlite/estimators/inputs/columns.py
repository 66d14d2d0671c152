"""The columns of a mixed table: their families, scales and levels, and how cells are coded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpmlite.estimators.inputs.arrays import as_floats
from dpmlite.estimators.inputs.domain import EXPOSURE as EXPOSURE_RANGE
from dpmlite.estimators.inputs.domain import MAX_COUNT
from dpmlite.estimators.inputs.user_warnings import warn

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.intp]
    Column = str | int
    Key = Column | tuple[Column, ...]
    CodedKey: TypeAlias = "Key | IsZero"
    Cells = npt.NDArray[Any]

NORMAL, LOG_NORMAL, FULL = "normal-gamma", "log-normal", "normal-inverse-wishart"
CATEGORICAL, COUNTS = "categorical", "poisson-gamma"
EXPOSURE = "exposure"  # not a family: the time, area or population in which all counts were taken
ZERO_NORMAL, ZERO_LOG_NORMAL = "zero-inflated-normal", "zero-inflated-log-normal"

# Families of single columns that stand as logarithms.
LOGARITHMS = (LOG_NORMAL, ZERO_LOG_NORMAL)

# The block of the numbers of zero-inflated columns.
ZERO_INFLATED = "zero-inflated"

# The families of columns that are in a block, if they are not only its name.
NAMES_OF_BLOCK = {
    NORMAL: (NORMAL, LOG_NORMAL),
    ZERO_INFLATED: (ZERO_NORMAL, ZERO_LOG_NORMAL),
}

# Families with independent columns, those of real numbers first: they rule most clusters out.
SEPARATE = (NORMAL, "normal-known-variance", ZERO_INFLATED, "beta-bernoulli", COUNTS, CATEGORICAL)


@dataclass(frozen=True)
class IsZero:
    """The coded column that tells whether cells of a zero-inflated column are 0."""

    column: Column


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """The columns of a table whose families differ.

    In the coded table, columns of one block lie side by side. Numbers stand as they are or, of
    log-normal columns, as their logarithms; a category stands as the index of its level. One-hot
    columns, of which one is 1 and the others are 0, are one category, whose levels they are. A
    zero-inflated column stands as a category, whether it is 0, and a number that is missing if so.
    An exposure is the last column of the block of counts.

    Attributes
    ----------
    component : dict
        The family of each column, or "exposure". With a tuple of columns as key, the family of
        columns whose covariance matrix is full, or "categorical" for one-hot columns.
    levels : dict
        For each column, in the table's order, its levels if it is categorical; otherwise None.
    logs : tuple
        The columns that stand as logarithms; of zero-inflated ones, the cells that are not 0.
    """

    component: dict[Key, str]
    levels: dict[Column, Cells | None]
    logs: tuple[Column, ...] = ()

    @cached_property
    def blocks(self) -> list[tuple[str, list[CodedKey]]]:
        """The name of each block and its columns, in the order of the coded table."""
        tuples = [key for key in self.component if isinstance(key, tuple)]
        one_hot = [key for key in tuples if self.component[key] == CATEGORICAL]
        joint: list[tuple[str, list[CodedKey]]]
        joint = [(FULL, list(key)) for key in tuples if key not in one_hot]
        apart: list[tuple[str, list[CodedKey]]]
        apart = [(name, [*self._of_block(name)]) for name in SEPARATE]
        apart[SEPARATE.index(COUNTS)][1].extend(self._of_block(EXPOSURE))
        apart[-1][1].extend(one_hot)
        apart[-1][1].extend(IsZero(column) for column in self.zero_inflated)
        return joint + [(name, columns) for name, columns in apart if columns]

    def _of_block(self, name: str) -> list[Column]:
        """The columns of a block whose columns are independent, in the table's order."""
        names = NAMES_OF_BLOCK.get(name, (name,))
        return [column for column in self.levels if self.component.get(column) in names]

    @cached_property
    def exposure(self) -> Column | None:
        """The column of exposures; None if there is none."""
        return next(iter(self._of_block(EXPOSURE)), None)

    @cached_property
    def counts(self) -> list[Column]:
        """The columns of counts of events, in the table's order."""
        return self._of_block(COUNTS)

    def as_rates(self, names: dict[int, str]) -> dict[int, str]:
        """Names of columns by place: without an exposure, and with counts per unit of it."""
        places = list(self.levels)
        if self.exposure is None:
            return names
        exposure = places.index(self.exposure)
        return {
            j: f"{name} / {names[exposure]}" if places[j] in self.counts else name
            for j, name in names.items()
            if j != exposure
        }

    @cached_property
    def zero_inflated(self) -> list[Column]:
        """The zero-inflated columns, in the table's order."""
        return self._of_block(ZERO_INFLATED)

    @cached_property
    def coded(self) -> list[CodedKey]:
        """The columns of the coded table; a tuple stands for one-hot columns."""
        return [column for _, columns in self.blocks for column in columns]

    @cached_property
    def place_of(self) -> dict[Column, int]:
        """Where each column of the table is in the coded table.

        Of zero-inflated columns, where the numbers are.
        """
        return {member: i for i, key in enumerate(self.coded) for member in members(key)}

    @cached_property
    def places(self) -> Indices:
        """`place_of` the columns in the table's order, shape (D,)."""
        return np.array([self.place_of[column] for column in self.levels], dtype=np.intp)

    @cached_property
    def zeros(self) -> dict[int, int]:
        """Where the numbers of zero-inflated columns are, and where it is whether they are 0."""
        return {self.coded.index(c): self.coded.index(IsZero(c)) for c in self.zero_inflated}

    @cached_property
    def is_log(self) -> npt.NDArray[np.bool_]:
        """Mask of the coded columns that are logarithms."""
        return np.array([column in self.logs for column in self.coded])

    @cached_property
    def is_real(self) -> npt.NDArray[np.bool_]:
        """Mask of the coded columns that have densities: real numbers."""
        real = {NORMAL, FULL, ZERO_INFLATED, "normal-known-variance"}
        return np.array([name in real for name, columns in self.blocks for _ in columns])

    @cached_property
    def exposed(self) -> slice | None:
        """Where counts and, after them, their exposure are in the coded table; None without one."""
        if self.exposure is None:
            return None
        end = self.coded.index(self.exposure) + 1
        return slice(end - 1 - len(self.counts), end)

    def levels_of(self, key: CodedKey) -> Cells:
        """The levels of a categorical column; one-hot columns are levels themselves."""
        if isinstance(key, IsZero):
            return np.array([False, True])
        if isinstance(key, tuple):
            return np.array(key, dtype=object)
        levels = self.levels[key]
        assert levels is not None
        return levels

    def in_table_order(self, coded: Floats, of_levels: Mapping[CodedKey, Floats]) -> Floats:
        """Numbers of the table's columns, shape (D,), from those of coded columns and of levels."""
        found = coded[self.places]
        for key in of_levels:
            if isinstance(key, tuple):
                at = [list(self.levels).index(column) for column in key]
                found[at] = of_levels[key]
        return found

    def encode(self, cells: Mapping[Column, Cells], allow_missing: bool = True) -> Floats:
        """The coded table, shape (N, D), of the cells of each column; NaN where one is missing.

        Levels that are not known count as missing, with a warning.

        Raises
        ------
        ValueError
            If a value of a log-normal column is not positive, one of counts no whole number of at
            least 0, one of numbers not finite, or one is missing and `allow_missing` is False.
        """
        n_rows = len(next(iter(cells.values())))
        coded = np.empty((n_rows, len(self.coded)))
        for i, key in enumerate(self.coded):
            coded[:, i] = self._encoded(key, cells, allow_missing)
        return coded

    def _encoded(self, key: CodedKey, cells: Mapping[Column, Cells], allow_missing: bool) -> Floats:
        if isinstance(key, tuple):
            return _index_of_one(key, [cells[column] for column in key], allow_missing)
        if isinstance(key, IsZero):
            values = np.asarray(cells[key.column], dtype=np.float64)
            return np.where(np.isnan(values), np.nan, values == 0.0)
        if key == self.exposure:
            self._check_exposures(cells)
        return self._encoded_column(key, cells[key], allow_missing)

    def _encoded_column(self, column: Column, cells: Cells, allow_missing: bool) -> Floats:
        """The coded cells of one column: indices of levels, numbers, or logarithms of them."""
        levels = self.levels[column]
        if levels is not None:
            return _indices_of(column, cells, levels, allow_missing)
        values = as_floats(f"column {column!r}", cells, ("row",))
        if not allow_missing:
            _check_known(column, np.isnan(values))
        _check_cells(column, values, np.isfinite(values), "finite")
        if column in self.zero_inflated:
            values = np.where(values == 0.0, np.nan, values)
        if column in self.logs:
            _check_cells(column, values, values > 0.0, "positive to be log-normal")
            return np.log(values)
        if self.component.get(column) == COUNTS:
            whole = (values >= 0.0) & (values == np.floor(values))
            _check_cells(column, values, whole, "whole numbers of at least 0 to be counts")
            _check_cells(column, values, values <= MAX_COUNT, f"at most {MAX_COUNT:.0f}")
        return values

    def _check_exposures(self, cells: Mapping[Column, Cells]) -> None:
        """Raise ValueError unless exposures are in range, and known where a count is."""
        column = self.exposure
        assert column is not None
        values, (least, most) = np.asarray(cells[column], dtype=np.float64), EXPOSURE_RANGE
        rule = f"positive, from {least:g} to {most:g}, to be exposures"
        _check_cells(column, values, (values >= least) & (values <= most), rule)
        for name in self.counts:
            lacking = np.isnan(values) & ~np.isnan(np.asarray(cells[name], dtype=np.float64))
            if lacking.any():
                raise ValueError(
                    f"exposures must be known where a count is, got none in row "
                    f"{int(np.argmax(lacking))}, which has a count in column {name!r}"
                )

    def decode(self, coded: Floats) -> dict[Column, Cells]:
        """The cells of each column of a coded table, in the table's order."""
        return {column: self.cells_of(column, coded) for column in self.levels}

    def cells_of(self, column: Column, coded: Floats) -> Cells:
        """The cells of one column of a coded table."""
        place = self.place_of[column]
        levels, values, key = self.levels[column], coded[:, place], self.coded[place]
        if isinstance(key, tuple):
            return np.where(np.isnan(values), np.nan, values == key.index(column))
        if levels is not None:
            return _cells_at(values, levels)
        cells = np.exp(values) if column in self.logs else values
        zero = self.zeros.get(place)
        return cells if zero is None else np.where(coded[:, zero] == 1.0, 0.0, cells)

    def log_volumes(self, coded: Floats) -> Floats:
        """Sum of the logarithms of each row's log-normal cells, shape (N,).

        The density of a row is that of its coded row divided by exp of this.
        """
        total = np.zeros(len(coded))
        for d in np.flatnonzero(self.is_log):  # one by one, for the memory
            total += np.nan_to_num(coded[:, d])
        return total


def _indices_of(column: Column, cells: Cells, levels: Cells, allow_missing: bool) -> Floats:
    """The index of the level of each cell; NaN, with a warning, where it is not known."""
    codes = _places_of(cells, levels)
    unknown = np.flatnonzero(np.isnan(codes))
    missing = np.array([is_missing(cells[i]) for i in unknown], dtype=bool)
    if missing.any() and not allow_missing:
        _check_known(column, np.asarray([is_missing(cell) for cell in cells.tolist()]))
    if not missing.all():
        i = unknown[~missing][0]
        (level,) = cells[i : i + 1].tolist()  # 7.0, not np.float64(7.0)
        warn(
            f"levels must be among those of the fit, got {level!r} in column {column!r}, "
            f"row {i}: it counts as missing"
        )
    return codes


def _places_of(cells: Cells, levels: Cells) -> Floats:
    """The index of each cell among the levels; NaN where it is none of them."""
    if cells.dtype.kind == levels.dtype.kind == "f" and len(levels):
        order = np.argsort(levels, kind="stable")
        at = np.minimum(np.searchsorted(levels[order], cells), len(levels) - 1)
        return np.where(levels[order][at] == cells, order[at], np.nan)
    index = {level: float(i) for i, level in enumerate(levels.tolist())}
    return np.fromiter(map(index.get, cells.tolist(), repeat(np.nan)), np.float64, len(cells))


def _index_of_one(key: Key, cells: list[Cells], allow_missing: bool) -> Floats:
    """Which of the one-hot columns is 1; NaN where not exactly one is, with a warning."""
    values = np.stack([np.asarray(column, dtype=np.float64) for column in cells], axis=1)
    missing = np.asarray(np.isnan(values).any(axis=1))
    if not allow_missing:
        _check_known(key, missing)
    good = ((values == 0.0) | (values == 1.0)).all(axis=1) & (values.sum(axis=1) == 1.0)
    if not (good | missing).all():
        i = int(np.argmin(good | missing))
        warn(f"one of the one-hot columns {key} must be 1, not so in row {i}: it counts as missing")
    return np.where(good, values.argmax(axis=1), np.nan)


def members(key: CodedKey) -> tuple[Column, ...]:
    """The columns that a key of `component` names; none where a number is told from 0."""
    if isinstance(key, IsZero):
        return ()
    return key if isinstance(key, tuple) else (key,)


def _check_known(column: Key, missing: npt.NDArray[Any]) -> None:
    if missing.any():
        i = int(np.argmax(missing))
        raise ValueError(
            f"X must have a value in every cell, got none in row {i}, column {column!r}: "
            "allow_missing=True leaves missing cells out"
        )


def _cells_at(codes: Floats, levels: Cells) -> Cells:
    """The levels of codes; None, or NaN for levels that are numbers, where one is missing."""
    missing = np.isnan(codes)
    cells = levels[np.where(missing, 0, codes).astype(np.intp)]
    if missing.any():
        cells = cells.astype(np.float64 if levels.dtype.kind in "fiu" else object)
        cells[missing] = np.nan if cells.dtype.kind == "f" else None
    return cells


def is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN, NaT or pandas' NA."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell


def _check_cells(column: Column, values: Floats, good: npt.NDArray[np.bool_], rule: str) -> None:
    bad = ~(good | np.isnan(values))
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(f"values of column {column!r} must be {rule}, got {values[i]} in row {i}")
