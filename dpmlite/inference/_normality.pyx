"""Kernel of normality.py: clusters that leave nothing to be divided.

It passes once over the rows, for a slot knows their means and variances. Columns are padded to whole
vectors: there is nothing left over then.
"""

from array import array

from libc.math cimport INFINITY, erfc, log, log1p, sqrt

from dpmlite.inference._division cimport member_lists
from dpmlite.models._normal_gamma cimport NormalGamma
from dpmlite.models._partition cimport Partition
from dpmlite.models._rows cimport Row
from dpmlite.models._special cimport (
    clones_double, digamma_c, inlined_ssize, inlined_void, larger, log_positive, trigamma_c)
from dpmlite.models._student_t cimport GROUP, Densities, standardise

cdef extern from *:
    """
    #define DPM_ENTROPY 0.6
    #define DPM_HARDLY 0.02
    #define DPM_NARROWER 1.5
    #define DPM_LEAST_PART 1e-6
    #define DPM_LARGEST_PART 0.5
    #define DPM_LEAST_SQUARE 1e-300
    """
    double ENTROPY "DPM_ENTROPY"
    double HARDLY "DPM_HARDLY"
    double NARROWER "DPM_NARROWER"
    double LEAST_PART "DPM_LEAST_PART"
    double LARGEST_PART "DPM_LARGEST_PART"
    double LEAST_SQUARE "DPM_LEAST_SQUARE"

cdef enum:
    N_BINS = 11
    DEGREES_OF_BINS = 8
    BLOCK = 64  # rows whose logarithms are taken together

cdef struct Sums:             # over the rows of a cluster
    double n                  # their weight
    Py_ssize_t n_columns
    Py_ssize_t width          # columns, padded
    double settled            # the part of all rows of the slot that is not asked
    double *mean              # [column] in units of the prior
    double *scale             # [column] 1 / standard deviation
    double *z                 # [column] of one row
    double *first             # [column] of z, of its cube and its fourth power
    double *cube
    double *fourth
    double *product           # [column][column] of z, each with those of its group and after it
    double *bins              # [column][bin]
    double log_square         # of half the sum of squares of each row


def all_look_normal(Partition partition):
    cdef Py_ssize_t k
    for k, members in member_lists(partition, range(partition.component.n_slots)).items():
        if len(members) and not looks_normal(partition, k, members):
            return False
    return True


cpdef bint looks_normal(Partition partition, Py_ssize_t k, const Py_ssize_t[::1] members) except -1:
    cdef bint normal = False
    partition.component._check_slot(k)
    if not isinstance(partition.component, NormalGamma):
        return False
    cdef NormalGamma prior = partition.component
    cdef double[::1] room = partition.room_of_a_row(), memory = memory_for(prior.n_columns)
    cdef Sums sums = sums_in(&memory[0], prior.n_columns)
    with nogil:
        sums.n = weight_of(partition, members)
        if can_be_asked(partition, k, members.shape[0], &sums) and find_units(prior, k, &sums):
            add_up(partition, members, prior.densities(), &room[0], &sums)
            normal = excess(&sums) < price(prior, sums.n, partition.alpha)
    return normal


cdef double weight_of(Partition partition, const Py_ssize_t[::1] members) except -1.0 nogil:
    cdef Py_ssize_t m
    cdef double total = 0.0
    for m in range(members.shape[0]):
        if not 0 <= members[m] < partition.n_rows:
            partition.check_row(members[m])
        total += partition.row_weight(members[m])
    return total


cdef bint can_be_asked(Partition partition, Py_ssize_t k, Py_ssize_t n_members,
                       Sums *sums) noexcept nogil:
    cdef double n_all = partition.component.n[k]
    cdef Py_ssize_t n_groups = partition.size[k] - partition.n_members(k)
    if n_members == 0 or n_groups > 1 or partition.size[k] != n_members + n_groups:
        return False
    if n_all < partition.alpha or (n_groups > 0 and sums.n > LARGEST_PART * n_all):
        return False
    sums.settled = 1.0 - sums.n / n_all if n_groups > 0 else 0.0
    return True


cdef Py_ssize_t padded(Py_ssize_t n_columns) noexcept nogil:
    return (n_columns + GROUP - 1) // GROUP * GROUP


cdef memory_for(Py_ssize_t n_columns):
    cdef Py_ssize_t width = padded(n_columns)
    return array("d", bytes(8 * width * (6 + width + N_BINS)))


