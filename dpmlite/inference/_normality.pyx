"""Kernel of normality.py: clusters that leave nothing to be divided.

It passes once over the rows, for a slot knows their mean. Columns are padded to whole vectors: there
is nothing left over then.
"""

from array import array

from libc.math cimport INFINITY, log, log1p, sqrt

from dpmlite.models._normal_gamma cimport NormalGamma
from dpmlite.models._partition cimport Partition
from dpmlite.models._special cimport clones_void, larger
from dpmlite.models._student_t cimport GROUP, Densities, standardise

cdef extern from *:
    """
    #define DPM_ENTROPY 0.6
    #define DPM_HARDLY 0.02
    #define DPM_NARROWER 1.5
    """
    double ENTROPY "DPM_ENTROPY"
    double HARDLY "DPM_HARDLY"
    double NARROWER "DPM_NARROWER"

cdef struct Sums:     # over the rows of a cluster
    Py_ssize_t width  # columns, padded
    double *mean      # [column] in units, and a row
    double *e         # [column] less that
    double *cube      # [column] what is summed
    double *fourth
    double *product   # [column][column], of each with those of its group and after it


cpdef bint looks_normal(Partition partition, Py_ssize_t k, const Py_ssize_t[::1] members) except -1:
    cdef Py_ssize_t n = members.shape[0]
    cdef bint normal
    partition.component._check_slot(k)
    if not isinstance(partition.component, NormalGamma):
        return False
    if partition.size[k] != n or n < partition.alpha or not all_weigh_one(partition, members):
        return False
    cdef NormalGamma prior = partition.component
    cdef double[::1] room = partition.room_of_a_row(), memory = memory_for(prior.n_columns)
    cdef Sums sums = sums_in(&memory[0], prior.n_columns)
    with nogil:
        find_mean(prior, k, &sums)
        add_up(partition, members, prior.densities(), &room[0], &sums)
        normal = excess(prior, n, &sums) < price(prior, n, partition.alpha)
    return normal


cdef bint all_weigh_one(Partition partition, const Py_ssize_t[::1] members) except -1:
    cdef Py_ssize_t m
    for m in range(members.shape[0]):
        partition.check_row(members[m])
        if partition.row_weight(members[m]) != 1.0:
            return False
    return True


cdef Py_ssize_t padded(Py_ssize_t n_columns) noexcept nogil:
    return (n_columns + GROUP - 1) // GROUP * GROUP


cdef memory_for(Py_ssize_t n_columns):
    cdef Py_ssize_t width = padded(n_columns)
    return array("d", bytes(8 * width * (4 + width)))


cdef Sums sums_in(double *memory, Py_ssize_t n_columns) noexcept nogil:
    cdef Sums sums
    sums.width = padded(n_columns)
    sums.mean, sums.e = memory, memory + sums.width
    sums.cube, sums.fourth = memory + 2 * sums.width, memory + 3 * sums.width
    sums.product = memory + 4 * sums.width
    return sums


cdef void find_mean(NormalGamma prior, Py_ssize_t k, Sums *sums) noexcept nogil:
    """The posterior one, eq. (13), without the prior's part."""
    cdef Py_ssize_t d
    for d in range(prior.n_columns):
        sums.mean[d] = prior.m[k * prior.n_along + d] * (prior.c0 + prior.n[k]) / prior.n[k]


cdef void add_up(Partition partition, const Py_ssize_t[::1] members, const Densities *t,
                 double *room, Sums *sums) noexcept nogil:
    cdef Py_ssize_t m
    for m in range(members.shape[0]):
        partition.expect_after(members, m)
        add_row(t, partition.row_into(members[m], room).values, sums)


cdef clones_void add_row(const Densities *t, const double *row, Sums *sums) noexcept nogil:
    cdef double e[GROUP]
    cdef double square[GROUP]
    cdef double *cube
    cdef double *fourth
    cdef double *product
    cdef double one
    cdef Py_ssize_t d, j, first = 0
    for d in range(t.n_columns):
        sums.e[d] = standardise(row[d], t.origin[d], t.unit[d]) - sums.mean[d]
    while first < sums.width:
        cube, fourth, product = sums.cube + first, sums.fourth + first, sums.product + first
        for j in range(GROUP):
            e[j] = sums.e[first + j]
        for j in range(GROUP):
            square[j] = e[j] * e[j]
        for j in range(GROUP):
            cube[j] += square[j] * e[j]
        for j in range(GROUP):
            fourth[j] += square[j] * square[j]
        for d in range(min(first + GROUP, t.n_columns)):
            one = sums.e[d]
            for j in range(GROUP):
                product[j] += one * e[j]
            product += sums.width
        first += GROUP


cdef double excess(NormalGamma prior, double n, const Sums *sums) noexcept nogil:
    """T above chance; infinite if the test says nothing."""
    cdef double variance, other, squared, total = 0.0
    cdef Py_ssize_t d, j
    for d in range(prior.n_columns):
        variance = sums.product[d * sums.width + d] / n
        if variance <= 0.0 or contradicts(prior, n, sums.mean[d], variance):
            return INFINITY
        total += of_column(n, variance, sums.cube[d] / n, sums.fourth[d] / n)
        for j in range(d):
            other = sums.product[j * sums.width + j] / n
            squared = (sums.product[j * sums.width + d] / n) ** 2 / (variance * other)
            total += -n * log(1.0 - squared) - 1.0 if squared < 1.0 else INFINITY
    return total


cdef double of_column(double n, double variance, double cube, double fourth) noexcept nogil:
    """What skewness and kurtosis add."""
    cdef double skewness = cube / variance / sqrt(variance)
    cdef double kurtosis = fourth / variance / variance - 3.0
    cdef double between = sqrt(larger(0.5 * (skewness * skewness - kurtosis), 0.0))
    cdef double parts = -0.5 * log1p(-between) - ENTROPY if between < 1.0 else INFINITY
    return n * (skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0 + larger(parts, 0.0)) - 2.0


cdef bint contradicts(NormalGamma prior, double n, double mean, double variance) noexcept nogil:
    cdef bint narrower = prior.a0 > HARDLY * n and prior.a0 * variance > NARROWER
    return narrower or prior.c0 * n / (prior.c0 + n) * mean * mean > HARDLY * n * variance


cdef double price(NormalGamma prior, double n, double alpha) noexcept nogil:
    cdef double means = log1p(n / larger(prior.c0, 1.0))
    cdef double precisions = log1p(0.5 * n / larger(prior.a0, 0.5))
    return 0.5 * prior.n_columns * (means + precisions) - log(larger(alpha, 1.0))
