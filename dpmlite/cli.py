"""The command `dpmlite`: cluster a CSV file, or the shipped example, and print the clusters."""

import argparse
import errno
import io
import os
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from dpmlite import MAPDPM, __version__
from dpmlite.datasets import load_sensors
from dpmlite.estimators.family_estimator import AUTO
from dpmlite.estimators.mapdpm import ALPHA_CHOICES, PRIOR_CHOICES
from dpmlite.estimators.priors import COMPONENTS
from dpmlite.plotting import check_picture, plot_clusters
from dpmlite.tables import Table, read_table

# Clusters and columns that the printed table shows at most.
SHOWN_CLUSTERS = 20
SHOWN_COLUMNS = 6

BAD_INPUT = 2
INTERRUPTED = 130

DEMO = """\
Readings of an imaginary milling machine: vibration in mm/s, temperature in deg C, power in W.
The clustering is told neither the machine's states nor how many there are.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the command's name; default those of the process.

    Returns
    -------
    int
        The exit code: 0; 2 after an error, which is one line on stderr; 130 if the user or the
        reader of the output ended it.
    """
    args = _parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):  # its encoding may lack letters of column names
        sys.stdout.reconfigure(errors="replace")
    try:
        args.run(args)
        if sys.stdout is not None:  # it may be closed from the start
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The flush of the buffer when Python exits would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    except (ImportError, MemoryError, OSError, ValueError) as error:
        print(f"dpmlite: error: {_message(error)}", file=sys.stderr)
        return BAD_INPUT
    return 0


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or "there is not enough memory"  # MemoryError is often silent


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dpmlite", description="Cluster tables without being told the number of clusters."
    )
    parser.add_argument("--version", action="version", version=f"dpmlite {__version__}")
    commands = parser.add_subparsers(required=True, metavar="{demo,fit}")
    _add_demo(commands.add_parser("demo", help="cluster the table that is shipped, and draw it"))
    _add_fit(commands.add_parser("fit", help="cluster a CSV file of numbers"))
    return parser


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_demo)
    picture = Path("dpmlite-demo.png")
    text = "picture to draw (default: %(default)s)"
    parser.add_argument("--plot", type=Path, default=picture, metavar="PATH", help=text)


def _add_fit(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_fit)
    add = parser.add_argument
    add("data", help="CSV file; its first row names the columns, unless it is all numbers")
    text = "column to leave out and to compare the clusters with: its name, or its number from 1"
    add("--label-column", metavar="NAME", help=text)
    text = "take empty cells, NA, ? and the like as missing values, which tell nothing"
    add("--allow-missing", action="store_true", help=text)
    add("--out", type=Path, metavar="CSV", help="file to write the cluster of each row to")
    add("--plot", type=Path, metavar="PATH", help="picture to draw, such as clusters.png")
    add("--save", type=Path, metavar="NPZ", help="file to save the model to, for MAPDPM.load")
    text = "family of the clusters (default: %(default)s)"
    add("--component", choices=(AUTO, *COMPONENTS), default=AUTO, help=text)
    text = "concentration: a number, or how to choose it (default: %(default)s)"
    add("--alpha", type=_alpha, default=1.0, metavar="{A,map,nll,cv}", help=text)
    text = "how hyperparameters are chosen (default: %(default)s)"
    add("--prior", choices=PRIOR_CHOICES, default=AUTO, help=text)
    text = "clusters at most; further ones join"
    add("--max-clusters", type=int, metavar="K", help=text)
    add("--n-init", type=int, default=1, metavar="N", help="restarts (default: %(default)s)")
    add("--random-state", type=int, default=0, metavar="N", help="seed (default: %(default)s)")
    add("--verbose", action="store_true", help="print a line for every step of the search")


def _alpha(text: str) -> float | str:
    """A number, or the name of a method that chooses it."""
    if text in ALPHA_CHOICES:
        return text
    try:
        return float(text)
    except ValueError:
        rule = f"must be a number or one of {', '.join(ALPHA_CHOICES)}, got {text!r}"
        raise argparse.ArgumentTypeError(rule) from None


