"""Kernel of normal_known_variance.py.

With f = 1 + n r and m the posterior mean, a row costs

    -log p(u | cluster) = sum_d (u slope - shift)^2 - constant,  slope^2 = f(n) / (2 f(n + 1)),

and shift = m slope: two fused multiply-adds for a slot and column. Slopes and shifts lie
[column][slot], so that one vector instruction serves many clusters. A member is scored without
taking it out: with m the mean of all rows, the posterior without w of them has

    (u - m')^2 f(n - w) / f(n) = (u - m)^2 f(n) / f(n - w).
"""

from array import array

from libc.math cimport INFINITY, NAN, fabs, log, sqrt
from libc.string cimport memset

from dpmlite.core._constants cimport KNOWN_REACH, LEAST_KEPT, LOG_2, LOG_2PI, SLACK
from dpmlite.core._rows cimport Row, Rows
from dpmlite.core._simd cimport (
    LANES, clones_double, clones_ssize, clones_void, inlined_double, inlined_ssize, inlined_void,
    larger, log_positive, split_exponent, sum_of, within)
from dpmlite.families._component cimport Component
from dpmlite.families._slot_vectors cimport NARROW, WIDE, least_of, padded

from dpmlite.core.checks import check_positive, check_same_length, require_bound

cdef extern from "kernels.h":
    double TINY "DBL_MIN"


