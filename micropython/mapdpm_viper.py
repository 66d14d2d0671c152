"""MAP-DPM in integers at the speed of machine code: the results of `mapdpm_int`, bit for bit.

For boards whose MicroPython has viper code: about twelve times the speed of `mapdpm_int`, which it
needs beside it; merging is nearly six times as fast. Import the learner from here instead; that is
all.

What runs for every row is here: the costs of all slots and the sums of one. The rest stays in
`mapdpm_int`: which clusters to merge, forgetting, the last row of a cluster taken away. Nothing is
stored to an attribute here: MicroPython 1.18 and 1.19 crash where viper code does. Viper
numbers are machine words, and `ptr32` reads one of an array without its sign: a word longer than 32
bits, as on a 64-bit computer, gets it back by `<< z >> z`, with `z` = 32, or 0 on a board. An int
of 2^31 or more is cut to a word before `surprise` looks at its range.
"""
# ruff: noqa: F821  (`micropython`, `ptr32`: words of the compiler)

from array import array

import mapdpm_int

from micropython import const  # Not on CPython: import mapdpm_int there, it has the same results

# What the loops read and write, an array of words: the five results of a scan, the prior, the bytes
# of a slot, six logarithms; then y = x - m0, b0 and m0 of every column.
_TOTAL = const(0)
_LEAST = const(1)
_GAP = const(2)
_BEST = const(3)
_SECOND = const(4)
_CLUSTERS = const(5)
_P = const(6)
_Q = const(7)
_H = const(8)
_ALPHA = const(9)
_SLOT = const(10)
_DIM = const(11)
_LOGS = const(12)
_Y = const(18)
_B0 = const(19)
_M0 = const(20)


@micropython.viper
def _scan(t: ptr32, y: int, s: ptr32, x) -> int:
    """Find the cheapest slot for row `x`: `mapdpm_int.MAPDPM.surprise`. Return 1 if `x` is bad.

    The first two arguments live in registers: `y`, the number at work, is one for that alone.
    """
    u = t
    d = t[_DIM]
    r = 0
    for value in x:
        d -= 1
        if d < 0:
            break
        y = int(value)
        r |= 2047 - y | y + 2048
        u[_Y] = y - u[_M0]
        u = ptr32(int(u) + 12)
    if d or r < 0:
        return 1
    w = 1 << 29
    z = w << 3 >> 27
    least = 3 << 28
    gap = total = second = best = 0
    q = t[_Q]
    # Slots -clusters..0, so that the empty one is 0.
    k = 0 - t[_CLUSTERS] - 1
    while k:
        k += 1
        e = ptr32(int(s) + (k + t[_CLUSTERS]) * t[_SLOT])
        n = e[2]
        if n or not k:
            cost = e[0] << z >> z
            r = 0 - e[1]
            c = t[_P] + q * n
            u = t
            d = t[_DIM]
            while d:
                e = ptr32(int(e) + 12)
                y = u[_Y]
                u = ptr32(int(u) + 12)
                y = (y * c - q * e[0] << 3 << z >> z) // c
                y = (y * y >> 6) + e[2]
                # _log2(y), here because a call would take longer than its body.
                m = 29
                while not y >> 26:
                    y <<= 4
                    m -= 4
                while not y >> 29:
                    y <<= 1
                    m -= 1
                y = (y >> 14) - 32768
                v = 14376 - ((7833 - (y * 2691 >> 15)) * y >> 15)
                r += (m << 16) + 2 * y + (((32768 - y) * y >> 15) * v >> 14)
                d -= 1
            n += t[_H] + 1
            if r < (w - cost) // n:
                cost += r * n
            else:
                cost = w + (cost >> 10) + (r >> 10) * n
            y = cost - least << z >> z
            # The dearer of the two adds 2^-y of the cheaper, which counts 4096.
            m = total
            v = 4096
            if y < 0:
                y = 0 - y
                m = v
                v = total
                second = best
                best = k + t[_CLUSTERS]
                least = cost
                gap = y
            total = 0
            if not y >> 21:  # A shift by 32 or more is not 0 on every processor.
                total = (8192 - (y >> 5 & 4095) >> 1) >> (y >> 17)
            total = m + ((v >> 1) * total >> 11)
    t[_TOTAL] = total
    t[_LEAST] = least
    t[_GAP] = gap
    t[_BEST] = best
    t[_SECOND] = second
    return 0


