"""Kernel of normality.py: clusters that leave nothing to be divided.

It passes once over the rows, for a slot knows their means and variances. Columns are padded to whole
vectors: there is nothing left over then. A missing cell is a score of 0 in all sums, and has a bin of
its own; what else depends on which cells there are is counted apart, or known where none is missing.
"""

from array import array

from libc.math cimport INFINITY, erfc, log, log1p, sqrt
from libc.stdint cimport uintptr_t

from dpmlite.inference._division cimport member_lists
from dpmlite.models._incomplete_normal_gamma cimport COUNT, MEAN, RATE, IncompleteNormalGamma
from dpmlite.models._normal_gamma cimport NormalGamma
from dpmlite.models._partition cimport Partition
from dpmlite.models._rows cimport Row
from dpmlite.models._special cimport (
    clones_double, digamma_c, inlined_double, inlined_ssize, inlined_void, larger, log_positive,
    trigamma_c)
from dpmlite.models._student_t cimport GROUP, Densities, standardise

cdef extern from *:
    """
    #define DPM_ENTROPY 0.6
    #define DPM_HARDLY 0.02
    #define DPM_NARROWER 1.5
    #define DPM_LEAST_PART 1e-6
    #define DPM_LARGEST_PART 0.5
    #define DPM_TOGETHER 0.5
    #define DPM_LEAST_SETTLED 1e-9
    #define DPM_LEAST_SQUARE 1e-300
    """
    double ENTROPY "DPM_ENTROPY"
    double HARDLY "DPM_HARDLY"
    double NARROWER "DPM_NARROWER"
    double LEAST_PART "DPM_LEAST_PART"
    double LARGEST_PART "DPM_LARGEST_PART"
    double TOGETHER "DPM_TOGETHER"
    double LEAST_SETTLED "DPM_LEAST_SETTLED"
    double LEAST_SQUARE "DPM_LEAST_SQUARE"

cdef enum:
    N_BINS = 11
    MISSING = N_BINS  # and one bin more
    STRIDE = N_BINS + 1
    DEGREES_OF_BINS = 8
    N_VECTORS = 9  # [column] of Sums
    BLOCK = 64  # rows whose logarithms are taken together

cdef struct Sums:             # over the rows of a cluster
    double n                  # their weight
    Py_ssize_t n_columns
    Py_ssize_t width          # columns, padded
    bint beside               # there is a settled group
    double *n_all             # [column] weight of the slot's cells
    double *mean              # [column] in units of the prior
    double *scale             # [column] 1 / standard deviation
    double *z                 # [column] of one row
    double *first             # [column] of z, of its cube and its fourth power
    double *cube
    double *fourth
    double *settled           # [column] w: the part of the slot's cells that is not asked
    double *share             # [column] 2 / d, of each cell of a row with d cells
    double *product           # [column][column] of z, each with those of its group and after it
    double *both              # [column][column] weight of the rows that have both cells
    double *bins              # [column][bin]
    double *rows              # [d] weight of the rows that have d cells
    double log_square         # of half the sum of squares of each row


def all_look_normal(Partition partition):
    cdef Py_ssize_t k
    for k, members in member_lists(partition, range(partition.component.n_slots)).items():
        if len(members) and not looks_normal(partition, k, members):
            return False
    return True


cpdef bint looks_normal(Partition partition, Py_ssize_t k, const Py_ssize_t[::1] members) except -1:
    cdef bint normal = False
    cdef NormalGamma prior = None
    cdef IncompleteNormalGamma gaps = None
    partition.component._check_slot(k)
    if isinstance(partition.component, NormalGamma):
        prior = partition.component
    elif isinstance(partition.component, IncompleteNormalGamma):
        gaps = partition.component
        prior = gaps.complete
    else:
        return False
    cdef double[::1] room = partition.room_of_a_row(), memory = memory_for(prior.n_columns)
    cdef Sums sums = sums_in(&memory[0], prior.n_columns)
    with nogil:
        sums.n = weight_of(partition, members)
        if can_be_asked(partition, k, members.shape[0], &sums) and (
                find_units(prior, k, &sums) if gaps is None else
                find_units_of_gaps(gaps, k, &sums)):
            add_up(partition, members, prior.densities(), &room[0], gaps is not None, &sums)
            normal = excess(&sums) < price(prior, &sums, partition.alpha)
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
    sums.beside = n_groups > 0
    return True


