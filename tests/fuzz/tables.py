"""Damaged files of tables: none crashes or hangs; what is read can be fitted, or is refused."""

import contextlib
import io
import json
import tempfile
import traceback
from pathlib import Path

import numpy as np
from seeds import try_each
from table_mutations import mutate
from use import is_clear, one_line

from dpmlite import MAPDPM, read_table
from dpmlite.cli import main

# A file of a few kilobytes that takes longer than this, in seconds, hangs.
MAX_SECONDS = 30

# Tables that are fitted, and files that are given to the command: most seeds are of reading alone.
FITTED = 0.15


def run(first, last, seconds):
    """Try the mutants of seeds from `first` up to `last`, as long as there is time."""
    whole = texts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def check(seed):
            rng = np.random.default_rng(seed)
            ending, text = whole[rng.integers(len(whole))]
            path = folder / f"table{ending}"
            path.write_bytes(mutate(text, rng))
            return tried(path, rng)

        try_each(first, last, seconds, MAX_SECONDS, check)


def texts():
    """Whole files as people have them: the end of the name, and the text."""
    rng = np.random.default_rng(0)
    n = 30
    x = np.round(rng.normal(5.0 * rng.integers(2, size=(n, 1)), 1.0, size=(n, 3)), 2)
    city = [("Ulm", "Bonn", "Trier")[i] for i in rng.integers(3, size=n)]
    day = [f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(n)]
    names = ("city", "day", "a", "b", "c")
    rows = [(city[i], day[i], *map(str, x[i])) for i in range(n)]
    quoted = [(f'"{c}, the ""old"""', *rest) for c, *rest in rows]
    european = [(c, f"{d[8:]}.{d[5:7]}.{d[:4]}", *(s.replace(".", ",") for s in rest))
                for c, d, *rest in rows]  # fmt: skip
    money = [(*row[:2], *(f"${float(s) * 1e4:,.2f}" for s in row[2:])) for row in rows]
    gaps = [tuple("" if rng.random() < 0.1 else cell for cell in row) for row in rows]
    records = [dict(zip(names, (*row[:2], *map(float, row[2:])), strict=True)) for row in rows]
    return [
        (".csv", lines(",", [names, *rows])),
        (".csv", lines(",", [names, *quoted])),
        (".csv", lines(";", [names, *european])),
        (".csv", lines(";", [names, *money])),
        (".tsv", lines("\t", [names, *gaps])),
        (".txt", lines(" ", [row[2:] for row in rows])),
        (".csv", lines(",", [row[2:] for row in rows])),
        (".jsonl", "".join(json.dumps(record) + "\n" for record in records)),
    ]


def lines(separator, rows):
    return "".join(separator.join(row) + "\n" for row in rows)


def tried(path, rng):
    """Read a file; now and then fit it, and let the command do it: how it ended, and failures."""
    options = some_options(rng)
    failures = []
    try:
        table = read_table(path, **options)
    except ValueError as error:
        ended = "refused"
        if not one_line(error):
            failures.append(f"{options}: {error!r}")
    else:
        ended = "read"
        require_table(table)
        if rng.random() < FITTED:
            failures += fitted(table)
    return ended, failures + (commanded(path, options) if rng.random() < FITTED else [])


def some_options(rng):
    """Now and then the file is said to be what it is not."""
    options = {}
    if rng.random() < 0.2:
        options["header"] = str(rng.choice(["yes", "no"]))
    if rng.random() < 0.1:
        options["separator"] = str(rng.choice([",", ";", "\t", " ", "|"]))
    if rng.random() < 0.1:
        options["decimal"] = str(rng.choice([".", ","]))
    return options


def require_table(table):
    """Columns have names of their own, equal lengths, and finite numbers, text, dates or gaps."""
    assert len(set(table.columns)) == len(table.columns) > 0
    n_rows = len(table.source.row_numbers)
    assert n_rows > 0
    assert (np.diff(table.source.row_numbers) > 0).all()
    for name in table.columns:
        cells = table[name]
        assert cells.shape == (n_rows,)
        if cells.dtype.kind == "f":
            assert not np.isinf(cells).any()
        elif cells.dtype.kind == "O":
            assert all(cell is None or isinstance(cell, str) for cell in cells)
        else:
            assert cells.dtype.kind == "M"


def fitted(table):
    """Failures of a fit to a table."""
    try:
        model = MAPDPM(allow_missing=True, max_clusters=3, max_seconds=5.0, random_state=0).fit(
            table
        )
    except Exception as error:
        return [] if is_clear(error) else ["".join(traceback.format_exception(error))]
    assert model.labels_.shape == (len(table.source.row_numbers),)
    return []


def commanded(path, options):
    """Failures of the command: it ends with 0, or with 2 and one line."""
    arguments = [f"--{name}={value}" for name, value in options.items()]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["fit", str(path), "--time-limit=5", *arguments])
    if code == 0:
        return [] if out.getvalue() else ["no output"]
    said = err.getvalue().splitlines()
    wrong = code != 2 or not said or not said[-1].startswith("dpmlite: error: ")
    return [f"{code}: {said}"] if wrong or "please report" in said[-1] else []
