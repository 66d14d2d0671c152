"""Commands that apply saved models to new rows, and ``dpmlite convert``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite import MAPDPM
from dpmlite.cli.columns import check_missing, columns_of_model, kinds_of_model
from dpmlite.cli.facts import facts_of_clusters, facts_of_labels, print_facts
from dpmlite.cli.fitting import in_the_terms_of, naming
from dpmlite.cli.outputs import (
    check_outputs,
    draw,
    encoding_of,
    labelled_table,
    scored_table,
    write_text,
)
from dpmlite.cli.report import align
from dpmlite.tables import read_table, write_table
from dpmlite.tables.records import column_texts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import numpy.typing as npt

    from dpmlite.tables import Table

NO_MISSING = "the model was fitted without missing cells (--allow-missing)"


def run_predict(args: argparse.Namespace) -> None:
    """Label new rows; write them with their labels, or print them."""
    check_outputs([args.out], args.data)
    model, table, rows = _read(args)
    with in_the_terms_of(rows):
        labels = model.predict(rows)
        text = labelled_table(table, model, rows, labels)
    if args.out or not args.json:
        write_text(args.out, text, encoding_of(table))
    if args.json:
        print_facts(facts_of_labels(labels))
    elif args.out:
        print(_counts(labels))
        print(f"wrote {args.out}")


def run_score(args: argparse.Namespace) -> None:
    """Print the mean log density of new rows; write the table with that of each row."""
    check_outputs([args.out], args.data)
    model, table, rows = _read(args)
    with in_the_terms_of(rows):
        densities = model.score_samples(rows)
        mean = float(np.mean(densities))
        if args.out:
            write_text(args.out, scored_table(table, model, rows, densities), encoding_of(table))
    if args.json:
        print_facts({"rows": len(rows), "mean_log_density": mean, "log_densities": densities})
        return
    print(f"{len(rows)} rows; mean log density {mean:.6g} nats a row")
    if args.out:
        print(f"wrote {args.out}")


def run_explain(args: argparse.Namespace) -> None:
    """Print what makes each cluster one."""
    model = MAPDPM.load(args.model)
    last = model.n_clusters_ - 1
    if args.cluster is not None and not 0 <= args.cluster <= last:
        raise ValueError(f"--cluster must be from 0 to {last}, got {args.cluster}")
    if args.json:
        facts = facts_of_clusters(model)
        shown = facts if args.cluster is None else [facts[args.cluster]]
        print_facts({"n_clusters": model.n_clusters_, "clusters": shown})
    elif args.cluster is not None:
        print(model.explain(args.cluster))
    else:
        print(model.summary())
        for k in range(model.n_clusters_):
            print(f"\n{model.explain(k)}")


def run_plot(args: argparse.Namespace) -> None:
    """Draw new rows in the colours of their clusters."""
    check_outputs([args.plot], args.data, args.plot)
    model, _, rows = _read(args)
    with in_the_terms_of(rows):
        labels = model.predict(rows)
    print(draw(args.plot, model, rows, labels))


def run_convert(args: argparse.Namespace) -> None:
    """Write a table as CSV: commas, decimal points, ISO dates, empty cells where one is missing."""
    check_outputs([args.out], args.data)
    table = read_table(
        args.data, header=args.header, separator=args.separator, decimal=args.decimal
    )
    columns = {name: column_texts(table[name]) for name in table.columns}
    write_text(args.out, write_table(columns))
    if args.out:
        print(f"wrote {args.out}")


def _read(args: argparse.Namespace) -> tuple[MAPDPM, Table, Table]:
    """The model, the whole table, and the columns that the model takes, in its order."""
    model = MAPDPM.load(args.model)

    def kinds(names: Sequence[str]) -> dict[str, str]:
        return kinds_of_model(model, columns_of_model(model, names), names)

    with naming(args.data):
        table = read_table(
            args.data,
            header=args.header,
            separator=args.separator,
            decimal=args.decimal,
            kinds=kinds,
        )
        used = columns_of_model(model, table.columns)
        if not model.allow_missing_:
            check_missing(table, used, NO_MISSING)
    return model, table, table[used]


def _counts(labels: npt.NDArray[np.intp]) -> str:
    """Rows of each cluster, as a printed table."""
    values, counts = np.unique(labels, return_counts=True)
    lines = [[str(k), str(n)] for k, n in zip(values.tolist(), counts.tolist(), strict=True)]
    return align([["cluster", "rows"], *lines])
