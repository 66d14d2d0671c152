"""Kernel of student_t.py, and the scoring of one row in many slots.

With m, c, b, a the posterior of a cluster and u a row in units of the prior,

    log p(u | cluster) = constant - (a + 1/2) log prod_d (1 + t_d),  t = c (u - m)^2 / (2 b (c + 1))

needs one logarithm per cluster, not one per column, and its constant changes only when the
cluster does. Slopes and shifts lie [column][slot], so that one vector instruction serves many
clusters: two fused multiply-adds and a product for a slot and column.

Where values are missing, each column has a c and an a of its own: then it is a sum over the
columns that were observed, with a logarithm for each.
"""

from libc.math cimport INFINITY, NAN, log, log1p

from dpmlite.core._constants cimport LOG_2, LOG_2PI, MIN_FACTOR
from dpmlite.core._simd cimport (
    LANES, clones_double, clones_ssize, inlined_double, inlined_ssize, inlined_void, larger,
    log2_floor, log_positive, split_exponent, sum_of)
from dpmlite.core._special cimport log_rising_c
from dpmlite.families._family cimport MEMBERS_PER_BATCH
from dpmlite.families._normal_columns cimport standardise
from dpmlite.families._slot_vectors cimport NARROW, WIDE, least_of, padded

cdef enum:
    SLOTS_PER_SCALAR_COST = 16  # slots of a vector loop that take as long as one slot alone
    MAX_SERIAL_COLUMNS = 4      # columns that are multiplied one by one sooner than in a tree
    COLUMNS_PER_BLOCK = 64      # columns of a row that are standardised together


def log_student_t(double x, double m, double c, double b, double a, double weight=1.0,
                  double power=1.0):
    return log_student_t_c(x, m, c, b, a, weight, power)


cdef double log_student_t_c(double x, double m, double c, double b, double a, double weight,
                            double power) noexcept nogil:
    cdef double t = weight * c * (x - m) * (x - m) / (2.0 * b * (c + weight))
    cdef double counts = log_rising_c(power * a, power * 0.5 * weight) - 0.5 * log1p(weight / c)
    cdef double normaliser = counts / power - 0.5 * weight * (LOG_2PI + log(b))
    return normaliser - (a + 0.5 * weight) * log1p(t)


cdef double log_factors(const Densities *t, const double *row, Py_ssize_t k, double ratio,
                        bint exact) noexcept nogil:
    """log prod_d (1 + ratio t_d) for one slot, or a lower bound of it."""
    cdef double exponent = 0.0
    cdef double product = multiply_factors(t, row, k, ratio, &exponent)
    return LOG_2 * exponent + (log(product) if exact else LOG_2 * log2_floor(product))


cdef clones_double multiply_factors(const Densities *t, const double *row, Py_ssize_t k,
                                    double ratio, double *exponent) noexcept nogil:
    """prod_d (1 + ratio t_d) for one slot, without 2^exponent, vectorised over columns."""
    return multiply_all(t, row, k, ratio, exponent)


cdef clones_void logs_of_factors(const Densities *t, const double *const *rows,
                                 const Py_ssize_t *slots, const double *ratio, Py_ssize_t n,
                                 double *out) noexcept nogil:
    """log prod_d (1 + ratio t_d) of n rows, MEMBERS_PER_BATCH at most, each in its slot."""
    cdef double product[MEMBERS_PER_BATCH]
    cdef double exponent[MEMBERS_PER_BATCH]
    cdef Py_ssize_t i
    for i in range(n):
        exponent[i] = 0.0
        product[i] = multiply_all(t, rows[i], slots[i], ratio[i], &exponent[i])
    for i in range(n):
        out[i] = LOG_2 * exponent[i] + log_positive(product[i])


cdef inline inlined_double multiply_all(const Densities *t, const double *row, Py_ssize_t k,
                                        double ratio, double *exponent) noexcept nogil:
    cdef double product = 1.0
    cdef Py_ssize_t column = 0
    while column + FACTOR_GROUP <= t.n_columns:
        product = multiply_some(t, row, k, ratio, column, FACTOR_GROUP, product, exponent)
        column += FACTOR_GROUP
    if column < t.n_columns:
        product = multiply_some(
            t, row, k, ratio, column, t.n_columns - column, product, exponent)
    return product


cdef inline inlined_double multiply_some(
        const Densities *t, const double *row, Py_ssize_t k, double ratio, Py_ssize_t first,
        Py_ssize_t n, double product, double *exponent) noexcept nogil:
    """Multiply `product` by the factors of n columns from `first`."""
    cdef double group[FACTOR_GROUP]
    cdef double e = 0.0
    cdef Py_ssize_t d, half = FACTOR_GROUP // 2
    if n <= MAX_SERIAL_COLUMNS:
        for d in range(n):
            product *= factor(t, row, k, first + d, ratio)
    else:
        for d in range(n, FACTOR_GROUP):
            group[d] = 1.0
        for d in range(n):
            group[d] = factor(t, row, k, first + d, ratio)
        while half > 0:  # a tree: its factors do not wait for one another
            for d in range(half):
                group[d] *= group[d + half]
            half //= 2
        product *= group[0]
    product = split_exponent(product, &e)
    exponent[0] += e
    return product


