"""Many columns: a table of the mean of each column in each cluster, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.fitted.wording import number
from dpmlite.plotting.points import largest, means_of_known
from dpmlite.plotting.table import MAX_CLUSTERS, MAX_COLUMNS, draw_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpmlite.plotting.points import Floats, Ranks

# Standard deviations at which colours end.
MAX_DEVIATIONS = 2.0

# A column is constant if its values differ by no more than this share of their size.
EQUAL = 1e-12


def draw_means(
    axes: Axes, rows: Floats, ranks: Ranks, names: list[str], headings: list[str]
) -> None:
    """Draw a table of the means, the columns first in which clusters differ most.

    Parameters
    ----------
    axes : Axes
    rows : ndarray, shape (N, D)
        NaN for missing cells.
    ranks : ndarray of int, shape (N,)
        The rank by size of the cluster of each row.
    names, headings : list of str
        Of the D columns and of all clusters.
    """
    n_clusters, headings = len(headings), headings[:MAX_CLUSTERS]
    means = np.array([means_of_known(rows[ranks == rank]) for rank in range(len(headings))]).T
    deviations = _deviations(rows, means)
    order = np.argsort(-np.nan_to_num(np.abs(deviations)).max(axis=1), kind="stable")[:MAX_COLUMNS]
    draw_table(
        axes,
        deviations[order],
        [[number(mean) for mean in line] for line in means[order]],
        [names[j] for j in order],
        headings,
        limits=(-MAX_DEVIATIONS, MAX_DEVIATIONS),
        colours="RdBu_r",
    )
    most = f"{MAX_DEVIATIONS:g} standard deviations"
    caption = [f"means; darkest {most} above (red) or below (blue) that of all rows"]
    if len(headings) < n_clusters:
        caption.append(f"the {len(headings)} largest of {n_clusters} clusters")
    if len(order) < len(names):
        caption.append(f"the {len(order)} of {len(names)} columns in which clusters differ most")
    axes.set_xlabel("\n".join(caption))


def _deviations(rows: Floats, means: Floats) -> Floats:
    """Means of clusters, shape (D, K), in standard deviations from the mean of all rows."""
    overall = means_of_known(rows)
    centred = rows - overall
    unit = largest(np.nan_to_num(centred))
    spread = np.sqrt(means_of_known((centred / unit) ** 2))
    is_constant = unit <= EQUAL * np.abs(overall)  # the rounding of means is all that is left
    scaled = (means - overall[:, None]) / unit[:, None]
    return np.where(
        is_constant[:, None], 0.0, scaled / np.where(spread > 0.0, spread, 1.0)[:, None]
    )
