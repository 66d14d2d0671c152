"""Divides clusters that were taken for one: a ring of rows, looked at now and then.

    ring = Ring(m, 64)
    label = m.learn(x)
    if ring.add(x):  # 64 more rows are in it
        ring.split()

A learner joins rows for good, for it has their sums alone. The ring has rows: those of a cluster
become two by batch MAP-DPM, and the cluster is divided if that makes the joint of the ring's rows
more probable. Integers only; neither `add` nor `split` allocates. It works with a learner of
`mapdpm_int`, `mapdpm_viper` or `mapdpm_native`.
"""

from array import array

from mapdpm_batch import _moved

# Minus log2 of the joint must fall by so many bits: of thousands of rings with one cluster's rows,
# chance makes it fall by a few bits in some.
_BITS = 16
# Rows that each of the two must have, and sweeps at most.
_LEAST = 4
_SWEEPS = 8


class Ring:
    """The last rows of a stream, by which the clusters of a learner are divided.

    Parameters
    ----------
    learner : MAPDPM
    rows : int
        How many rows it keeps, 16..256; with c0 = p / q, p + q * rows is less than 16000.
    every : int
        One row of so many is kept, 1..4096: the ring covers rows * every of the stream.
    """

    def __init__(self, learner, rows=64, every=1):
        m = learner
        if not (16 <= rows <= 256 and m._c0 + m._one * rows < 16000 and 1 <= every <= 4096):
            raise ValueError("rows 16..256, c0's p + q * rows < 16000, every 1..4096")
        self.learner = learner
        # Where a cluster's rows are made two.
        prior = m._m0, m._b0, (m._c0, m._one), (m._two_a0, 2), (m._alpha, 1024)
        self._two = type(m)(m._dim, 2, *prior)
        self._every = every
        self._seen = self._n = 0
        self._full = False
        self._x = [0] * m._dim
        self._rows = array("h", bytes(2 * rows * m._dim))
        self._labels = array("b", bytes(rows))
        # The numbers of a cluster's rows, `_n` of them, and which of the two each is in.
        self._own = bytearray(rows)
        self._halves = bytearray(rows)

    def add(self, x):
        """Keep row `x`, if it is its turn; return whether all rows are new since the last True."""
        dim = len(self._x)
        if len(x) != dim or min(x) < -2048 or max(x) > 2047:
            raise ValueError("x: dim ints of -2048..2047")
        if self._seen % self._every == 0:
            i = self._seen // self._every * dim
            for y in x:
                self._rows[i] = y
                i += 1
        self._seen += 1
        if self._seen < self._every * len(self._labels):
            return False
        self._seen = 0
        self._full = True
        return True

    def split(self):
        """Divide every cluster whose rows in the ring are more probable as two.

        The two share its weight as they share the ring's rows, which are all that is known of them
        then. The one with more rows keeps the label. A cluster is not divided where no slot is
        free, and none is before the ring was full.

        Returns
        -------
        int
            How many clusters were divided.
        """
        m = self.learner
        before = m.k
        if not self._full:
            return 0
        for j in range(len(self._labels)):
            self._labels[j] = m.predict(self._row(j))
        for k in range(len(m.counts)):
            if m.counts[k] > 1 and m.k < len(m.counts) and self._are_two(k):
                self._divide(k)
        return m.k - before

    def _row(self, j):
        """Row `j`, in a list that is used again."""
        x = self._x
        i = j * len(x)
        for d in range(len(x)):
            x[d] = self._rows[i]
            i += 1
        return x

    def _are_two(self, k):
        """Make two clusters of the rows of cluster `k`; return whether they are more probable."""
        two = self._two
        self._gather(k)
        if self._n < 2 * _LEAST:
            return False
        best = 0
        least = 1 << 29
        for d in range(len(self._x)):
            cost = self._cut(d)
            if cost < least:
                least = cost
                best = d
        self._cut(best)
        for _ in range(_SWEEPS):
            if not self._sweep():
                break
        # They are merged if that costs less than the limit, and what is in `_two` is of no use.
        return min(two.counts) >= _LEAST and two.merge(_BITS << 9) < 0

    def _gather(self, k):
        """Note which rows cluster `k` has; of those far from m0, as many as sums can hold."""
        m0 = self._two._m0
        n = 0
        for j in range(len(self._labels)):
            if self._labels[j] == k:
                self._own[n] = j
                n += 1
        for d in range(len(m0)):
            room = 499999999  # beyond it, `update` would halve the sums
            for i in range(n):
                y = self._rows[self._own[i] * len(m0) + d] - m0[d]
                room -= y * y
                if room < 0:
                    n = i
                    break
        self._n = n

    def _cut(self, d):
        """Begin with the rows above the mean of column `d`, and the others; return their cost."""
        two = self._two
        width = two._width
        total = two.k = two.counts[0] = two.counts[1] = 0
        for i in range(2 * width):
            two._slots[i] = 0
        for i in range(self._n):
            total += self._rows[self._own[i] * len(self._x) + d]
        for i in range(self._n):
            x = self._row(self._own[i])
            self._join(x, i, int(x[d] * self._n > total))
        if two.k < 2:
            return 1 << 29
        two.update(two._m0, 0, 0)
        two.update(two._m0, 1, 0)
        return two._slots[width - 1] + two._slots[2 * width - 1]

    def _sweep(self):
        """Batch MAP-DPM, a sweep; return how many rows moved."""
        moves = 0
        for i in range(self._n):
            x = self._row(self._own[i])
            own = self._halves[i]
            half = _moved(self._two, x, own)
            self._join(x, i, half)
            moves += half != own
        return moves

    def _join(self, x, i, half):
        """Add row `x`, number `i` of its cluster, to one of the two."""
        two = self._two
        self._halves[i] = half
        two.k += two.counts[half] < 1
        two.update(x, half, 1)

    def _divide(self, k):
        """Let one of the two have slot `k`, and the other a free one."""
        m = self.learner
        first, second = self._two.counts
        weight = m.counts[k]
        less = max(1, weight * min(first, second) // (first + second))
        other = m.counts.index(0)
        m.k += 1
        self._copy(int(first < second), k, weight - less)
        self._copy(int(first >= second), other, less)

    def _copy(self, half, k, weight):
        """Copy one of the two to slot `k`."""
        m = self.learner
        width = m._width
        for i in range(width):
            m._slots[k * width + i] = self._two._slots[half * width + i]
        m.counts[k] = weight
        m.update(m._m0, k, 0)