cdef class NormalKnownVariance(Component):
    cdef readonly list m0, sigma2, tau2
    cdef double[::1] origin, unit  # m0 and 1 / sqrt(sigma2), per column
    cdef double[::1] ratio         # r = tau2 / sigma2
    cdef double[::1] low, high     # ends of the columns that `bound_over` was given, in units

    cdef double *spread            # [slot] squared distances of the rows from their mean
    cdef double *kept              # [slot] part of 1 + spread that removals left
    cdef double *constant          # [slot] log density of a new row at the mean
    cdef double *member_constant   # [slot] the same of a member, given the others
    cdef double *slope             # [column][slot] sqrt of a column's cost: u slope - shift
    cdef double *shift
    cdef double *means             # [column][slot] a copy of `mean`
    cdef double *mean              # [slot][column] mean of the rows

    def __cinit__(self):
        self.has_heavy_bounds = True

    def __init__(self, m0, sigma2, tau2):
        for name, values in (("sigma2", sigma2), ("tau2", tau2)):
            check_same_length("m0", m0, name, values)
            check_positive(name, values)
        Component.__init__(self, len(m0))
        self.m0 = array("d", m0).tolist()
        self.sigma2 = array("d", sigma2).tolist()
        self.tau2 = array("d", tau2).tolist()
        self.origin = array("d", self.m0)
        self.unit = array("d", [1.0 / sqrt(s) for s in self.sigma2])
        self.ratio = array("d", [t / s for t, s in zip(self.tau2, self.sigma2)])
        self.log_scale = sum([0.5 * log(s) for s in self.sigma2])
        self.low, self.high = self.origin[:0], self.origin[:0]
        self.start(5 + 3 * self.n_columns, self.n_columns)

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
        self.constant[k] = common - 0.5 * log_growth(self, n, n + 1.0)
        if n > 1.0:
            self.member_constant[k] = common - 0.5 * log_growth(self, n - 1.0, n)

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

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if row.weight != 1.0:
            return Component.costs_below(self, row, log_weight, limit, out)
        if known_variance_costs(self, row.values, log_weight, limit, out) == 0:
            return limit
        return least_of(out, self.n_slots, limit)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        """From the squares of a row of weight 1, and determinants that do not grow at all.

        f(n + 1) / f(n + w) is between 1 and (n + 1) / (n + w).
        """
        cdef double w = row.weight, square, part, fixed
        cdef Py_ssize_t k
        known_variance_costs(self, row.values, log_weight, INFINITY, out)
        for k in range(self.n_slots):
            if log_weight[k] == -INFINITY:
                continue
            square = larger(out[k] + log_weight[k] + self.constant[k], 0.0)
            part = w * min((self.n[k] + 1.0) / (self.n[k] + w), 1.0)
            fixed = w * (0.5 * self.n_columns * LOG_2PI + self.log_scale) - log_weight[k]
            out[k] = fixed + part * square - SLACK * (w * self.n_columns + fabs(fixed) + part * (
                square + fabs(log_weight[k]) + fabs(self.constant[k])))

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, n = self.n[k]
        return (self.constant[k] if w == 1.0 else known_variance_constant(self, n, w)) - 0.5 * w * (
            scaled_distance(self, row, k, n + w))

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, left = self.n[k] - w, spread = 0.0, kept = 1.0, constant
        if left <= 0.0:
            return known_variance_score_new(self, row)
        if not can_lose(self, row, k, &spread, &kept):
            return NAN
        constant = self.member_constant[k] if w == 1.0 else known_variance_constant(self, left, w)
        return constant - 0.5 * w * scaled_distance(self, row, k, left)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        cdef double n = self.n[k], total = self.spread[k]
        cdef const double *mean = self.mean + k * self.n_columns
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            total += n * mean[d] * mean[d] / (1.0 + n * self.ratio[d])
        return known_variance_evidence(self, n, log_growth(self, 0.0, n) + total)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        known_variance_merged_evidences(self, j, first, out)

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        cdef double n = self.n[k], w = row.weight, loss = 0.0, u, r, away, pull, left
        cdef const double *mean = self.mean + k * self.n_columns
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            u = known_variance_standardise(row.values[d], self.origin[d], self.unit[d])
            r = self.ratio[d]
            away = n * r * mean[d] - (1.0 + n * r) * u
            pull = more * r * (u - self.low[d] if away > 0.0 else self.high[d] - u)
            left = larger((away if away > 0.0 else -away) - larger(pull, 0.0), 0.0)
            loss += left * left / ((1.0 + (n + more) * r) * (1.0 + (n + more + w) * r))
        return known_variance_constant(self, n + more, w) - 0.5 * w * loss

    def bound_over(self, Rows X):
        cdef Py_ssize_t d, i
        cdef Row row
        cdef double u
        self.low = array("d", [INFINITY] * self.n_columns)
        self.high = array("d", [-INFINITY] * self.n_columns)
        for i in range(X.n_rows):
            row = X.row(i)
            for d in range(self.n_columns):
                u = known_variance_standardise(row.values[d], self.origin[d], self.unit[d])
                self.low[d] = min(self.low[d], u)
                self.high[d] = max(self.high[d], u)

    def log_bound(self, const double[::1] row, Py_ssize_t k, double more, double weight=1.0):
        require_bound(self.low.shape[0] == self.n_columns)
        return Component.log_bound(self, row, k, more, weight)

    def like(self):
        cdef NormalKnownVariance other = NormalKnownVariance.__new__(NormalKnownVariance)
        other.n_columns, other.log_scale = self.n_columns, self.log_scale
        other.m0, other.sigma2, other.tau2 = self.m0, self.sigma2, self.tau2
        other.origin, other.unit, other.ratio = self.origin, self.unit, self.ratio
        other.low, other.high = self.low, self.high
        other.start(self.n_across, self.n_along)
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        cdef double n = self.n[k]
        cdef const double *mean = self.mean + k * self.n_columns
        f = [1.0 + n * r for r in self.ratio]
        return {
            "n": n,
            "m": [self.m0[d] + n * self.ratio[d] * mean[d] / (f[d] * self.unit[d])
                  for d in range(self.n_columns)],
            "tau2": [tau2 / f_d for tau2, f_d in zip(self.tau2, f)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        cdef const double *mean = self.mean + k * self.n_columns
        return [self.n[k], *[mean[d] for d in range(self.n_columns)], self.spread[k]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d
        self._check_statistics(statistics, 2 + self.n_columns)
        self.n[k], self.kept[k] = statistics[0], 1.0
        for d in range(self.n_columns):
            self.mean[k * self.n_columns + d] = statistics[1 + d]
        self.spread[k] = statistics[1 + self.n_columns]
        self.refresh(k)


cdef inline inlined_double known_variance_standardise(double x, double origin,
                                                      double unit) noexcept nogil:
    return within((x - origin) * unit, KNOWN_REACH)


cdef void shift_mean(NormalKnownVariance self, const Row *row, Py_ssize_t k,
                     double part) noexcept nogil:
    cdef double *mean = self.mean + k * self.n_columns
    cdef Py_ssize_t d
    cdef double u
    for d in range(self.n_columns):
        u = known_variance_standardise(row.values[d], self.origin[d], self.unit[d])
        mean[d] += part * (u - mean[d])


cdef bint can_lose(NormalKnownVariance self, const Row *row, Py_ssize_t k,
                   double *spread, double *kept) noexcept nogil:
    """Whether the slot can lose a row, but not all; what would be left of `spread` and `kept`."""
    cdef double n = self.n[k], left = n - row.weight
    spread[0] = larger(
        self.spread[k] - n * row.weight / left * square_distance(self, row, k), 0.0)
    kept[0] = self.kept[k] * (1.0 + spread[0]) / (1.0 + self.spread[k])
    return not (kept[0] < LEAST_KEPT or left < LEAST_KEPT * n)


cdef double known_variance_constant(NormalKnownVariance self, double n, double w) noexcept nogil:
    """Log density of w equal rows at the posterior mean of n."""
    return (-w * (0.5 * self.n_columns * LOG_2PI + self.log_scale)
            - 0.5 * log_growth(self, n, n + w))


cdef double known_variance_score_new(NormalKnownVariance self, const Row *row) noexcept nogil:
    """log p(row | theta_0)."""
    cdef double w = row.weight, total = 0.0, u
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        u = known_variance_standardise(row.values[d], self.origin[d], self.unit[d])
        total += u * u / (1.0 + w * self.ratio[d])
    return known_variance_constant(self, 0.0, w) - 0.5 * w * total


cdef inline inlined_double known_variance_evidence(NormalKnownVariance self, double n,
                                                   double loss) noexcept nogil:
    return -0.5 * (n * self.n_columns * LOG_2PI + loss) - n * self.log_scale


# Sums over the columns.


cdef clones_double square_distance(NormalKnownVariance self, const Row *row,
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
            e = known_variance_standardise(values[column + i], origin[column + i], unit[column + i])
            e -= mean[column + i]
            lane[i] += e * e
        column += LANES
    return sum_of(lane)


cdef clones_double scaled_distance(NormalKnownVariance self, const Row *row, Py_ssize_t k,
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
            e = f * known_variance_standardise(values[column + i], origin[column + i],
                                               unit[column + i])
            e -= n * r * mean[column + i]
            lane[i] += e * e / (f * (1.0 + other * r))
        column += LANES
    return sum_of(lane)


cdef double log_growth(NormalKnownVariance self, double n, double more) noexcept nogil:
    """sum_d log(f(more) / f(n))."""
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


cdef clones_ssize known_variance_costs(NormalKnownVariance self, const double *row,
                                       const double *log_weight, double limit,
                                       double *out) noexcept nogil:
    """Costs of every slot, or bounds that reach `limit`; returns how many are below it."""
    cdef Py_ssize_t first = 0, n_below = 0, n_slots = padded(self.n_slots)
    while first + WIDE <= n_slots:
        n_below += known_variance_cost_block(self, row, log_weight, limit, first, WIDE, out)
        first += WIDE
    if first < n_slots:
        n_below += known_variance_cost_block(self, row, log_weight, limit, first, NARROW, out)
    return n_below


cdef inline inlined_ssize known_variance_cost_block(
        NormalKnownVariance self, const double *row, const double *log_weight, double limit,
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
            u[d] = known_variance_standardise(row[column + d], origin[column + d], unit[column + d])
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


cdef inline inlined_void known_variance_merged_block(NormalKnownVariance self, Py_ssize_t j,
                                                     Py_ssize_t first, double *out) noexcept nogil:
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
        out[first + i] = known_variance_evidence(
            self, nj + n[i], loss[i] + exponent[i] * LOG_2 + log_positive(product[i]))


cdef clones_void known_variance_merged_evidences(NormalKnownVariance self, Py_ssize_t j,
                                                 Py_ssize_t first, double *out) noexcept nogil:
    cdef Py_ssize_t block = first - first % NARROW, end = padded(self.n_slots)
    while block < end:
        known_variance_merged_block(self, j, block, out)
        block += NARROW