def _demo(args: argparse.Namespace) -> None:
    _check_output(args.plot)
    with suppress(ImportError):  # the table is printed without the picture
        check_picture(args.plot)
    print(DEMO)
    rows, states, columns = load_sensors()
    table = Table(columns, rows, states)
    model = _cluster(table, MAPDPM(random_state=0))
    try:
        _draw(model, table, args.plot)
    except ImportError as error:
        print(error)


def _fit(args: argparse.Namespace) -> None:
    _check_outputs(args)
    table = read_table(args.data, args.label_column, args.allow_missing)
    model = MAPDPM(
        allow_missing=args.allow_missing,
        component=args.component,
        alpha=args.alpha,
        prior=args.prior,
        max_clusters=args.max_clusters,
        n_init=args.n_init,
        random_state=args.random_state,
        verbose=args.verbose,
    )
    _cluster(table, model)
    if args.out:
        args.out.write_text("\n".join(["cluster", *map(str, model.labels_), ""]))
        print(f"wrote {args.out}")
    if args.save:
        model.save(args.save)
        print(f"wrote {args.save}")
    if args.plot:
        _draw(model, table, args.plot)


def _check_outputs(args: argparse.Namespace) -> None:
    """Raise an error before the fit if an output could not be written."""
    paths = [path for path in (args.out, args.save, args.plot) if path]
    for i, path in enumerate(paths):
        _check_output(path)
        if path.exists() and path.samefile(args.data):
            raise ValueError(f"{path}: would overwrite the data")
        if path.resolve() in [other.resolve() for other in paths[:i]]:
            raise ValueError(f"{path}: is given for two outputs")
    if args.plot:
        check_picture(args.plot)


def _check_output(path: Path) -> None:
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _cluster(table: Table, model: MAPDPM) -> MAPDPM:
    """Fit the model and print its clusters."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            model.fit(table.rows)
        except ValueError as error:
            raise ValueError(_in_its_terms(str(error), table)) from error
        seconds = time.perf_counter() - start
    for warning in caught:
        message = _in_its_terms(str(warning.message), table)
        print(f"dpmlite: warning: {message}", file=sys.stderr)
    n_rows, n_columns = table.rows.shape
    print(f"{n_rows} rows x {n_columns} columns; clusters found: {model.n_clusters_}\n")
    print(_align(_summary(model, table)))
    hidden = model.n_clusters_ - SHOWN_CLUSTERS
    if hidden > 0:
        print(f"... and {hidden} smaller")
    end = "" if model.converged_ else f", stopped by the limit of {model.max_sweeps}"
    print(
        f"\nneg_log_joint {model.neg_log_joint_:.4f} nats, {model.n_sweeps_} sweeps{end}, "
        f"alpha {model.alpha_:.3g}, fitted in {1e3 * seconds:.1f} ms"
    )
    return model


def _in_its_terms(message: str, table: Table) -> str:
    """A message with names of columns for their numbers, and rows counted from 1."""
    message = re.sub(r"\brow (\d+)", lambda found: f"row {int(found[1]) + 1} of the data", message)
    return re.sub(
        r"\bcolumn (\d+)", lambda found: f"column {table.columns[int(found[1])]!r}", message
    )


def _summary(model: MAPDPM, table: Table) -> list[list[str]]:
    """Lines of the printed table: size, means and most common label of each cluster."""
    header = ["cluster", "rows", "share", *table.columns[:SHOWN_COLUMNS]]
    if table.labels is not None:
        header.append("mostly")
    lines = [header]
    for k, count in enumerate(model.counts_[:SHOWN_CLUSTERS].tolist()):
        means = [f"{mean:.4g}" for mean in model.means_[k, :SHOWN_COLUMNS]]
        line = [str(k), str(count), f"{model.weights_[k]:.1%}", *means]
        if table.labels is not None:
            label, times = Counter(table.labels[model.labels_ == k].tolist()).most_common(1)[0]
            line.append(f"{label} ({times / count:.1%})")
        lines.append(line)
    return lines


def _align(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def _draw(model: MAPDPM, table: Table, path: Path) -> None:
    whole = ~np.isnan(table.rows).any(axis=1)
    if not whole.any():
        print(f"did not draw {path}: every row has a missing value")
        return
    plot_clusters(table.rows[whole], model.labels_[whole], columns=table.columns, path=path)
    left_out = np.count_nonzero(~whole)
    print(f"drew {path}" + (f" without {left_out} rows that miss values" if left_out else ""))
