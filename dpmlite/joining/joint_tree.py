"""The tree of components of any family: the union that loses the least joint comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from dpmlite.families import Component


def tree_by_joint(components: Component) -> npt.NDArray[np.float64]:
    """The tree in which components join where their log marginals lose least.

    Parameters
    ----------
    components : Component
        A slot for each of K components; those that are empty are left out. It ends with one.

    Returns
    -------
    ndarray, shape (K - 1, 4)
        As of ``scipy.cluster.hierarchy.linkage``: the two clusters that join; the height, the
        greatest loss so far in nats, at least 0; the components of both together.
    """
    slots = {k: k for k in range(components.n_slots) if components.counts[k] > 0.0}
    size = dict.fromkeys(slots, 1)
    losses: dict[tuple[int, int], float] = {}
    for j in slots:
        losses |= _losses(components, j, [k for k in slots if j < k])
    tree, height = np.empty((len(slots) - 1, 4)), 0.0
    for i in range(len(tree)):
        j, k = min(losses, key=lambda pair: (losses[pair], pair))
        height = max(height, losses[j, k])
        size[j] += size.pop(k)
        tree[i] = (*sorted((slots[j], slots.pop(k))), height, size[j])
        slots[j] = len(tree) + 1 + i
        components.merge(j, k)
        losses = {pair: loss for pair, loss in losses.items() if not {j, k} & {*pair}}
        losses |= _losses(components, j, [other for other in slots if other != j])
    return tree


def _losses(components: Component, j: int, others: Iterable[int]) -> dict[tuple[int, int], float]:
    """What the union of a slot with each of others loses, in nats, by pairs in ascending order."""
    own, together = components.log_marginal(j), components.log_marginals_merged(j)
    return {(min(j, k), max(j, k)): own + components.log_marginal(k) - together[k] for k in others}
