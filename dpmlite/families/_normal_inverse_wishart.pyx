"""Kernel of normal_inverse_wishart.py: sufficient statistics and their scoring.

With e = u - m, z = W e and q the sum of z_i^2 / d_i, w equal rows more multiply det Psi by
1 + q kappa w / (kappa + w), and a member is scored without taking it out: w rows less multiply it
by 1 - q kappa w / (kappa - w).

A slot's statistics lie together, in padded columns; _multivariate_t.pyx scores a row in all slots.
"""

from array import array

from libc.math cimport INFINITY, NAN, fabs, log
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy, memset

from dpmlite.core._constants cimport LEAST_KEPT, LOG_2, LOG_PI, SLACK
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport (
    clones_double, clones_void, inlined_void, larger, log2_floor, padded_columns, split_exponent)
from dpmlite.core._triangular cimport (
    add_square, eliminate, log_det_with, residuals_c, update_c, weighted_square)
from dpmlite.families._component cimport Component
from dpmlite.families._multivariate_t cimport (
    MultivariateDensities, log_peak_c, multivariate_costs_below, spread_factor)
from dpmlite.families._whitening cimport (
    Units, restore_c, restore_square, units_of, whiten_c, whitening_columns)

from dpmlite.core.checks import check_normal_inverse_wishart


