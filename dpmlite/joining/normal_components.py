"""The components of a fitted mixture as normals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.intp]

# Distance from the mean of all components up to which one is at their place, in its own deviations.
MAX_OFFSET = 0.25

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

    def part(self, chosen: Indices) -> NormalComponents:
        """Some of the components, with weights that sum to 1."""
        weights = self.weights[chosen]
        return NormalComponents(
            weights / weights.sum(), self.means[chosen], self.covariances[chosen]
        )

    def coordinates(self, X: Floats) -> Floats:
        """Coordinate of each row in each component, along the line to the nearest other, (N, K).

        The line is that of their discriminant, the unit each component's deviation along it. So
        they are the same whatever linear map the columns have been through.
        """
        coordinates = np.empty((len(X), len(self.means)))
        for k, direction in enumerate(self.directions()):
            unit = direction / self.deviation(k, direction)
            coordinates[:, k] = (X - self.means[k]) @ unit
        return coordinates

    def directions(self) -> list[Floats]:
        """The discriminant of each component and the nearest other; any for a lone one."""
        nearest = np.full(len(self.means), np.inf)
        directions = [np.eye(self.means.shape[1])[0]] * len(self.means)
        for j, k in self.neighbours():
            direction = self.discriminant(j, k)
            if not direction.any():
                continue
            spread = np.hypot(self.deviation(j, direction), self.deviation(k, direction))
            distance = abs((self.means[k] - self.means[j]) @ direction) / spread
            for component in (j, k):
                if distance < nearest[component]:
                    nearest[component], directions[component] = distance, direction
        return directions

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

    def bhattacharyya(self, j: int, k: int) -> float:
        """Bhattacharyya distance of two components, whatever their weights."""
        one, other = self.covariances[j], self.covariances[k]
        between, gap = 0.5 * (one + other), self.means[k] - self.means[j]
        if between.ndim == 1:
            squared = gap @ (gap / between)
            log_dets = [np.log(c).sum() for c in (between, one, other)]
        else:
            squared = gap @ np.linalg.solve(between, gap)
            log_dets = [np.linalg.slogdet(c)[1] for c in (between, one, other)]
        return float(0.125 * squared + 0.5 * (log_dets[0] - 0.5 * (log_dets[1] + log_dets[2])))

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