cdef Py_ssize_t padded(Py_ssize_t n_columns) noexcept nogil:
    return (n_columns + GROUP - 1) // GROUP * GROUP


cdef memory_for(Py_ssize_t n_columns):
    cdef Py_ssize_t width = padded(n_columns)
    return array(
        "d", bytes(64 + 8 * (width * (N_VECTORS + 2 * width + STRIDE) + n_columns + 1)))


cdef Sums sums_in(double *start, Py_ssize_t n_columns) noexcept nogil:
    """With vectors that begin where lines of memory do."""
    cdef double *memory = <double *> ((<uintptr_t> start + 63) & ~(<uintptr_t> 63))
    cdef Py_ssize_t width = padded(n_columns)
    cdef Sums sums
    sums.n_columns, sums.width, sums.log_square = n_columns, width, 0.0
    sums.n_all, sums.mean, sums.scale = memory, memory + width, memory + 2 * width
    sums.z, sums.first, sums.cube = memory + 3 * width, memory + 4 * width, memory + 5 * width
    sums.fourth, sums.settled = memory + 6 * width, memory + 7 * width
    sums.share, sums.product = memory + 8 * width, memory + N_VECTORS * width
    sums.both = sums.product + width * width
    sums.bins = sums.both + width * width
    sums.rows = sums.bins + width * STRIDE
    return sums


cdef bint find_units(NormalGamma prior, Py_ssize_t k, Sums *sums) noexcept nogil:
    """From the posterior; False if the test says nothing."""
    cdef Py_ssize_t d, at = k * prior.n_along
    for d in range(sums.n_columns):
        if not find_unit(prior, d, prior.n[k], prior.m[at + d], prior.b[at + d], sums):
            return False
    return True


cdef bint find_units_of_gaps(IncompleteNormalGamma gaps, Py_ssize_t k, Sums *sums) noexcept nogil:
    cdef const double *n = gaps.statistic(k, COUNT)
    cdef const double *m = gaps.statistic(k, MEAN)
    cdef const double *b = gaps.statistic(k, RATE)
    cdef Py_ssize_t d
    for d in range(sums.n_columns):
        if not find_unit(gaps.complete, d, n[d], m[d], b[d], sums):
            return False
    return True


cdef bint find_unit(NormalGamma prior, Py_ssize_t d, double n, double m, double b,
                    Sums *sums) noexcept nogil:
    """Of column d, eq. (13) without the prior's part."""
    cdef double mean, variance, c = prior.c0 + n
    sums.n_all[d], sums.mean[d], sums.scale[d] = n, 0.0, 1.0
    if n == 0.0:
        return True  # there is nothing to tell
    mean = m * c / n
    variance = 2.0 * (b - 1.0) / n - prior.c0 / c * mean * mean
    sums.mean[d], sums.scale[d] = mean, 1.0 / sqrt(variance)
    return n * variance >= LEAST_PART * b and (
        prior.a0 <= HARDLY * n or prior.a0 * variance <= NARROWER)


cdef double price(NormalGamma prior, const Sums *sums, double alpha) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t d
    for d in range(sums.n_columns):
        total += log1p(cells_of(sums, d) / larger(prior.c0, 1.0))
        total += log1p(0.5 * cells_of(sums, d) / larger(prior.a0, 0.5))
    return 0.5 * total - log(larger(alpha, 1.0))


cdef inline double cells_of(const Sums *sums, Py_ssize_t d) noexcept nogil:
    """The weight of the cells in column d."""
    return sums.both[d * sums.width + d]


