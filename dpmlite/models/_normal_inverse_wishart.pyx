"""Kernel of normal_inverse_wishart.py: sufficient statistics and their scoring.

With e = u - m, z = W e and q the sum of z_i^2 / d_i, w equal rows more multiply det Psi by
1 + q kappa w / (kappa + w), and a member is scored without taking it out: w rows less multiply it
by 1 - q kappa w / (kappa - w).

A slot's statistics lie together, in padded columns. For the scoring of a row in all slots, W is
kept once more as [row][column][slot], so that one vector instruction serves many slots, with m,
d and kappa / (kappa + 1) multiplied in: a multiply-add for an element of W and a slot.
"""

from array import array

from libc.math cimport INFINITY, NAN, log, log1p, sqrt
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy, memset

from dpmlite.models._component cimport Component, padded
from dpmlite.models._rows cimport Row
from dpmlite.models._special cimport (
    clones_double, clones_void, inlined_double, inlined_void, log2_floor, log_positive,
    log_rising_c, split_exponent)
from dpmlite.models._triangular cimport (
    add_square, eliminate, padded_columns, residuals_c, update_c, weighted_square)

from dpmlite.models._triangular import factorise
from dpmlite.models.normal_inverse_wishart import check_prior

cdef extern from *:
    """
    #define DPM_REACH 536870912.0            /* 2^29 */
    #define DPM_LEAST_KEPT 0.0009765625      /* 2^-10 */
    #define DPM_LEAST_PIVOT 9.094947017729282e-13  /* 2^-40 */
    #define DPM_LOG_2 0.693147180559945309417
    #define DPM_LOG_PI 1.144729885849400174143
    """
    double REACH "DPM_REACH"
    double LEAST_KEPT "DPM_LEAST_KEPT"
    double LEAST_PIVOT "DPM_LEAST_PIVOT"
    double LOG_2 "DPM_LOG_2"
    double LOG_PI "DPM_LOG_PI"

cdef enum:
    SLOTS = 16  # whose sums stay in registers
    GROUP = 4   # rows of W after which a block of slots may be left