class MAPDPM(mapdpm_int.MAPDPM):
    """`mapdpm_int.MAPDPM`, with the same parameters and attributes."""

    update_int = mapdpm_int.MAPDPM.update
    _t = array("i", [0] * 12)  # until the prior is known

    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        clusters, dim, p, q, h, a, w, m0, b0, memory = self._prior
        t = [0] * 5 + [clusters, p, q, h, a, 4 * w, dim] + [0] * 6
        for d in range(dim):
            t += 0, b0[d], m0[d]
        self._t = array("i", t)

    def surprise(self, x, density=True):
        t = self._t
        if _scan(t, 0, self._slots, x):
            super().surprise(x)  # It says what is wrong with x.
        self._gap = t[_GAP]
        self._best = t[_BEST]
        self._second = t[_SECOND]
        if density:
            a = (self._prior[5] + 1 >> 1) + (sum(self.counts) << 9)
            a = mapdpm_int._log2(a) - mapdpm_int._log2(t[_TOTAL])
            return t[_LEAST] + 2 * a + t[_DIM] * 763593 + (26 << 16) >> 9

    @micropython.viper
    def update(self, x, k: int, sign: int):
        t = ptr32(self._t)
        e = ptr32(self._slots)
        e = ptr32(int(e) + k * t[_SLOT])
        n = e[2] + sign
        weight = 0
        if k < t[_CLUSTERS]:
            weight = int(self.counts[k]) + sign
        if n and (weight or k > t[_CLUSTERS]):
            t[_LOGS] = t[_ALPHA]
            if weight:
                self.counts[k] = weight
                t[_LOGS] = weight << 10
            w = 1 << 29
            z = w << 3 >> 27
            slot = e
            q = t[_Q]
            dim = t[_DIM]
            c = t[_P] + q * n
            a = n + t[_H]
            t[_LOGS + 1] = (a << 9) - 256 + 72 // a
            t[_LOGS + 2] = n
            t[_LOGS + 3] = c + q
            t[_LOGS + 4] = a
            t[_LOGS + 5] = c
            logs = 2 if sign else 6
            full = total = 0
            u = t
            # Columns -dim..-1 of x: log2 B. Then the logarithms that the slot's own costs need.
            d = 0 - dim
            while d < logs:
                if d < 0:
                    e = ptr32(int(e) + 12)
                    y = int(x[d]) - u[_M0] << z >> z
                    e[1] = y * y * sign + e[1]
                    e[0] = y * sign + e[0]
                    y = e[0] << z >> z
                    if e[1] >= 500000000:
                        full = 1
                    m = y * q // c
                    v = y * q % c
                    y = e[1] + 2 * u[_B0] - m * y - (m * v + v * v // c) // q
                    y += y // c * q + y % c * q // c
                    e[2] = y
                    u = ptr32(int(u) + 12)
                else:
                    y = t[d + _LOGS]
                # _log2(y), as in _scan.
                m = 29
                while not y >> 26:
                    y <<= 4
                    m -= 4
                while not y >> 29:
                    y <<= 1
                    m -= 1
                y = (y >> 14) - 32768
                v = 14376 - ((7833 - (y * 2691 >> 15)) * y >> 15)
                y = (m << 16) + 2 * y + (((32768 - y) * y >> 15) * v >> 14)
                if d < 0:
                    total += y
                else:
                    t[d + _LOGS] = y
                d += 1
            slot[1] = total
            slot[2] = n
            slot[0] = total - 2 * t[_LOGS] - dim * t[_LOGS + 1]
            if not sign:
                m = t[_LOGS + 2]
                v = t[_LOGS + 4] + t[_LOGS + 5]
                y = (t[_LOGS + 3] + t[_LOGS + 4] - t[_LOGS + 5]) * dim + 2 * m - total
                m = (2 * t[_H] + 1) * m + dim * v >> 8
                m -= (y >> 8) * a + ((y & 255) * a >> 8)
                slot[(t[_SLOT] >> 2) - 1] = m - 123 * dim // a - 61 // n
            if k > t[_CLUSTERS]:
                return
            if not full and c < 16000 and (sign or n < weight + 10):
                return
            sign = 0  # The row is in; what remains to do is to forget.
        self.update_int(x, k, sign)
