"""Kernel of normality.py: whether the rows of clusters are as those of one normal.

The sums over the rows of all clusters that are asked are found in one pass (_normality_sums.pyx). The
rows are summed in as many parts however many threads there are, so that sums do not depend on them.
"""

from libc.math cimport INFINITY, erfc, log, log1p, sqrt

from dpmlite.core._constants cimport (
    BIN_DEGREES, MAX_COLUMNS_PER_ROW, MAX_JOINING_FRACTION, MIN_COMPLETE_RATIO,
    MIN_ABSORBED_FRACTION, MIN_UNEXPLAINED, N_BINS, UNSEEN_ENTROPY)
from dpmlite.core._simd cimport larger, smaller
from dpmlite.core._special cimport digamma_c, trigamma_c
from dpmlite.families._normal_columns cimport NormalPrior
from dpmlite.moves._normality_sums cimport (
    Sums, add_sums, cells_of, first_of, room_of_sums, sums_of)
from dpmlite.partition._partition cimport Partition

from dpmlite.core.threads import iterate_on_threads

cdef enum:
    MAX_SUMS = 262144      # numbers of the clusters that are asked in one pass, which fit a cache
    MIN_PART_ROWS = 4096   # rows of a part
    MAX_PARTS = 8          # parts of the rows


def all_look_normal(Partition partition):
    cdef Py_ssize_t k
    return all(look_normal(partition, [
        k for k in range(partition.component.n_slots) if partition.n_members(k) > 0]))