cdef class NormalInverseWishart(Component):

    def __init__(self, m0, double kappa0, double nu0, psi0):
        check_prior(m0, kappa0, nu0, psi0)
        self.m0 = [float(m) for m in m0]
        self.psi0 = [[float(p) for p in row] for row in psi0]
        self.kappa0, self.nu0 = kappa0, nu0
        self.origin = array("d", self.m0)
        self.whitening = whitening_of(self.psi0)
        self.begin()

    cdef int begin(self) except -1:
        """Everything that follows from the prior."""
        cdef Py_ssize_t i, j, D = self.origin.shape[0], width = padded_columns(D)
        Component.__init__(self, D)
        self.width, self.diagonal, self.log_scale = width, True, 0.0
        for j in range(D):
            self.log_scale -= log(self.whitening[j * width + j])
            for i in range(j + 1, D):
                self.diagonal = self.diagonal and self.whitening[j * width + i] == 0.0
        self.room = array("d", bytes(8 * ((6 + D) * width + 8)))
        self.u = <double *> ((<uintptr_t> &self.room[0] + 63) & ~(<uintptr_t> 63))
        self.e, self.z, self.spare = self.u + width, self.u + 2 * width, self.u + 3 * width
        self.matrix = self.u + 6 * width
        self.at_d, self.at_reciprocal, self.at_kept = width, 2 * width, 3 * width
        self.at_scatter, self.at_W = 4 * width, (4 + D) * width
        return self.start(6 + D + D * (D + 1) // 2, (4 + 2 * D) * width)

    cdef void lay_out(self) noexcept nogil:
        self.log_det, self.least_kept = self.n + self.capacity, self.n + 2 * self.capacity
        self.power, self.constant = self.n + 3 * self.capacity, self.n + 4 * self.capacity
        self.member_constant = self.n + 5 * self.capacity
        self.shift = self.n + 6 * self.capacity
        self.slope = self.shift + self.n_columns * self.capacity

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
        standardise(self, row.values)
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
        standardise(self, row.values)
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
        cdef double product = 1.0, exponent = 0.0, e = 0.0, least = 1.0, ratio
        cdef Py_ssize_t i
        for i in range(self.n_columns):
            slot[self.at_reciprocal + i] = 1.0 / d[i]
            product = split_exponent(product * d[i], &e)
            exponent += e
            least = slot[self.at_kept + i] if slot[self.at_kept + i] < least else least
        self.log_det[k], self.least_kept[k] = exponent * LOG_2 + log(product), least
        self.power[k] = 0.5 * (nu + 1.0)
        self.constant[k] = constant_of(self, nu, kappa, 1.0, self.log_det[k])
        if self.n[k] > 1.0:
            self.member_constant[k] = constant_of(
                self, nu - 1.0, kappa - 1.0, 1.0, self.log_det[k])
        spread(self, k, self.n[k] / kappa, kappa / (kappa + 1.0))

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        merge_into(self, self.slot(j), self.n[j], self.slot(k), self.n[k])
        self.n[j] += self.n[k]
        self.refresh(j)
        self.clear_slot(k)

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        cdef double least = limit
        cdef Py_ssize_t k, n_padded = padded(self.n_slots)
        standardise(self, row.values)
        if row.weight == 1.0:
            return costs(self, self.u, n_padded, log_weight, limit, out)
        for k in range(self.n_slots):
            out[k] = INFINITY
            if log_weight[k] > -INFINITY:
                out[k] = -log_weight[k] - score(self, k, row.weight)
                least = out[k] if out[k] < least else least
        for k in range(self.n_slots, n_padded):
            out[k] = INFINITY
        return least

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        standardise(self, row.values)
        return score(self, k, row.weight)

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return score_member(self, row, k, True)

    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return score_member(self, row, k, False)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return evidence(self, self.n[k], self.log_det[k])

    cdef void marginal_merged_all(self, Py_ssize_t j, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            out[k] = evidence(self, self.n[j] + self.n[k], log_det_merged(
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
        restore(self, self.spare)
        for i in range(D):
            restore(self, psi + i * width)
        for i in range(D):
            for j in range(D):
                self.z[j] = psi[j * width + i]
            restore(self, self.z)
            for j in range(D):
                psi[j * width + i] = self.z[j]
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
        return [self.n[k], *(slot[at] for at in self.places())]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t at, D = self.n_columns
        if len(statistics) != 1 + 2 * D + D * D:
            raise ValueError(
                f"statistics must have {1 + 2 * D + D * D} values, got {len(statistics)}")
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
            *(self.at_scatter + j * width + i for i in range(D) for j in range(i + 1)),
            *(self.at_W + j * width + i for i in range(D) for j in range(i)),
        ]


cdef double[::1] whitening_of(psi0):
    """Columns of the lower triangular R with R psi0 R^T = 1."""
    cdef Py_ssize_t i, j, D = len(psi0), width = padded_columns(D)
    cdef double[::1] columns = array("d", bytes(8 * D * width))
    scale = [sqrt(row[i]) for i, row in enumerate(psi0)]
    W, d = factorise([[p / s / t for p, t in zip(row, scale)] for row, s in zip(psi0, scale)],
                     LEAST_PIVOT)
    for i in range(D):
        if not d[i] > LEAST_PIVOT:
            raise ValueError(
                f"psi0 must be positive definite, got {psi0[i][:i + 1]} at the start of row {i}")
        for j in range(i + 1):
            columns[j * width + i] = W[i][j] / scale[j] / sqrt(d[i])
    return columns


cdef clones_void standardise(NormalInverseWishart self, const double *values) noexcept nogil:
    """u: the row in units of the prior."""
    cdef Py_ssize_t d, D = self.n_columns, width = self.width
    cdef double u
    for d in range(D):
        self.e[d] = values[d] - self.origin[d]
    if self.diagonal:
        for d in range(D):
            self.u[d] = self.e[d] * self.whitening[d * width + d]
    else:
        residuals_c(&self.whitening[0], self.e, D, self.u)
    for d in range(D):
        u = self.u[d]
        self.u[d] = REACH if u > REACH else (-REACH if u < -REACH else u)


cdef void restore(NormalInverseWishart self, double *x) noexcept nogil:
    """A shift in units of the prior becomes one in the data's units."""
    cdef Py_ssize_t i, j, width = self.width
    for i in range(self.n_columns):
        for j in range(i):
            x[i] -= self.whitening[j * width + i] * x[j]
        x[i] /= self.whitening[i * width + i]


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


cdef clones_void spread(NormalInverseWishart self, Py_ssize_t k, double shrinkage,
                        double ratio) noexcept nogil:
    """Slope and shift of slot k from W, d and the mean."""
    cdef const double *mean = self.slot(k)
    cdef const double *W = mean + self.at_W
    cdef double *slope = self.slope + k
    cdef double scale
    cdef Py_ssize_t i, j
    residuals_c(W, mean, self.n_columns, self.z)
    for i in range(self.n_columns):
        scale = sqrt(ratio * mean[self.at_reciprocal + i])
        self.shift[i * self.capacity + k] = shrinkage * self.z[i] * scale
        for j in range(i + 1):
            slope[0] = W[j * self.width + i] * scale
            slope += self.capacity


cdef double log_gamma_ratio(NormalInverseWishart self, double nu, double w) noexcept nogil:
    """log Gamma_D((nu + w) / 2) / Gamma_D(nu / 2).

    Two factors of it are one, by Gamma(x) Gamma(x + 1/2) = 2^(1 - 2x) sqrt(pi) Gamma(2x); if w is
    1, each but the first and the last cancels with the next.
    """
    cdef Py_ssize_t j = 1, D = self.n_columns
    cdef double total = 0.0
    if w == 1.0:
        return log_rising_c(0.5 * (nu + 1.0 - D), 0.5 * D)
    while j < D:
        total += log_rising_c(nu - j, w) - w * LOG_2
        j += 2
    return total + log_rising_c(0.5 * (nu + 1.0 - D), 0.5 * w) if D % 2 else total


cdef double constant_of(NormalInverseWishart self, double nu, double kappa, double w,
                        double log_det) noexcept nogil:
    """Log density of w equal rows at the mean of a posterior with these nu, kappa and det Psi."""
    return (log_gamma_ratio(self, nu, w) - 0.5 * self.n_columns * (log1p(w / kappa) + w * LOG_PI)
            - w * (0.5 * log_det + self.log_scale))


cdef double evidence(NormalInverseWishart self, double n, double log_det) noexcept nogil:
    """log p(n rows | theta_0) from det Psi."""
    return constant_of(self, self.nu0, self.kappa0, n, 0.0) - 0.5 * (self.nu0 + n) * log_det


cdef double score(NormalInverseWishart self, Py_ssize_t k, double w) noexcept nogil:
    """log p(w rows u | rows of slot k)."""
    cdef double kappa = self.kappa0 + self.n[k], nu = self.nu0 + self.n[k]
    cdef double constant = self.constant[k]
    if w != 1.0:
        constant = constant_of(self, nu, kappa, w, self.log_det[k])
    return constant - 0.5 * (nu + w) * log(1.0 + kappa * w / (kappa + w) * distance(self, k))


cdef double score_new(NormalInverseWishart self, double w) noexcept nogil:
    """log p(w rows u | theta_0)."""
    cdef double square = 0.0
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        square += self.u[d] * self.u[d]
    return (constant_of(self, self.nu0, self.kappa0, w, 0.0)
            - 0.5 * (self.nu0 + w) * log(1.0 + self.kappa0 * w / (self.kappa0 + w) * square))


cdef double score_member(NormalInverseWishart self, const Row *row, Py_ssize_t k,
                         bint exact) noexcept nogil:
    cdef double w = row.weight, left = self.n[k] - w, kappa = self.kappa0 + self.n[k]
    cdef double lost = kappa * w / (kappa - w), rest, constant = self.member_constant[k]
    standardise(self, row.values)
    if left <= 0.0:
        return score_new(self, w)
    rest = 1.0 - lost * distance(self, k)
    if not rest >= LEAST_KEPT or left < LEAST_KEPT * self.n[k]:
        return NAN
    # No pivot loses more than the determinant: most rows need no look at each.
    if self.least_kept[k] * rest < LEAST_KEPT and not keeps(self, k, lost):
        return NAN
    if w != 1.0:
        constant = constant_of(self, self.nu0 + left, kappa - w, w, self.log_det[k])
    return constant + 0.5 * (self.nu0 + left) * (log(rest) if exact else LOG_2 * log2_floor(rest))


cdef clones_double costs(NormalInverseWishart self, const double *u, Py_ssize_t n_slots,
                         const double *log_weight, double limit, double *out) noexcept nogil:
    """The contract of Component.costs_below, for a row of weight 1."""
    cdef double least = limit, best
    cdef Py_ssize_t first = 0
    while first < n_slots:
        best = cost_block(self, u, first, log_weight + first, limit, out + first)
        least = best if best < least else least
        first += SLOTS
    return least


cdef inline inlined_double cost_block(
        NormalInverseWishart self, const double *u, Py_ssize_t first, const double *log_weight,
        double limit, double *out) noexcept nogil:
    """Costs of SLOTS slots; or bounds from below that all reach `limit`. Returns the least.

    Since t only grows from row to row of W, a bound is known after any of them.
    """
    cdef double z[SLOTS]
    cdef double factor[SLOTS]
    cdef const double *slope = self.slope + first
    cdef const double *shift = self.shift + first
    cdef Py_ssize_t i, j, D = self.n_columns, stride = self.capacity
    cdef int s
    for s in range(SLOTS):
        factor[s] = 1.0
    for i in range(D):
        for s in range(SLOTS):
            z[s] = -shift[s]
        for j in range(i + 1):
            for s in range(SLOTS):
                z[s] += slope[s] * u[j]
            slope += stride
        for s in range(SLOTS):
            factor[s] += z[s] * z[s]
        shift += stride
        if limit < INFINITY and (i % GROUP == GROUP - 1 or i == D - 1):
            if finish(self, first, factor, log_weight, False, out) >= limit:
                return limit
    return finish(self, first, factor, log_weight, True, out)


cdef inline inlined_double finish(
        NormalInverseWishart self, Py_ssize_t first, const double *factor,
        const double *log_weight, bint exact, double *out) noexcept nogil:
    """Costs of SLOTS slots from 1 + t, or bounds of them if not `exact`; returns the least."""
    cdef const double *power = self.power + first
    cdef const double *constant = self.constant + first
    cdef double least = INFINITY
    cdef int s
    for s in range(SLOTS):
        out[s] = log_positive(factor[s]) if exact else LOG_2 * log2_floor(factor[s])
        out[s] = power[s] * out[s] - constant[s] - log_weight[s]
    for s in range(SLOTS):
        least = out[s] if out[s] < least else least
    return least


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
    cdef Py_ssize_t i, D = self.n_columns, width = self.width
    cdef double n = nj + nk, part = nk / n if n > 0.0 else 0.0
    cdef double *gap = self.u + 4 * width
    cdef double *mean = gap + width
    add_scatters(self, one, other, self.matrix)
    join_means(self, one, other, part, gap, mean)
    eliminate(self.matrix, 1.0, D, gap, 2, self.spare)
    return log_det_of(self, gap, part * nj, mean, self.kappa0 * n / (self.kappa0 + n))


cdef inline inlined_double log_det_of(NormalInverseWishart self, const double *x, double weight_x,
                                      const double *y, double weight_y) noexcept nogil:
    """log det (A + weight_x a a^T + weight_y b b^T), given d of A, x = W a and y = W b.

    The recurrence is that of `update`, which turns y into what the W of A + weight_x a a^T makes
    of b.
    """
    cdef double before = 1.0, after, taken = 0.0, turned, d, ratio = 1.0, product = 1.0
    cdef double exponent = 0.0, e = 0.0
    cdef Py_ssize_t i
    for i in range(self.n_columns):
        d = self.matrix[i * self.width + i]
        after = before + weight_x * x[i] * x[i] / d
        turned = y[i] - x[i] * taken
        taken += weight_x * x[i] / (d * after) * turned
        d *= after / before
        ratio += weight_y * turned * turned / d
        product = split_exponent(product * d, &e)
        exponent += e
        before = after
    return exponent * LOG_2 + log(product) + log(ratio)
