"""MAP-DPM in integers: clusters rows without being told how many clusters there are.

A Dirichlet process mixture of Gaussians with a normal-gamma prior for every column (Raykov,
Boukouvalas & Little, 2014), learned row by row. No floats, no number of 2^30 or more, no import
beyond `array`: every board that runs MicroPython finds the same labels.

Every slot for a cluster keeps the number n of its rows and two exact sums for every column, of
y = x - m0 and of y^2, so that adding a row and taking it away again changes nothing. With c0 =
p / q and c = p + q n,

    m - m0 = q sum(y) / c,    w = 2 b = 2 b0 + sum(y^2) - q sum(y)^2 / c,    B = w (c + q) / c

are what the posterior predictive, a Student t, needs: t = (x - m)^2 / B. The slot after the
clusters' stays empty: it is the new cluster. In one more, `merge` tries pairs. Logarithms are to
base 2, in units of 2^-16; costs are twice -log2 of a probability, so in units of 2^-17. From 2^29,
which is 4096 bits, they go on in units 1024 times as large.

A cluster's weight in the mixture, `counts`, is a number of its own. Sums that get too large are
halved, and n with them: the cluster is less certain then, and weighs what it did. Weights are
halved together, so that shares stay.
"""

from array import array


def _log2(y):
    """Base-2 logarithm of 1 <= y < 2^30, to 1.9e-4.

    With y = 2^e (1 + f) it is e + f + f (1 - f) (0.439 - 0.239 f + 0.082 f^2).
    """
    e = 15 << 16
    while y >> 19:
        y >>= 4
        e += 4 << 16
    while y >> 16:
        y >>= 1
        e += 1 << 16
    while not y >> 15:
        y <<= 1
        e -= 1 << 16
    y -= 32768
    # One expression, for every variable costs a board time.
    return (
        e
        + y
        + y
        + ((y * (32768 - y) >> 15) * (14376 - (y * (7833 - (y * 2691 >> 15)) >> 15)) >> 14)
    )


