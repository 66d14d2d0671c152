"""The tree in which components join, in scipy's linkage form, and the levels of it.

Each component is a peak of the density, and each two that touch have a saddle between them, lower
than the lower of their peaks by the depth of their valley. Saddles are visited from the highest to
the lowest; at each, the cluster of the lower peak joins that of the higher one. How far its peak
rises above the saddle is the height of the join, the persistence of the peak (Edelsbrunner,
Letscher & Zomorodian 2002): a wide component in the background does not hold clusters together, for
it joins one of them, and the saddles that lead over it are low.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.intp]

# Height of a join of clusters between which there is no density, in nats: doubles have no ratio
# below exp(-MAX_HEIGHT).
MAX_HEIGHT = 745.0

# Standard errors that are taken from the rise of a peak above a component at a valley.
STANDARD_ERRORS = 0.5


def component_tree(
    log_peaks: Floats, depths: dict[tuple[int, int], float], variances: Floats | None = None
) -> Floats:
    """The tree of components.

    Parameters
    ----------
    log_peaks : ndarray, shape (K,)
        Log density at the peak of each component.
    depths : dict
        Depth of the valley between two components (j, k), in nats; pairs that do not touch are
        left out.
    variances : ndarray, shape (K,), optional
        Variances of the estimates of `log_peaks`. Default: 0.

    Returns
    -------
    ndarray, shape (K - 1, 4)
        As of ``scipy.cluster.hierarchy.linkage``: the two clusters that join, components 0..K-1 or
        K + i for row i; the height of the join in nats, ascending; the components of both together.
        Clusters that do not touch join last, at `MAX_HEIGHT`.
    """
    known = np.zeros(len(log_peaks)) if variances is None else variances
    joins = sorted(_joins(log_peaks, depths, known))
    number = np.arange(len(log_peaks))  # of the cluster of which each component is the peak
    size = np.ones(len(log_peaks))
    parent = np.arange(len(log_peaks))
    tree = np.empty((len(joins), 4))
    for i, (height, lower, higher) in enumerate(joins):
        one, other = _root(parent, lower), _root(parent, higher)
        size[other] += size[one]
        tree[i] = (*sorted((number[one], number[other])), min(height, MAX_HEIGHT), size[other])
        parent[one] = other
        number[other] = len(log_peaks) + i
    return tree


def level_of(tree: Floats, height: float) -> int:
    """The number of joins of a tree, shape (K - 1, 4), that are below a height in nats."""
    return int(np.searchsorted(tree[:, 2], height))


def labels_of_level(tree: Floats, n_joins: int) -> Indices:
    """The cluster of each component after the first joins of a tree.

    Parameters
    ----------
    tree : ndarray, shape (K - 1, 4)
    n_joins : int

    Returns
    -------
    ndarray of int, shape (K,)
        Clusters are numbered by their first component.
    """
    n_components = len(tree) + 1
    parent = np.arange(n_components + n_joins)
    for i in range(n_joins):
        one, other = tree[i, :2].astype(int)
        parent[_root(parent, one)] = parent[_root(parent, other)] = n_components + i
    roots = [_root(parent, k) for k in range(n_components)]
    first = {root: number for number, root in enumerate(dict.fromkeys(roots))}
    return np.array([first[root] for root in roots], dtype=np.intp)


def joined_to_limit(clusters: Indices, tree: Floats, max_clusters: int) -> Indices:
    """Clusters of components that join along a tree until there are few enough.

    Parameters
    ----------
    clusters : ndarray of int, shape (K,)
        The cluster of each component, which need not be one of the tree.
    tree : ndarray, shape (K - 1, 4)
    max_clusters : int

    Returns
    -------
    ndarray of int, shape (K,)
        Numbers from 0 up.
    """
    joined = clusters.copy()
    first = list(range(len(clusters)))  # a component of each node of the tree
    for one, other in tree[:, :2].astype(int):
        if len(np.unique(joined)) <= max_clusters:
            break
        joined[joined == joined[first[other]]] = joined[first[one]]
        first.append(first[one])
    return np.unique(joined, return_inverse=True)[1]


def _joins(
    log_peaks: Floats, depths: dict[tuple[int, int], float], variances: Floats
) -> list[tuple[float, int, int]]:
    """Height, lower and higher peak of each join.

    The height is the depth of a valley, and what the peak rises above the component at the valley,
    which is less a part of its standard error: the highest of many equal peaks rises by chance.
    """
    parent = np.arange(len(log_peaks))
    saddle = {pair: min(log_peaks[list(pair)]) - depth for pair, depth in depths.items()}
    joins = []
    for j, k in sorted(saddle, key=lambda pair: -saddle[pair]):
        one, other = _root(parent, j), _root(parent, k)
        if one != other:
            lower, higher = sorted((one, other), key=lambda root: (log_peaks[root], -root))
            parent[lower] = higher
            beside = min((j, k), key=lambda component: log_peaks[component])
            rise = log_peaks[lower] - log_peaks[beside]
            error = np.sqrt(variances[lower] + variances[beside])
            height = depths[j, k] + max(rise - STANDARD_ERRORS * error, 0.0)
            joins.append((float(height), int(lower), int(higher)))
    roots = [k for k in range(len(log_peaks)) if parent[k] == k]
    highest = max(roots, key=lambda root: log_peaks[root])
    return joins + [(np.inf, root, highest) for root in roots if root != highest]


def _root(parent: Indices, k: int) -> int:
    while parent[k] != k:
        k = int(parent[k])
    return k