def look_normal(Partition partition, slots):
    cdef Py_ssize_t k, most, n_parts, piece = 0
    for k in slots:
        partition.component._check_slot(k)
    normal = dict.fromkeys(slots, False)
    if partition.component.column_prior() == NULL:
        return [False] * len(slots)
    asked = [k for k in normal if has_enough_rows(partition, k)]
    n_each = max(MAX_SUMS // room_of_sums(partition.component.n_columns), <Py_ssize_t> 1)
    passes = [asked[k:k + n_each] for k in range(0, len(asked), n_each)]
    n_parts = max(min(partition.n_rows // MIN_PART_ROWS, MAX_PARTS // max(len(passes), 1)), 1)
    if n_each == 1:
        n_parts = 1  # sums of wide rows take much memory

    def part(Py_ssize_t i):
        some = passes[i // n_parts]
        sums = sums_of(partition, some, i % n_parts, n_parts)
        return sums if n_parts > 1 else verdicts(partition, some, sums)

    for found in iterate_on_threads(part, range(len(passes) * n_parts)):
        some = passes[piece // n_parts]
        if n_parts == 1:
            normal.update(found)
        elif piece % n_parts == 0:
            total = found
        else:
            add_sums(total, found, len(some))
        piece += 1
        if n_parts > 1 and piece % n_parts == 0:
            normal.update(verdicts(partition, some, total))
    return [normal[k] for k in slots]


cdef bint has_enough_rows(Partition partition, Py_ssize_t k) except -1:
    """Whether slot k can be tested, as far as its numbers of rows and groups tell."""
    cdef Py_ssize_t n_members = partition.n_members(k)
    cdef Py_ssize_t n_groups = partition.size[k] - n_members
    return (n_members > 0 and n_groups <= 1
            and partition.component.power * partition.component.n[k] >= partition.alpha_beside(0)
            and (n_groups > 0 or partition.component.n_columns <= MAX_COLUMNS_PER_ROW * n_members))


cdef verdicts(Partition partition, slots, double[::1] memory):
    """Whether each slot passes the test, by its sums."""
    cdef const NormalPrior *prior = partition.component.column_prior()
    cdef Py_ssize_t j, n = len(slots)
    cdef Sums *sums = first_of(memory)
    with nogil:
        for j in range(n):
            sums[j].normal = verdict(prior, partition, &sums[j])
    return {k: sums[j].normal for j, k in enumerate(slots)}


cdef bint verdict(const NormalPrior *prior, Partition partition, Sums *sums) noexcept nogil:
    """Whether a slot passes the test."""
    cdef Py_ssize_t d
    cdef double cost
    if not sums.is_testable or (sums.has_group and sums.n > MAX_JOINING_FRACTION * sums.n_slot):
        return False
    if not prior.has_gaps:
        count_complete_rows(sums)
    for d in range(sums.n_columns if sums.has_group else 0):
        sums.absorbed[d] = absorbed_part(cells_of(sums, d), sums.n_all[d])
    cost = price(prior, sums, partition.alpha_beside(0), partition.component.power)
    sums.chance = chance_of(sums, cost / (2 * sums.n_columns + 1))
    return excess(sums) < cost


cdef double chance_of(const Sums *sums, double most) noexcept nogil:
    """What a statistic is by chance for each of its degrees of freedom."""
    return larger(1.0, smaller(sums.squared_weights / sums.n, most))


cdef void count_complete_rows(Sums *sums) noexcept nogil:
    """Count the cells and pairs of cells of all rows, of which none is missing."""
    cdef Py_ssize_t d, e
    sums.rows[sums.n_columns] = sums.n
    for d in range(sums.n_columns):
        sums.share[d] = 2.0 * sums.n / sums.n_columns
        for e in range(sums.n_columns):
            sums.both[d * sums.width + e] = sums.n


cdef double absorbed_part(double n, double n_all) noexcept nogil:
    """The fraction of the weight `n_all` that is not the rows' `n`; 0 if it is only rounding."""
    return 1.0 - n / n_all if n < (1.0 - MIN_ABSORBED_FRACTION) * n_all else 0.0


cdef double price(const NormalPrior *prior, const Sums *sums, double alpha,
                  double power) noexcept nogil:
    """A lower estimate of the nats that one more cluster costs, divided by the power."""
    cdef double total = 0.0
    cdef Py_ssize_t d
    for d in range(sums.n_columns):
        total += log1p(cells_of(sums, d) / larger(prior.c0, 1.0 / power))
        total += log1p(0.5 * cells_of(sums, d) / larger(prior.a0, 0.5 / power))
    return (0.5 * total - log(larger(alpha, 1.0))) / power


cdef double excess(const Sums *sums) noexcept nogil:
    """The sum of all statistics, each less what it is by chance."""
    cdef double moments = 0.0, bins = 0.0
    cdef double[N_BINS] chance
    cdef Py_ssize_t d
    find_chances(chance)
    for d in range(sums.n_columns):
        moments += moments_excess(sums, d)
        bins += bins_excess(sums, d, chance)
    return larger(moments, bins) + widths_excess(sums) + pairs_excess(sums)


cdef double moments_excess(const Sums *sums, Py_ssize_t d) noexcept nogil:
    """The statistic of a column's moments, less what it is by chance."""
    cdef double n = cells_of(sums, d), absorbed = sums.absorbed[d], place, shape
    if n == 0.0:
        return 0.0
    cdef double first = sums.first[d] / n, second = sums.product[d * sums.width + d] / n
    cdef double third = sums.cube[d] / n, fourth = sums.fourth[d] / n
    if absorbed == 0.0:
        shape = shape_statistic(n, third / second / sqrt(second), fourth / second / second - 3.0)
        return shape - 2.0 * sums.chance
    place = first ** 2 + (second - 1.0) ** 2 / 2.0
    shape = (third - 3.0 * first) ** 2 / 6.0 + (fourth - 6.0 * second + 3.0) ** 2 / 24.0
    return n * (place + shape) - 2.0 * (1.0 + absorbed) * sums.chance


cdef double shape_statistic(double n, double skewness, double kurtosis) noexcept nogil:
    """The statistic of skewness and kurtosis."""
    cdef double between = sqrt(larger(0.5 * (skewness * skewness - kurtosis), 0.0))
    cdef double parts = -0.5 * log(larger(1.0 - between, MIN_UNEXPLAINED)) - UNSEEN_ENTROPY
    return n * (skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0 + larger(parts, 0.0))


cdef double bins_excess(const Sums *sums, Py_ssize_t d, const double *chance) noexcept nogil:
    """The statistic of a column's bins, less what it is by chance."""
    cdef double total = 0.0, n = cells_of(sums, d)
    cdef const double *rows = sums.bins + d
    cdef Py_ssize_t i
    for i in range(N_BINS):
        if rows[0] > 0.0:
            total += rows[0] * log(rows[0] / (n * chance[i]))
        rows += sums.width
    return 2.0 * total - (BIN_DEGREES + 2.0 * sums.absorbed[d]) * sums.chance if n > 0.0 else 0.0


cdef void find_chances(double *chance) noexcept nogil:
    """Write the probability of each bin under a standard normal."""
    cdef double below = 0.0, next_below
    cdef Py_ssize_t i
    for i in range(N_BINS):
        next_below = 0.5 * erfc((0.25 * N_BINS - 0.5 * (i + 1)) / sqrt(2.0)) if i < N_BINS - 1 else 1.0
        chance[i] = next_below - below
        below = next_below


cdef double widths_excess(const Sums *sums) noexcept nogil:
    """The statistic of the rows' sums of squares, less what it is by chance."""
    cdef double away = -sums.log_squares, variance = 0.0, n
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
            variance -= 0.5 * (1.0 - sums.absorbed[d]) * sums.share[d] ** 2 / n
    return away * away / variance - sums.chance if sums.n_columns > 1 else 0.0


cdef double pairs_excess(const Sums *sums) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t d, e
    for d in range(sums.n_columns):
        for e in range(d + 1, sums.n_columns):
            total += pair_excess(sums, d, e)
    return total


cdef double pair_excess(const Sums *sums, Py_ssize_t d, Py_ssize_t e) noexcept nogil:
    """The statistic of the correlation of two columns, less what it is by chance."""
    cdef double n = sums.both[d * sums.width + e], correlation
    if n < MIN_COMPLETE_RATIO * cells_of(sums, d) * cells_of(sums, e) / sums.n:
        return INFINITY
    if n == 0.0:
        return 0.0
    correlation = sums.product[d * sums.width + e] / n
    if sums.absorbed[d] > 0.0 or sums.absorbed[e] > 0.0:
        return n * correlation * correlation - sums.chance
    return -n * log(larger(1.0 - correlation * correlation, MIN_UNEXPLAINED)) - sums.chance
