"""Kernel of multivariate_t.py, and the scoring of one row in many slots.

With z = W (u - m), q is the sum of z_i^2 / d_i. W is kept as [row][column][slot], so that one
vector instruction serves many slots, with m, d and kappa / (kappa + 1) multiplied in: a
multiply-add for an element of W and a slot.
"""

from libc.math cimport INFINITY, log, log1p, sqrt

from dpmlite.core._constants cimport LOG_2, LOG_PI
from dpmlite.core._simd cimport (
    LANES, clones_double, clones_void, inlined_double, inlined_void, log2_floor, log_positive,
    padded_columns)
from dpmlite.core._special cimport log_rising_c, log_rising_of
from dpmlite.families._slot_vectors cimport NARROW, padded

cdef enum:
    ROW_GROUP = 4  # rows of W after which a block of slots may be left


def log_multivariate_t(z, d, double kappa, double nu, double weight=1.0, double power=1.0):
    cdef double z_i, d_i, q = 0.0, log_det = 0.0
    for z_i, d_i in zip(z, d, strict=True):
        q += z_i * z_i / d_i
        log_det += log(d_i)
    return (log_peak_c(len(d), kappa, nu, log_det, weight, power)
            - 0.5 * (nu + weight) * log(1.0 + kappa * weight / (kappa + weight) * q))


def log_peak(Py_ssize_t n_columns, double kappa, double nu, double log_det, double weight,
             double power=1.0):
    return log_peak_c(n_columns, kappa, nu, log_det, weight, power)


cdef double log_peak_c(Py_ssize_t n_columns, double kappa, double nu, double log_det,
                       double weight, double power) noexcept nogil:
    return (log_gamma_ratio(n_columns, power * nu, power * weight) / power - 0.5 * weight * log_det
            - 0.5 * n_columns * (log1p(weight / kappa) / power + weight * LOG_PI))


