"""Sufficient statistics of normal clusters of known variance: means and sums of squares."""

from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from dpmlite.core._constants cimport LOG_2, LOG_2PI, MIN_KEPT_FRACTION
from dpmlite.core._simd cimport (
    LANES, clones_double, clones_void, larger, log_positive, split_exponent, sum_of)
from dpmlite.families._slot_vectors cimport padded


cdef class KnownVarianceStatistics(SoftComponent):

    cdef void lay_out(self) noexcept nogil:
        self.spread, self.kept = self.n + self.capacity, self.n + 2 * self.capacity
        self.constant = self.n + 3 * self.capacity
        self.member_constant = self.n + 4 * self.capacity
        self.slope = self.n + 5 * self.capacity
        self.shift = self.slope + self.n_columns * self.capacity
        self.means = self.shift + self.n_columns * self.capacity
        self.mean = self.along

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        self.n[k], self.spread[k], self.kept[k] = 0.0, 0.0, 1.0
        memset(self.mean + k * self.n_columns, 0, self.n_columns * sizeof(double))
        self.refresh(k)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double n = self.n[k], part = row.weight / (n + row.weight)
        self.spread[k] += n * part * square_distance(self, row, k)
        shift_mean(self, row, k, part)
        self.n[k] = n + row.weight

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight, spread = 0.0, kept = 1.0
        if left <= 0.0:
            self.clear_slot(k)
            return True
        if not can_lose(self, row, k, &spread, &kept):
            return False
        shift_mean(self, row, k, -row.weight / left)
        self.n[k], self.spread[k], self.kept[k] = left, spread, kept
        self.refresh(k)
        return True

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double n = self.n[k], f, r
        cdef double common = -0.5 * self.n_columns * LOG_2PI - self.log_scale
        cdef const double *mean = self.mean + k * self.n_columns
        cdef Py_ssize_t d, at = k
        for d in range(self.n_columns):
            r = self.ratio[d]
            f = 1.0 + n * r
            self.slope[at] = sqrt(0.5 * f / (1.0 + (n + 1.0) * r))
            self.shift[at] = n * r * mean[d] / f * self.slope[at]
            self.means[at] = mean[d]
            at += self.capacity
        self.constant[k] = common - 0.5 * log_ratio(self, n, n + 1.0)
        if n > 1.0:
            self.member_constant[k] = common - 0.5 * log_ratio(self, n - 1.0, n)

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef double n = self.n[j] + self.n[k]
        cdef double part = self.n[k] / n if n > 0.0 else 0.0, between = 0.0, e
        cdef double *mean = self.mean + j * self.n_columns
        cdef const double *other = self.mean + k * self.n_columns
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            e = other[d] - mean[d]
            between += e * e
            mean[d] += part * e
        self.spread[j] += self.spread[k] + self.n[j] * part * between
        self.n[j] = n
        self.kept[j] = self.kept[k] if self.kept[k] < self.kept[j] else self.kept[j]
        self.refresh(j)
        self.clear_slot(k)

    cdef int expect(self) except -1:
        """Write to `expected`: log densities at the posterior means, then these by column."""
        cdef double common = -0.5 * self.n_columns * LOG_2PI - self.log_scale, n, r, f
        cdef Py_ssize_t d, k
        self.expect_values(1 + self.n_columns)
        for k in range(self.n_slots):
            n, self.expected[k] = self.n[k], common
            for d in range(self.n_columns):
                r = self.ratio[d]
                f = 1.0 + n * r
                self.expected[k] -= 0.5 * r / f
                self.expected[(1 + d) * self.capacity + k] = (
                    n * r * self.mean[k * self.n_columns + d] / f)
        return 0

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        cdef Py_ssize_t d, n_slots = padded(self.n_slots)
        cdef double u
        memcpy(out, &self.expected[0], n_slots * sizeof(double))
        for d in range(self.n_columns):
            u = standardise(row.values[d], self.origin[d], self.unit[d])
            subtract_squares(u, &self.expected[(1 + d) * self.capacity], n_slots, out)
        for d in range(n_slots):
            out[d] *= row.weight


cdef clones_void subtract_squares(double u, const double *mean, Py_ssize_t n_slots,
                                  double *out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n_slots):
        out[k] -= 0.5 * (u - mean[k]) * (u - mean[k])


cdef void shift_mean(KnownVarianceStatistics self, const Row *row, Py_ssize_t k,
                     double part) noexcept nogil:
    cdef double *mean = self.mean + k * self.n_columns
    cdef Py_ssize_t d
    cdef double u
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.origin[d], self.unit[d])
        mean[d] += part * (u - mean[d])


cdef bint can_lose(KnownVarianceStatistics self, const Row *row, Py_ssize_t k,
                   double *spread, double *kept) noexcept nogil:
    """Return whether a slot, which has other rows, can lose a row; write what it would leave."""
    cdef double n = self.n[k], left = n - row.weight
    spread[0] = larger(
        self.spread[k] - n * row.weight / left * square_distance(self, row, k), 0.0)
    kept[0] = self.kept[k] * (1.0 + spread[0]) / (1.0 + self.spread[k])
    return not (kept[0] < MIN_KEPT_FRACTION or left < MIN_KEPT_FRACTION * n)


cdef clones_double square_distance(KnownVarianceStatistics self, const Row *row,
                                   Py_ssize_t k) noexcept nogil:
    """sum_d (u - mean)^2 of one slot."""
    cdef double lane[LANES]
    cdef const double *mean = self.mean + k * self.n_columns
    cdef const double *origin = &self.origin[0]
    cdef const double *unit = &self.unit[0]
    cdef const double *values = row.values
    cdef Py_ssize_t column = 0, i, end
    cdef double e
    for i in range(LANES):
        lane[i] = 0.0
    while column < self.n_columns:
        end = min(self.n_columns - column, <Py_ssize_t> LANES)
        for i in range(end):
            e = standardise(values[column + i], origin[column + i], unit[column + i])
            e -= mean[column + i]
            lane[i] += e * e
        column += LANES
    return sum_of(lane)


cdef double log_ratio(KnownVarianceStatistics self, double n, double more) noexcept nogil:
    """Return sum_d log(f(more) / f(n))."""
    cdef double product[LANES]
    cdef double exponent[LANES]
    cdef const double *ratio = &self.ratio[0]
    cdef Py_ssize_t column = 0, i, end
    cdef double e = 0.0, total = 0.0
    for i in range(LANES):
        product[i] = 1.0
        exponent[i] = 0.0
    while column < self.n_columns:
        end = min(self.n_columns - column, <Py_ssize_t> LANES)
        for i in range(end):
            product[i] *= (1.0 + more * ratio[column + i]) / (1.0 + n * ratio[column + i])
            product[i] = split_exponent(product[i], &e)
            exponent[i] += e
        column += LANES
    for i in range(LANES):
        total += exponent[i] * LOG_2 + log_positive(product[i])
    return total
