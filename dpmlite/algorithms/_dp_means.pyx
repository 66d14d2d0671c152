"""Kernel of dp_means.py: k-means that opens a cluster at a price.

Centres lie [column][slot], so that one vector instruction serves many clusters; slots without a
centre lie infinitely far away. Rows are read about the mean of all rows.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY
from libc.stdint cimport uintptr_t

from dpmlite.core._constants cimport EQUAL_PART, EQUAL_PART_OF_ROW
from dpmlite.core._memory cimport double_array, index_array
from dpmlite.core._rows cimport Row, Rows
from dpmlite.core._simd cimport clones_double, inlined_void, smaller

from dpmlite.core._rows import as_rows

cdef enum:
    WIDE_DISTANCES = 32  # slots that stay in registers; loops over less are not vectorised
    DISTANCE_GROUP = 8   # columns
    WATCHFUL = 1024      # rows of a pass between looks for Ctrl-C


def fit_centres(X, double lam, Py_ssize_t[::1] labels, Py_ssize_t max_iter,
                const Py_ssize_t[::1] order=None):
    cdef Rows rows = as_rows(X)
    check_table(rows)
    if not lam >= 0.0:
        raise ValueError(f"lam must not be negative, got {lam}")
    if labels.shape[0] != rows.n_rows:
        raise ValueError(f"labels must have {rows.n_rows} values, got {labels.shape[0]}")
    check_order(order, rows.n_rows)
    cdef Centres centres = Centres(rows)
    cdef Py_ssize_t n_passes = 0, moves = 1
    centres.set_origin_to_mean()
    centres.open(1)
    labels[:] = 0
    centres.measure_all()
    trace = [centres.within + lam]
    while moves > 0 and n_passes < max_iter:
        with nogil:
            moves = centres.visit(lam, labels, order)
            centres.update(labels)
        trace.append(centres.within + lam * centres.n_slots)
        n_passes += 1
    return centres.means(), centres.within, trace, moves == 0


def farthest_first(X, Py_ssize_t n_clusters):
    cdef Rows rows = as_rows(X)
    check_table(rows)
    if not 1 <= n_clusters <= rows.n_rows:
        raise ValueError(f"n_clusters must be from 1 to {rows.n_rows}, got {n_clusters}")
    cdef Centres centres = Centres(rows)
    cdef double[::1] nearest = double_array(rows.n_rows)
    cdef Py_ssize_t n, far
    cdef double most
    cdef double[::1] added = double_array(rows.n_columns)  # the mean, first of all
    nearest[:] = INFINITY
    centres.set_origin_to_mean()
    with nogil:
        most = centres.farthest(added, nearest)
        for n in range(1, n_clusters):
            check_signals()
            far = 0
            while nearest[far] < most - EQUAL_PART * most:
                far += 1
            centres.read(far)
            added[:] = centres.row
            most = centres.farthest(added, nearest)
    return most


def squared_distances(X, const double[:, ::1] centres, double[:, ::1] out):
    cdef Rows rows = as_rows(X)
    cdef Py_ssize_t i, k, d, n_centres = centres.shape[0]
    cdef Py_ssize_t n_columns = centres.shape[1] if n_centres else 0
    check_table(rows)
    if rows.n_columns != n_columns:
        raise ValueError(f"row must have {n_columns} values, got {rows.n_columns}")
    cdef Py_ssize_t n_out_columns = out.shape[1] if out.shape[0] else n_centres
    if out.shape[0] != rows.n_rows or n_out_columns != n_centres:
        raise ValueError(f"out must have shape ({rows.n_rows}, {n_centres}), "
                         f"got ({out.shape[0]}, {n_out_columns})")
    cdef Centres places = Centres(rows)
    places.open(n_centres)
    with nogil:
        for k in range(n_centres):
            for d in range(n_columns):
                places.centre[d * places.capacity + k] = centres[k, d]
        for i in range(rows.n_rows):
            places.read(i)
            places.measure()
            for k in range(n_centres):
                out[i, k] = places.distance[k]


cdef int check_signals() except -1 nogil:
    with gil:
        return PyErr_CheckSignals()


cdef class Centres:
    """Centres of clusters, and the sums from which the next ones are made."""

    cdef Rows X
    cdef Py_ssize_t n_rows, n_columns
    cdef Py_ssize_t n_slots, capacity    # clusters, and how many there is memory for
    cdef double within                   # squared distances from the centres, by weight
    cdef double[::1] origin              # [column]
    cdef double[::1] row                 # [column] the row that was read last, about the origin
    cdef double[::1] memory
    cdef double *centre                  # [column][slot], at an address that fits a cache line
    cdef double[::1] total               # [slot][column] rows of the cluster, summed by weight
    cdef double[::1] weight, distance    # [slot]
    cdef Py_ssize_t[::1] number          # [slot] its number when empty ones are dropped

    def __init__(self, Rows X):
        self.X = X
        self.n_rows, self.n_columns = X.n_rows, X.n_columns
        self.origin = double_array(self.n_columns)
        self.row = double_array(self.n_columns)
        self.memory, self.total, self.weight = double_array(0), double_array(0), double_array(0)

    cdef int open(self, Py_ssize_t n) except -1:
        """Make n more clusters, at the origin."""
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

    cdef int reserve(self, Py_ssize_t wanted) except -1:
        cdef Py_ssize_t d, k, n_blocks = (wanted + WIDE_DISTANCES - 1) // WIDE_DISTANCES
        cdef Py_ssize_t capacity = n_blocks * WIDE_DISTANCES, known = self.n_slots
        cdef double *before = self.centre
        cdef double[::1] kept = self.memory  # alive, for `before` points into it
        self.memory = double_array(capacity * self.n_columns + 8)
        self.centre = <double *> ((<uintptr_t> &self.memory[0] + 63) & ~(<uintptr_t> 63))
        for d in range(self.n_columns):
            for k in range(known):
                self.centre[d * capacity + k] = before[d * self.capacity + k]
            for k in range(known, capacity):
                self.centre[d * capacity + k] = INFINITY
        self.total = grown(self.total, capacity * self.n_columns)
        self.weight = grown(self.weight, capacity)
        self.distance = double_array(capacity)
        self.number = index_array(capacity)
        self.capacity = capacity
        return 0

    cdef int set_origin_to_mean(self) except -1:
        """Summed about the first row: large offsets lose nothing."""
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
        """Put row i into `row`; returns its weight."""
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
        """Put centre k where the row is that was read last."""
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            self.centre[d * self.capacity + k] = self.row[d]

    cdef double measure(self) noexcept nogil:
        """distance[k] = squared distance of `row` from every centre; returns the least."""
        return distances(&self.row[0], self.centre, self.n_columns, self.capacity, self.n_slots,
                         &self.distance[0])

    cdef double slack(self, double least) noexcept nogil:
        """What rounding may change of a squared distance of `row`."""
        return EQUAL_PART * least + EQUAL_PART_OF_ROW * self.squared_norm()

    cdef double squared_norm(self) noexcept nogil:
        cdef double norm = 0.0
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            norm += self.row[d] * self.row[d]
        return norm

    cdef void measure_all(self) noexcept nogil:
        """Set `within` while the origin is the only centre."""
        cdef double w
        cdef Py_ssize_t i
        self.within = 0.0
        for i in range(self.n_rows):
            w = self.read(i)
            self.within += w * self.squared_norm()

    cdef double farthest(self, const double[::1] added, double[::1] nearest) noexcept nogil:
        """Let `nearest` of each row see what was added to its set; returns the largest."""
        cdef double most = 0.0
        cdef Py_ssize_t i
        for i in range(self.n_rows):
            self.read(i)
            nearest[i] = smaller(distance_of(&self.row[0], &added[0], self.n_columns), nearest[i])
            most = nearest[i] if nearest[i] > most else most
        return most

    cdef Py_ssize_t visit(self, double lam, Py_ssize_t[::1] labels,
                          const Py_ssize_t[::1] order) except -1 nogil:
        """One pass over the rows; returns how many moved."""
        cdef Py_ssize_t at, i, k, d, moves = 0
        cdef double w
        cdef const double *row = &self.row[0]
        cdef double *total
        self.within = 0.0
        for at in range(self.n_rows):
            if at % WATCHFUL == 0:
                check_signals()
            i = order[at] if order is not None else at
            w = self.read(i)
            k = self.best_cluster(w, lam, labels[i])
            if k == self.n_slots:
                with gil:
                    self.open(1)
                self.place(k)
                self.distance[k] = 0.0
            moves += k != labels[i]
            labels[i] = k
            self.within += w * self.distance[k]
            self.weight[k] += w
            total = &self.total[k * self.n_columns]
            for d in range(self.n_columns):
                total[d] += w * row[d]
        return moves

    cdef Py_ssize_t best_cluster(self, double w, double lam, Py_ssize_t own) noexcept nogil:
        cdef double least = self.measure(), share = w if w < 1.0 else 1.0, limit
        cdef Py_ssize_t k = 0
        if self.distance[own] == least and share * least <= lam:
            return own  # as it is for most rows of most passes
        limit = self.slack(least)
        if share * least > lam + limit:
            return self.n_slots
        limit += least
        if self.distance[own] <= limit:
            return own
        while self.distance[k] > limit:
            k += 1
        return k

    cdef void update(self, Py_ssize_t[::1] labels) noexcept nogil:
        """Centres become means, and empty clusters are dropped.

        A cluster's squared distances fall by its weight times the squared step of its centre.
        """
        cdef Py_ssize_t i, k, d, at, used = 0, n_slots = self.n_slots
        cdef double mean, step
        for k in range(n_slots):
            if self.weight[k] > 0.0:
                for d in range(self.n_columns):
                    at = k * self.n_columns + d
                    mean = self.total[at] / self.weight[k]
                    self.total[at] = 0.0
                    step = mean - self.centre[d * self.capacity + k]
                    self.within -= self.weight[k] * step * step
                    self.centre[d * self.capacity + used] = mean
                self.number[k] = used
                used += 1
            self.weight[k] = 0.0
        for k in range(used, n_slots):
            for d in range(self.n_columns):
                self.centre[d * self.capacity + k] = INFINITY
        self.n_slots = used
        for i in range(self.n_rows if used < n_slots else 0):
            labels[i] = self.number[labels[i]]

    cdef means(self):
        return [[self.origin[d] + self.centre[d * self.capacity + k]
                 for d in range(self.n_columns)] for k in range(self.n_slots)]


cdef clones_double distances(const double *row, const double *centre, Py_ssize_t n_columns,
                             Py_ssize_t stride, Py_ssize_t n_slots, double *out) noexcept nogil:
    """out[k] = squared distance of a row from centre k; returns the least."""
    cdef double low[WIDE_DISTANCES]
    cdef Py_ssize_t first = 0
    cdef int j
    for j in range(WIDE_DISTANCES):
        low[j] = INFINITY
    while first < n_slots:
        distance_block(row, centre + first, n_columns, stride, out + first, low)
        first += WIDE_DISTANCES
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
    cdef double sum[WIDE_DISTANCES]
    cdef double step
    cdef Py_ssize_t d
    cdef int j
    for j in range(WIDE_DISTANCES):
        sum[j] = 0.0
    for d in range(n_columns):
        for j in range(WIDE_DISTANCES):
            step = row[d] - centre[j]
            sum[j] = sum[j] + step * step
        centre += stride
    for j in range(WIDE_DISTANCES):
        out[j] = sum[j]
        low[j] = smaller(sum[j], low[j])


cdef clones_double distance_of(const double *x, const double *y, Py_ssize_t n) noexcept nogil:
    """Squared distance of two rows, vectorised over columns."""
    cdef double sum[DISTANCE_GROUP]
    cdef double step, total = 0.0
    cdef Py_ssize_t d = 0
    cdef int j
    for j in range(DISTANCE_GROUP):
        sum[j] = 0.0
    while d + DISTANCE_GROUP <= n:
        for j in range(DISTANCE_GROUP):
            step = x[d + j] - y[d + j]
            sum[j] = sum[j] + step * step
        d += DISTANCE_GROUP
    while d < n:
        step = x[d] - y[d]
        total += step * step
        d += 1
    for j in range(DISTANCE_GROUP):
        total += sum[j]
    return total


cdef double[::1] grown(const double[::1] values, Py_ssize_t n):
    """A longer copy, zeros at its end."""
    copy = double_array(n)
    cdef double[::1] out = copy
    out[:values.shape[0]] = values
    return out


cdef int check_table(Rows rows) except -1:
    if rows.n_rows == 0 or rows.n_columns == 0:
        raise ValueError(
            f"X must have rows and columns, got shape ({rows.n_rows}, {rows.n_columns})")
    return 0


cdef int check_order(const Py_ssize_t[::1] order, Py_ssize_t n) except -1:
    if order is not None and sorted(order) != list(range(n)):
        raise ValueError(f"order must hold each of {n} rows once")
    return 0
