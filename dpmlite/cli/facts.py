"""What ``--json`` prints: what the command found, as plain data for programs."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.cli.report import most_common

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite import MAPDPM
    from dpmlite.tables import Table


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print one JSON object; numbers that JSON lacks are null."""
    print(json.dumps(_plain(facts), allow_nan=False))


def facts_of_fit(
    model: MAPDPM, rows: Table, labels: Mapping[str, npt.NDArray[Any]], seconds: float
) -> dict[str, Any]:
    """A model that was fitted to some rows, beside the labels of their file."""
    return {
        "rows": len(rows),
        "columns": rows.columns,
        "n_clusters": model.n_clusters_,
        "clusters": facts_of_clusters(model, labels),
        "component": model.component_ if isinstance(model.component_, str) else "mixed",
        "alpha": model.alpha_,
        "neg_log_joint": model.neg_log_joint_,
        "n_sweeps": model.n_sweeps_,
        "converged": model.converged_,
        "stopped": model.stopped_,
        "seconds": seconds,
    }


def facts_of_clusters(
    model: MAPDPM, labels: Mapping[str, npt.NDArray[Any]] | None = None
) -> list[dict[str, Any]]:
    """Size and typical cells of each cluster, the columns that tell most of it first."""
    return [_facts_of_cluster(model, k, labels or {}) for k in range(model.n_clusters_)]


def _facts_of_cluster(
    model: MAPDPM, k: int, labels: Mapping[str, npt.NDArray[Any]]
) -> dict[str, Any]:
    facts = {
        "cluster": k,
        "rows": model.counts_[k],
        "share": model.weights_[k],
        "columns": [
            {"column": column, "nats": float(nats), "here": here, "elsewhere": elsewhere}
            for column, nats, here, elsewhere in model.explain(k).rows
        ],
    }
    for name, cells in labels.items():
        label, share = most_common(cells[model.labels_ == k])
        facts.setdefault("labels", {})[name] = {"most_common": label, "share": share}
    return facts


def facts_of_labels(labels: npt.NDArray[np.intp]) -> dict[str, Any]:
    """Labels of new rows."""
    values, counts = np.unique(labels, return_counts=True)
    clusters = [{"cluster": k, "rows": n} for k, n in zip(values, counts, strict=True)]
    return {"rows": len(labels), "clusters": clusters, "labels": labels}


def _plain(value: Any) -> Any:
    """A value of numpy's or Python's types as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