cdef double log_gamma_ratio(Py_ssize_t D, double nu, double w) noexcept nogil:
    """log Gamma_D((nu + w) / 2) / Gamma_D(nu / 2).

    Two factors of it are one, by Gamma(x) Gamma(x + 1/2) = 2^(1 - 2x) sqrt(pi) Gamma(2x); if w is
    1, each but the first and the last cancels with the next.
    """
    cdef double x[LANES]
    cdef double steps[LANES]
    cdef Py_ssize_t j = 1
    cdef double total = -(D // 2) * w * LOG_2
    cdef int i, n
    if w == 1.0:
        return log_rising_c(0.5 * (nu + 1.0 - D), 0.5 * D)
    while j <= D:
        n = 0
        while n < LANES and j <= D:
            x[n], steps[n] = (nu - j, w) if j < D else (0.5 * (nu + 1.0 - D), 0.5 * w)
            n += 1
            j += 2
        for i in range(n, LANES):
            x[i], steps[i] = x[0], 0.0
        log_rising_of(x, steps, 1)
        for i in range(n):
            total += x[i]
    return total


cdef void spread_factor(const MultivariateDensities *t, Py_ssize_t k, const double *W,
                        const double *reciprocal, const double *z, double shrinkage,
                        double ratio) noexcept nogil:
    """Slope and shift of slot k, whose m is `shrinkage` times a vector x, z = W x.

    W lies in padded columns, `reciprocal` holds 1 / d, and `ratio` is kappa / (kappa + 1).
    """
    cdef double *slope = t.slope + k
    cdef double scale
    cdef Py_ssize_t i, j, width = padded_columns(t.n_columns)
    for i in range(t.n_columns):
        scale = sqrt(ratio * reciprocal[i])
        t.shift[i * t.stride + k] = shrinkage * z[i] * scale
        for j in range(i + 1):
            slope[0] = W[j * width + i] * scale
            slope += t.stride


cdef double multivariate_costs_below(const MultivariateDensities *t, Py_ssize_t n_slots,
                                     const double *u, const double *log_weight, double limit,
                                     double *out) noexcept nogil:
    """Write costs as Family.costs_below does; return the least, or `limit`."""
    return multivariate_costs(t, padded(n_slots), u, log_weight, limit, out)


cdef clones_double multivariate_costs(const MultivariateDensities *t, Py_ssize_t n_slots,
                                      const double *u, const double *log_weight, double limit,
                                      double *out) noexcept nogil:
    cdef double least = limit, best
    cdef Py_ssize_t first = 0
    while first < n_slots:
        best = multivariate_cost_block(t, u, first, log_weight + first, limit, out + first)
        least = best if best < least else least
        first += NARROW
    return least


cdef clones_double least_weighted_floor(const MultivariateDensities *t, Py_ssize_t n_slots,
                                        const double *u, const WeightedFloors *floors,
                                        double limit) noexcept nogil:
    """Return the least of lower bounds of what a row costs in each slot, or `limit` if none is less."""
    cdef double least = limit, best
    cdef Py_ssize_t first = 0
    while first < n_slots:
        best = weighted_floor_block(t, u, floors, first, limit)
        least = best if best < least else least
        first += NARROW
    return least


cdef inline inlined_double weighted_floor_block(
        const MultivariateDensities *t, const double *u, const WeightedFloors *floors,
        Py_ssize_t first, double limit) noexcept nogil:
    """Return the least bound in NARROW slots, or one that reaches `limit` as all of them do."""
    cdef double square[NARROW]
    cdef double least = limit
    cdef const double *slope = t.slope + first
    cdef Py_ssize_t i
    cdef int s
    for s in range(NARROW):
        square[s] = 0.0
    for i in range(t.n_columns):
        add_square(slope, t.shift + i * t.stride + first, u, i, t.stride, square)
        slope += (i + 1) * t.stride
        if i % ROW_GROUP == ROW_GROUP - 1 or i == t.n_columns - 1:
            least = least_floor(t, floors, first, square)
            if least >= limit:
                break
    return least


cdef inline inlined_double least_floor(const MultivariateDensities *t, const WeightedFloors *floors,
                                       Py_ssize_t first, const double *square) noexcept nogil:
    """Return the least bound in NARROW slots, from t for a row of weight 1."""
    cdef double floor[NARROW]
    cdef double least = INFINITY
    cdef int s
    find_floors(t, floors, first, square, floor)
    for s in range(NARROW):
        least = floor[s] if floor[s] < least else least
    return least


cdef inline inlined_void find_floors(const MultivariateDensities *t, const WeightedFloors *floors,
                                     Py_ssize_t first, const double *square,
                                     double *out) noexcept nogil:
    """Write the bounds in NARROW slots, from t for a row of weight 1."""
    cdef double w = floors.weight, kappa, log_factor
    cdef Py_ssize_t k
    cdef int s
    for s in range(NARROW):
        k = first + s
        kappa = floors.kappa0 + floors.n[k]
        log_factor = LOG_2 * log2_floor(1.0 + w * (kappa + 1.0) / (kappa + w) * square[s])
        out[s] = (floors.start[k] + floors.per_weight[k] * w
                  + (t.power[k] - 0.5 + 0.5 * w) * log_factor)


cdef clones_void weighted_floors(const MultivariateDensities *t, Py_ssize_t n_slots, const double *u,
                                 const WeightedFloors *floors, double *out) noexcept nogil:
    """Write lower bounds of what a row costs in each slot."""
    cdef double square[NARROW]
    cdef Py_ssize_t first = 0
    while first < n_slots:
        find_squares(t, first, u, square)
        find_floors(t, floors, first, square, out + first)
        first += NARROW


cdef clones_void squares(const MultivariateDensities *t, Py_ssize_t n_slots, const double *u,
                         double *out) noexcept nogil:
    """Write t of the row u in each slot."""
    cdef Py_ssize_t first = 0
    while first < n_slots:
        find_squares(t, first, u, out + first)
        first += NARROW


cdef inline inlined_void find_squares(const MultivariateDensities *t, Py_ssize_t first,
                                      const double *u, double *out) noexcept nogil:
    """Write t in NARROW slots."""
    cdef const double *slope = t.slope + first
    cdef Py_ssize_t i
    cdef int s
    for s in range(NARROW):
        out[s] = 0.0
    for i in range(t.n_columns):
        add_square(slope, t.shift + i * t.stride + first, u, i, t.stride, out)
        slope += (i + 1) * t.stride


cdef inline inlined_double multivariate_cost_block(
        const MultivariateDensities *t, const double *u, Py_ssize_t first, const double *log_weight,
        double limit, double *out) noexcept nogil:
    """Write costs of NARROW slots, or lower bounds that all reach `limit`; return the least.

    Since t only grows from row to row of W, a bound is known after any of them.
    """
    cdef double factor[NARROW]
    cdef const double *slope = t.slope + first
    cdef const double *shift = t.shift + first
    cdef Py_ssize_t i, D = t.n_columns, stride = t.stride
    cdef int s
    for s in range(NARROW):
        factor[s] = 1.0
    for i in range(D):
        add_square(slope, shift, u, i, stride, factor)
        slope += (i + 1) * stride
        shift += stride
        if limit < INFINITY and (i % ROW_GROUP == ROW_GROUP - 1 or i == D - 1):
            if finish(t, first, factor, log_weight, False, out) >= limit:
                return limit
    return finish(t, first, factor, log_weight, True, out)


cdef inline inlined_void add_square(const double *slope, const double *shift, const double *u,
                                    Py_ssize_t i, Py_ssize_t stride, double *out) noexcept nogil:
    """Add the square of row i of W in NARROW slots to `out`; slope and shift are those of the row."""
    cdef double z[NARROW]
    cdef Py_ssize_t j
    cdef int s
    for s in range(NARROW):
        z[s] = -shift[s]
    for j in range(i + 1):
        for s in range(NARROW):
            z[s] += slope[s] * u[j]
        slope += stride
    for s in range(NARROW):
        out[s] += z[s] * z[s]


cdef inline inlined_double finish(const MultivariateDensities *t, Py_ssize_t first,
                                  const double *factor, const double *log_weight, bint exact,
                                  double *out) noexcept nogil:
    """Costs of NARROW slots from 1 + t, or bounds of them if not `exact`; returns the least."""
    cdef const double *power = t.power + first
    cdef const double *constant = t.constant + first
    cdef double least = INFINITY
    cdef int s
    for s in range(NARROW):
        out[s] = log_positive(factor[s]) if exact else LOG_2 * log2_floor(factor[s])
        out[s] = power[s] * out[s] - constant[s] - log_weight[s]
    for s in range(NARROW):
        least = out[s] if out[s] < least else least
    return least
