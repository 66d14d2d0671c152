"""What the fitted attributes of each estimator must be when they are read from a file.

`save` writes the attributes of `attributes_of`, and `load` refuses others. Those of `COMPUTED` are
not in files: they follow from the rest. An estimator must have no other fitted attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.core.constants import MAX_LABEL
from dpmlite.core.stop import CALLBACK, MAX_SECONDS
from dpmlite.estimators.inputs.domain import MAX_TOTAL_WEIGHT
from dpmlite.estimators.model_files.mixtures import MODEL, OF_COLUMNS, check_model
from dpmlite.estimators.model_files.quantities import (
    count,
    dictionary,
    flag,
    floats,
    ints,
    number,
    one_of,
    texts,
)
from dpmlite.estimators.model_files.tables import check_table
from dpmlite.estimators.model_files.trees import check_children, check_linkage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpmlite.estimators.model_files.quantities import (
        Check,
        Sizes,
    )
    from dpmlite.estimators.priors import Family

TINY, HUGE, INF = 1e-300, 1e300, float("inf")
BELOW_ONE = 1.0 - 2.0**-53

# Sums of weights that are found in two ways differ by less than this part.
ROUNDING = 1e-9

#: Attributes that `load` computes from others.
COMPUTED = ("weights_", "means_", "variances_", "cluster_centers_", "level_probabilities_")

#: Rows of a table, which are checked by the family.
TABLES = ("training_rows_", "first_rows_")

MIXTURE: dict[str, Check] = {
    "n_clusters_": count(1),
    "alpha_": number(TINY, HUGE),
    "neg_log_joint_": number(),
    "counts_": ints("K"),
}
LABELS: dict[str, Check] = {"labels_": ints("N", least=-1, below="K")}
SWEPT: dict[str, Check] = {
    "neg_log_joint_trace_": floats("T"),
    "n_sweeps_": count(),
    "n_empty_clusters_": count(),
    "converged_": flag,
    "neg_log_loo_": number(),
}
LIMITED: dict[str, Check] = {"stopped_": one_of(None, MAX_SECONDS, CALLBACK)}
GRID: dict[str, Check] = {
    "alphas_": floats("A", least=TINY, most=HUGE),
    "alpha_scores_": floats("A", least=-INF, most=INF, nan=True),
}
DISCOUNTED: dict[str, Check] = {"discount_": number(TINY, BELOW_ONE)}
MOMENTS: dict[str, Check] = {
    "n_rows": count(),
    "weight": number(0.0, 2.0 * MAX_TOTAL_WEIGHT),
    "cells": floats("coded D", least=0.0, most=2.0 * MAX_TOTAL_WEIGHT),
    "mean": floats("coded D"),
    "variance": floats("coded D", least=0.0, most=INF, nan=True),
}
REQUIRED: dict[str, dict[str, Check]] = {
    "MAPDPM": {
        **MIXTURE,
        "component_counts_": ints("C"),
        "n_samples_seen_": count(1),
        "power_": number(TINY, HUGE),
        "moments_": dictionary(MOMENTS),
    },
    "DPSearch": {
        **MIXTURE,
        **LABELS,
        **SWEPT,
        "search_neg_log_joint_": number(),
        "n_enqueued_": count(),
        "n_expanded_": count(),
        "certified_": flag,
        "optimality_gap_": number(0.0, INF, nan=True),
    },
    "BayesianHierarchicalClustering": {
        **MIXTURE,
        **LABELS,
        "n_leaves_": count(1, MAX_LABEL),
        "leaves_": ints("N", least=-1, below="M"),
        "children_": ints("M - 1", 2),
        "log_odds_": floats("M - 1"),
        "log_r_": floats("M - 1", most=0.0),
        "node_counts_": floats("2 M - 1", least=TINY, most=2.0 * MAX_TOTAL_WEIGHT),
        "linkage_": floats("M - 1", 4),
        "log_evidence_bound_": number(),
        "log_evidence_approximation_": number(),
    },
    "CollapsedGibbs": {
        **MIXTURE,
        **LABELS,
        "labels_samples_": ints("S", "N", below="N"),
        "alpha_samples_": floats("S", least=TINY, most=HUGE),
        "neg_log_joint_samples_": floats("S"),
        "n_clusters_samples_": ints("S", least=1),
        "n_clusters_proba_": floats("P", least=0.0, most=1.0),
        "n_empty_clusters_": count(),
        "acceptance_rate_": number(0.0, 1.0, nan=True),
    },
}
OPTIONAL: dict[str, dict[str, Check]] = {
    "MAPDPM": {
        **LABELS,  # not of rows that another machine has
        "component_labels_": ints("N", below="C"),
        **SWEPT,
        **LIMITED,
        **DISCOUNTED,
        "cluster_of_component_": ints("C", below="K"),
        **GRID,
    },
    "DPSearch": {**LIMITED, **GRID, "neg_log_score_": number()},
    "BayesianHierarchicalClustering": {
        "log_increments_": floats("M - 1", 2, least=-INF),
        "log_evidence_bound_alternative_": number(),
    },
    "CollapsedGibbs": {**LIMITED, **DISCOUNTED},
}

#: Attributes whose check needs the family, or the number of components.
OTHERS: dict[str, set[str]] = {
    "MAPDPM": {"cluster_tree_", "first_rows_"},
    "DPSearch": set(),
    "BayesianHierarchicalClustering": {"training_rows_"},
    "CollapsedGibbs": {"training_rows_"},
}


def attributes_of(kind: str) -> set[str]:
    """Names of all fitted attributes that a file of an estimator may have."""
    own = {*REQUIRED[kind], *OPTIONAL[kind], *OTHERS[kind]}
    return own | {*MODEL, *OF_COLUMNS, "feature_names_in_"}


def check_declared(kind: str, names: Iterable[str]) -> None:
    """Raise ValueError if a fitted attribute is neither in files nor computed from them."""
    fitted = {name for name in names if name.endswith("_") and not name.startswith("_")}
    for name in sorted(fitted - attributes_of(kind) - {*COMPUTED}):
        raise ValueError(f"fitted attributes must be declared in {__name__}, got {kind}.{name}")


def checked_attributes(kind: str, fitted: dict[str, Any]) -> dict[str, Any]:
    """The fitted attributes of a file, after checks.

    Parameters
    ----------
    kind : str
        Name of the estimator's class.
    fitted : dict
        Attributes as they were read.

    Raises
    ------
    ValueError
        If one is unknown, missing, or not what an estimator of this kind has.
    """
    needed = {*MODEL, *REQUIRED[kind], *(OTHERS[kind] & {"training_rows_"})}
    for name in sorted(needed - fitted.keys()):
        raise ValueError(f"it has no {name}")
    for name in sorted(fitted.keys() - attributes_of(kind)):
        raise ValueError(f"{kind} has no {name!r}")
    sizes: Sizes = {}
    found, family = check_model(fitted, sizes)
    sizes["K"] = count(1, sizes["C"])("n_clusters_", fitted["n_clusters_"], sizes)
    if "n_leaves_" in fitted:
        leaves = count(1, MAX_LABEL)("n_leaves_", fitted["n_leaves_"], sizes)
        sizes |= {"M": leaves, "M - 1": leaves - 1, "2 M - 1": 2 * leaves - 1}
    for name, check in {**REQUIRED[kind], **OPTIONAL[kind]}.items():
        if name in fitted:
            found[name] = check(name, fitted[name], sizes)
    for size, what in (("N", "rows"), ("S", "samples")):
        if sizes.get(size) == 0:
            raise ValueError(f"it has no {what}")
    _check_names(fitted, found, sizes)
    for name in TABLES:
        if name in fitted:
            found[name] = _checked_rows(name, fitted[name], family, found, sizes)
    if "cluster_tree_" in fitted:
        found["cluster_tree_"] = check_linkage("cluster_tree_", fitted["cluster_tree_"], sizes["C"])
    _check_clusters(found, sizes)
    if "children_" in found:
        _check_hierarchy(found, sizes)
    return found


def _check_names(fitted: dict[str, Any], found: dict[str, Any], sizes: Sizes) -> None:
    """Keep the names of columns, which are those of a mixed table's columns."""
    if "feature_names_in_" in fitted:
        names = texts("D")("feature_names_in_", fitted["feature_names_in_"], sizes)
        if "levels_" in found and names.tolist() != list(found["levels_"]):
            raise ValueError("feature_names_in_ must be the columns of levels_")
        found["feature_names_in_"] = names


