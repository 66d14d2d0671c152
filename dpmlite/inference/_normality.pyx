"""Kernel of normality.py: clusters that leave nothing to be divided.

Columns are padded to whole vectors: there is nothing left over then.
"""

from array import array

from libc.math cimport INFINITY, log, sqrt

from dpmlite.inference._division cimport member_lists
from dpmlite.models._normal_gamma cimport NormalGamma
from dpmlite.models._partition cimport Partition
from dpmlite.models._rows cimport Row
from dpmlite.models._special cimport clones_void, inlined_void, larger
from dpmlite.models._student_t cimport GROUP, Densities, standardise

cdef extern from *:
    """
    #define DPM_LEAST_SPREAD -1.03
    #define DPM_MOST_CORRELATED 0.26
    #define DPM_LITTLE 0.02
    """
    double LEAST_SPREAD "DPM_LEAST_SPREAD"
    double MOST_CORRELATED "DPM_MOST_CORRELATED"
    double LITTLE "DPM_LITTLE"

cdef struct Sums:         # over the rows of a cluster
    Py_ssize_t n_columns
    Py_ssize_t width      # the same, padded
    const double *origin  # of the units
    const double *unit
    double *u             # [column] of one row, in units
    double *mean          # [column]
    double *square        # [column] of what is left without the mean,
    double *cube
    double *fourth
    double *scale         # [column] what makes its variance 1, and
    double *product       # [column][column] of these


def all_look_normal(Partition partition):
    cdef Py_ssize_t k
    for k, members in enumerate(member_lists(partition)):
        if partition.size[k] and not looks_normal(partition, k, members):
            return False
    return True


cpdef bint looks_normal(Partition partition, Py_ssize_t k, const Py_ssize_t[::1] members) except -1:
    cdef Py_ssize_t n = members.shape[0]
    cdef double most = partition.component.n_columns * log(n) - log(larger(partition.alpha, 1.0))
    cdef bint normal
    partition.component._check_slot(k)
    if not isinstance(partition.component, NormalGamma):
        return False
    if partition.size[k] != n or n < partition.alpha or not all_weigh_one(partition, members):
        return False
    cdef NormalGamma prior = partition.component
    cdef double[::1] room = partition.room_of_a_row(), memory = memory_for(prior.n_columns)
    cdef Sums sums = sums_in(&memory[0], prior.densities())
    with nogil:
        normal = excess(partition, members, prior, &sums, &room[0]) < most
    return normal


cdef bint all_weigh_one(Partition partition, const Py_ssize_t[::1] members) except -1:
    cdef Py_ssize_t m
    with nogil:
        for m in range(members.shape[0]):
            partition.check_row(members[m])
            if partition.row_weight(members[m]) != 1.0:
                return False
    return True


cdef Py_ssize_t padded(Py_ssize_t n_columns) noexcept nogil:
    return (n_columns + GROUP - 1) // GROUP * GROUP


cdef memory_for(Py_ssize_t n_columns):
    cdef Py_ssize_t width = padded(n_columns)
    return array("d", bytes(8 * width * (6 + width)))


cdef Sums sums_in(double *memory, const Densities *t) noexcept nogil:
    cdef Sums sums
    cdef Py_ssize_t width = padded(t.n_columns)
    sums.n_columns, sums.width, sums.origin, sums.unit = t.n_columns, width, t.origin, t.unit
    sums.u, sums.mean, sums.square = memory, memory + width, memory + 2 * width
    sums.cube, sums.fourth = memory + 3 * width, memory + 4 * width
    sums.scale, sums.product = memory + 5 * width, memory + 6 * width
    return sums


