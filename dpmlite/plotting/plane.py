"""Rows in one plane: two columns, or the two leading principal components of more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.plotting.points import largest, means_of_known, scatter
from dpmlite.plotting.style import style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpmlite.plotting.points import Floats, Ranks


def draw_plane(axes: Axes, rows: Floats, ranks: Ranks, names: list[str]) -> None:
    """Draw rows, and an ellipse for each cluster of at least three."""
    if rows.shape[1] > 2:
        rows, names = _principal_plane(_filled(rows, ranks))
    scatter(axes, rows, ranks)
    for rank in range(int(ranks.max()) + 1):
        members = rows[ranks == rank]
        if len(members) >= 3:
            _draw_ellipse(axes, members, style_of(rank)[0])
    axes.set(xlabel=names[0], ylabel=names[1])


def _filled(rows: Floats, ranks: Ranks) -> Floats:
    """Rows with the mean of their cluster, or of all rows, or 0, for missing cells."""
    missing = np.isnan(rows)
    if not missing.any():
        return rows
    overall = np.nan_to_num(means_of_known(rows))
    filled = rows.copy()
    for rank in range(int(ranks.max()) + 1):
        members = rows[ranks == rank]
        means = means_of_known(members)
        means = np.where(np.isnan(means), overall, means)
        filled[ranks == rank] = np.where(np.isnan(members), means, members)
    return filled


def _principal_plane(rows: Floats) -> tuple[Floats, list[str]]:
    """Scores on the two leading principal components of the standardised columns, and names."""
    centred = rows - rows.mean(axis=0)
    centred /= largest(centred)
    scales = centred.std(axis=0)
    standard = centred / np.where(scales > 0.0, scales, 1.0)
    _, lengths, directions = np.linalg.svd(standard, full_matrices=False)
    # A direction's sign is arbitrary: its largest entry is made positive.
    leader = np.abs(directions).argmax(axis=1)
    signs = np.where(directions[np.arange(len(directions)), leader] < 0.0, -1.0, 1.0)
    scores = np.zeros((len(rows), 2))  # one row has only one component
    leading = (directions * signs[:, None])[:2]
    scores[:, : len(leading)] = standard @ leading.T
    shares = np.zeros(2)
    shares[: len(leading)] = lengths[:2] ** 2 / max(np.sum(lengths**2), np.finfo(float).tiny)
    return scores, [
        f"principal component {j} ({share:.0%} of the variance)"
        for j, share in enumerate(shares, start=1)
    ]


def _draw_ellipse(axes: Axes, members: Floats, colour: str) -> None:
    from matplotlib.patches import Ellipse

    centre = members.mean(axis=0)
    unit = largest(members - centre).max()
    variances, directions = np.linalg.eigh(np.cov(((members - centre) / unit).T))
    # Four standard deviations across are two to each side; rounding may leave a tiny negative.
    height, width = 4.0 * unit * np.sqrt(np.maximum(variances, 0.0))
    angle = float(np.degrees(np.arctan2(directions[1, 1], directions[0, 1])))
    axes.add_patch(
        Ellipse((centre[0], centre[1]), width, height, angle=angle, fill=False, edgecolor=colour)
    )
