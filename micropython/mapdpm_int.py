"""MAP-DPM in integers: clusters rows without being told how many clusters there are.

A Dirichlet process mixture of Gaussians with a normal-gamma prior for every column (Raykov,
Boukouvalas & Little, 2014), learned row by row. No floats, no number of 2^30 or more, no import
beyond `array`: every board that runs MicroPython finds the same labels.

Every slot for a cluster keeps the number n of its rows and two exact sums for every column, of
y = x - m0 and of y^2, so that adding a row and taking it away again changes nothing. The paper's
c0 is a ratio of ints; here `c0` is its numerator, and `one`, its denominator, is what a row counts
in the same unit. So c = c0 + one n is the paper's c0 + N_k, and

    m - m0 = one sum(y) / c,  w = 2 b = 2 b0 + sum(y^2) - one sum(y)^2 / c,  B = w (c + one) / c

are what the posterior predictive (eq. 17), a Student t, needs: its density is the product over
columns of

    Gamma(a + 1/2) / Gamma(a) / sqrt(pi B) / (1 + t)^(a + 1/2),  t = (x - m)^2 / B,  a = a0 + n / 2.

A cluster's cost is twice -log2 of its weight times that density, without what all share. The slot
after the clusters' stays empty: it is the new cluster, and weighs alpha. In one more, `merge` tries
pairs. Logarithms are to base 2, in units of 2^-16; costs, for they are doubled, in units of 2^-17.
From 2^29, which is 4096 bits, costs go on in units 1024 times as large.

A cluster's weight in the mixture, `counts`, is a number of its own. Sums that get too large are
halved, and n with them: the cluster is less certain then, and weighs what it did. Weights are
halved together, so that shares stay.

Methods with an underscore each do one step of one public method. In the copy for a micro:bit, which
`microbit/generate.py` makes of this file, they stand where they are called, for a call costs it
memory and time; and what is known from `__init__` on is one tuple there.
"""

from array import array

_COARSE = 1 << 29  # Costs from here on are in larger units.
_FULL_ROWS = 16000  # A slot forgets half of its rows when c,
_FULL_SQUARES = 500000000  # or a sum of squares, gets there.


