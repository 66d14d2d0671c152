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
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.algorithms import density_on_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

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

# Distance from the mean of all components up to which one is at their place, in its own deviations.
MAX_OFFSET = 0.25

# Where the line has no deeper valley than this, rows between the components are looked for off it.
SHALLOW = 1.0

# Two components touch if the density of some row is greater in its own by less than this, in nats.
# Parts of one shape in the benchmark tables have rows within 6 nats, windows of two signals 22.
MAX_LOG_RATIO = 15.0

# Of more components than this only near neighbours are compared, so many for each.
MAX_COMPARED_WITH_ALL = 16
MAX_NEIGHBOURS = 8


@dataclass(frozen=True, eq=False, repr=False)
class NormalComponents:
    """The components of a fitted mixture as normals.

    Attributes
    ----------
    weights : ndarray, shape (K,)
        Weight of each component; they sum to 1.
    means : ndarray, shape (K, D)
    covariances : ndarray, shape (K, D) or (K, D, D)
        Variances of the columns, or covariance matrices.
    """

    weights: Floats
    means: Floats
    covariances: Floats

    @cached_property
    def log_peaks(self) -> Floats:
        """Log of each component's own density at its mean, without the factor of 2 pi."""
        if self.covariances.ndim == 2:
            log_det = np.log(self.covariances).sum(axis=1)
        else:
            log_det = np.linalg.slogdet(self.covariances)[1]
        return np.asarray(np.log(self.weights) - 0.5 * log_det)

    def squared_distances(self, X: Floats) -> Floats:
        """Squared Mahalanobis distance of each row to each component, shape (N, K)."""
        return np.column_stack([self._squared_distances(X, k) for k in range(len(self.means))])

    def _squared_distances(self, X: Floats, k: int) -> Floats:
        gap = X - self.means[k]
        if self.covariances.ndim == 2:
            return np.asarray((gap**2 / self.covariances[k]).sum(axis=1))
        return np.asarray((np.linalg.solve(self._factors[k], gap.T) ** 2).sum(axis=0))

    @cached_property
    def _factors(self) -> Floats:
        """Cholesky factors of the covariance matrices, shape (K, D, D)."""
        return np.asarray(np.linalg.cholesky(self.covariances), dtype=np.float64)

    def log_densities(self, X: Floats, k: int) -> Floats:
        """Log of the density of component k at each row, times its weight, without 2 pi."""
        return np.asarray(self.log_peaks[k] - 0.5 * self._squared_distances(X, k))

    def are_at_one_place(self) -> bool:
        """Whether all means are nearly equal, so that the components differ in width alone."""
        mean = self.weights @ self.means
        return bool((self.squared_distances(mean[np.newaxis]) <= MAX_OFFSET**2).all())

    def discriminant(self, j: int, k: int) -> Floats:
        """Fisher's linear discriminant of two components, as a vector of length 1."""
        both = self.covariances[j] + self.covariances[k]
        gap = self.means[k] - self.means[j]
        direction = gap / both if both.ndim == 1 else np.linalg.solve(both, gap)
        length = np.linalg.norm(direction)
        return np.asarray(direction / length if length > 0.0 else direction)

    def deviation(self, k: int, direction: Floats) -> float:
        """Standard deviation of a component along a direction."""
        covariance = self.covariances[k]
        if covariance.ndim == 1:
            return float(np.sqrt(covariance @ direction**2))
        return float(np.sqrt(direction @ covariance @ direction))

    def neighbours(self) -> Iterator[tuple[int, int]]:
        """Pairs of components that may touch: all pairs of few, near neighbours of many."""
        K = len(self.means)
        if K <= MAX_COMPARED_WITH_ALL:
            yield from ((j, k) for j in range(K) for k in range(j + 1, K))
            return
        variances = self.covariances
        if variances.ndim == 3:
            variances = np.diagonal(variances, axis1=1, axis2=2)
        pairs = set()
        for j in range(K):
            distances = ((self.means - self.means[j]) ** 2 / (variances + variances[j])).sum(axis=1)
            distances[j] = np.inf
            nearest = np.argpartition(distances, MAX_NEIGHBOURS)[:MAX_NEIGHBOURS]
            pairs |= {(min(j, k), max(j, k)) for k in nearest.tolist()}
        yield from sorted(pairs)


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
    if depth > SHALLOW:
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
    return _deepest(density, np.sqrt(squares) / density)


def _deepest(density: Floats, relative_error: Floats) -> float:
    """Depth of the deepest valley of a density on a line, less its standard errors."""
    left = _argmax_so_far(density)
    right = len(density) - 1 - _argmax_so_far(density[::-1])[::-1]
    peak = np.where(density[left] < density[right], left, right)
    depth = np.log(density[peak] / np.maximum(density, np.finfo(float).tiny))
    deepest = int(np.argmax(depth))
    error = np.hypot(relative_error[deepest], relative_error[peak[deepest]])
    return max(float(depth[deepest] - STANDARD_ERRORS * error), 0.0)


def _argmax_so_far(values: Floats) -> Indices:
    """Index of the greatest value up to each, the first of equal ones."""
    is_new = np.concatenate([[True], values[1:] > np.maximum.accumulate(values)[:-1]])
    return np.maximum.accumulate(np.where(is_new, np.arange(len(values)), 0))
