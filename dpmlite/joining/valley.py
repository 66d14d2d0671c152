"""How deep the valley in the density of the rows between two components is.

The rows of two components are projected on the direction that separates them best, Fisher's linear
discriminant. A kernel estimate of their density on this line, between the two means, has a valley
if the components are parts of two clusters. Its depth is the log of the ratio of the lower peak to
the valley, less a part of its standard error: from few rows a valley is not believed. The rows
themselves decide, not the fitted normals, for normals that share a wide cluster have valleys
between them where its rows have none.

Two components may share their mean and have no row in common: windows of two signals lie on planes
that cross at 0. No line shows it, but their log ratio does: no row has one near 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.algorithms import density_on_line

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.joining.normal_components import NormalComponents

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.intp]

# Rows of a component that are looked at, at most: evenly spaced ones of them. Where a narrow
# component lies beside a wide one, few rows of the wide one are within a bandwidth: from 400 of
# them, chance makes valleys.
MAX_ROWS = 2000

# Points on the line between two means at which the density is estimated.
N_POINTS = 41
PARTS_OF_LINE = np.linspace(0.0, 1.0, N_POINTS)

# Bandwidth of the kernel in units of the smaller deviation, for one row; it falls with the fifth
# root of the number of rows. Silverman's rule has 0.9 to 1.06: fewer false valleys count more here.
BANDWIDTH = 1.3

# Standard errors that are taken from a depth.
STANDARD_ERRORS = 1.0

# Where the line has no deeper valley than this, rows between the components are looked for off it.
SHALLOW = 1.0

# Two components touch if the density of some row is greater in its own by less than this, in nats.
# Parts of one shape in the benchmark tables have rows within 6 nats, windows of two signals 22.
MAX_LOG_RATIO = 15.0

# Rows between two components are not looked for if one has a smaller part of all rows: heavy tails
# in many columns end as many components of few rows, which have none in common.
MIN_SHARE = 0.02


def pair_depths(
    components: NormalComponents, X: Floats, labels: Indices, weights: Floats | None = None
) -> dict[tuple[int, int], float]:
    """Depth of the valley between each two components that may touch.

    Parameters
    ----------
    components : NormalComponents
    X : ndarray, shape (N, D)
        Rows; NaN is a missing value.
    labels : ndarray of int, shape (N,)
        The component of each row; each has at least one.
    weights : ndarray, shape (N,), optional
        Weights of the rows. Default: 1.

    Returns
    -------
    dict
        From pairs (j, k), j < k, to depths in nats, 0 for no valley.
    """
    samples = [
        _Sample.of(X, members, components.means[k], components.weights[k], weights)
        for k, members in enumerate(_members(labels, len(components.means)))
    ]
    return {
        (j, k): _depth(components, samples[j], samples[k], j, k) for j, k in components.neighbours()
    }


def _members(labels: Indices, n_components: int) -> list[Indices]:
    """Rows of each component."""
    labels = labels.astype(np.min_scalar_type(-n_components))  # short ones are sorted by radix
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, n_components)))


@dataclass(frozen=True, eq=False, repr=False)
class _Sample:
    """At most `MAX_ROWS` of the rows of a component, and their parts of the weight of all."""

    rows: Floats
    shares: Floats

    @classmethod
    def of(
        cls, X: Floats, members: Indices, mean: Floats, weight: float, weights: Floats | None
    ) -> _Sample:
        """A sample of a component of a weight; a missing value is its mean."""
        n_rows = min(len(members), MAX_ROWS)
        chosen = members[np.arange(n_rows) * len(members) // n_rows]
        rows = X[chosen]
        shares = np.ones(n_rows) if weights is None else weights[chosen]
        return cls(np.where(np.isnan(rows), mean, rows), shares * (weight / shares.sum()))

    def mean_of(self, values: Floats) -> float:
        """Weighted mean of a value of each row."""
        return float(self.shares @ values / self.shares.sum())


def _depth(components: NormalComponents, one: _Sample, other: _Sample, j: int, k: int) -> float:
    """Depth of the valley between two components, from their rows."""
    depth = _depth_on_line(components, one, other, j, k)
    if depth > SHALLOW or components.weights[[j, k]].min() < MIN_SHARE:
        return depth
    log_ratio = _least_log_ratio(components, one, j, k)
    if log_ratio > MAX_LOG_RATIO:
        log_ratio = min(log_ratio, _least_log_ratio(components, other, k, j))
    return log_ratio if log_ratio > MAX_LOG_RATIO else depth


def _least_log_ratio(components: NormalComponents, sample: _Sample, own: int, other: int) -> float:
    """Least log ratio, over the rows of a component, of its density to that of another one."""
    densities = [components.log_densities(sample.rows, k) for k in (own, other)]
    return float((densities[0] - densities[1]).min())


def _depth_on_line(
    components: NormalComponents, one: _Sample, other: _Sample, j: int, k: int
) -> float:
    """Depth of the valley on the line that separates two components; 0 if their means are equal."""
    direction = components.discriminant(j, k)
    if not direction.any():
        return 0.0
    at_j, at_k = one.rows @ direction, other.rows @ direction
    at, share = np.concatenate([at_j, at_k]), np.concatenate([one.shares, other.shares])
    narrower = min(components.deviation(j, direction), components.deviation(k, direction))
    width = BANDWIDTH * narrower * len(at) ** -0.2
    # Means of rows, for the prior may draw those of the components away from all rows.
    begin, end = one.mean_of(at_j), other.mean_of(at_k)
    density, squares = np.empty(N_POINTS), np.empty(N_POINTS)
    points = (end - begin) / width * PARTS_OF_LINE
    density_on_line((at - begin) / width, share, points, density, squares)
    density = np.maximum(density, np.finfo(float).tiny)
    return deepest_valley(density, np.sqrt(squares) / density)


def deepest_valley(density: Floats, relative_error: Floats | float = 0.0) -> float:
    """Depth of the deepest valley of a density on a line, in nats, less its standard errors.

    Parameters
    ----------
    density : ndarray
        At points of the line.
    relative_error : ndarray or float
        Standard error of each value, in units of the value.

    Returns
    -------
    float
        0 for no valley.
    """
    left = _argmax_so_far(density)
    right = len(density) - 1 - _argmax_so_far(density[::-1])[::-1]
    peak = np.where(density[left] < density[right], left, right)
    depth = np.log(density[peak] / np.maximum(density, np.finfo(float).tiny))
    deepest = int(np.argmax(depth))
    errors = np.broadcast_to(relative_error, density.shape)
    error = np.hypot(errors[deepest], errors[peak[deepest]])
    return max(float(depth[deepest] - STANDARD_ERRORS * error), 0.0)


def _argmax_so_far(values: Floats) -> Indices:
    """Index of the greatest value up to each, the first of equal ones."""
    is_new = np.concatenate([[True], values[1:] > np.maximum.accumulate(values)[:-1]])
    return np.maximum.accumulate(np.where(is_new, np.arange(len(values)), 0))
