"""``dpmlite fit`` and ``dpmlite demo``."""

from __future__ import annotations

import re
import sys
import time
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from dpmlite import MAPDPM
from dpmlite.cli.columns import (
    check_missing,
    missing_cells,
    model_arguments,
    usable_columns,
    wanted_columns,
)
from dpmlite.cli.facts import facts_of_fit, print_facts
from dpmlite.cli.outputs import (
    check_output,
    check_outputs,
    draw,
    encoding_of,
    labelled_table,
    write_text,
)
from dpmlite.cli.progress import progress_of
from dpmlite.cli.report import print_report
from dpmlite.datasets import load_sensors
from dpmlite.estimators.priors import FAMILIES
from dpmlite.plotting import check_picture
from dpmlite.tables import Table, read_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from dpmlite.cli.columns import Wanted

DEMO = """\
Readings of an imaginary milling machine: vibration in mm/s, temperature in deg C, power in W.
The clustering is told neither the machine's states nor how many there are.
"""

TAKES_MISSING = "--allow-missing takes it as missing"


def run_demo(args: argparse.Namespace) -> None:
    """Cluster the table that is shipped, and draw it."""
    check_output(args.plot)
    with suppress(ImportError):  # the table is printed without the picture
        check_picture(args.plot)
    X, states, columns = load_sensors()
    rows = Table(dict(zip(columns, X.T, strict=True)))
    model, seconds = _fitted(MAPDPM(random_state=0), rows)
    try:
        drawn = draw(args.plot, model, rows, model.labels_)
    except ImportError as error:
        drawn = str(error)
    print(DEMO)
    print_report(model, rows, {"state": states}, seconds)
    print(drawn)


def run_fit(args: argparse.Namespace) -> None:
    """Cluster a table, write the files that are wanted, and print the clusters."""
    check_outputs([args.out, args.save, args.plot], args.data, args.plot)
    table, wanted, used, notes = read_for_fit(args)
    model, seconds = _fitted(MAPDPM(**model_arguments(args, wanted, used)), table[used])
    done = _write(args, model, table, table[used])
    labels = {name: table[name] for name in wanted.labels}
    if args.json:
        facts = facts_of_fit(model, table[used], labels, seconds)
        print_facts({**facts, "notes": notes, "done": done})
        return
    print("\n".join(notes))
    print_report(model, table[used], labels, seconds)
    for line in done:
        print(line)


def read_for_fit(args: argparse.Namespace) -> tuple[Table, Wanted, list[str], list[str]]:
    """The table of a file, what is wanted of it, the columns to cluster by, and notes on both."""
    with naming(args.data):
        table = read_table(
            args.data,
            header=args.header,
            separator=args.separator,
            decimal=args.decimal,
            kinds=lambda names: wanted_columns(args, names).kinds(names),
        )
        wanted = wanted_columns(args, table.columns)
        used, notes = usable_columns(table, wanted)
        args.allow_missing, of_missing = _whether_missing(args, table, used)
    assert table.source is not None
    return table, wanted, used, [*table.source.notes, *notes, *of_missing]


def _whether_missing(
    args: argparse.Namespace, table: Table, used: list[str]
) -> tuple[bool, list[str]]:
    """Whether cells may be missing in a fit, and a note if some are.

    Raises
    ------
    ValueError
        For the first missing cell, if none is allowed.
    """
    family = FAMILIES.get(args.component)
    if args.allow_missing is False:
        check_missing(table, used, TAKES_MISSING)
    elif family and not family.takes_missing:
        check_missing(table, used, f"--component {family.name} takes none")
    notes = missing_cells(table, used)
    return bool(args.allow_missing or notes), notes


def _fitted(model: MAPDPM, rows: Table) -> tuple[MAPDPM, float]:
    """The model, fitted, and the seconds that it took; warnings go to stderr."""
    start = time.perf_counter()
    with in_the_terms_of(rows), progress_of(model):
        model.fit(rows)
    return model, time.perf_counter() - start


def _write(args: argparse.Namespace, model: MAPDPM, table: Table, rows: Table) -> list[str]:
    """Write the files that are wanted; return what to tell."""
    done = []
    if args.out:
        text = labelled_table(table, model, rows, model.labels_)
        write_text(args.out, text, encoding_of(table))
        done.append(f"wrote {args.out}")
    if args.save:
        model.save(args.save)
        done.append(f"wrote {args.save}")
    if args.plot:
        done.append(draw(args.plot, model, rows, model.labels_))
    return done


@contextmanager
def naming(data: str) -> Iterator[None]:
    """Errors about a file name it."""
    name = "standard input" if data == "-" else data
    try:
        yield
    except ValueError as error:
        message = str(error)
        raise ValueError(message if message.startswith(name) else f"{name}: {message}") from error


@contextmanager
def in_the_terms_of(rows: Table) -> Iterator[None]:
    """Errors and warnings name columns for their numbers, and rows as the file counts them."""

    def translated(message: str) -> str:
        numbers = rows.source.row_numbers if rows.source else range(1, len(rows) + 1)
        message = re.sub(
            r"\brow (\d+)\b", lambda found: f"row {numbers[int(found[1])]} of the data", message
        )
        # In quotes it is the name of a column, of a file without a header.
        return re.sub(
            r"(?<!')\bcolumn (\d+)\b(?!')",
            lambda found: f"column {rows.columns[int(found[1])]!r}",
            message,
        )

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except (TypeError, ValueError) as error:
            raise ValueError(translated(str(error))) from error
    for warning in caught:
        print(f"dpmlite: warning: {translated(str(warning.message))}", file=sys.stderr)