cdef double excess(Partition partition, const Py_ssize_t[::1] members, NormalGamma prior,
                   Sums *sums, double *room) noexcept nogil:
    """T without chance; infinite if the test says nothing."""
    cdef Py_ssize_t m, d, n = members.shape[0]
    cdef double found
    for m in range(n):
        partition.expect_after(members, m)
        add_units(sums, partition.row_into(members[m], room).values)
    for d in range(sums.n_columns):
        sums.mean[d] /= n
    for m in range(n):
        partition.expect_after(members, m)
        add_powers(sums, partition.row_into(members[m], room).values)
    found = excess_of_columns(prior, sums, n)
    if found == INFINITY:
        return INFINITY
    for m in range(n):
        partition.expect_after(members, m)
        add_products(sums, partition.row_into(members[m], room).values)
    return found + excess_of_pairs(sums, n)


cdef double excess_of_columns(NormalGamma prior, Sums *sums, double n) noexcept nogil:
    """What skewness and kurtosis add to T, without chance; infinite if a column has two parts."""
    cdef double variance, skewness, kurtosis, total = 0.0
    cdef Py_ssize_t d
    for d in range(sums.n_columns):
        variance = sums.square[d] / n
        if not says_little(prior, n, sums.mean[d], variance):
            return INFINITY
        sums.scale[d] = 1.0 / sqrt(variance)
        skewness = sums.cube[d] / n * sums.scale[d] / variance
        kurtosis = sums.fourth[d] / n / variance / variance - 3.0
        if kurtosis - skewness * skewness < LEAST_SPREAD:
            return INFINITY
        total += n * (skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0) - 2.0
    return total


cdef double excess_of_pairs(const Sums *sums, double n) noexcept nogil:
    """What correlations add to T, without chance; infinite if one is large."""
    cdef double correlation, total = 0.0
    cdef Py_ssize_t d, e
    for d in range(sums.n_columns):
        for e in range(d + 1, sums.n_columns):
            correlation = sums.product[d * sums.width + e] / n
            if correlation * correlation > MOST_CORRELATED:
                return INFINITY
            total += n * correlation * correlation - 1.0
    return total


cdef bint says_little(NormalGamma prior, double n, double mean, double variance) noexcept nogil:
    cdef bint tells_precision = prior.a0 > LITTLE * n and prior.a0 * variance > 1.0
    cdef double apart = prior.c0 * n / (prior.c0 + n) * mean * mean
    return variance > 0.0 and not tells_precision and apart <= LITTLE * n * variance


cdef clones_void add_units(Sums *sums, const double *row) noexcept nogil:
    cdef Py_ssize_t d
    for d in range(sums.n_columns):
        sums.mean[d] += standardise(row[d], sums.origin[d], sums.unit[d])


cdef clones_void add_powers(Sums *sums, const double *row) noexcept nogil:
    cdef double e[GROUP]
    cdef double *u = sums.u
    cdef Py_ssize_t first = 0, d
    take(sums, row)
    while first < sums.width:
        for d in range(GROUP):
            e[d] = u[first + d]
        for d in range(GROUP):
            sums.square[first + d] += e[d] * e[d]
        for d in range(GROUP):
            sums.cube[first + d] += e[d] * e[d] * e[d]
        for d in range(GROUP):
            sums.fourth[first + d] += (e[d] * e[d]) * (e[d] * e[d])
        first += GROUP


cdef clones_void add_products(Sums *sums, const double *row) noexcept nogil:
    """Of each column with those after it; and some more, to fill vectors."""
    cdef Py_ssize_t d, e, j
    cdef double *product = sums.product
    take(sums, row)
    for d in range(sums.width):
        sums.u[d] *= sums.scale[d]
    for d in range(sums.n_columns):
        e = d // GROUP * GROUP
        while e < sums.width:
            for j in range(GROUP):
                product[e + j] += sums.u[d] * sums.u[e + j]
            e += GROUP
        product += sums.width


cdef inline inlined_void take(Sums *sums, const double *row) noexcept nogil:
    """A row in units, without the mean."""
    cdef Py_ssize_t d
    for d in range(sums.n_columns):
        sums.u[d] = standardise(row[d], sums.origin[d], sums.unit[d]) - sums.mean[d]