cdef void add_up(Partition partition, const Py_ssize_t[::1] members, const Densities *t,
                 double *room, bint gaps, Sums *sums) noexcept nogil:
    cdef double[BLOCK] squares
    cdef double[BLOCK] weights
    cdef Py_ssize_t m, used = 0
    cdef Row row
    for m in range(members.shape[0]):
        partition.expect_after(members, m)
        row = partition.row_into(members[m], room)
        weights[used] = row.weight
        if not gaps:
            squares[used] = add_row(t, &row, sums)
        else:
            squares[used] = add_row_of_gaps(t, &row, sums)
            count_cells(&row, sums)
        used += 1
        if used == BLOCK or m == members.shape[0] - 1:
            sums.log_square += sum_of_logs(squares, weights, used)
            used = 0
    if not gaps:
        count_all(sums)
    for m in range(sums.n_columns if sums.beside else 0):
        sums.settled[m] = settled_part(cells_of(sums, m), sums.n_all[m])


cdef double settled_part(double n, double n_all) noexcept nogil:
    return 1.0 - n / n_all if n < (1.0 - LEAST_SETTLED) * n_all else 0.0


cdef void count_cells(const Row *row, Sums *sums) noexcept nogil:
    """Note which cells a row has."""
    cdef Py_ssize_t d, e, n_cells = 0
    cdef double *there = sums.z  # which the sums do not need any more
    cdef double *both = sums.both
    for d in range(sums.n_columns):
        there[d] = row.weight if row.values[d] == row.values[d] else 0.0
        n_cells += there[d] > 0.0
    sums.rows[n_cells] += row.weight
    for d in range(sums.n_columns):
        if there[d] > 0.0:
            sums.share[d] += 2.0 * row.weight / n_cells
            for e in range(sums.n_columns):
                both[e] += there[e]
        both += sums.width


cdef void count_all(Sums *sums) noexcept nogil:
    """The same if all rows have all cells."""
    cdef Py_ssize_t d, e
    sums.rows[sums.n_columns] = sums.n
    for d in range(sums.n_columns):
        sums.share[d] = 2.0 * sums.n / sums.n_columns
        for e in range(sums.n_columns):
            sums.both[d * sums.width + e] = sums.n


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
    return half_square(t, row, sums, False)


cdef clones_double add_row_of_gaps(const Densities *t, const Row *row, Sums *sums) noexcept nogil:
    return half_square(t, row, sums, True)


cdef inline inlined_double half_square(const Densities *t, const Row *row, Sums *sums,
                                       bint gaps) noexcept nogil:
    cdef double square[GROUP]
    cdef Py_ssize_t j, first = 0
    for j in range(GROUP):
        square[j] = 0.0
    while first + GROUP <= sums.n_columns:
        add_some(t, row, first, GROUP, sums, square, gaps)
        first += GROUP
    if first < sums.n_columns:
        add_some(t, row, first, sums.n_columns - first, sums, square, gaps)
    return 0.5 * (((square[0] + square[1]) + (square[2] + square[3]))
                  + ((square[4] + square[5]) + (square[6] + square[7])))


