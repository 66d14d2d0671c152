"""MAP-DPM in floats: clusters rows without being told how many clusters there are.

For boards that compute in floats; the model and the methods are those of `mapdpm_int`, for any real
values and parameters. In single precision, scores are within 0.001 bit of those of float64; within
0.003 where a cluster lies 80 of its standard deviations from m0. Every slot for a cluster keeps the
mean of its rows and the sum of squares around it (Welford, 1962), so that nothing small is had as a
difference of what is large. With those of n rows, in units of the prior, u = (x - m0) / sqrt(b0),

    c = c0 + n, a = a0 + n / 2, m = n mean / c, b = 1 + squares / 2 + c0 n mean^2 / (2 c)

are the posterior (eq. 13), and -log of weight times predictive density, a Student t, is the cost

    -log n + sum_d log(b (c + 1) / c) / 2 - D log(Gamma(a + 1/2) / Gamma(a))
    + (a + 1/2) log prod_d (1 + (u - m)^2 s^2),    s^2 = c / (2 b (c + 1)),

without what all clusters share. The last slot stays empty: it is the new cluster.
"""

from array import array
from math import exp, log, sqrt


def _log_ratio(a):
    """Log of Gamma(a + 1/2) / Gamma(a): an asymptotic series, of a + 1, a + 2, .. where a < 8."""
    r = 1.0
    while a < 8:
        r *= a / (a + 0.5)
        a += 1
    return log(r * sqrt(a - 0.25 + (0.03125 + (0.0078125 - 0.00244140625 / a) / a) / a))


def _stirling(a):
    """Log Gamma(a) without (a - 1/2) log a - a + log(2 pi) / 2, which is its greatest part."""
    r = 0.0
    while a < 8:
        r += (a + 0.5) * log(1 + 1 / a) - 1
        a += 1
    return r + (0.0833333333 - 0.00277777778 / (a * a)) / a