cdef Sums sums_in(double *memory, Py_ssize_t n_columns) noexcept nogil:
    cdef Sums sums
    cdef Py_ssize_t width = padded(n_columns)
    sums.n_columns, sums.width, sums.log_square = n_columns, width, 0.0
    sums.mean, sums.scale, sums.z = memory, memory + width, memory + 2 * width
    sums.first, sums.cube = memory + 3 * width, memory + 4 * width
    sums.fourth, sums.product = memory + 5 * width, memory + 6 * width
    sums.bins = sums.product + width * width
    return sums


cdef bint find_units(NormalGamma prior, Py_ssize_t k, Sums *sums) noexcept nogil:
    """From the posterior, eq. (13), without the prior's part; False if the test says nothing."""
    cdef double variance, n = prior.n[k], c = prior.c0 + n
    cdef Py_ssize_t d, at = k * prior.n_along
    for d in range(sums.n_columns):
        sums.mean[d] = prior.m[at + d] * c / n
        variance = 2.0 * (prior.b[at + d] - 1.0) / n - prior.c0 / c * sums.mean[d] * sums.mean[d]
        if n * variance < LEAST_PART * prior.b[at + d] or expects_narrower(prior, n, variance):
            return False
        sums.scale[d] = 1.0 / sqrt(variance)
    return True


cdef bint expects_narrower(NormalGamma prior, double n, double variance) noexcept nogil:
    return prior.a0 > HARDLY * n and prior.a0 * variance > NARROWER


cdef double price(NormalGamma prior, double n, double alpha) noexcept nogil:
    cdef double means = log1p(n / larger(prior.c0, 1.0))
    cdef double precisions = log1p(0.5 * n / larger(prior.a0, 0.5))
    return 0.5 * prior.n_columns * (means + precisions) - log(larger(alpha, 1.0))


cdef void add_up(Partition partition, const Py_ssize_t[::1] members, const Densities *t,
                 double *room, Sums *sums) noexcept nogil:
    cdef double[BLOCK] squares
    cdef double[BLOCK] weights
    cdef Py_ssize_t m, used = 0
    cdef Row row
    for m in range(members.shape[0]):
        partition.expect_after(members, m)
        row = partition.row_into(members[m], room)
        squares[used], weights[used] = add_row(t, &row, sums), row.weight
        used += 1
        if used == BLOCK or m == members.shape[0] - 1:
            sums.log_square += sum_of_logs(squares, weights, used)
            used = 0


cdef clones_double sum_of_logs(double *x, const double *weights, Py_ssize_t n) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = log_positive(larger(x[i], LEAST_SQUARE))
    for i in range(n):
        total += weights[i] * x[i]
    return total


cdef clones_double add_row(const Densities *t, const Row *row, Sums *sums) noexcept nogil:
    """Half the sum of its squares."""
    cdef double square[GROUP]
    cdef Py_ssize_t j, first = 0
    for j in range(GROUP):
        square[j] = 0.0
    while first + GROUP <= sums.n_columns:
        add_some(t, row, first, GROUP, sums, square)
        first += GROUP
    if first < sums.n_columns:
        add_some(t, row, first, sums.n_columns - first, sums, square)
    return 0.5 * (((square[0] + square[1]) + (square[2] + square[3]))
                  + ((square[4] + square[5]) + (square[6] + square[7])))


cdef inline inlined_void add_some(const Densities *t, const Row *row, Py_ssize_t first,
                                  Py_ssize_t n, Sums *sums, double *square) noexcept nogil:
    """Its n columns from `first`, which end a group."""
    cdef double z[GROUP]
    cdef double weighted[GROUP]  # z
    cdef double z_square[GROUP]
    cdef double *total = sums.first + first
    cdef double *cube = sums.cube + first
    cdef double *fourth = sums.fourth + first
    cdef double *product = sums.product + first
    cdef double *rows = sums.bins + first * N_BINS
    cdef Py_ssize_t bins[GROUP]
    cdef double other, weight = row.weight
    cdef Py_ssize_t d, j
    for j in range(GROUP):
        z[j] = 0.0
    for j in range(n):
        z[j] = (standardise(row.values[first + j], t.origin[first + j], t.unit[first + j])
                - sums.mean[first + j]) * sums.scale[first + j]
    for j in range(GROUP):
        sums.z[first + j] = z[j]
    for j in range(GROUP):
        z_square[j] = z[j] * z[j]
    for j in range(GROUP):
        square[j] += z_square[j]
    for j in range(GROUP):
        weighted[j] = weight * z[j]
    for j in range(GROUP):
        total[j] += weighted[j]
    for j in range(GROUP):
        cube[j] += z_square[j] * weighted[j]
    for j in range(GROUP):
        fourth[j] += z_square[j] * (z[j] * weighted[j])
    for j in range(GROUP):
        bins[j] = bin_of(z[j])
    for j in range(n):
        rows[j * N_BINS + bins[j]] += weight
    for d in range(first + n):
        other = sums.z[d]
        for j in range(GROUP):
            product[j] += other * weighted[j]
        product += sums.width