def _checked_rows(
    name: str, value: Any, family: Family, found: dict[str, Any], sizes: Sizes
) -> dict[str, Any]:
    """Rows in the form that `Data.to_dict` gives."""
    n_columns, allow_missing = sizes["coded D"], found["allow_missing_"]
    if name == "training_rows_":
        table = check_table(name, value, family, n_columns, allow_missing)
        used = found.get("leaves_", found["labels_"]) != -1
        if table.shape[0] != used.sum() or not table.has_weight().all():
            raise ValueError(f"{name} must be the {used.sum()} rows with weight")
        return table.to_dict()
    both = dictionary({"rows": lambda _, rows, __: rows, "n_fitted": count(1)})(name, value, sizes)
    table = check_table(f"{name} rows", both["rows"], family, n_columns, allow_missing)
    return {"rows": table.to_dict(), "n_fitted": both["n_fitted"]}


def _check_clusters(found: dict[str, Any], sizes: Sizes) -> None:
    """Raise ValueError unless labels and counts of components and of clusters agree."""
    n_components, n_clusters = sizes["C"], sizes["K"]
    clusters = found.get("cluster_of_component_", np.arange(n_components))
    if len(np.unique(clusters)) != n_clusters:
        raise ValueError(f"{n_components} components must make {n_clusters} clusters")
    if "component_counts_" not in found:
        return
    counts = np.zeros(n_clusters, dtype=np.intp)
    np.add.at(counts, clusters, found["component_counts_"])
    if not np.array_equal(counts, found["counts_"]):
        raise ValueError("counts_ must add up from component_counts_")
    if found["counts_"].sum() != found["n_samples_seen_"]:
        raise ValueError("counts_ must add up to n_samples_seen_")
    if ("labels_" in found) != ("component_labels_" in found):
        raise ValueError("labels_ and component_labels_ must both be there, or neither")
    if "labels_" in found:
        labels = found["labels_"]
        if ((labels != clusters[found["component_labels_"]]) & (labels != -1)).any():
            raise ValueError("labels_ must be the clusters of component_labels_")


def _check_hierarchy(found: dict[str, Any], sizes: Sizes) -> None:
    """Raise ValueError unless a tree of rows is one, and its leaves and counts agree."""
    n_leaves, children, counts = sizes["M"], found["children_"], found["node_counts_"]
    check_children("children_", children, n_leaves)
    used = found["leaves_"][found["leaves_"] >= 0]
    if not np.array_equal(np.unique(used), np.arange(n_leaves)):
        raise ValueError(f"leaves_ must have all of {n_leaves} leaves")
    both = counts[children].sum(axis=1)
    if not np.allclose(counts[n_leaves:], both, rtol=ROUNDING, atol=0.0):
        raise ValueError("node_counts_ must add up")
