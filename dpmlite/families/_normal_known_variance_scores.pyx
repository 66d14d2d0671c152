"""Scores of rows in one and in all clusters of known variance, and log marginals of merged ones."""

from libc.math cimport INFINITY

from dpmlite.core._constants cimport LOG_2, LOG_2PI
from dpmlite.core._simd cimport (
    LANES, inlined_ssize, inlined_void, larger, log_positive, split_exponent, sum_of)
from dpmlite.families._normal_known_variance_statistics cimport log_ratio, standardise
from dpmlite.families._slot_vectors cimport NARROW, WIDE, padded

cdef extern from "kernels.h":
    double TINY "DBL_MIN"


cdef double log_constant(KnownVarianceStatistics self, double n, double w) noexcept nogil:
    """Log density of w equal rows at the posterior mean of n."""
    return (-w * (0.5 * self.n_columns * LOG_2PI + self.log_scale)
            - 0.5 * log_ratio(self, n, n + w))


cdef double score_new(KnownVarianceStatistics self, const Row *row) noexcept nogil:
    """log p(row | theta_0)."""
    cdef double w = row.weight, total = 0.0, u
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.origin[d], self.unit[d])
        total += u * u / (1.0 + w * self.ratio[d])
    return log_constant(self, 0.0, w) - 0.5 * w * total


cdef clones_double scaled_distance(KnownVarianceStatistics self, const Row *row, Py_ssize_t k,
                                   double other) noexcept nogil:
    """sum_d (u - m)^2 f(n) / f(other), m the posterior mean of one slot."""
    cdef double lane[LANES]
    cdef double n = self.n[k], f, r, e
    cdef const double *mean = self.mean + k * self.n_columns
    cdef const double *origin = &self.origin[0]
    cdef const double *unit = &self.unit[0]
    cdef const double *ratio = &self.ratio[0]
    cdef const double *values = row.values
    cdef Py_ssize_t column = 0, i, end
    for i in range(LANES):
        lane[i] = 0.0
    while column < self.n_columns:
        end = min(self.n_columns - column, <Py_ssize_t> LANES)
        for i in range(end):
            r = ratio[column + i]
            f = 1.0 + n * r
            e = f * standardise(values[column + i], origin[column + i],
                                               unit[column + i])
            e -= n * r * mean[column + i]
            lane[i] += e * e / (f * (1.0 + other * r))
        column += LANES
    return sum_of(lane)


cdef clones_ssize costs_in_all_slots(KnownVarianceStatistics self, const double *row,
                                     const double *log_weight, double limit,
                                     double *out) noexcept nogil:
    """Costs of every slot, or bounds that reach `limit`; returns how many are below it."""
    cdef Py_ssize_t first = 0, n_below = 0, n_slots = padded(self.n_slots)
    while first + WIDE <= n_slots:
        n_below += cost_block(self, row, log_weight, limit, first, WIDE, out)
        first += WIDE
    if first < n_slots:
        n_below += cost_block(self, row, log_weight, limit, first, NARROW, out)
    return n_below


cdef inline inlined_ssize cost_block(
        KnownVarianceStatistics self, const double *row, const double *log_weight, double limit,
        Py_ssize_t first, int width, double *out) noexcept nogil:
    """Costs of `width` slots from `first`; returns how many are below `limit`.

    Columns only ever add to a cost: a block whose costs all reach `limit` is left early.
    """
    cdef double cost[WIDE]
    cdef double u[LANES]
    cdef const double *slope = self.slope + first
    cdef const double *shift = self.shift + first
    cdef const double *constant = self.constant + first
    cdef const double *origin = &self.origin[0]
    cdef const double *unit = &self.unit[0]
    cdef Py_ssize_t d, column = 0, n_columns = self.n_columns, end, j, n_below = 0
    cdef double z
    for j in range(width):
        cost[j] = -log_weight[first + j] - constant[j]
    while True:
        end = min(n_columns - column, <Py_ssize_t> LANES)
        for d in range(end):
            u[d] = standardise(row[column + d], origin[column + d], unit[column + d])
        for d in range(end):
            for j in range(width):
                z = u[d] * slope[j] - shift[j]
                cost[j] = cost[j] + z * z
            slope += self.capacity
            shift += self.capacity
        column += LANES
        if column < n_columns and limit == INFINITY:
            continue
        n_below = 0
        for j in range(width):
            out[first + j] = cost[j]
            n_below += cost[j] < limit
        if n_below == 0 or column >= n_columns:
            return n_below


cdef clones_void merged_marginals(KnownVarianceStatistics self, Py_ssize_t j, Py_ssize_t first,
                                  double *out) noexcept nogil:
    cdef Py_ssize_t block = first - first % NARROW, end = padded(self.n_slots)
    while block < end:
        merged_block(self, j, block, out)
        block += NARROW


cdef inline inlined_void merged_block(KnownVarianceStatistics self, Py_ssize_t j, Py_ssize_t first,
                                      double *out) noexcept nogil:
    """Log marginals of slot j with each of NARROW slots from `first`."""
    cdef double loss[NARROW]
    cdef double product[NARROW]
    cdef double exponent[NARROW]
    cdef double inverse[NARROW]
    cdef double nj = self.n[j], mean, total, f, e = 0.0
    cdef const double *n = self.n + first
    cdef const double *means = self.means + first
    cdef Py_ssize_t d
    cdef int i
    for i in range(NARROW):
        loss[i] = self.spread[j] + self.spread[first + i]
        product[i] = 1.0
        exponent[i] = 0.0
        inverse[i] = 1.0 / larger(nj + n[i], TINY)
    for d in range(self.n_columns):
        mean = self.mean[j * self.n_columns + d]
        for i in range(NARROW):
            f = 1.0 + (nj + n[i]) * self.ratio[d]
            total = nj * mean + n[i] * means[i]
            loss[i] += inverse[i] * (
                nj * n[i] * (mean - means[i]) * (mean - means[i]) + total * total / f)
            product[i] = split_exponent(product[i] * f, &e)
            exponent[i] += e
        means += self.capacity
    for i in range(NARROW):
        out[first + i] = log_evidence(
            self, nj + n[i], loss[i] + exponent[i] * LOG_2 + log_positive(product[i]))