class MAPDPM:
    """Online clustering into at most `clusters` clusters, their number found on the way.

    Parameters
    ----------
    dim : int
        Columns of a row, 5 times the denominator of c0 at most.
    clusters : int
        Slots for clusters, 127 at most.
    m0, b0 : sequences of int
        Prior mean of every column, and scale of its variance: b0 / a0 is about the variance inside
        a cluster. -2047..2047 and 1..2^22.
    c0, a0, alpha : (int, int)
        Numerator and denominator of the weight of m0 in rows (both 1..32), of the shape of the
        precision (0.5..64, rounded down to halves) and of the concentration (1/1024..1023): the
        greater alpha, the more clusters.
    memory : int
        Rows, 64..16384, from which on the weights of all clusters are halved. A cluster that weighs
        less than one row then is forgotten, and its slot is free.

    Attributes
    ----------
    k : int
        Number of clusters.
    counts : list of int
        Weight of every slot in rows, 0 where it is free.
    """

    def __init__(self, dim, clusters, m0, b0, c0=(1, 10), a0=(1, 1), alpha=(1, 1), memory=2048):
        p, q = c0
        h = 2 * a0[0] // a0[1]  # 2 a0
        a = (alpha[0] << 10) // alpha[1]  # 1024 alpha
        # y >> n is not 0 where y is negative, or 2^n or more.
        if (
            (p - 1 | q - 1) >> 5
            | (h - 1) >> 7
            | (a - 1 | a) >> 20
            | (clusters - 1 | clusters) >> 7
            | (5 * q - dim) >> 8
            | (min(b0) - 1 | max(b0) - 1) >> 22
            | (2047 - max(m0) | 2047 + min(m0)) >> 12
            | (memory - 64 | 16384 - memory) >> 15
            | len(m0) - dim
            | len(b0) - dim
        ):
            raise ValueError("prior out of range")
        self.k = self._best = self._second = self._gap = 0
        self.counts = [0] * clusters
        w = 3 * dim + 4  # numbers of a slot
        self._prior = clusters, dim, p, q, h, a, w, tuple(m0), tuple(b0), memory
        # For every slot: cost of its weight and scale, sum of log2 B, its rows n; for every column
        # the two sums and B; last, its part of the joint.
        self._slots = array("i", [0] * (clusters * w + 2 * w))
        self.update(m0, clusters, 0)

    def mean(self, k):
        """Posterior mean of cluster `k`, rounded down; of a new one, -1, it is m0."""
        clusters, dim, p, q, h, a, w, m0, b0, memory = self._prior
        x = list(m0)
        for d in range(dim * (k >= 0)):
            x[d] += q * self._slots[k * w + 3 * d + 3] // (p + q * self._slots[k * w + 2])
        return x

    def learn(self, x, scan=True):
        """Add a row of `dim` ints to the cluster that suits the joint best; return its label.

        Where it would found a cluster and no slot is free, the two clusters are merged that cost
        the joint least, if that costs less than that the row joins a cluster that there is.
        Without `scan`, `x` must be the row that `surprise` or `predict` has just seen.
        """
        if scan:
            self.surprise(x, False)
        n = self.counts
        if sum(n) >= self._prior[9]:  # memory
            for k in range(len(n)):
                if n[k]:
                    n[k] >>= 1
                    self.update(self._prior[7], k, 0)  # m0
        k = self._best
        if k == self._prior[0]:
            if self.k < k:
                k = n.index(0)
            else:
                k = self.merge(self._gap >> 8)  # in 1/512 bit
                if k < 0:
                    k = self._second
        if not n[k]:
            self.k += 1
        self.update(x, k, 1)
        return k

    def predict(self, x):
        """Label of the cluster that `x` belongs to, or -1 where it would found a new one."""
        self.surprise(x, False)
        return -1 if self._best == self._prior[0] else self._best

    def surprise(self, x, density=True):
        """Anomaly score: -log2 of the predictive density of `x` (eq. 17), in 1/256 bit.

        Without `density` only the cheapest slot is found.
        """
        clusters, dim, p, q, h, a, w, m0, b0, memory = self._prior
        if len(x) != dim or min(x) < -2048 or max(x) > 2047:
            raise ValueError("x: dim ints of -2048..2047")
        s = self._slots
        log2 = _log2  # a board finds what is local sooner
        least = 3 << 28
        h += 1
        total = best = second = gap = 0
        for k in range(clusters + 1):
            i = k * w
            n = s[i + 2]
            if n or k == clusters:
                c = p + q * n
                cost = s[i]
                r = -s[i + 1]  # will be the sum of log2(1 + t)
                n += h  # twice the power of 1 + t
                for d in range(dim):
                    i += 3
                    y = ((x[d] - m0[d]) * c - q * s[i] << 3) // c
                    r += log2(s[i + 2] + (y * y >> 6))
                if r < ((1 << 29) - cost) // n:
                    cost += r * n
                else:
                    cost = (1 << 29) + (cost >> 10) + (r >> 10) * n
                if density:
                    # 2^-y, linear between powers of two: what a cluster adds to the density.
                    y = abs(cost - least)
                    y = (8192 - (y >> 5 & 4095) >> 1) >> (y >> 17)
                    total = total + y if least < cost else ((total >> 1) * y >> 11) + 4096
                if cost < least:
                    gap = least - cost
                    second = best
                    best = k
                    least = cost
        self._best = best
        self._second = second
        self._gap = gap
        if density:
            a = (a + 1 >> 1) + (sum(self.counts) << 9)
            # log2(pi) + 10 for every column: pi of the Student t, and 2^10 that a is scaled by.
            return least + 2 * (log2(a) - log2(total)) + dim * 763593 + (26 << 16) >> 9

    def merge(self, limit=0):
        """Merge the two clusters that lower the joint most, if any do, or raise it least.

        Parameters
        ----------
        limit : int
            Minus log2 of the joint may rise by less than this, in 1/512 bit.

        Returns
        -------
        int
            The label that is free now, or -1. Its rows belong to a cluster with a lower label,
            `_second`.
        """
        clusters, dim, p, q, h, a, w, m0, b0, memory = self._prior
        s = self._slots
        n = self.counts
        best = -1
        for k in range(clusters):
            if n[k]:
                self.update(m0, k, 0)
        # A cluster less: its prior, alpha, and log2(2 pi) / 2 of the series below are counted less.
        a = s[-w - 1] + (_log2(a) - (10 << 16) >> 7) + 740
        for k in range(clusters):
            e = k * w
            for i in range(k):
                if n[k] and n[i]:
                    f = i * w
                    for d in range(2, w):
                        s[d - w] = s[e + d] + s[f + d]
                    self.update(m0, clusters + 1, 0)
                    y = s[-1] - s[e + w - 1] - s[f + w - 1] + a
                    if y < limit:
                        limit = y
                        best = k
                        self._second = i
        if best >= 0:
            i = self._second
            for d in range(w):
                s[i * w + d] += s[best * w + d]
            n[i] += n[best]
            n[best] = 0
            self.update(m0, i, 0)
            self.update(m0, best, 0)
        return best

    def update(self, x, k, sign):
        """Add (1), take away (-1) or disregard (0) row `x` in slot `k`; empty it if it weighs 0."""
        clusters, dim, p, q, h, a, w, m0, b0, memory = self._prior
        s = self._slots
        log2 = _log2
        i = k * w
        n = s[i + 2] + sign
        if k < clusters:
            weights = self.counts
            a = weights[k] = weights[k] + sign
            if not a:
                self.k -= 1
                for d in range(w):
                    s[i + d] = 0
                return
            a <<= 10  # as alpha is
        while True:
            c = p + q * n
            total = full = 0
            for d in range(dim):
                i += 3
                y = x[d] - m0[d]
                v = s[i + 1] = s[i + 1] + sign * y * y
                y = s[i] = s[i] + sign * y
                # q sum(y)^2 / c is m y + (m r + r^2 / c) / q, of numbers that stay small.
                r = q * y
                m = r // c
                r -= m * c
                full |= v // 500000000
                y = v + 2 * b0[d] - m * y - (m * r + r * r // c) // q
                y += y // c * q + y % c * q // c
                s[i + 2] = y
                total += log2(y)
            # Rows may be a few more than the weight: their halves are rounded up, its are not.
            if k >= clusters or (c < 16000 and not full and (sign or n < (a >> 10) + 10)):
                break
            # Forget half of every row; of an odd number, after a row at the mean, rounded down. The
            # sums stay those that some rows of ints could have, so that B stays positive.
            for d in range(dim):
                m = s[i] // n
                y = s[i] + n % 2 * m
                s[i + 1] = (s[i + 1] + n % 2 * m * m >> 1) - y % 2 * m
                s[i] = y >> 1
                i -= 3
            n = n + 1 >> 1
            sign = 0
        i -= 3 * dim
        s[i + 1] = total
        s[i + 2] = n
        y = h + n
        # (Gamma(a + 1/2) / Gamma(a))^2 = a - 1/4 + 1 / (32 a) nearly, a = y / 2.
        s[i] = total - (log2(a) << 1) - dim * log2((y << 9) - 256 + 72 // y)
        if not sign:
            # Its part of the joint, in 1/512 bit, without what is linear in n: that cancels when
            # parts are compared. log Gamma(x) = (x - 1/2) log x + 1 / (12 x), of a and of n. The
            # low byte of total is multiplied apart, for y total would pass 2^30.
            n = n or 1
            m = log2(n)
            r = dim * log2(y)
            v = dim * log2(c)
            total = 2 * m - total + dim * log2(c + q) + r - v
            s[i + w - 1] = (
                ((2 * h + 1) * m + r + v >> 8)
                - y * (total >> 8)
                - (y * (total & 255) >> 8)
                - 123 * dim // y
                - 61 // n
            )
