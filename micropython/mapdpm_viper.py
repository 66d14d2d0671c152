"""MAP-DPM in integers at the speed of machine code: the results of `mapdpm_int`, bit for bit.

For boards whose MicroPython has viper code: about twelve times the speed of `mapdpm_int`, which it
needs beside it; merging is nearly six times as fast. Import the learner from here instead; that is
all.

What runs for every row is here: the costs of all slots and the sums of one. The rest stays in
`mapdpm_int`: which clusters to merge, forgetting, the last row of a cluster taken away. Nothing is
stored to an attribute here: MicroPython 1.18 and 1.19 crash where viper code does. Viper
numbers are machine words, and `ptr32` reads one of an array without its sign: a word longer than 32
bits, as on a 64-bit computer, gets it back by `<< high >> high`, where `high` is 32, or 0 on a
board. An int of 2^31 or more is cut to a word before `surprise` looks at its range.
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
_C0 = const(6)
_ONE = const(7)
_TWO_A0 = const(8)
_ALPHA = const(9)
_SLOT = const(10)
_DIM = const(11)
_LOGS = const(12)
_Y = const(18)
_B0 = const(19)
_M0 = const(20)


@micropython.viper
def _scan(table: ptr32, y: int, slots: ptr32, x) -> int:
    """Find the cheapest slot for row `x`: `mapdpm_int.MAPDPM.surprise`. Return 1 if `x` is bad.

    Two numbers live in registers: `y`, the number at work, is an argument for that alone.
    """
    column = table
    d = table[_DIM]
    logs = 0
    for value in x:
        d -= 1
        if d < 0:
            break
        y = int(value)
        logs |= 2047 - y | y + 2048
        column[_Y] = y - column[_M0]
        column = ptr32(int(column) + 12)
    if d or logs < 0:
        return 1
    coarse = 1 << 29
    high = coarse << 3 >> 27
    least = 3 << 28
    gap = total = second = best = 0
    one = table[_ONE]
    # Slots -clusters..0, so that the empty one is 0.
    k = 0 - table[_CLUSTERS] - 1
    while k:
        k += 1
        at = ptr32(int(slots) + (k + table[_CLUSTERS]) * table[_SLOT])
        n = at[2]
        if n or not k:
            cost = at[0] << high >> high
            logs = 0 - at[1]
            c = table[_C0] + one * n
            column = table
            d = table[_DIM]
            while d:
                at = ptr32(int(at) + 12)
                y = column[_Y]
                column = ptr32(int(column) + 12)
                y = (y * c - one * at[0] << 3 << high >> high) // c
                y = (y * y >> 6) + at[2]
                # _log2(y), here because a call would take longer than its body.
                exponent = 29
                while not y >> 26:
                    y <<= 4
                    exponent -= 4
                while not y >> 29:
                    y <<= 1
                    exponent -= 1
                y = (y >> 14) - 32768
                factor = 14376 - ((7833 - (y * 2691 >> 15)) * y >> 15)
                logs += (exponent << 16) + 2 * y + (((32768 - y) * y >> 15) * factor >> 14)
                d -= 1
            n += table[_TWO_A0] + 1
            if logs < (coarse - cost) // n:
                cost += logs * n
            else:
                cost = coarse + (cost >> 10) + (logs >> 10) * n
            y = cost - least << high >> high
            # The dearer of the two adds 2^-y of the cheaper, which counts 4096.
            cheap = total
            dear = 4096
            if y < 0:
                y = 0 - y
                cheap = 4096
                dear = total
                second = best
                best = k + table[_CLUSTERS]
                least = cost
                gap = y
            total = 0
            if not y >> 21:  # A shift by 32 or more is not 0 on every processor.
                total = (8192 - (y >> 5 & 4095) >> 1) >> (y >> 17)
            total = cheap + ((dear >> 1) * total >> 11)
    table[_TOTAL] = total
    table[_LEAST] = least
    table[_GAP] = gap
    table[_BEST] = best
    table[_SECOND] = second
    return 0


class MAPDPM(mapdpm_int.MAPDPM):
    """`mapdpm_int.MAPDPM`, with the same parameters and attributes."""

    update_int = mapdpm_int.MAPDPM.update
    _table = array("i", [0] * 12)  # until the prior is known

    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        table = [0] * 5 + [self._clusters, self._c0, self._one, self._two_a0, self._alpha]
        table += [4 * self._width, self._dim] + [0] * 6
        for d in range(self._dim):
            table += 0, self._b0[d], self._m0[d]
        self._table = array("i", table)

    def surprise(self, x, density=True):
        table = self._table
        if _scan(table, 0, self._slots, x):
            super().surprise(x)  # It says what is wrong with x.
        self._gap = table[_GAP]
        self._best = table[_BEST]
        self._second = table[_SECOND]
        if density:
            weight = (table[_ALPHA] + 1 >> 1) + (sum(self.counts) << 9)
            bits = mapdpm_int._log2(weight) - mapdpm_int._log2(table[_TOTAL])
            return table[_LEAST] + 2 * bits + table[_DIM] * 763593 + (26 << 16) >> 9

    @micropython.viper
    def update(self, x, k: int, sign: int):
        table = ptr32(self._table)
        at = ptr32(self._slots)
        at = ptr32(int(at) + k * table[_SLOT])
        n = at[2] + sign
        weight = 0
        if k < table[_CLUSTERS]:
            weight = int(self.counts[k]) + sign
        if n and (weight or k > table[_CLUSTERS]):
            table[_LOGS] = table[_ALPHA]
            if weight:
                self.counts[k] = weight
                table[_LOGS] = weight << 10
            coarse = 1 << 29
            high = coarse << 3 >> 27
            slot = at
            one = table[_ONE]
            dim = table[_DIM]
            c = table[_C0] + one * n
            shape = n + table[_TWO_A0]
            table[_LOGS + 1] = (shape << 9) - 256 + 72 // shape
            table[_LOGS + 2] = n
            table[_LOGS + 3] = c + one
            table[_LOGS + 4] = shape
            table[_LOGS + 5] = c
            logs = 2 if sign else 6
            full = log_scale = 0
            column = table
            # Columns -dim..-1 of x: log2 B. Then the logarithms that the slot's own costs need.
            d = 0 - dim
            while d < logs:
                if d < 0:
                    at = ptr32(int(at) + 12)
                    y = int(x[d]) - column[_M0] << high >> high
                    at[1] = y * y * sign + at[1]
                    at[0] = y * sign + at[0]
                    y = at[0] << high >> high
                    if at[1] >= 500000000:
                        full = 1
                    mean = y * one // c
                    rest = y * one % c
                    y = at[1] + 2 * column[_B0] - mean * y - (mean * rest + rest * rest // c) // one
                    y += y // c * one + y % c * one // c
                    at[2] = y
                    column = ptr32(int(column) + 12)
                else:
                    y = table[d + _LOGS]
                # _log2(y), as in _scan.
                exponent = 29
                while not y >> 26:
                    y <<= 4
                    exponent -= 4
                while not y >> 29:
                    y <<= 1
                    exponent -= 1
                y = (y >> 14) - 32768
                factor = 14376 - ((7833 - (y * 2691 >> 15)) * y >> 15)
                y = (exponent << 16) + 2 * y + (((32768 - y) * y >> 15) * factor >> 14)
                if d < 0:
                    log_scale += y
                else:
                    table[d + _LOGS] = y
                d += 1
            slot[1] = log_scale
            slot[2] = n
            slot[0] = log_scale - 2 * table[_LOGS] - dim * table[_LOGS + 1]
            if not sign:
                log_n = table[_LOGS + 2]
                logs_of_c = table[_LOGS + 3] - table[_LOGS + 5]
                bits = (logs_of_c + table[_LOGS + 4]) * dim + 2 * log_n - log_scale
                part = dim * (table[_LOGS + 4] + table[_LOGS + 5])
                part = (2 * table[_TWO_A0] + 1) * log_n + part >> 8
                part -= (bits >> 8) * shape + ((bits & 255) * shape >> 8)
                slot[(table[_SLOT] >> 2) - 1] = part - 123 * dim // shape - 61 // n
            if k > table[_CLUSTERS]:
                return
            if not full and c < 16000 and (sign or n < weight + 10):
                return
            sign = 0  # The row is in; what remains to do is to forget.
        self.update_int(x, k, sign)