cdef inline inlined_double factor(const Densities *t, const double *row, Py_ssize_t k,
                                  Py_ssize_t d, double ratio) noexcept nogil:
    cdef Py_ssize_t at = k * t.n_along + d
    cdef double z = (standardise(row[d], t.origin[d], t.unit[d]) * t.slot_slope[at]
                     - t.slot_shift[at])
    return larger(1.0 + ratio * z * z, MIN_FACTOR)


cdef double student_costs_below(const Densities *t, Py_ssize_t n_slots, const double *row,
                                const double *log_weight, double limit, double *out) noexcept nogil:
    """Write costs as Family.costs_below does; return the least, or `limit`."""
    cdef Py_ssize_t k, n_below = student_costs(t, padded(n_slots), row, log_weight, limit, out)
    if n_below == 0:
        return limit
    if SLOTS_PER_SCALAR_COST * n_below > n_slots and limit < INFINITY:
        limit = INFINITY
        student_costs(t, padded(n_slots), row, log_weight, limit, out)
    if limit < INFINITY:
        for k in range(n_slots):
            if out[k] < limit:  # a bound, to be replaced by the cost
                out[k] = (t.power[k] * log_factors(t, row, k, 1.0, True)
                          - t.constant[k] - log_weight[k])
    return least_of(out, n_slots, INFINITY)


cdef clones_ssize student_costs(const Densities *t, Py_ssize_t n_slots, const double *row,
                                const double *log_weight, double limit, double *out) noexcept nogil:
    """Costs of every slot if `limit` is infinite, else bounds; returns how many are below it."""
    cdef double u[COLUMNS_PER_BLOCK]
    cdef Py_ssize_t first = 0, n_below = 0
    standardise_some(t, row, 0, u)
    while first + WIDE <= n_slots:
        n_below += student_cost_block(t, row, u, log_weight, limit, first, WIDE, out)
        first += WIDE
    if first < n_slots:
        n_below += student_cost_block(t, row, u, log_weight, limit, first, NARROW, out)
    return n_below


cdef inline inlined_void standardise_some(const Densities *t, const double *row,
                                          Py_ssize_t first, double *u) noexcept nogil:
    cdef Py_ssize_t d
    for d in range(first, min(first + COLUMNS_PER_BLOCK, t.n_columns)):
        u[d % COLUMNS_PER_BLOCK] = standardise(row[d], t.origin[d], t.unit[d])


cdef inline inlined_ssize student_cost_block(
        const Densities *t, const double *row, double *u, const double *log_weight, double limit,
        Py_ssize_t first, int width, double *out) noexcept nogil:
    """Costs of `width` slots from `first` if `limit` is infinite, else bounds from below.

    Since every factor is at least 1, what is known after some columns is a bound already: a block
    of slots whose bounds all reach `limit` is left there. Returns how many do not.
    """
    cdef double product[WIDE]
    cdef double exponent[WIDE]
    cdef const double *slope = t.slope + first
    cdef const double *shift = t.shift + first
    cdef Py_ssize_t d, column = 0, end, j, n_below = 0
    cdef double z, e = 0.0
    for j in range(width):
        product[j] = 1.0
        exponent[j] = 0.0
    while True:
        if column % COLUMNS_PER_BLOCK == 0 and t.n_columns > COLUMNS_PER_BLOCK:
            standardise_some(t, row, column, u)
        end = min(t.n_columns - column, <Py_ssize_t> FACTOR_GROUP)
        for d in range(end):
            for j in range(width):
                z = u[column % COLUMNS_PER_BLOCK + d] * slope[j] - shift[j]
                product[j] = product[j] * (1.0 + z * z)
            slope += t.stride
            shift += t.stride
        column += FACTOR_GROUP
        if column < t.n_columns:
            if column % PLAIN_FACTORS == 0:
                for j in range(width):
                    product[j] = split_exponent(product[j], &e)
                    exponent[j] += e
            if limit == INFINITY:
                continue
        if limit == INFINITY:
            for j in range(width):
                out[first + j] = student_cost_of(
                    t, log_weight, first + j, exponent[j] * LOG_2 + log_positive(product[j]))
            return width
        n_below = 0
        for j in range(width):
            z = LOG_2 * (exponent[j] + log2_floor(product[j]))
            out[first + j] = z = student_cost_of(t, log_weight, first + j, z)
            n_below += z < limit
        if n_below == 0 or column >= t.n_columns:
            return n_below


cdef inline inlined_double student_cost_of(const Densities *t, const double *log_weight,
                                           Py_ssize_t k, double log_product) noexcept nogil:
    return t.power[k] * log_product - t.constant[k] - log_weight[k]


