"""Whether components tile a curved surface, on which rows lie where a column follows from others.

The body-mass index follows from weight and height: rows lie on a surface. Normals that tile it are
thin, the thinner the more there are, and no test of few rows tells tiles from clusters. So none of
them is a cluster of its own unless a valley says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.joining.normal_components import NormalComponents

    Floats = npt.NDArray[np.float64]

# A component is thin if its deviation in some direction is less than this, where that of all rows
# is 1 in each column,
MAX_THICKNESS = 0.03

# and less than this part of that of all rows in any direction: else they lie on a plane, which one
# normal describes,
MAX_OF_PLANE = 0.5

# and less than this where its own deviation is 1 in each column: else it is small, not thin.
MAX_OF_OWN = 0.1

# A tile touches another one: in no column are their means further apart than this, in units of the
# root of the sum of their variances. Halves of an interval have 2.4.
MAX_GAP = 3.0

# The greater part of the rows is in tiles, of which there are several.
MIN_SHARE = 0.5
MIN_TILES = 3

# Columns along which the thin direction has at least this part.
MIN_PART = 0.1


def columns_of_surface(components: NormalComponents) -> npt.NDArray[np.intp]:
    """The columns that make a curved surface of which components are tiles; none if they do not.

    Parameters
    ----------
    components : NormalComponents

    Returns
    -------
    ndarray of int
    """
    none = np.empty(0, dtype=np.intp)
    if components.covariances.ndim == 2 or len(components.means) == 1:
        return none
    weights = components.weights
    gaps = components.means - weights @ components.means
    within = np.einsum("k,kij->ij", weights, components.covariances)
    total = (within + (gaps.T * weights) @ gaps)[np.newaxis]
    scaled = _in_units(components.covariances, total)
    most = min(MAX_THICKNESS**2, MAX_OF_PLANE**2 * _least(_in_units(total, total))[0])
    own = _in_units(components.covariances, components.covariances)
    thin = np.flatnonzero((_least(scaled) < most) & (_least(own) < MAX_OF_OWN**2))
    tiles = thin[_touch(components.means[thin], components.covariances[thin])]
    if len(tiles) < MIN_TILES or weights[tiles].sum() < MIN_SHARE:
        return none
    directions = np.linalg.eigh(scaled[tiles])[1][:, :, 0]
    parts = np.average(np.abs(directions), axis=0, weights=weights[tiles])
    return np.flatnonzero(parts >= MIN_PART)


def _in_units(covariances: Floats, of: Floats) -> Floats:
    """Covariance matrices in units of the deviations of others."""
    deviations = np.sqrt(np.diagonal(of, axis1=1, axis2=2))
    return np.asarray(covariances / (deviations[:, :, None] * deviations[:, None, :]))


def _least(matrices: Floats) -> Floats:
    """The least eigenvalue of each matrix."""
    return np.asarray(np.linalg.eigvalsh(matrices)[:, 0])


def _touch(means: Floats, covariances: Floats) -> npt.NDArray[np.bool_]:
    """Whether each of some components touches another one, shape (K,)."""
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    touches = np.zeros(len(means), dtype=bool)
    for k in range(len(means)):
        gaps = (means - means[k]) ** 2 / (variances + variances[k])
        touches[k] = (gaps.max(axis=1) <= MAX_GAP**2).sum() > 1  # itself is one
    return touches
