"""Options of the commands."""

import argparse
from pathlib import Path

from dpmlite import __version__
from dpmlite.cli.boards import run_board
from dpmlite.cli.completion import script_of
from dpmlite.cli.fitting import run_demo, run_fit
from dpmlite.cli.saved import run_convert, run_explain, run_plot, run_predict, run_score
from dpmlite.estimators.column_families.by_rule import AUTO, COLUMN_FAMILIES
from dpmlite.estimators.inputs.columns import EXPOSURE
from dpmlite.estimators.map_dpm.parameters import ALPHA_CHOICES, PRIOR_CHOICES
from dpmlite.estimators.priors import COMPONENTS

# Separators that a shell does not take easily.
SEPARATORS = {"tab": "\t", "\\t": "\t", "blanks": " "}

EPILOG = """\
examples:
  dpmlite demo
  dpmlite fit table.csv --out labelled.csv --save model.npz
  dpmlite predict model.npz new.csv --out labelled.csv
  dpmlite COMMAND --help

exit codes: 0 after success, also if --time-limit ended a fit; 2 after an error, which is one line
on standard error; 130 if Ctrl-C, or the reader of the output, ended the command
"""

EXAMPLES = {
    "demo": ["", "--plot machine.png"],
    "fit": [
        "table.csv",
        "table.csv --out labelled.csv --plot clusters.png --save model.npz",
        "table.csv --columns age,income --as city=categorical",
        "policies.csv --as claims=poisson-gamma --exposure days",
        "big.csv.gz --time-limit 60 --json > clusters.json",
        "- < table.csv",
    ],
    "predict": ["model.npz new.csv --out labelled.csv", "model.npz new.csv --json"],
    "score": ["model.npz new.csv", "model.npz new.csv --out scored.csv"],
    "explain": ["model.npz", "model.npz --cluster 2"],
    "plot": ["model.npz new.csv --plot new.png"],
    "board": ["sensors.csv", "sensors.csv --columns 1,2 --out machine.py --clusters 20"],
    "completion": ["> dpmlite.bash"],
    "convert": ["table.csv.gz --out plain.csv", "lines.jsonl"],
}

AS_CHOICES = ("number", "text", *(name for name in COLUMN_FAMILIES if name != AUTO))


def parser() -> argparse.ArgumentParser:
    """The parser of the command; ``args.run(args)`` runs what was asked for."""
    parser = argparse.ArgumentParser(
        prog="dpmlite",
        description="Cluster tables without being told the number of clusters.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dpmlite {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, text: str) -> argparse.ArgumentParser:
        lines = "\n".join(f"  dpmlite {name} {example}".rstrip() for example in EXAMPLES[name])
        return commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=f"examples:\n{lines}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    _add_demo(add("demo", "cluster the table that is shipped, and draw it"))
    _add_fit(add("fit", "cluster a table from a file"))
    _add_predict(add("predict", "label new rows with a saved model"))
    _add_score(add("score", "tell how well a saved model describes new rows"))
    _add_explain(add("explain", "tell what the clusters of a saved model are"))
    _add_plot(add("plot", "draw rows in the clusters of a saved model"))
    _add_board(add("board", "cluster a table, and write the model for a micro-controller"))
    _add_convert(add("convert", "write a table in any form as plain CSV"))
    completion = add("completion", "print what bash or zsh needs to complete these commands")
    completion.set_defaults(run=lambda args: print(script_of(parser), end=""))
    return parser


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run_demo)
    picture = Path("dpmlite-demo.png")
    text = "picture to draw (default: %(default)s)"
    parser.add_argument("--plot", type=Path, default=picture, metavar="PATH", help=text)


def _add_fit(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run_fit)
    _add_data(parser)
    _add_columns(parser, "those of numbers, and of text whose values repeat")
    _add_kinds(parser)
    add = parser.add_argument
    text = "file to write the table to, with the cluster of each row"
    add("--out", type=Path, metavar="CSV", help=text)
    add("--plot", type=Path, metavar="PATH", help="picture to draw, such as clusters.png")
    add("--save", type=Path, metavar="NPZ", help="file to save the model to, for predict")
    _add_model_and_search(parser)
    _add_json(parser)
    text = "tell every step of the search in a line on stderr"
    add("--verbose", action="store_true", help=text)


def _add_kinds(parser: argparse.ArgumentParser) -> None:
    """Options that say what columns are."""
    add = parser.add_argument
    text = "columns to leave out and to compare the clusters with"
    add("--label-column", action="append", default=[], metavar="A,B", help=text)
    text = f"what a column is: {', '.join(AS_CHOICES)}; may be given several times"
    add(
        "--as", dest="families", type=_column_family, action="append", default=[],
        metavar="COLUMN=KIND", help=text,
    )  # fmt: skip
    text = "column of the time, area or population in which the counts of a row were taken"
    add(
        "--exposure", dest="families", type=_exposure_column, action="append", default=[],
        metavar="COLUMN", help=text,
    )  # fmt: skip
    text = "take empty cells, NA, ? and the like as missing, or refuse them (default: taken)"
    add("--allow-missing", action=argparse.BooleanOptionalAction, help=text)


