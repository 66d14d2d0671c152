"""Which columns of a file are clustered, and as what."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.column_families.by_rule import AUTO, MAX_DIFFERENT
from dpmlite.estimators.inputs.columns import FULL

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import numpy.typing as npt

    from dpmlite.tables import Table

CATEGORICAL = "categorical"

# Tables of fewer rows have no column of ids: small whole numbers are consecutive by chance.
MIN_ROWS_OF_IDS = 20

# Columns that a note on missing cells names at most.
MAX_SHOWN = 3

# Names of ids: "id", "customer_id", "Order ID", "orderId".
ID_NAME = re.compile(r"(^|[\W_])[iI][dD]$|[a-z]I[dD]$")


@dataclass(frozen=True)
class Wanted:
    """What the options say of a file's columns.

    Attributes
    ----------
    candidates : list of str
        Columns that may be clustered.
    labels : list of str
        Columns to compare the clusters with.
    families : dict
        What --as and --exposure say of columns: "number", "text", "exposure", or a family.
    named : bool
        Whether --columns names the candidates.
    takes_text : bool
        Whether text may be categories: unless --component names a family.
    """

    candidates: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    families: dict[str, str] = field(default_factory=dict)
    named: bool = False
    takes_text: bool = True

    def kinds(self, names: Sequence[str]) -> dict[str, str]:
        """How each column is read; others are as they look."""
        kinds = {name: "text" for name in names if name not in self.candidates}
        for name, family in self.families.items():
            kinds[name] = "text" if family in ("text", CATEGORICAL) else "number"
        return kinds


def wanted_columns(args: argparse.Namespace, names: Sequence[str]) -> Wanted:
    """What the options of ``fit`` say of the columns with these names.

    Raises
    ------
    ValueError
        If there is no such column, or none is left.
    """
    labels = _find_all(args.label_column, names)
    dropped = _find_all(args.drop, names)
    families = {_find(column, names): family for column, family in args.families}
    chosen = _find_all(args.columns, names) if args.columns else list(names)
    candidates = [name for name in chosen if name not in (*labels, *dropped)]
    if not candidates:
        left_out = "the label column" if labels and not dropped else "those to leave out"
        raise ValueError(f"there is no column besides {left_out}")
    return Wanted(candidates, labels, families, bool(args.columns), args.component == AUTO)


def usable_columns(table: Table, wanted: Wanted) -> tuple[list[str], list[str]]:
    """The columns to cluster by, and a note on each that is left out.

    Raises
    ------
    ValueError
        If none is left, or --columns names one of text without saying what it is.
    """
    kinds = table.kinds
    reasons = {name: _why_not(name, kinds[name], table, wanted) for name in wanted.candidates}
    used = [name for name, reason in reasons.items() if not reason]
    notes = [f"left out: {name}, {reason}" for name, reason in reasons.items() if reason]
    if wanted.named and notes:
        raise ValueError(notes[0].removeprefix("left out: "))
    if not used:
        raise ValueError(f"there is no column to cluster by; {'; '.join(notes)}")
    return used, notes


def _why_not(name: str, kind: str, table: Table, wanted: Wanted) -> str:
    """Why a column of a kind is left out; empty if it is used."""
    cells, family = table[name], wanted.families.get(name)
    if family == "text":
        return "text"
    if family is not None:
        return ""
    if kind == "date":
        return f"dates (--as {quote(name)}=number makes days of them)"
    if kind == "text":
        return _why_not_text(name, cells, wanted.takes_text)
    if table.missing(name).all():
        return "which has no value"
    if not wanted.named and len(wanted.candidates) > 1 and _numbers_rows(name, cells):
        return f"which numbers the rows (--as {quote(name)}=number keeps it)"
    return ""


def _why_not_text(name: str, cells: npt.NDArray[Any], takes_text: bool) -> str:
    known = [cell for cell in cells.tolist() if cell is not None]
    n_different = len(set(known))
    if n_different > max(1, MAX_DIFFERENT * len(known)):
        return f"text, {n_different} different in {len(known)} rows"
    if takes_text:
        return ""
    advice = f"--as {quote(name)}=categorical takes it as categories"
    return f"text such as {known[0]!r}, {n_different} different ({advice})"


def _numbers_rows(name: str, cells: npt.NDArray[np.float64]) -> bool:
    """Whether cells are whole numbers that all differ, and consecutive or named as ids are."""
    if len(cells) < MIN_ROWS_OF_IDS or not (cells == np.floor(cells)).all():
        return False
    steps = np.diff(np.sort(cells))
    return bool((steps == 1.0).all() or (ID_NAME.search(name) and (steps > 0.0).all()))


def model_arguments(
    args: argparse.Namespace, wanted: Wanted, used: Sequence[str]
) -> dict[str, Any]:
    """The arguments of `MAPDPM` that the options of ``fit`` say."""
    families = {
        name: family
        for name, family in wanted.families.items()
        if name in used and family not in ("number", "text")
    }
    component: Any = args.component
    if families:
        others = [name for name in used if name not in families]
        component = {**_component_of(args.component, others), **families}
    return {
        "allow_missing": args.allow_missing,
        "component": component,
        "alpha": args.alpha,
        "prior": args.prior,
        "max_clusters": args.max_clusters,
        "n_init": args.n_init,
        "random_state": args.random_state,
        "max_seconds": args.time_limit,
        "verbose": args.verbose,
    }


def _component_of(family: str, columns: Sequence[str]) -> dict[Any, str]:
    """The family of columns for which --as says none, as `MAPDPM` takes it."""
    if family == AUTO or not columns:
        return {}
    return {tuple(columns): family} if family == FULL else dict.fromkeys(columns, family)


def columns_of_model(model: Any, names: Sequence[str]) -> list[str]:
    """The columns of a file that a fitted model needs, in the model's order.

    Raises
    ------
    ValueError
        If the file lacks one.
    """
    needed = getattr(model, "feature_names_in_", None)
    if needed is None:
        if len(names) != model.n_features_in_:
            raise ValueError(
                f"the model has {model.n_features_in_} columns without names, "
                f"the file {len(names)}: {', '.join(names)}"
            )
        return list(names)
    lacking = [name for name in needed if name not in names]
    if lacking:
        raise ValueError(
            f"the model needs column {lacking[0]!r}; the columns are {', '.join(names)}"
        )
    return list(needed)


def kinds_of_model(model: Any, used: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """How the columns of a file are read for a fitted model."""
    kinds = dict.fromkeys(names, "text")
    levels = list(getattr(model, "levels_", dict.fromkeys(used)).values())
    for name, found in zip(used, levels, strict=True):
        kinds[name] = "number" if found is None or found.dtype.kind == "f" else "text"
    return kinds


def check_missing(table: Table, used: Sequence[str], advice: str) -> None:
    """Raise ValueError for the first missing cell in the columns that are used."""
    assert table.source is not None
    for name in used:
        missing = table.missing(name)
        if missing.any():
            i = int(np.argmax(missing))
            row, cell = table.source.row_numbers[i], table.source.texts[name][i]
            raise ValueError(f"missing value in column {name!r}, row {row}: {cell!r}; {advice}")


def missing_cells(table: Table, used: Sequence[str]) -> list[str]:
    """A note on the missing cells in the columns that are used, if there are any."""
    numbers = {name: int(table.missing(name).sum()) for name in used}
    most = sorted((name for name in used if numbers[name]), key=numbers.__getitem__, reverse=True)
    if not most:
        return []
    shown = [f"{numbers[name]} of {name}" for name in most[:MAX_SHOWN]]
    others = sum(numbers[name] for name in most[MAX_SHOWN:])
    shown += [f"{others} of other columns"] if others else []
    return [
        f"missing cells, which tell nothing: {', '.join(shown)} (--no-allow-missing refuses them)"
    ]


def _find_all(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Columns of options, each a column or several with commas between them."""
    found = []
    for text in given:
        parts = [text] if text in names else text.split(",")
        found += [_find(part.strip(), names) for part in parts]
    return found


def _find(column: str, names: Sequence[str]) -> str:
    """The column of a name, or of a number from 1."""
    if column in names:
        return column
    numbers = [str(j) for j in range(1, len(names) + 1)]
    if column in numbers:
        return names[numbers.index(column)]
    raise ValueError(f"there is no column {column!r}; the columns are {', '.join(names)}")