cdef inline inlined_void add_some(const Densities *t, const Row *row, Py_ssize_t first,
                                  Py_ssize_t n, Sums *sums, double *square,
                                  bint gaps) noexcept nogil:
    """Its n columns from `first`, which end a group."""
    cdef double z[GROUP]
    cdef double weighted[GROUP]  # z
    cdef double z_square[GROUP]
    cdef double *total = sums.first + first
    cdef double *cube = sums.cube + first
    cdef double *fourth = sums.fourth + first
    cdef double *product = sums.product + first
    cdef double *rows = sums.bins + first * STRIDE
    cdef Py_ssize_t bins[GROUP]
    cdef double other, weight = row.weight
    cdef Py_ssize_t d, j
    for j in range(GROUP):
        z[j] = 0.0
    for j in range(n):
        z[j] = (standardise(row.values[first + j], t.origin[first + j], t.unit[first + j])
                - sums.mean[first + j]) * sums.scale[first + j]
    for j in range(GROUP):
        bins[j] = bin_of(z[j])
    if gaps:
        for j in range(GROUP):
            bins[j] = bins[j] if z[j] == z[j] else MISSING
        for j in range(GROUP):
            z[j] = z[j] if z[j] == z[j] else 0.0
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
    for j in range(n):
        rows[j * STRIDE + bins[j]] += weight
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
    cdef double n = cells_of(sums, d), settled = sums.settled[d], place, shape
    if n == 0.0:
        return 0.0
    cdef double first = sums.first[d] / n, second = sums.product[d * sums.width + d] / n
    cdef double third = sums.cube[d] / n, fourth = sums.fourth[d] / n
    if settled == 0.0:
        return of_shape(n, third / second / sqrt(second), fourth / second / second - 3.0)
    place = first ** 2 + (second - 1.0) ** 2 / 2.0
    shape = (third - 3.0 * first) ** 2 / 6.0 + (fourth - 6.0 * second + 3.0) ** 2 / 24.0
    return n * (place + shape) - 2.0 * (1.0 + settled)


cdef double of_shape(double n, double skewness, double kurtosis) noexcept nogil:
    cdef double between = sqrt(larger(0.5 * (skewness * skewness - kurtosis), 0.0))
    cdef double parts = -0.5 * log1p(-between) - ENTROPY if between < 1.0 else INFINITY
    return n * (skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0 + larger(parts, 0.0)) - 2.0


cdef double of_bins(const Sums *sums, Py_ssize_t d, const double *chance) noexcept nogil:
    cdef double total = 0.0, n = cells_of(sums, d)
    cdef const double *rows = sums.bins + d * STRIDE
    cdef Py_ssize_t i
    for i in range(N_BINS):
        if rows[i] > 0.0:
            total += rows[i] * log(rows[i] / (n * chance[i]))
    return 2.0 * total - DEGREES_OF_BINS - 2.0 * sums.settled[d] if n > 0.0 else 0.0


cdef void find_chances(double *chance) noexcept nogil:
    cdef double below = 0.0, next_below
    cdef Py_ssize_t i
    for i in range(N_BINS):
        next_below = 0.5 * erfc((0.25 * N_BINS - 0.5 * (i + 1)) / sqrt(2.0)) if i < N_BINS - 1 else 1.0
        chance[i] = next_below - below
        below = next_below


cdef double of_widths(const Sums *sums) noexcept nogil:
    cdef double away = -sums.log_square, variance = 0.0, n
    cdef Py_ssize_t d
    if sums.rows[0] > 0.0:
        return INFINITY
    for d in range(1, sums.n_columns + 1):
        if sums.rows[d] > 0.0:
            away += sums.rows[d] * digamma_c(0.5 * d)
            variance += sums.rows[d] * trigamma_c(0.5 * d)
    for d in range(sums.n_columns):
        n = cells_of(sums, d)
        if n > 0.0:
            variance -= 0.5 * (1.0 - sums.settled[d]) * sums.share[d] ** 2 / n
    return away * away / variance - 1.0 if sums.n_columns > 1 else 0.0


cdef double of_pairs(const Sums *sums) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t d, e
    for d in range(sums.n_columns):
        for e in range(d + 1, sums.n_columns):
            total += of_pair(sums, d, e)
    return total


cdef double of_pair(const Sums *sums, Py_ssize_t d, Py_ssize_t e) noexcept nogil:
    cdef double n = sums.both[d * sums.width + e], correlation, rest
    if n < TOGETHER * cells_of(sums, d) * cells_of(sums, e) / sums.n:
        return INFINITY
    if n == 0.0:
        return 0.0
    correlation = sums.product[d * sums.width + e] / n
    if sums.settled[d] > 0.0 or sums.settled[e] > 0.0:
        return n * correlation * correlation - 1.0
    rest = 1.0 - correlation * correlation
    return -n * log(rest) - 1.0 if rest > 0.0 else INFINITY