cdef inline inlined_ssize bin_of(double z) noexcept nogil:
    cdef double least = 2.0 * z + 0.5 * N_BINS
    least = least if least > 0.0 else 0.0
    return <Py_ssize_t> (least if least < N_BINS - 1 else N_BINS - 1)


cdef double excess(const Sums *sums) noexcept nogil:
    """All statistics above chance."""
    cdef double moments = 0.0, bins = 0.0
    cdef double[N_BINS] chance
    cdef Py_ssize_t d
    find_chances(chance)
    for d in range(sums.n_columns):
        moments += of_moments(sums, d)
        bins += of_bins(sums, d, chance)
    return larger(moments, bins) + of_widths(sums) + of_pairs(sums)


cdef double of_moments(const Sums *sums, Py_ssize_t d) noexcept nogil:
    cdef double n = sums.n, first = sums.first[d] / n
    cdef double second = sums.product[d * sums.width + d] / n
    cdef double third = sums.cube[d] / n, fourth = sums.fourth[d] / n, place, shape
    if sums.settled == 0.0:
        return of_shape(n, third / second / sqrt(second), fourth / second / second - 3.0)
    place = first ** 2 + (second - 1.0) ** 2 / 2.0
    shape = (third - 3.0 * first) ** 2 / 6.0 + (fourth - 6.0 * second + 3.0) ** 2 / 24.0
    return n * (place + shape) - 2.0 * (1.0 + sums.settled)


cdef double of_shape(double n, double skewness, double kurtosis) noexcept nogil:
    cdef double between = sqrt(larger(0.5 * (skewness * skewness - kurtosis), 0.0))
    cdef double parts = -0.5 * log1p(-between) - ENTROPY if between < 1.0 else INFINITY
    return n * (skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0 + larger(parts, 0.0)) - 2.0


cdef double of_bins(const Sums *sums, Py_ssize_t d, const double *chance) noexcept nogil:
    cdef double total = 0.0, n = sums.n
    cdef const double *rows = sums.bins + d * N_BINS
    cdef Py_ssize_t i
    for i in range(N_BINS):
        if rows[i] > 0.0:
            total += rows[i] * log(rows[i] / (n * chance[i]))
    return 2.0 * total - DEGREES_OF_BINS - 2.0 * sums.settled


cdef void find_chances(double *chance) noexcept nogil:
    cdef double below = 0.0, next_below
    cdef Py_ssize_t i
    for i in range(N_BINS):
        next_below = 0.5 * erfc((0.25 * N_BINS - 0.5 * (i + 1)) / sqrt(2.0)) if i < N_BINS - 1 else 1.0
        chance[i] = next_below - below
        below = next_below


cdef double of_widths(const Sums *sums) noexcept nogil:
    cdef double half = 0.5 * sums.n_columns, n = sums.n
    cdef double away = digamma_c(half) - sums.log_square / n
    cdef double variance = trigamma_c(half) - (1.0 - sums.settled) / half
    return n * away * away / variance - 1.0 if half > 0.5 else 0.0


cdef double of_pairs(const Sums *sums) noexcept nogil:
    cdef double rest, square, total = 0.0, n = sums.n
    cdef Py_ssize_t d, e
    cdef const double *product = sums.product
    for d in range(sums.n_columns):
        for e in range(d + 1, sums.n_columns):
            square = product[d * sums.width + e] ** 2
            if sums.settled > 0.0:
                total += square / n - 1.0
                continue
            rest = 1.0 - square / (
                product[d * sums.width + d] * product[e * sums.width + e])
            total += -n * log(rest) - 1.0 if rest > 0.0 else INFINITY
    return total