def _log2(y):
    """Base-2 logarithm of 1 <= y < 2^30, to 1.9e-4.

    With y = 2^e (1 + f) it is e + f + f (1 - f) (0.439 - 0.239 f + 0.082 f^2).
    """
    exponent = 15 << 16
    while y >> 19:
        y >>= 4
        exponent += 4 << 16
    while y >> 16:
        y >>= 1
        exponent += 1 << 16
    while not y >> 15:
        y <<= 1
        exponent -= 1 << 16
    y -= 32768  # This is f now, in units of 2^-15.
    # One expression, for every variable costs a board time.
    return (
        exponent
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
        c0, one = c0
        two_a0 = 2 * a0[0] // a0[1]
        alpha = (alpha[0] << 10) // alpha[1]  # in 1/1024
        # y >> n is not 0 where y is negative, or 2^n or more. Comparisons, which would be plainer,
        # take a micro:bit 96 bytes more.
        if (
            (c0 - 1 | one - 1) >> 5
            | (two_a0 - 1) >> 7
            | (alpha - 1 | alpha) >> 20
            | (clusters - 1 | clusters) >> 7
            | (5 * one - dim) >> 8
            | (min(b0) - 1 | max(b0) - 1) >> 22
            | (2047 - max(m0) | 2047 + min(m0)) >> 12
            | (memory - 64 | 16384 - memory) >> 15
            | len(m0) - dim
            | len(b0) - dim
        ):
            raise ValueError("prior out of range")
        self._clusters = clusters
        self._dim = dim
        self._c0 = c0
        self._one = one
        self._two_a0 = two_a0
        self._alpha = alpha
        self._m0 = tuple(m0)
        self._b0 = tuple(b0)
        self._memory = memory
        width = 3 * dim + 4
        self._width = width  # numbers of a slot
        self.k = self._best = self._second = self._gap = 0
        self.counts = [0] * clusters
        # For every slot: cost of its weight and scale, sum of log2 B, its rows n; for every column
        # the two sums and B; last, its part of the joint. What loads, divides or exports clusters
        # writes n and the sums here, and calls `update`: a micro:bit has no room for a method that
        # does, 400 bytes with its names.
        self._slots = array("i", [0] * (clusters * width + 2 * width))
        self.update(m0, clusters, 0)

    def mean(self, k):
        """Posterior mean of cluster `k`, rounded down; of a new one, -1, it is m0."""
        mean = list(self._m0)
        i = k * self._width
        for d in range(self._dim * (k >= 0)):
            total = self._slots[i + 3 * d + 3]
            mean[d] += self._one * total // (self._c0 + self._one * self._slots[i + 2])
        return mean

    def learn(self, x, scan=True):
        """Add a row of `dim` ints to the cluster that suits the joint best; return its label.

        Where it would found a cluster and no slot is free, the two clusters are merged that cost
        the joint least, if that costs less than that the row joins a cluster that there is.
        Without `scan`, `x` must be the row that `surprise` or `predict` has just seen.
        """
        if scan:
            self.surprise(x, False)
        counts = self.counts
        if sum(counts) >= self._memory:
            for k in range(self._clusters):
                if counts[k]:
                    counts[k] >>= 1
                    self.update(self._m0, k, 0)
        k = self._best
        if k == self._clusters:
            if self.k < k:
                k = counts.index(0)
            else:
                k = self.merge(self._gap >> 8)  # in 1/512 bit
                if k < 0:
                    k = self._second
        if not counts[k]:
            self.k += 1
        self.update(x, k, 1)
        return k

    def predict(self, x):
        """Label of the cluster that `x` belongs to, or -1 where it would found a new one."""
        self.surprise(x, False)
        return -1 if self._best == self._clusters else self._best

    def surprise(self, x, density=True):
        """Anomaly score: -log2 of the predictive density of `x` (eq. 17), in 1/256 bit.

        Without `density` only the cheapest slot is found.
        """
        dim = self._dim
        if len(x) != dim or min(x) < -2048 or max(x) > 2047:
            raise ValueError("x: dim ints of -2048..2047")
        clusters = self._clusters
        width = self._width
        slots = self._slots
        least = 3 << 28
        total = best = second = gap = 0
        for k in range(clusters + 1):
            i = k * width
            n = slots[i + 2]
            if n or k == clusters:
                cost = self._cost(x, i, n)
                if density:
                    # The cheapest slot adds 4096 to the density, and one that is dearer by `more`
                    # 2^-more of that, linear between powers of two.
                    more = abs(cost - least)
                    share = (8192 - (more >> 5 & 4095) >> 1) >> (more >> 17)
                    total = total + share if least < cost else ((total >> 1) * share >> 11) + 4096
                if cost < least:
                    gap = least - cost
                    second = best
                    best = k
                    least = cost
        self._best = best
        self._second = second
        self._gap = gap
        if density:
            weight = (self._alpha + 1 >> 1) + (sum(self.counts) << 9)  # of all slots, in 1/512 row
            # log2(pi) + 10 for every column: pi of the Student t, and 2^10 that a is scaled by.
            return least + 2 * (_log2(weight) - _log2(total)) + dim * 763593 + (26 << 16) >> 9

    def _cost(self, x, i, n):
        """Cost of row `x` in the slot of `n` rows whose numbers begin at `i`."""
        # What is local is found sooner.
        one = self._one
        m0 = self._m0
        slots = self._slots
        log2 = _log2
        c = self._c0 + one * n
        cost = slots[i]
        power = self._two_a0 + n + 1  # 2 a + 1, twice that of 1 + t
        logs = -slots[i + 1]  # -log2 B; will be the sum of log2(B + (x - m)^2) / B
        for d in range(self._dim):
            i += 3
            off = ((x[d] - m0[d]) * c - one * slots[i] << 3) // c  # 8 (x - m)
            logs += log2(slots[i + 2] + (off * off >> 6))
        if logs < (_COARSE - cost) // power:
            cost += logs * power
        else:
            cost = _COARSE + (cost >> 10) + (logs >> 10) * power
        return cost

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
        clusters = self._clusters
        width = self._width
        m0 = self._m0
        slots = self._slots
        counts = self.counts
        for k in range(clusters):
            if counts[k]:
                self.update(m0, k, 0)
        freed = self._pair(limit)
        if freed >= 0:
            kept = self._second
            for d in range(width):
                slots[kept * width + d] += slots[freed * width + d]
            counts[kept] += counts[freed]
            counts[freed] = 0
            self.update(m0, kept, 0)
            self.update(m0, freed, 0)
        return freed

    def _pair(self, limit):
        """The upper label of the pair that `merge` merges, or -1; the lower one is `_second`."""
        clusters = self._clusters
        width = self._width
        m0 = self._m0
        slots = self._slots
        counts = self.counts
        # A cluster less: its prior, alpha, and log2(2 pi) / 2 of the series in `_part` are counted
        # less.
        fewer = slots[-width - 1] + (_log2(self._alpha) - (10 << 16) >> 7) + 740
        freed = -1
        for k in range(clusters):
            end = k * width
            for kept in range(k):
                if counts[k] and counts[kept]:
                    start = kept * width
                    for d in range(2, width):
                        slots[d - width] = slots[end + d] + slots[start + d]
                    self.update(m0, clusters + 1, 0)
                    rise = slots[-1] - slots[end + width - 1] - slots[start + width - 1] + fewer
                    if rise < limit:
                        limit = rise
                        freed = k
                        self._second = kept
        return freed

    def update(self, x, k, sign):
        """Add (1), take away (-1) or disregard (0) row `x` in slot `k`; empty it if it weighs 0."""
        width = self._width
        weight = self._alpha  # in 1/1024 row: of a new cluster
        slots = self._slots
        i = k * width
        n = slots[i + 2] + sign
        if k < self._clusters:
            counts = self.counts
            weight = counts[k] = counts[k] + sign
            if not weight:
                self.k -= 1
                for d in range(width):
                    slots[i + d] = 0
                return
            weight <<= 10
        while True:
            full = self._add(x, i, n, sign)
            # Rows may be a few more than the weight: their halves are rounded up, its are not.
            if k >= self._clusters or (not full and (sign or n < (weight >> 10) + 10)):
                break
            self._halve(i, n)
            n = n + 1 >> 1
            sign = 0
        shape = self._two_a0 + n  # 2 a
        slots[i + 2] = n
        # (Gamma(a + 1/2) / Gamma(a))^2 = a - 1/4 + 1 / (32 a) nearly.
        slots[i] = (
            slots[i + 1]
            - (_log2(weight) << 1)
            - self._dim * _log2((shape << 9) - 256 + 72 // shape)
        )
        if not sign:
            slots[i + width - 1] = self._part(i, n, shape)

    def _add(self, x, i, n, sign):
        """Add row `x`, of this sign, to the sums of the slot at `i`, and derive its scale.

        `n` is the number of its rows, with this one. Return whether it must forget: not 0.
        """
        one = self._one
        m0 = self._m0
        b0 = self._b0
        slots = self._slots
        log2 = _log2
        c = self._c0 + one * n
        full = c // _FULL_ROWS
        log_scale = 0
        j = i
        for d in range(self._dim):
            j += 3
            y = x[d] - m0[d]
            squares = slots[j + 1] = slots[j + 1] + sign * y * y
            y = slots[j] = slots[j] + sign * y  # sum(y) from here on
            # one sum(y)^2 / c is mean y + (mean rest + rest^2 / c) / one, where one y =
            # mean c + rest: of numbers that stay small.
            rest = one * y
            mean = rest // c
            rest -= mean * c
            full |= squares // _FULL_SQUARES
            scale = squares + 2 * b0[d] - mean * y - (mean * rest + rest * rest // c) // one  # w
            scale += scale // c * one + scale % c * one // c  # B
            slots[j + 2] = scale
            log_scale += log2(scale)
        slots[i + 1] = log_scale
        return full

    def _halve(self, i, n):
        """Forget half of every row of the slot at `i`; of an odd number, after a row at the mean.

        That is rounded down. The sums stay those that some rows of ints could have, so that B stays
        positive.
        """
        slots = self._slots
        for j in range(i + 3, i + 3 * self._dim + 3, 3):
            mean = slots[j] // n
            y = slots[j] + n % 2 * mean
            slots[j + 1] = (slots[j + 1] + n % 2 * mean * mean >> 1) - y % 2 * mean
            slots[j] = y >> 1

    def _part(self, i, n, shape):
        """What the slot at `i`, of `n` rows and 2 a = `shape`, adds to the joint, in 1/512 bit.

        Without what is linear in n: that cancels when parts are compared. With log Gamma(x) =
        (x - 1/2) log x + 1 / (12 x), of a and of n.
        """
        dim = self._dim
        one = self._one
        slots = self._slots
        log2 = _log2
        c = self._c0 + one * n
        n = n or 1
        log_n = log2(n)
        log_shape = dim * log2(shape)
        log_c = dim * log2(c)
        bits = 2 * log_n - slots[i + 1] + dim * log2(c + one) + log_shape - log_c
        # The low byte of `bits` is multiplied apart, for bits * shape would pass 2^30.
        return (
            ((2 * self._two_a0 + 1) * log_n + log_shape + log_c >> 8)
            - shape * (bits >> 8)
            - (shape * (bits & 255) >> 8)
            - 123 * dim // shape
            - 61 // n
        )