class MAPDPM:
    """Online clustering into at most `clusters` clusters, their number found on the way.

    Parameters
    ----------
    dim : int
        Columns of a row.
    clusters : int
        Slots for clusters.
    m0, b0 : sequences of numbers
        Prior mean of every column, and scale of its variance: b0 / a0 is about the variance inside
        a cluster.
    c0, a0, alpha : numbers, or (numerator, denominator)
        Weight of m0 in rows, shape of the precision, and concentration: the greater alpha, the more
        clusters.
    memory : int
        Rows, 64..16384, from which on all clusters are halved. A cluster that weighs less than one
        row then is forgotten, and its slot is free.

    Attributes
    ----------
    k : int
        Number of clusters.
    counts : list of int
        Weight of every slot in rows, 0 where it is free.

    Notes
    -----
    A value further than 2^29 from m0, in units of sqrt(b0), counts as lying there.
    """

    def __init__(self, dim, clusters, m0, b0, c0=(1, 10), a0=(1, 1), alpha=(1, 1), memory=2048):
        c0, a0, alpha = [
            v[0] / v[1] if isinstance(v, (tuple, list)) else v for v in (c0, a0, alpha)
        ]
        if not (
            (len(m0) == len(b0) == dim > 0 < clusters and 0 < c0 < 3e38 > a0 > 0 < alpha < 3e38)
            and 64 <= memory <= 16384
            and (all(-3e38 < m < 3e38 for m in m0) and all(0 < b < 3e38 for b in b0))
        ):
            raise ValueError("prior out of range")
        self._clusters = clusters
        self._dim = dim
        self._c0 = c0
        self._a0 = a0
        self._alpha = alpha
        self._m0 = tuple(m0)
        self._memory = memory
        self.k = self._best = self._second = 0
        self._gap = 0.0
        self.counts = [0] * clusters
        self._scale = [sqrt(b) for b in b0]
        self._u = [0.0] * dim
        # For every slot: the cost's fixed part, sum_d log b and two parts of the joint; and for
        # every column the mean, the squares, m and s.
        self._width = 4 * dim + 4
        self._slots = array("f", [0.0] * ((clusters + 1) * self._width))
        self._derive(clusters, 0)

    def mean(self, k):
        """Posterior mean of cluster `k`."""
        mean = list(self._m0)
        i = k * self._width + 6
        for d in range(self._dim):
            mean[d] += self._scale[d] * self._slots[i + 4 * d]
        return mean

    def learn(self, x, scan=True):
        """Add a row of `dim` numbers to the cluster that suits the joint best; return its label.

        Where it would found a cluster and no slot is free, the two clusters are merged that cost
        the joint least, if that costs less than that the row joins a cluster that there is.
        Without `scan`, `x` must be the row that `surprise` or `predict` has just seen.
        """
        if scan:
            self.surprise(x, False)
        if sum(self.counts) >= self._memory:
            self._forget()
        k = self._best
        if k == self._clusters:
            if self.k < k:
                k = self.counts.index(0)
            else:
                k = self.merge(self._gap)
                if k < 0:
                    k = self._second
        self._add(k)
        return k

    def predict(self, x):
        """Label of the cluster that `x` belongs to, or -1 where it would found a new one."""
        self.surprise(x, False)
        return -1 if self._best == self._clusters else self._best

    def surprise(self, x, density=True):
        """Anomaly score: -log2 of the predictive density of `x` (eq. 17), in 1/256 bit.

        Without `density` only the cheapest slot is found.
        """
        clusters = self._clusters
        dim = self._dim
        if len(x) != dim:
            raise ValueError("x: dim finite numbers")
        u = self._u
        for d in range(dim):
            if not -3e38 < x[d] < 3e38:
                raise ValueError("x: dim finite numbers")
            u[d] = min(max((x[d] - self._m0[d]) / self._scale[d], -536870912.0), 536870912.0)
        slots = self._slots
        least = 1e30
        total = 0.0
        for k in range(clusters + 1):
            n = self.counts[k] if k < clusters else 0
            if n or k == clusters:
                i = k * self._width
                fixed = slots[i]
                # The product less 1, so that what is small keeps its digits; logs: of great ones.
                product = logs = 0.0
                for d in range(dim):
                    i += 4
                    y = (u[d] - slots[i + 2]) * slots[i + 3]
                    y *= y
                    product += y + product * y
                    if product > 1e9:
                        logs += log(product)
                        product = 0.0
                y = 1 + product
                logs += log(y) - (y - 1 - product) / y
                cost = fixed + (self._a0 + 0.5 * n + 0.5) * logs
                if density:
                    share = exp(-abs(cost - least))
                    total = total + share if least < cost else total * share + 1
                if cost < least:
                    self._gap = least - cost
                    self._second = self._best
                    self._best = k
                    least = cost
        if density:
            for y in self._scale:
                least += log(y) + 0.918938533  # log(2 pi) / 2
            return (least - log(total) + log(sum(self.counts) + self._alpha)) * 369.329867

    def merge(self, limit=0.0):
        """Merge the two clusters that lower the joint most, if any do, or raise it least.

        Parameters
        ----------
        limit : float
            Minus the log of the joint may rise by less than this, in nats.

        Returns
        -------
        int
            The label that is free now, or -1. Its rows belong to a cluster with a lower label,
            `_second`.
        """
        clusters = self._clusters
        slots = self._slots
        width = self._width
        n = self.counts
        freed = -1
        for k in range(clusters):
            if n[k]:
                self._rate(k, n[k])
        self._rate(clusters, 0)
        tried = clusters * width  # the slot of a new cluster, where pairs are merged for a try
        # A cluster less: its prior, alpha, and what `_rate` leaves out are counted less.
        fewer = slots[tried + 3] + 1 + log(self._alpha)
        for k in range(clusters):
            for kept in range(k):
                if n[k] and n[kept]:
                    i = k * width
                    j = kept * width
                    self._join(kept, k, clusters)
                    self._rate(clusters, n[kept] + n[k])
                    rise = n[kept] * (slots[tried + 2] - slots[j + 2])
                    rise += n[k] * (slots[tried + 2] - slots[i + 2])
                    rise += slots[tried + 3] - slots[j + 3] - slots[i + 3] + fewer
                    if rise < limit:
                        limit = rise
                        freed = k
                        self._second = kept
        self._clear(clusters)
        if freed >= 0:
            self._join(self._second, freed, self._second)
            self._clear(freed)
            self.k -= 1
        return freed

    def _add(self, k):
        """Put the row that was scored last into slot `k`."""
        slots = self._slots
        n = self.counts[k] + 1
        self.k += n == 1
        i = k * self._width
        for y in self._u:
            i += 4
            y -= slots[i]
            slots[i] += y / n
            slots[i + 1] += y * y * (n - 1) / n
        self._derive(k, n)

    def _forget(self):
        """Halve the weights of all clusters, and empty the slots of those that have none left."""
        width = self._width
        for k in range(self._clusters):
            n = self.counts[k]
            if n > 1:
                for i in range(k * width + 5, k * width + width, 4):
                    self._slots[i] *= (n >> 1) / n
                self._derive(k, n >> 1)
            elif n:
                self._clear(k)
                self.k -= 1

    def _join(self, kept, freed, to):
        """Put the rows of slots `kept` and `freed` into slot `to`."""
        slots = self._slots
        n = self.counts[kept] + self.counts[freed]
        part = self.counts[freed] / n
        i = kept * self._width
        j = freed * self._width
        k = to * self._width
        for _ in range(self._dim):
            i += 4
            j += 4
            k += 4
            y = slots[j] - slots[i]
            squares = slots[i + 1] + slots[j + 1] + y * y * part * self.counts[kept]
            slots[k] = slots[i] + y * part
            slots[k + 1] = squares
        self._derive(to, n)

    def _clear(self, k):
        """Empty slot `k`."""
        width = self._width
        for i in range(k * width, k * width + width):
            self._slots[i] = 0.0
        self._derive(k, 0)

    def _derive(self, k, n):
        """What follows from the means and the squares of the `n` rows in slot `k`."""
        dim = self._dim
        c0 = self._c0
        slots = self._slots
        i = k * self._width
        c = c0 + n
        log_scale = 0.0
        for d in range(dim):
            i += 4
            mean = slots[i]
            b = 1 + 0.5 * slots[i + 1] + 0.5 * c0 * n / c * mean * mean
            slots[i + 2] = mean * n / c
            slots[i + 3] = sqrt(0.5 * c / (b * (c + 1)))
            log_scale += log(b)
        i -= 4 * dim
        slots[i + 1] = log_scale
        log_scale += dim * log(1 + 1 / c)
        slots[i] = 0.5 * log_scale - dim * _log_ratio(self._a0 + 0.5 * n) - log(n or self._alpha)
        if k < self._clusters:
            self.counts[k] = n

    def _rate(self, k, n):
        """Put down what slot `k` of `n` rows adds to the joint: a part per row, and the rest.

        It is -log Gamma(n) + sum_d(a log b - log Gamma(a) + log(c) / 2), with Stirling's formula.
        What is linear in n is left out, and constants: they cancel when clusters are merged, but
        for those that `merge` adds.
        """
        dim = self._dim
        slots = self._slots
        i = k * self._width
        a = self._a0 + 0.5 * n
        log_a = dim * log(a)
        logs = slots[i + 1] - log_a
        rest = log_a + dim * (log(self._c0 + n) - 2 * _stirling(a))
        n = n or 1
        slots[i + 2] = 0.5 * logs - log(n)
        slots[i + 3] = self._a0 * logs + 0.5 * (rest + log(n)) - _stirling(n)
