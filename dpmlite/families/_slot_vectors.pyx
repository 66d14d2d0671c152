"""Vectors of one value per slot: how they are padded, and the least of them."""

from libc.math cimport INFINITY

from dpmlite.core._simd cimport LANES, least_lane, smaller


cdef double least_of(const double *costs, Py_ssize_t n_slots, double limit) noexcept nogil:
    """Return the least cost, or `limit` if none is below it."""
    cdef double least[LANES]
    cdef Py_ssize_t first = 0, i
    for i in range(LANES):
        least[i] = limit
    while first + LANES <= n_slots:
        for i in range(LANES):
            least[i] = smaller(costs[first + i], least[i])
        first += LANES
    for i in range(n_slots - first):
        least[i] = smaller(costs[first + i], least[i])
    return least_lane(least)


cdef Py_ssize_t count_below(const double *costs, Py_ssize_t n_slots, double limit) noexcept nogil:
    cdef Py_ssize_t k, n_below = 0
    for k in range(n_slots):
        n_below += costs[k] < limit
    return n_below


cdef clones_ssize first_within(const double *cost, Py_ssize_t n_slots,
                               double limit) noexcept nogil:
    """The first slot that costs no more than `limit`; whole vectors of slots are read.

    All of them, since a wrong guess of the processor where to stop takes longer than the rest.
    """
    cdef double place[LANES]
    cdef double slot[LANES]
    cdef Py_ssize_t first = 0, i
    for i in range(LANES):
        place[i], slot[i] = INFINITY, i
    while first < n_slots:
        for i in range(LANES):
            place[i] = smaller(place[i], INFINITY if cost[first + i] > limit else slot[i])
            slot[i] += LANES
        first += LANES
    return <Py_ssize_t> least_lane(place)
