"""``dpmlite board``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite import MAPDPM
from dpmlite.boards import quantize, to_micropython
from dpmlite.cli.fitting import in_the_terms_of, read_for_fit
from dpmlite.cli.outputs import check_outputs
from dpmlite.cli.progress import progress_of

if TYPE_CHECKING:
    import argparse

# A board has no smaller prior weight for tables of more than a few hundred rows.
BOARD_PRIOR = {"c0": 1.0}


def run_board(args: argparse.Namespace) -> None:
    """Cluster a table as a board does, and write the module with which a board goes on."""
    check_outputs([args.out], args.data)
    table, _, used, notes = read_for_fit(args)
    rows = table[used]
    with in_the_terms_of(rows):
        ints = quantize(np.asarray(rows))
        model = MAPDPM(prior=BOARD_PRIOR, random_state=args.random_state)
        with progress_of(model):
            model.fit(ints.rows)
        to_micropython(model, args.out, quantized=ints, clusters=args.clusters)
    print("\n".join(notes))
    print(f"{len(rows)} rows x {len(used)} columns; clusters found: {model.n_clusters_}")
    print(f"wrote {args.out}, for a board that has mapdpm_int.py beside it")
