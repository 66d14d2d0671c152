"""The partition with the least expected loss over samples of partitions.

Both losses between partitions c and z of N rows have the form (F(c) + F(z) - 2 F(c, z)) / scale,
where F sums f(n) over the sizes n of the clusters, or of the intersections of a cluster of c with
one of z:

- variation of information: f(n) = n log n, scale = N (Meila 2007);
- Binder's: f(n) = n^2, scale = N^2. That is the share of ordered pairs of rows that one partition
  puts together and the other does not.

The search is that of Dahl, Johnson & Mueller (2022): from labels of a sample, or rows that are
placed one by one in random order, rows move to their best clusters until none does; then the rows
of one cluster at a time are placed anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from dpmlite.core.constants import UNPLACED

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Labels = npt.NDArray[np.intp]

# The least fall of the loss that counts as one, relative to the greatest loss.
LEAST_FALL = 1e-12

# Clusters that there is room for at first.
MIN_CAPACITY = 8


def loss_terms(loss: str, n_rows: int) -> tuple[Floats, float]:
    """f(0), ..., f(N), and the scale, of the loss "vi" or "binder"."""
    n = np.arange(n_rows + 1, dtype=np.float64)
    if loss == "binder":
        return n * n, float(n_rows) ** 2
    return n * np.log(np.maximum(n, 1.0)), float(n_rows)


class ExpectedLoss:
    """A partition of some rows, and what it shares with each sample.

    Parameters
    ----------
    samples : ndarray of int, shape (S, N)
        Labels of each sample, from 0 on.
    loss : {"vi", "binder"}

    Attributes
    ----------
    labels : ndarray of int, shape (N,)
        The cluster of each row, or -1.
    """

    def __init__(self, samples: Labels, loss: str) -> None:
        self.samples = samples
        self.f, self.scale = loss_terms(loss, samples.shape[1])
        self._rise = np.append(np.diff(self.f), 0.0)  # f(n + 1) - f(n)
        self._width = int(samples.max()) + 1
        # Row i of a cluster is counted in these cells of the cluster's table, one a sample.
        self._cells = np.arange(len(samples)) * self._width + samples.T
        self.clear()

    def clear(self) -> Self:
        """Take all rows out."""
        self.labels = np.full(self.samples.shape[1], UNPLACED, dtype=np.intp)
        self._sizes = np.zeros(MIN_CAPACITY, dtype=np.intp)
        self._shared = np.zeros((MIN_CAPACITY, len(self.samples) * self._width), dtype=np.int32)
        return self

    def place_all(self, labels: Labels) -> Self:
        """Have these labels, below N."""
        self.clear()
        for i, k in enumerate(labels):
            self.put(i, int(k))
        return self

    def distances(self) -> Floats:
        """The loss between the partition and each sample, shape (S,); all rows have labels."""
        shared = self.f[self._shared].sum(axis=0).reshape(len(self.samples), -1).sum(axis=1)
        of_samples = [self.f[np.bincount(labels)].sum() for labels in self.samples]
        total = self.f[self._sizes].sum() + np.array(of_samples) - 2.0 * shared
        distances: Floats = np.maximum(total / self.scale, 0.0)
        return distances

    def place(self, rows: Iterable[int]) -> bool:
        """Move each row in turn to its best cluster, or a new one; True if the loss has fallen."""
        has_fallen, least_fall = False, LEAST_FALL * self.f[-1]
        for i in rows:
            own = int(self.labels[i])
            if own != UNPLACED:
                self.take_out(i, own)
            clusters, rises = self._rises(i)
            best = int(clusters[rises.argmin()])
            if own != UNPLACED:
                stay = rises[-1] if self._sizes[own] == 0 else rises[clusters == own][0]
                falls = rises.min() < stay - least_fall
                best, has_fallen = (best, True) if falls else (own, has_fallen)
            self.put(i, best)
        return has_fallen

    def _rises(self, i: int) -> tuple[Labels, Floats]:
        """The clusters, an empty one last, and the rise of the loss if row i joins each.

        The row is in no cluster. The loss is the expected one, times its scale.
        """
        if self._sizes.all():
            self._make_room(len(self._sizes) + 1)
        clusters = np.append(np.flatnonzero(self._sizes), self._sizes.argmin())
        shared = self._shared[clusters[:, None], self._cells[i]]
        return clusters, self._rise[self._sizes[clusters]] - 2.0 * self._rise[shared].mean(axis=1)

    def put(self, i: int, k: int) -> None:
        """Put row i, which is in no cluster, into cluster k."""
        self._make_room(k + 1)
        self._shared[k, self._cells[i]] += 1
        self._sizes[k] += 1
        self.labels[i] = k

    def take_out(self, i: int, k: int) -> None:
        """Take row i out of cluster k."""
        self._shared[k, self._cells[i]] -= 1
        self._sizes[k] -= 1
        self.labels[i] = UNPLACED

    def _make_room(self, n_clusters: int) -> None:
        more = max(n_clusters, 2 * len(self._sizes)) - len(self._sizes)
        if n_clusters > len(self._sizes):
            self._sizes = np.pad(self._sizes, (0, more))
            self._shared = np.pad(self._shared, ((0, more), (0, 0)))


def least_expected_loss(
    samples: Labels, loss: str, n_init: int, rng: np.random.Generator
) -> ExpectedLoss:
    """The best of some descents: from a sample and from rows in random order, in turn."""
    state, best, least = ExpectedLoss(samples, loss), None, np.inf
    for start in range(n_init):
        if start % 2:
            state.clear().place(rng.permutation(samples.shape[1]))
        else:
            state.place_all(samples[rng.integers(len(samples))])
        descend(state, rng)
        expected = float(state.distances().mean())
        if expected < least - LEAST_FALL:
            best, least = state.labels.copy(), expected
    assert best is not None  # a loss is finite, and there is a start
    return state.place_all(best)


def descend(state: ExpectedLoss, rng: np.random.Generator) -> None:
    """Sweep until no row moves; place the rows of each cluster anew; repeat while that helps."""
    n_rows = len(state.labels)
    while True:
        while state.place(rng.permutation(n_rows)):
            pass
        if not any(replace_cluster(state, k, rng) for k in np.unique(state.labels)):
            return


def replace_cluster(state: ExpectedLoss, k: int, rng: np.random.Generator) -> bool:
    """Place the rows of a cluster anew, one by one; keep that if the expected loss falls."""
    before, expected = state.labels.copy(), state.distances().mean()
    rows = rng.permutation(np.flatnonzero(state.labels == k))
    for i in rows:
        state.take_out(i, k)
    state.place(rows)
    if state.distances().mean() < expected - LEAST_FALL:
        return True
    state.place_all(before)
    return False