# Columns one by one.


cdef double sum_terms(const Terms *t, const double *u, Py_ssize_t width, double sign,
                      double least_factor) noexcept nogil:
    """Log density of a row in one slot, but for cells that are NaN.

    `sign` is that of the squares. NaN if a factor is less than least_factor.
    """
    return add_terms(t, u, width, sign, least_factor)


cdef clones_double add_terms(const Terms *t, const double *u, Py_ssize_t width, double sign,
                             double least_factor) noexcept nogil:
    cdef double total[LANES]
    cdef double z, factor, term
    cdef Py_ssize_t column = 0, d
    cdef int i
    for i in range(LANES):
        total[i] = 0.0
    while column < width:
        for i in range(LANES):
            d = column + i
            z = u[d] * t.slope[d] - t.shift[d]
            factor = 1.0 + sign * z * z
            term = t.constant[d] + t.power[d] * log_positive(larger(factor, MIN_FACTOR))
            term = NAN if factor < least_factor else term
            total[i] += term if u[d] == u[d] else 0.0
        column += LANES
    return sum_of(total)


cdef clones_void term_costs(const Terms *t, Py_ssize_t stride, Py_ssize_t n_slots, const double *u,
                            Py_ssize_t n_columns, const double *log_weight,
                            double *out) noexcept nogil:
    """Write the costs of a row, eq. (15), in all slots."""
    cdef Py_ssize_t first = 0, end = padded(n_slots)
    while first < end:
        term_block(t, stride, u, n_columns, log_weight, first, out)
        first += NARROW


cdef clones_void term_bounds(const Terms *t, const double *most_power, Py_ssize_t stride,
                             Py_ssize_t n_slots, const double *u, Py_ssize_t n_columns,
                             const double *log_weight, double *out) noexcept nogil:
    """Write lower bounds of what `term_costs` writes; most_power[slot] is that of any column."""
    cdef Py_ssize_t first = 0, end = padded(n_slots)
    while first < end:
        term_bound_block(t, most_power, stride, u, n_columns, log_weight, first, out)
        first += NARROW


cdef inline inlined_void add_constants(
        const Terms *t, Py_ssize_t stride, const double *u, Py_ssize_t n_columns,
        const double *log_weight, Py_ssize_t first, double *cost) noexcept nogil:
    """Set what a row costs in NARROW slots from `first`, but for its distances."""
    cdef Py_ssize_t d, at = first
    cdef int i
    for i in range(NARROW):
        cost[i] = -log_weight[first + i]
    for d in range(n_columns):
        if u[d] == u[d]:
            for i in range(NARROW):
                cost[i] -= t.constant[at + i]
        at += stride


cdef inline inlined_void term_block(
        const Terms *t, Py_ssize_t stride, const double *u, Py_ssize_t n_columns,
        const double *log_weight, Py_ssize_t first, double *out) noexcept nogil:
    """Costs of NARROW slots from `first`."""
    cdef double cost[NARROW]
    cdef double z
    cdef Py_ssize_t d, at = first
    cdef int i
    add_constants(t, stride, u, n_columns, log_weight, first, cost)
    for d in range(n_columns):
        if u[d] == u[d]:
            for i in range(NARROW):
                z = u[d] * t.slope[at + i] - t.shift[at + i]
                cost[i] -= t.power[at + i] * log_positive(1.0 + z * z)
        at += stride
    for i in range(NARROW):
        out[first + i] = cost[i]


cdef inline inlined_void term_bound_block(
        const Terms *t, const double *most_power, Py_ssize_t stride, const double *u,
        Py_ssize_t n_columns, const double *log_weight, Py_ssize_t first,
        double *out) noexcept nogil:
    """Lower bounds of NARROW slots from `first`.

    Powers are negative, and all logarithms positive: with the largest power in every column, one
    logarithm of a product serves all columns.
    """
    cdef double cost[NARROW]
    cdef double product[NARROW]
    cdef double exponent[NARROW]
    cdef double z, e = 0.0
    cdef Py_ssize_t d, at = first, n_factors = 0
    cdef int i
    add_constants(t, stride, u, n_columns, log_weight, first, cost)
    for i in range(NARROW):
        product[i], exponent[i] = 1.0, 0.0
    for d in range(n_columns):
        if u[d] == u[d]:
            for i in range(NARROW):
                z = u[d] * t.slope[at + i] - t.shift[at + i]
                product[i] = product[i] * (1.0 + z * z)
            n_factors += 1
            if n_factors % FACTOR_GROUP == 0:
                for i in range(NARROW):
                    product[i] = split_exponent(product[i], &e)
                    exponent[i] += e
        at += stride
    for i in range(NARROW):
        out[first + i] = cost[i] - most_power[first + i] * (
            LOG_2 * (exponent[i] + log2_floor(product[i])))
