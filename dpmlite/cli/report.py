"""What the command prints of a model."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.fitted.partitions import fitted_family
from dpmlite.estimators.fitted.wording import counted, number
from dpmlite.estimators.priors.mixed import MixedFamily

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite import MAPDPM
    from dpmlite.tables import Table

# Clusters and columns that the printed table shows at most.
SHOWN_CLUSTERS = 20
SHOWN_COLUMNS = 6


def print_report(
    model: MAPDPM, rows: Table, labels: Mapping[str, npt.NDArray[Any]], seconds: float
) -> None:
    """Print the clusters of a model, and how many seconds its fit to some rows took."""
    n_rows, n_columns = rows.shape
    size = f"{counted(n_rows, 'row')} x {counted(n_columns, 'column')}"
    print(f"{size}; clusters found: {model.n_clusters_}\n")
    print(align(_summary(model, rows, labels)))
    hidden = model.n_clusters_ - SHOWN_CLUSTERS
    if hidden > 0:
        print(f"... and {hidden} smaller")
    if n_columns > SHOWN_COLUMNS:
        print(f"the first {SHOWN_COLUMNS} of {n_columns} columns")
    if model.n_clusters_ > 1:
        print(f"\n{_reasons(model)}")
    print(
        f"\nneg_log_joint {model.neg_log_joint_:.4f} nats, {model.n_sweeps_} sweeps{_end(model)}, "
        f"alpha {model.alpha_:.3g}, fitted in {1e3 * seconds:.1f} ms"
    )


def _end(model: MAPDPM) -> str:
    """What ended the fit before its end."""
    if model.converged_:
        return ""
    limit = model.max_sweeps if model.stopped_ is None else f"{model.max_seconds:g} s"
    return f", stopped by the limit of {limit}"


def _reasons(model: MAPDPM) -> str:
    """Why each cluster is one: the columns that separate it most from the others."""
    found = [[f"cluster {k}:", typical] for k, _, _, typical in model.summary().rows]
    lines = [f"{cluster} {typical}" for cluster, typical in found[:SHOWN_CLUSTERS]]
    return "\n".join(["what tells clusters apart, most telling first", *lines])


def _summary(model: MAPDPM, rows: Table, labels: Mapping[str, npt.NDArray[Any]]) -> list[list[str]]:
    """Lines of the printed table: size, typical cells and most common label of each cluster."""
    names = dict(enumerate(rows.columns))
    family = fitted_family(model)
    described = family.columns.as_rates(names) if isinstance(family, MixedFamily) else names
    shown = dict(list(described.items())[:SHOWN_COLUMNS])
    mostly = ["mostly"] if len(labels) == 1 else [f"mostly {name}" for name in labels]
    lines = [["cluster", "rows", "share", *shown.values(), *mostly]]
    for k, count in enumerate(model.counts_[:SHOWN_CLUSTERS].tolist()):
        typical = [_typical(model, k, j, names[j]) for j in shown]
        line = [str(k), str(count), f"{model.weights_[k]:.1%}", *typical]
        for cells in labels.values():
            label, part = most_common(cells[model.labels_ == k])
            line.append(f"{'' if label is None else label} ({part:.1%})")
        lines.append(line)
    return lines


def most_common(cells: npt.NDArray[Any]) -> tuple[Any, float]:
    """The most common cell, and its share."""
    cell, times = Counter(cells.tolist()).most_common(1)[0]
    return cell, times / len(cells)


def _typical(model: MAPDPM, k: int, j: int, name: str) -> str:
    """The mean of a column's cells in a cluster, or its most frequent level, or 0 if most are."""
    levels = getattr(model, "levels_", {}).get(name)
    of_levels = getattr(model, "level_probabilities_", {}).get(name)
    if of_levels is None:
        return number(model.cluster_centers_[k, j])
    probabilities = of_levels[k]
    if levels is None:  # a zero-inflated column
        is_zero = probabilities[1]
        return f"0 {is_zero:.0%}" if is_zero > 0.5 else number(model.cluster_centers_[k, j])
    best = int(np.argmax(probabilities))
    level = levels[best] if isinstance(levels[best], str) else f"{levels[best]:g}"
    return f"{level} {probabilities[best]:.0%}"


def align(lines: list[list[str]]) -> str:
    """Lines of cells as a table, its columns aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
