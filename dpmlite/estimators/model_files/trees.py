"""Trees that a file of a model has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.domain import MAX_TOTAL_WEIGHT
from dpmlite.estimators.model_files.quantities import floats

if TYPE_CHECKING:
    from dpmlite.estimators.model_files.quantities import Sizes


def check_linkage(name: str, value: Any, n_leaves: int) -> Any:
    """A tree in the form of scipy's linkage, after checks: nodes, heights that rise, and sizes.

    Raises
    ------
    ValueError
        If it is no tree with this number of leaves.
    """
    sizes: Sizes = {}
    tree = floats(n_leaves - 1, 4, most=np.inf)(name, value, sizes)
    check_children(name, tree[:, :2], n_leaves)
    if not (tree[:, 2] >= 0.0).all() or (tree[1:, 2] < tree[:-1, 2]).any():
        raise ValueError(f"{name} must have heights that rise from 0")
    if not ((tree[:, 3] >= 2) & (tree[:, 3] <= MAX_TOTAL_WEIGHT)).all():
        raise ValueError(f"{name} must have nodes of 2 leaves at least")
    return tree


def check_children(name: str, children: Any, n_leaves: int) -> None:
    """Raise ValueError unless each node of a tree is merged once, after it was made."""
    made = n_leaves + np.arange(len(children))[:, None]
    whole = (children == np.floor(children)) & (children >= 0) & (children < made)
    if not whole.all() or len(np.unique(children)) < children.size:
        raise ValueError(f"{name} must merge each node once, after it was made")
