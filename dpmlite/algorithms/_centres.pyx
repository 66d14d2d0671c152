"""Centres of clusters, and squared distances of rows from them.

Centres lie [column][slot], so that one vector instruction serves many clusters; slots without a
centre lie infinitely far away. Rows are read about an origin, the mean of all rows.
"""

from libc.math cimport INFINITY
from libc.stdint cimport uintptr_t

from dpmlite.core._memory cimport double_array, index_array
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_void, smaller

cdef enum:
    SLOTS_PER_STEP = 32   # whose distances stay in registers; shorter loops are not vectorised
    COLUMNS_PER_STEP = 8  # of the distance of two rows


cdef class Centres:
    """Centres of clusters, and the sums of their rows."""

    def __init__(self, Rows X):
        self.X = X
        self.n_rows, self.n_columns = X.n_rows, X.n_columns
        self.origin = double_array(self.n_columns)
        self.row = double_array(self.n_columns)
        self.memory, self.total, self.weight = double_array(0), double_array(0), double_array(0)

    cdef int open(self, Py_ssize_t n) except -1:
        """Add n empty clusters, with centres at the origin."""
        cdef Py_ssize_t k, d
        if self.n_slots + n > self.capacity:
            self.reserve(max(2 * self.capacity, self.n_slots + n))
        for k in range(self.n_slots, self.n_slots + n):
            self.weight[k] = 0.0
            for d in range(self.n_columns):
                self.centre[d * self.capacity + k] = 0.0
                self.total[k * self.n_columns + d] = 0.0
        self.n_slots += n
        return 0

    cdef int reserve(self, Py_ssize_t min_capacity) except -1:
        """Make room for this many clusters at least, in whole vectors of slots."""
        cdef Py_ssize_t d, k, n_blocks = (min_capacity + SLOTS_PER_STEP - 1) // SLOTS_PER_STEP
        cdef Py_ssize_t capacity = n_blocks * SLOTS_PER_STEP, n_slots = self.n_slots
        cdef double *before = self.centre
        cdef double[::1] kept = self.memory  # alive, for `before` points into it
        self.memory = double_array(capacity * self.n_columns + 8)
        self.centre = <double *> ((<uintptr_t> &self.memory[0] + 63) & ~(<uintptr_t> 63))
        for d in range(self.n_columns):
            for k in range(n_slots):
                self.centre[d * capacity + k] = before[d * self.capacity + k]
            for k in range(n_slots, capacity):
                self.centre[d * capacity + k] = INFINITY
        self.total = grown(self.total, capacity * self.n_columns)
        self.weight = grown(self.weight, capacity)
        self.distance = double_array(capacity)
        self.number = index_array(capacity)
        self.capacity = capacity
        return 0

    cdef int set_origin_to_mean(self) except -1:
        """Set the origin to the mean of all rows, summed about the first row for large offsets."""
        cdef double[::1] mean = double_array(self.n_columns)
        cdef double w, total = 0.0
        cdef Py_ssize_t i, d
        self.read(0)
        self.origin[:] = self.row
        for i in range(self.n_rows):
            w = self.read(i)
            total += w
            for d in range(self.n_columns):
                mean[d] += w * self.row[d]
        for d in range(self.n_columns):
            self.origin[d] += mean[d] / total
        return 0

    cdef double read(self, Py_ssize_t i) noexcept nogil:
        """Copy row i, about the origin, to `row`; return its weight."""
        cdef Row row = self.X.row(i)
        cdef const double *origin = &self.origin[0]
        cdef double *out = &self.row[0]
        cdef Py_ssize_t d
        if row.columns == NULL:
            for d in range(self.n_columns):
                out[d] = row.values[d] - origin[d]
        else:
            for d in range(self.n_columns):
                out[d] = -origin[d]
            for d in range(row.n_values):
                out[row.columns[d]] += row.values[d]
        return row.weight

    cdef void place(self, Py_ssize_t k) noexcept nogil:
        """Move centre k to the row that was read last."""
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            self.centre[d * self.capacity + k] = self.row[d]

    cdef double measure(self) noexcept nogil:
        """Set distance[k] to the squared distance of `row` from centre k; return the least."""
        return distances(&self.row[0], self.centre, self.n_columns, self.capacity, self.n_slots,
                         &self.distance[0])

    cdef double squared_norm(self) noexcept nogil:
        """Squared distance of `row` from the origin."""
        cdef double norm = 0.0
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            norm += self.row[d] * self.row[d]
        return norm

    cdef means(self):
        """The centres as a list of rows, in the units of the data."""
        return [[self.origin[d] + self.centre[d * self.capacity + k]
                 for d in range(self.n_columns)] for k in range(self.n_slots)]


cdef clones_double distances(const double *row, const double *centre, Py_ssize_t n_columns,
                             Py_ssize_t stride, Py_ssize_t n_slots, double *out) noexcept nogil:
    """Set out[k] to the squared distance of a row from centre k; return the least."""
    cdef double low[SLOTS_PER_STEP]
    cdef Py_ssize_t first = 0
    cdef int j
    for j in range(SLOTS_PER_STEP):
        low[j] = INFINITY
    while first < n_slots:
        distance_block(row, centre + first, n_columns, stride, out + first, low)
        first += SLOTS_PER_STEP
    for j in range(16):
        low[j] = smaller(low[j], low[j + 16])
    for j in range(8):
        low[j] = smaller(low[j], low[j + 8])
    for j in range(4):
        low[j] = smaller(low[j], low[j + 4])
    return smaller(smaller(low[0], low[1]), smaller(low[2], low[3]))


cdef inline inlined_void distance_block(
        const double *row, const double *centre, Py_ssize_t n_columns, Py_ssize_t stride,
        double *out, double *low) noexcept nogil:
    """Squared distances from SLOTS_PER_STEP centres; low[j] keeps the least of lane j."""
    cdef double sum[SLOTS_PER_STEP]
    cdef double step
    cdef Py_ssize_t d
    cdef int j
    for j in range(SLOTS_PER_STEP):
        sum[j] = 0.0
    for d in range(n_columns):
        for j in range(SLOTS_PER_STEP):
            step = row[d] - centre[j]
            sum[j] = sum[j] + step * step
        centre += stride
    for j in range(SLOTS_PER_STEP):
        out[j] = sum[j]
        low[j] = smaller(sum[j], low[j])


cdef clones_double distance_of(const double *x, const double *y, Py_ssize_t n) noexcept nogil:
    """Squared distance of two rows, in vectors of columns."""
    cdef double sum[COLUMNS_PER_STEP]
    cdef double step, total = 0.0
    cdef Py_ssize_t d = 0
    cdef int j
    for j in range(COLUMNS_PER_STEP):
        sum[j] = 0.0
    while d + COLUMNS_PER_STEP <= n:
        for j in range(COLUMNS_PER_STEP):
            step = x[d + j] - y[d + j]
            sum[j] = sum[j] + step * step
        d += COLUMNS_PER_STEP
    while d < n:
        step = x[d] - y[d]
        total += step * step
        d += 1
    for j in range(COLUMNS_PER_STEP):
        total += sum[j]
    return total


cdef double[::1] grown(const double[::1] values, Py_ssize_t n):
    """A copy of length n, with zeros after the values."""
    copy = double_array(n)
    cdef double[::1] out = copy
    out[:values.shape[0]] = values
    return out
