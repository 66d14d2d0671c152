"""The greatest score that rows to come can give a row of counts: for exact search.

If T more of a word w are in a slot, its x factors f, f + 1, ... gain at most
x log((base + T) / base), where base is x over the sum of 1 / f: the harmonic mean of numbers that
all grow by T grows by T or more.
"""

from libc.math cimport INFINITY, floor, log, log1p

from dpmlite.core._constants cimport MAX_LISTED_FACTORS
from dpmlite.core._special cimport log_rising_c


cdef double add_factors(double first, double x, double *reciprocals) noexcept nogil:
    """Return the sum of logs, and write that of reciprocals, of x numbers from `first` on."""
    cdef double total = 0.0, rest, part
    cdef Py_ssize_t i, n = <Py_ssize_t> min(x, <double> MAX_LISTED_FACTORS)
    reciprocals[0] = 0.0
    for i in range(n):
        total += log(first + i)
        reciprocals[0] += 1.0 / (first + i)
    rest = floor(x - n)
    if rest > 0.0:
        total += log_rising_c(first + n, rest)
        reciprocals[0] += log1p(rest / (first + n - 0.5))
    part = x - n - rest
    reciprocals[0] += part / (first + n + rest)
    return total + part * log(first + n + rest)


cdef double max_gain(const Row *row, double *base, double extra) noexcept nogil:
    """Return the greatest sum of x log((base + T) / base) whose T add up to `extra`.

    Words that get none of them lose their bases.
    """
    cdef double level, x, n_words, sum_of_bases, total = 0.0
    cdef Py_ssize_t i, n_lost = 1
    while n_lost > 0:
        n_words = sum_of_bases = 0.0
        for i in range(row.n_values):
            if base[i] < INFINITY:
                n_words += row.values[i] * row.weight
                sum_of_bases += base[i]
        level = (extra + sum_of_bases) / n_words if n_words > 0.0 else 0.0
        n_lost = 0
        for i in range(row.n_values):
            if base[i] < INFINITY and base[i] > level * row.values[i] * row.weight:
                base[i] = INFINITY
                n_lost += 1
    for i in range(row.n_values):
        x = row.values[i] * row.weight
        if base[i] < INFINITY:
            total += x * log(level * x / base[i])
    return total
