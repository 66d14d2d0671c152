"""Scores of rows of counts of events.

In all slots at once, a small whole count x adds x factors a, a + 1, ... to a product, of which one
logarithm per slot is taken in the end; a large or fractional one needs logarithms of its own.
"""

from dpmlite.core._constants cimport LOG_2, MAX_POLYA_TERM, MIN_POLYA_TERM
from dpmlite.core._simd cimport (
    LANES, clones_double, inlined_void, larger, log_positive, smaller, split_exponent, sum_of)
from dpmlite.core._special cimport log_rising_of_lane
from dpmlite.families._family cimport left_of_c
from dpmlite.families._gamma_rates cimport log_evidence, read_lane, row_log_factorials
from dpmlite.families._slot_vectors cimport NARROW, WIDE, padded

cdef enum:
    EVENT_CHUNK = 128         # columns whose cells are listed at a time
    MAX_FACTORS = 16          # factors of a cell that are multiplied
    FACTORS_PER_PRODUCT = 32  # factors from 2^-31 to 2^31 whose product stays in 2^-992 .. 2^992

cdef struct Events:  # cells of a chunk of columns
    Py_ssize_t n_missing, n_small, n_large
    Py_ssize_t missing[EVENT_CHUNK]  # their columns
    Py_ssize_t small[EVENT_CHUNK]
    Py_ssize_t large[EVENT_CHUNK]


cdef bint can_multiply(PoissonGammaStatistics self) noexcept nogil:
    """Return whether factors of small counts may be multiplied in any slot."""
    return (self.power == 1.0 and self.prior.least_a0 >= MIN_POLYA_TERM
            and self.most_shape + MAX_FACTORS <= MAX_POLYA_TERM)


cdef void list_events(PoissonGammaStatistics self, const Row *row, Py_ssize_t first,
                      Events *events) noexcept nogil:
    """List the columns of a chunk, from `first`, that have no 0."""
    cdef bint multiplies = can_multiply(self)
    cdef Py_ssize_t d
    cdef double x
    events.n_missing = events.n_small = events.n_large = 0
    for d in range(first, min(self.n_columns, first + EVENT_CHUNK)):
        x = row.values[d]
        if x != x:
            events.missing[events.n_missing] = d
            events.n_missing += 1
        elif multiplies and x <= MAX_FACTORS and <double> (<int> x) == x:
            events.small[events.n_small] = d
            events.n_small += x > 0.0
        elif x > 0.0:
            events.large[events.n_large] = d
            events.n_large += 1


cdef clones_void event_costs(PoissonGammaStatistics self, const Row *row, const double *log_weight,
                             double *out) noexcept nogil:
    """Write the costs of a row, of weight 1, in every slot."""
    cdef Events events
    cdef double log_factorials = row_log_factorials(self.prior, row)
    cdef Py_ssize_t first = 0, slot, k, n_slots = padded(self.n_slots)
    for k in range(n_slots):
        out[k] = log_factorials - log_weight[k] - self.base[k]
    while first < self.n_columns:
        list_events(self, row, first, &events)
        slot = 0
        while slot + WIDE <= n_slots:
            subtract_events(self, row, &events, slot, WIDE, out)
            slot += WIDE
        if slot < n_slots:
            subtract_events(self, row, &events, slot, NARROW, out)
        first += EVENT_CHUNK


cdef inline inlined_void subtract_events(
        PoissonGammaStatistics self, const Row *row, const Events *events, Py_ssize_t first,
        int width, double *out) noexcept nogil:
    """Subtract the scores of cells other than 0 from the costs of `width` slots from `first`."""
    cdef double total[WIDE]
    cdef double product[WIDE]
    cdef double exponent[WIDE]
    cdef const double *shape
    cdef const double *other
    cdef double power = self.power, x, e = 0.0
    cdef Py_ssize_t i, j, step, n_factors = 0
    for j in range(width):
        total[j], product[j], exponent[j] = 0.0, 1.0, 0.0
    for i in range(events.n_missing):
        other = self.zero_score + events.missing[i] * self.capacity + first
        for j in range(width):
            total[j] = total[j] - other[j]
    for i in range(events.n_small):
        x = row.values[events.small[i]]
        shape = self.shape + events.small[i] * self.capacity + first
        other = self.log_rate + events.small[i] * self.capacity + first
        n_factors += <Py_ssize_t> x
        if n_factors > FACTORS_PER_PRODUCT:
            n_factors = <Py_ssize_t> x
            for j in range(width):
                product[j] = split_exponent(product[j], &e)
                exponent[j] += e
        for j in range(width):
            total[j] = total[j] - x * other[j]
        for step in range(<Py_ssize_t> x):
            for j in range(width):
                product[j] = product[j] * (shape[j] + step)
    for i in range(events.n_large):
        x = row.values[events.large[i]]
        shape = self.shape + events.large[i] * self.capacity + first
        other = self.log_rate + events.large[i] * self.capacity + first
        for j in range(width):
            total[j] = (total[j] - x * other[j]
                        + log_rising_of_lane(shape[j], power * x) / power)
    for j in range(width):
        product[j] = split_exponent(product[j], &e)
        out[first + j] -= total[j] + LOG_2 * (exponent[j] + e) + log_positive(product[j])