cdef class NormalInverseWishart(Component):
    cdef readonly double kappa0, nu0
    cdef readonly list m0, psi0
    cdef Py_ssize_t width          # columns, padded
    cdef double[::1] origin        # m0
    cdef double[::1] whitening     # [column][row] R of R psi0 R^T = 1
    cdef Units units               # of the prior: R and m0

    cdef double *log_det           # [slot] log det Psi
    cdef double *least_kept        # [slot] least of `kept`
    cdef double *member_constant   # [slot] log density of a member at the mean
    cdef MultivariateDensities t               # what scoring needs of the slots, kept by `refresh`

    # Parts of a slot in `along`: where they start. Matrices hold padded columns.
    cdef Py_ssize_t at_d, at_reciprocal, at_kept, at_scatter, at_W

    # Scratch, of vectors and of matrices.
    cdef double[::1] room
    cdef double *u
    cdef double *e
    cdef double *z
    cdef double *spare
    cdef double *matrix

    cdef inline double *slot(self, Py_ssize_t k) noexcept nogil:
        """Where the mean of slot k is, and behind it the parts above."""
        return self.along + k * self.n_along

    def __cinit__(self):
        self.has_scratch = self.has_heavy_bounds = True

    def __init__(self, m0, double kappa0, double nu0, psi0):
        check_normal_inverse_wishart(m0, kappa0, nu0, psi0)
        self.m0 = array("d", m0).tolist()
        self.psi0 = [array("d", row).tolist() for row in psi0]
        self.kappa0, self.nu0 = kappa0, nu0
        self.origin = array("d", self.m0)
        self.whitening = whitening_columns(self.psi0)
        self.begin()

    cdef int begin(self) except -1:
        """Everything that follows from the prior."""
        cdef Py_ssize_t d, D = self.origin.shape[0], width = padded_columns(D)
        Component.__init__(self, D)
        self.width, self.t.n_columns, self.log_scale = width, D, 0.0
        self.units = units_of(self.origin, self.whitening)
        for d in range(D):
            self.log_scale -= log(self.whitening[d * width + d])
        self.room = double_array((6 + D) * width + 8)
        self.u = <double *> ((<uintptr_t> &self.room[0] + 63) & ~(<uintptr_t> 63))
        self.e, self.z, self.spare = self.u + width, self.u + 2 * width, self.u + 3 * width
        self.matrix = self.u + 6 * width
        self.at_d, self.at_reciprocal, self.at_kept = width, 2 * width, 3 * width
        self.at_scatter, self.at_W = 4 * width, (4 + D) * width
        return self.start(6 + D + D * (D + 1) // 2, (4 + 2 * D) * width)

    cdef void lay_out(self) noexcept nogil:
        self.log_det, self.least_kept = self.n + self.capacity, self.n + 2 * self.capacity
        self.t.power, self.t.constant = self.n + 3 * self.capacity, self.n + 4 * self.capacity
        self.member_constant = self.n + 5 * self.capacity
        self.t.shift = self.n + 6 * self.capacity
        self.t.slope = self.t.shift + self.n_columns * self.capacity
        self.t.stride = self.capacity

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        cdef double *slot = self.slot(k)
        cdef Py_ssize_t i
        memset(slot, 0, self.n_along * sizeof(double))
        for i in range(self.width):
            slot[self.at_d + i] = slot[self.at_kept + i] = 1.0
        for i in range(self.n_columns):
            slot[self.at_W + i * self.width + i] = 1.0
        self.n[k] = 0.0
        self.refresh(k)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        wishart_standardise(self, row.values)
        leave_residuals(self, k)
        shift_rows(self, k, row.weight)

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, kappa = self.kappa0 + self.n[k]
        cdef double *d = self.slot(k) + self.at_d
        cdef Py_ssize_t i
        if self.n[k] - w <= 0.0:
            self.clear_slot(k)
            return True
        if self.n[k] - w < LEAST_KEPT * self.n[k]:
            return False
        wishart_standardise(self, row.values)
        leave_residuals(self, k)
        if not keeps(self, k, kappa * w / (kappa - w)):
            return False
        memcpy(self.slot(k) + self.at_kept, self.spare, self.n_columns * sizeof(double))
        shift_rows(self, k, -w)
        for i in range(self.n_columns):
            d[i] = d[i] if d[i] > 1.0 else 1.0
        self.refresh(k)
        return True

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double *slot = self.slot(k)
        cdef double *d = slot + self.at_d
        cdef double kappa = self.kappa0 + self.n[k], nu = self.nu0 + self.n[k]
        cdef double product = 1.0, exponent = 0.0, e = 0.0, least = 1.0
        cdef Py_ssize_t i
        for i in range(self.n_columns):
            slot[self.at_reciprocal + i] = 1.0 / d[i]
            product = split_exponent(product * d[i], &e)
            exponent += e
            least = slot[self.at_kept + i] if slot[self.at_kept + i] < least else least
        self.log_det[k], self.least_kept[k] = exponent * LOG_2 + log(product), least
        self.t.power[k] = 0.5 * (nu + 1.0)
        self.t.constant[k] = peak(self, kappa, nu, self.log_det[k], 1.0)
        if self.n[k] > 1.0:
            self.member_constant[k] = peak(self, kappa - 1.0, nu - 1.0, self.log_det[k], 1.0)
        turn(self, slot, slot)
        spread_factor(&self.t, k, slot + self.at_W, slot + self.at_reciprocal, self.z,
                      self.n[k] / kappa, kappa / (kappa + 1.0))

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        merge_into(self, self.slot(j), self.n[j], self.slot(k), self.n[k])
        self.n[j] += self.n[k]
        self.refresh(j)
        self.clear_slot(k)

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        wishart_standardise(self, row.values)
        if row.weight == 1.0:
            return multivariate_costs_below(&self.t, self.n_slots, self.u, log_weight, limit, out)
        return Component.costs_below(self, row, log_weight, limit, out)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        """From the square of a row of weight 1, and factors of Gamma_D that are all the largest.

        With h = w / 2 and x = w / kappa, Gamma(y + h) / Gamma(y) <= (y + h)^h and
        log(1 + x) >= 2 x / (2 + x); and log(1 + g t) >= g log(1 + t) for g < 1.
        """
        cdef double w = row.weight, D = self.n_columns, kappa, nu, log_square, growth, fixed
        cdef Py_ssize_t k
        multivariate_costs_below(&self.t, self.n_slots, self.u, log_weight, INFINITY, out)
        for k in range(self.n_slots):
            if log_weight[k] == -INFINITY:
                continue
            kappa, nu = self.kappa0 + self.n[k], self.nu0 + self.n[k]
            log_square = larger(
                (out[k] + log_weight[k] + self.t.constant[k]) / self.t.power[k], 0.0)
            growth = w / (2.0 * kappa + w) + 0.5 * w * (LOG_PI - log(0.5 * (nu + w)))
            fixed = D * growth + w * (0.5 * self.log_det[k] + self.log_scale) - log_weight[k]
            out[k] = fixed + 0.5 * (nu + w) * min(w * (kappa + 1.0) / (kappa + w), 1.0) * log_square
            out[k] -= SLACK * (fabs(fixed) + (nu + w) * (
                D + fabs(log_weight[k]) + fabs(self.t.constant[k])))

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        wishart_standardise(self, row.values)
        return score(self, k, row.weight)

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return wishart_score_member(self, row, k, True)

    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return wishart_score_member(self, row, k, False)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return wishart_evidence(self, self.n[k], self.log_det[k])

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = wishart_evidence(self, self.n[j] + self.n[k], log_det_merged(
                self, self.slot(j), self.n[j], self.slot(k), self.n[k]))

    def like(self):
        cdef NormalInverseWishart other = NormalInverseWishart.__new__(NormalInverseWishart)
        other.m0, other.kappa0, other.nu0, other.psi0 = self.m0, self.kappa0, self.nu0, self.psi0
        other.origin, other.whitening = self.origin, self.whitening
        other.begin()
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t i, j, D = self.n_columns, width = self.width
        cdef double kappa = self.kappa0 + self.n[k]
        cdef double *slot = self.slot(k)
        cdef double *psi = self.matrix
        memcpy(psi, slot + self.at_scatter, D * width * sizeof(double))
        add_square(psi, slot, self.kappa0 * self.n[k] / kappa, D)
        for i in range(D):
            psi[i * width + i] += 1.0
            for j in range(i):
                psi[i * width + j] = psi[j * width + i]
            self.spare[i] = slot[i] * self.n[k] / kappa
        restore_c(&self.units, self.spare)
        restore_square(&self.units, psi, self.z)
        return {
            "n": self.n[k],
            "m": [self.origin[i] + self.spare[i] for i in range(D)],
            "kappa": kappa,
            "nu": self.nu0 + self.n[k],
            "psi": [[psi[j * width + i] for j in range(D)] for i in range(D)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        cdef double *slot = self.slot(k)
        return [self.n[k], *[slot[at] for at in self.places()]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t at, D = self.n_columns
        self._check_statistics(statistics, 1 + 2 * D + D * D)
        cdef double *slot = self.slot(k)
        self.clear_slot(k)
        values = iter(statistics)
        self.n[k] = next(values)
        for at, value in zip(self.places(), values, strict=True):
            slot[at] = value
        self.refresh(k)

    cdef list places(self):
        """Where in a slot its statistics are: mean, d, scatter and W, triangles row by row."""
        D, width = self.n_columns, self.width
        return [
            *range(D),
            *range(self.at_d, self.at_d + D),
            *[self.at_scatter + j * width + i for i in range(D) for j in range(i + 1)],
            *[self.at_W + j * width + i for i in range(D) for j in range(i)],
        ]


cdef clones_void wishart_standardise(NormalInverseWishart self,
                                     const double *values) noexcept nogil:
    """u: the row in units of the prior."""
    whiten_c(&self.units, values, self.e, self.u)


cdef clones_void turn(NormalInverseWishart self, const double *slot,
                      const double *x) noexcept nogil:
    """z = W x."""
    residuals_c(slot + self.at_W, x, self.n_columns, self.z)


cdef clones_void leave_residuals(NormalInverseWishart self, Py_ssize_t k) noexcept nogil:
    """e = u - m and z = W e for slot k."""
    cdef const double *mean = self.slot(k)
    cdef double shrinkage = self.n[k] / (self.kappa0 + self.n[k])
    cdef Py_ssize_t i
    for i in range(self.width):
        self.e[i] = self.u[i] - shrinkage * mean[i]
    residuals_c(mean + self.at_W, self.e, self.n_columns, self.z)


cdef clones_double distance(NormalInverseWishart self, Py_ssize_t k) noexcept nogil:
    """q of the row u in slot k."""
    leave_residuals(self, k)
    return weighted_square(self.z, self.slot(k) + self.at_reciprocal, self.n_columns)


cdef clones_void shift_rows(NormalInverseWishart self, Py_ssize_t k, double w) noexcept nogil:
    """Bring w rows u into slot k, whose residuals are left; out of it if w is negative."""
    cdef double n = self.n[k], kappa = self.kappa0 + n, part = w / (n + w)
    cdef double *mean = self.slot(k)
    cdef Py_ssize_t i
    update_c(mean + self.at_W, mean + self.at_d, self.z, kappa * w / (kappa + w), self.n_columns,
             self.spare)
    for i in range(self.width):
        self.e[i] = self.u[i] - mean[i]
    add_square(mean + self.at_scatter, self.e, n * part, self.n_columns)
    for i in range(self.width):
        mean[i] += part * self.e[i]
    self.n[k] += w


cdef bint keeps(NormalInverseWishart self, Py_ssize_t k, double lost) noexcept nogil:
    """Whether enough is left of slot k without lost z z^T; spare: what is left of each pivot."""
    cdef const double *d = self.slot(k) + self.at_d
    cdef const double *kept = self.slot(k) + self.at_kept
    cdef double before = 1.0, after, least = 1.0
    cdef Py_ssize_t i
    for i in range(self.n_columns):
        after = before - lost * self.z[i] * self.z[i] / d[i]
        if not after >= LEAST_KEPT:
            return False
        self.spare[i] = kept[i] * after / before
        least = self.spare[i] if self.spare[i] < least else least
        before = after
    return least >= LEAST_KEPT


cdef double peak(NormalInverseWishart self, double kappa, double nu, double log_det,
                 double w) noexcept nogil:
    """Log density of w equal rows at the mean, in the data's units."""
    return log_peak_c(self.n_columns, kappa, nu, log_det, w) - w * self.log_scale


cdef double wishart_evidence(NormalInverseWishart self, double n, double log_det) noexcept nogil:
    """log p(n rows | theta_0) from det Psi."""
    return peak(self, self.kappa0, self.nu0, 0.0, n) - 0.5 * (self.nu0 + n) * log_det


cdef double score(NormalInverseWishart self, Py_ssize_t k, double w) noexcept nogil:
    """log p(w rows u | rows of slot k)."""
    cdef double kappa = self.kappa0 + self.n[k], nu = self.nu0 + self.n[k]
    cdef double constant = self.t.constant[k]
    if w != 1.0:
        constant = peak(self, kappa, nu, self.log_det[k], w)
    return constant - 0.5 * (nu + w) * log(1.0 + kappa * w / (kappa + w) * distance(self, k))


cdef double wishart_score_new(NormalInverseWishart self, double w) noexcept nogil:
    """log p(w rows u | theta_0)."""
    cdef double square = 0.0
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        square += self.u[d] * self.u[d]
    return (peak(self, self.kappa0, self.nu0, 0.0, w)
            - 0.5 * (self.nu0 + w) * log(1.0 + self.kappa0 * w / (self.kappa0 + w) * square))


cdef double wishart_score_member(NormalInverseWishart self, const Row *row, Py_ssize_t k,
                                 bint exact) noexcept nogil:
    cdef double w = row.weight, left = self.n[k] - w, kappa = self.kappa0 + self.n[k]
    cdef double lost = kappa * w / (kappa - w), rest, constant = self.member_constant[k]
    wishart_standardise(self, row.values)
    if left <= 0.0:
        return wishart_score_new(self, w)
    rest = 1.0 - lost * distance(self, k)
    if not rest >= LEAST_KEPT or left < LEAST_KEPT * self.n[k]:
        return NAN
    # No pivot loses more than the determinant: most rows need no look at each.
    if self.least_kept[k] * rest < LEAST_KEPT and not keeps(self, k, lost):
        return NAN
    if w != 1.0:
        constant = peak(self, kappa - w, self.nu0 + left, self.log_det[k], w)
    return constant + 0.5 * (self.nu0 + left) * (log(rest) if exact else LOG_2 * log2_floor(rest))


cdef inline inlined_void add_scatters(NormalInverseWishart self, const double *one,
                                      const double *other, double *A) noexcept nogil:
    """A = 1 + both slots' scatters."""
    cdef Py_ssize_t i
    for i in range(self.n_columns * self.width):
        A[i] = one[self.at_scatter + i] + other[self.at_scatter + i]
    for i in range(self.n_columns):
        A[i * self.width + i] += 1.0


cdef inline inlined_void join_means(NormalInverseWishart self, const double *one,
                                    const double *other, double part, double *gap,
                                    double *mean) noexcept nogil:
    """The mean of two slots' rows, `part` of them in the other, and what is between theirs."""
    cdef Py_ssize_t i
    for i in range(self.width):
        gap[i] = other[i] - one[i]
        mean[i] = one[i] + part * gap[i]


cdef clones_void merge_into(NormalInverseWishart self, double *one, double nj,
                            const double *other, double nk) noexcept nogil:
    cdef Py_ssize_t i, D = self.n_columns, width = self.width
    cdef double n = nj + nk, part = nk / n if n > 0.0 else 0.0
    cdef double *W = one + self.at_W
    cdef double *d = one + self.at_d
    cdef double *kept = one + self.at_kept
    cdef double *scatter = one + self.at_scatter
    add_scatters(self, one, other, self.matrix)
    memcpy(scatter, self.matrix, D * width * sizeof(double))
    memset(W, 0, D * width * sizeof(double))
    for i in range(D):
        scatter[i * width + i] -= 1.0
        W[i * width + i] = 1.0
        kept[i] = other[self.at_kept + i] if other[self.at_kept + i] < kept[i] else kept[i]
    join_means(self, one, other, part, self.e, one)
    eliminate(self.matrix, 1.0, D, W, D, self.spare)
    for i in range(D):
        d[i] = self.matrix[i * width + i]
    residuals_c(W, self.e, D, self.z)
    update_c(W, d, self.z, part * nj, D, self.spare)
    residuals_c(W, one, D, self.z)
    update_c(W, d, self.z, self.kappa0 * n / (self.kappa0 + n), D, self.spare)
    add_square(scatter, self.e, part * nj, D)


cdef clones_double log_det_merged(NormalInverseWishart self, const double *one, double nj,
                                  const double *other, double nk) noexcept nogil:
    """log det Psi of two slots' rows together."""
    cdef Py_ssize_t D = self.n_columns, width = self.width
    cdef double n = nj + nk, part = nk / n if n > 0.0 else 0.0
    cdef double *gap = self.u + 4 * width
    cdef double *mean = gap + width
    add_scatters(self, one, other, self.matrix)
    join_means(self, one, other, part, gap, mean)
    eliminate(self.matrix, 1.0, D, gap, 2, self.spare)
    return log_det_with(self.matrix, D, gap, part * nj, mean, self.kappa0 * n / (self.kappa0 + n))
