"""Kernel of dp_means.py: k-means that opens a cluster at a price."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY

from dpmlite.algorithms._centres cimport Centres, distance_of
from dpmlite.core._constants cimport DISTANCE_TIE, ORIGIN_DISTANCE_TIE
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport Rows
from dpmlite.core._simd cimport smaller

from dpmlite.core._rows import as_rows

cdef enum:
    ROWS_PER_SIGNAL_CHECK = 1024  # rows of a pass between checks for Ctrl-C


def fit_centres(X, double lam, Py_ssize_t[::1] labels, Py_ssize_t max_iter,
                const Py_ssize_t[::1] order=None, after_pass=None):
    cdef Rows rows = as_rows(X)
    check_table(rows)
    if not lam >= 0.0:
        raise ValueError(f"lam must not be negative, got {lam}")
    if labels.shape[0] != rows.n_rows:
        raise ValueError(f"labels must have {rows.n_rows} values, got {labels.shape[0]}")
    check_order(order, rows.n_rows)
    cdef DPMeans centres = DPMeans(rows)
    cdef Py_ssize_t n_passes = 0, moves = 1
    cdef double objective
    cdef bint ended = False
    centres.set_origin_to_mean()
    centres.open(1)
    labels[:] = 0
    centres.measure_all()
    trace = [centres.inertia + lam]
    while moves > 0 and n_passes < max_iter and not ended:
        with nogil:
            moves = centres.visit(lam, labels, order)
            centres.update(labels)
        objective = centres.inertia + lam * centres.n_slots
        trace.append(objective)
        n_passes += 1
        ended = after_pass is not None and after_pass(objective, centres.n_slots)
    return centres.means(), centres.inertia, trace, moves == 0


def farthest_first(X, Py_ssize_t n_clusters):
    cdef Rows rows = as_rows(X)
    check_table(rows)
    if not 1 <= n_clusters <= rows.n_rows:
        raise ValueError(f"n_clusters must be from 1 to {rows.n_rows}, got {n_clusters}")
    cdef Centres centres = Centres(rows)
    cdef double[::1] nearest = double_array(rows.n_rows)
    cdef Py_ssize_t n, far
    cdef double most
    cdef double[::1] added = double_array(rows.n_columns)  # the mean, at first
    nearest[:] = INFINITY
    centres.set_origin_to_mean()
    with nogil:
        most = farthest(centres, added, nearest)
        for n in range(1, n_clusters):
            check_signals()
            far = 0
            while nearest[far] < most - DISTANCE_TIE * most:
                far += 1
            centres.read(far)
            added[:] = centres.row
            most = farthest(centres, added, nearest)
    return most


cdef double farthest(Centres rows, const double[::1] added, double[::1] nearest) noexcept nogil:
    """Update the squared distance of each row from the nearest of a set; return the largest.

    `added` is what was added to the set.
    """
    cdef double most = 0.0
    cdef Py_ssize_t i
    for i in range(rows.n_rows):
        rows.read(i)
        nearest[i] = smaller(distance_of(&rows.row[0], &added[0], rows.n_columns), nearest[i])
        most = nearest[i] if nearest[i] > most else most
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


cdef class DPMeans(Centres):
    """The passes of DP-means: rows join centres, and centres become means."""

    cdef void measure_all(self) noexcept nogil:
        """Set `inertia` to the sum of squared distances from the origin."""
        cdef double w
        cdef Py_ssize_t i
        self.inertia = 0.0
        for i in range(self.n_rows):
            w = self.read(i)
            self.inertia += w * self.squared_norm()

    cdef Py_ssize_t visit(self, double lam, Py_ssize_t[::1] labels,
                          const Py_ssize_t[::1] order) except -1 nogil:
        """Visit every row once; return the number of rows that moved."""
        cdef Py_ssize_t at, i, k, d, moves = 0
        cdef double w
        cdef const double *row = &self.row[0]
        cdef double *total
        self.inertia = 0.0
        for at in range(self.n_rows):
            if at % ROWS_PER_SIGNAL_CHECK == 0:
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
            self.inertia += w * self.distance[k]
            self.weight[k] += w
            total = &self.total[k * self.n_columns]
            for d in range(self.n_columns):
                total[d] += w * row[d]
        return moves

    cdef Py_ssize_t best_cluster(self, double w, double lam, Py_ssize_t own) noexcept nogil:
        """The cluster that the row read last is to join; `n_slots` if it opens a new one."""
        cdef double least = self.measure(), capped_weight = w if w < 1.0 else 1.0, limit
        cdef Py_ssize_t k = 0
        if self.distance[own] == least and capped_weight * least <= lam:
            return own  # as it is for most rows of most passes
        limit = self.slack(least)
        if capped_weight * least > lam + limit:
            return self.n_slots
        limit += least
        if self.distance[own] <= limit:
            return own
        while self.distance[k] > limit:
            k += 1
        return k

    cdef double slack(self, double least) noexcept nogil:
        """The difference up to which squared distances of `row` are equal."""
        return DISTANCE_TIE * least + ORIGIN_DISTANCE_TIE * self.squared_norm()

    cdef void update(self, Py_ssize_t[::1] labels) noexcept nogil:
        """Move centres to the means of their rows, and drop empty clusters.

        The sum of squared distances of a cluster falls by its weight times the squared step of its
        centre.
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
                    self.inertia -= self.weight[k] * step * step
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


cdef int check_signals() except -1 nogil:
    with gil:
        return PyErr_CheckSignals()


cdef int check_table(Rows rows) except -1:
    if rows.n_rows == 0 or rows.n_columns == 0:
        raise ValueError(
            f"X must have rows and columns, got shape ({rows.n_rows}, {rows.n_columns})")
    return 0


cdef int check_order(const Py_ssize_t[::1] order, Py_ssize_t n) except -1:
    if order is not None and sorted(order) != list(range(n)):
        raise ValueError(f"order must hold each of {n} rows once")
    return 0