cdef double score_events(PoissonGammaStatistics self, const Row *row, double log_factorials,
                         Py_ssize_t k, double taken) noexcept nogil:
    """log p of all copies that a row stands for, in slot k less the weight `taken` of such rows.

    `taken` is 0 or the row's weight.
    """
    cdef double most = 0.0, rest = 0.0, x
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        x = larger(row.values[d], 0.0)
        most = larger(most, x)
        rest = larger(rest, x - <double> (<int> smaller(x, MAX_FACTORS)))
    if row.weight == 1.0 and rest == 0.0 and can_multiply(self):
        return score_small(self, row, most, k, taken) - log_factorials
    return score_copies(self, row, k, taken) - row.weight * log_factorials


cdef clones_double score_small(PoissonGammaStatistics self, const Row *row, double most,
                               Py_ssize_t k, double taken) noexcept nogil:
    """log p of a row of small counts, `most` at most, but for their factorials."""
    cdef double[LANES] x, there, shape, total, product, exponent
    cdef const double *sums = self.sums + k * self.n_along
    cdef const double *a0 = &self.prior.a[0]
    cdef const double *log_ratio = self.log_ratio + k * self.n_along
    cdef const double *log_rate = self.slot_log_rate + k * self.n_along
    cdef double step, e = 0.0, n_factors = 0.0
    cdef Py_ssize_t first = 0, i, n
    if taken > 0.0:
        log_ratio = self.member_log_ratio + k * self.n_along
        log_rate = self.member_log_rate + k * self.n_along
    for i in range(LANES):
        total[i], product[i], exponent[i] = 0.0, 1.0, 0.0
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> LANES)
        read_lane(row, first, n, x, there)
        for i in range(LANES):
            shape[i] = a0[first + i] + left_of_c(sums[first + i], taken * x[i])
            total[i] -= there[i] * shape[i] * log_ratio[first + i] + x[i] * log_rate[first + i]
        n_factors += most
        if n_factors > FACTORS_PER_PRODUCT:
            n_factors = most
            for i in range(LANES):
                product[i] = split_exponent(product[i], &e)
                exponent[i] += e
        step = 0.0
        while step < most:
            for i in range(LANES):
                product[i] *= shape[i] + step if step < x[i] else 1.0
            step += 1.0
        first += LANES
    for i in range(LANES):
        product[i] = split_exponent(product[i], &e)
        total[i] += LOG_2 * (exponent[i] + e) + log_positive(product[i])
    return sum_of(total)


cdef clones_double score_copies(PoissonGammaStatistics self, const Row *row, Py_ssize_t k,
                                double taken) noexcept nogil:
    """log p of copies of any counts and weight, but for their factorials."""
    cdef double[LANES] x, there, total
    cdef const double *sums = self.sums + k * self.n_along
    cdef const double *cells = self.cells + k * self.n_along
    cdef const double *a0 = &self.prior.a[0]
    cdef const double *b0 = &self.prior.b[0]
    cdef double power = self.power, w = self.power * row.weight, a, b
    cdef Py_ssize_t first = 0, i, n
    for i in range(LANES):
        total[i] = 0.0
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> LANES)
        read_lane(row, first, n, x, there)
        for i in range(LANES):
            a = a0[first + i] + power * left_of_c(sums[first + i], taken * x[i])
            b = b0[first + i] + power * left_of_c(cells[first + i], taken * there[i])
            total[i] += there[i] * log_evidence(a, b, w * x[i], w)
        first += LANES
    return sum_of(total) / power


cdef void expected_events(PoissonGammaStatistics self, const double *expected, const Row *row,
                          double *out) noexcept nogil:
    """Write expected log densities of a row in all slots, from `find_expectations`."""
    cdef const double *log_lambda = expected + self.capacity
    cdef const double *mean = log_lambda + self.n_columns * self.capacity
    cdef double log_factorials = row_log_factorials(self.prior, row), x
    cdef Py_ssize_t d, k, n_slots = padded(self.n_slots)
    for k in range(n_slots):
        out[k] = expected[k] - log_factorials
    for d in range(self.n_columns):
        x = larger(row.values[d], 0.0)
        for k in range(n_slots if row.values[d] != row.values[d] else 0):
            out[k] += mean[k]
        for k in range(n_slots if x > 0.0 else 0):
            out[k] += x * log_lambda[k]
        log_lambda += self.capacity
        mean += self.capacity
    for k in range(n_slots):
        out[k] *= row.weight