def _add_model_and_search(parser: argparse.ArgumentParser) -> None:
    """Options that are parameters of `MAPDPM`."""
    add = parser.add_argument
    text = "family of the clusters (default: %(default)s)"
    add("--component", choices=(AUTO, *COMPONENTS), default=AUTO, help=text)
    text = "concentration: a number, or how to choose it (default: %(default)s)"
    add("--alpha", type=_alpha, default=1.0, metavar="{A,map,mode,nll,loo,cv}", help=text)
    text = "how hyperparameters are chosen (default: %(default)s)"
    add("--prior", choices=PRIOR_CHOICES, default=AUTO, help=text)
    text = "clusters at most; further ones join"
    add("--max-clusters", type=int, metavar="K", help=text)
    add("--n-init", type=int, default=1, metavar="N", help="restarts (default: %(default)s)")
    add("--random-state", type=int, default=0, metavar="N", help="seed (default: %(default)s)")
    text = "end the search after this time, and keep the best so far"
    add("--time-limit", type=float, metavar="SECONDS", help=text)


def _add_predict(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run_predict)
    _add_model(parser)
    _add_data(parser)
    text = "file to write the table to, with the cluster of each row (default: print it)"
    parser.add_argument("--out", type=Path, metavar="CSV", help=text)
    _add_json(parser)


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run_score)
    _add_model(parser)
    _add_data(parser)
    text = "file to write the table to, with log density and outlier score of each row"
    parser.add_argument("--out", type=Path, metavar="CSV", help=text)
    _add_json(parser)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run_explain)
    _add_model(parser)
    text = "the only cluster to explain"
    parser.add_argument("--cluster", type=int, metavar="K", help=text)
    _add_json(parser)


def _add_plot(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run_plot)
    _add_model(parser)
    _add_data(parser)
    text = "picture to draw (default: %(default)s)"
    names, picture = ("--out", "--plot"), Path("clusters.png")
    parser.add_argument(*names, dest="plot", type=Path, default=picture, metavar="PATH", help=text)


def _add_board(parser: argparse.ArgumentParser) -> None:
    # Columns of numbers alone, and whole rows: what a board can learn.
    parser.set_defaults(run=run_board, component="normal-gamma", allow_missing=False)
    parser.set_defaults(label_column=[], families=[])
    _add_data(parser)
    _add_columns(parser, "all of numbers")
    add = parser.add_argument
    text = "module to write (default: %(default)s)"
    add("--out", type=Path, default=Path("learner.py"), metavar="PY", help=text)
    text = "clusters that the board has room for, 127 at most (default: 8, or 4 more than found)"
    add("--clusters", type=int, metavar="N", help=text)
    add("--random-state", type=int, default=0, metavar="N", help="seed (default: %(default)s)")


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run_convert)
    _add_data(parser)
    text = "file to write (default: print it)"
    parser.add_argument("--out", type=Path, metavar="CSV", help=text)


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="file that fit --save wrote")


def _add_columns(parser: argparse.ArgumentParser, default: str) -> None:
    add = parser.add_argument
    text = f"columns to cluster by: their names, or numbers from 1 (default: {default})"
    add("--columns", action="append", default=[], metavar="A,B", help=text)
    add("--drop", action="append", default=[], metavar="A,B", help="columns to leave out")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")


def _add_data(parser: argparse.ArgumentParser) -> None:
    """What to read, and how, where that is not to be found out."""
    add = parser.add_argument
    add("data", help="file of a table: CSV and the like, gz, JSON lines, parquet; - is stdin")
    text = "whether the first row names the columns (default: if it has text over numbers)"
    add("--header", choices=("auto", "yes", "no"), default="auto", help=text)
    text = "sign between cells, such as ';', tab or blanks (default: found out)"
    add("--separator", type=lambda sign: SEPARATORS.get(sign, sign), metavar="SIGN", help=text)
    text = "decimal sign (default: found out)"
    add("--decimal", choices=(".", ","), help=text)


def _alpha(text: str) -> float | str:
    """A number, or the name of a method that chooses it."""
    if text in ALPHA_CHOICES:
        return text
    try:
        return float(text)
    except ValueError:
        rule = f"must be a number or one of {', '.join(ALPHA_CHOICES)}, got {text!r}"
        raise argparse.ArgumentTypeError(rule) from None


def _exposure_column(column: str) -> tuple[str, str]:
    """A column that is the exposure, as --as would say it."""
    return column, EXPOSURE


def _column_family(text: str) -> tuple[str, str]:
    """The column and what it is."""
    column, _, family = text.rpartition("=")
    if not column or family not in AS_CHOICES:
        rule = f"must be COLUMN=KIND, a kind of {', '.join(AS_CHOICES)}, got {text!r}"
        raise argparse.ArgumentTypeError(rule)
    return column, family
