"""Kernel of rows.py: the rows of a table, dense or sparse.

Dense tables may have any strides, in double or single precision. Rows that do not lie side by side
in double precision are copied one by one when they are read.
"""

from numpy import empty

cimport cython
from libc.string cimport memcpy

from dpmlite.core._memory cimport double_array, index_array

from dpmlite.core.threads import on_threads, thread_limit

# Where `columns` points to in a sparse table without a non-zero.
cdef Py_ssize_t NO_COLUMN = 0


cdef class Rows:

    def __init__(self, X, const double[::1] weights=None):
        if memoryview(X).format == "f":
            self.take_single(X)
        else:
            self.take_double(X)
        self.X = X
        self.weigh(weights)

    cdef int take_double(self, const double[:, :] X) except -1:
        """Read rows from a dense table in double precision."""
        self.take_shape(X.shape[0], X.shape[1], X.strides[0], X.strides[1])
        if self.n_rows == 0 or self.n_columns == 0:
            return 0
        if X.strides[1] == sizeof(double) and X.strides[0] == X.shape[1] * sizeof(double):
            self.first = &X[0, 0]
            return 0
        self.cells = <const char *> &X[0, 0]
        return self.make_room()

    cdef int take_single(self, const float[:, :] X) except -1:
        """Read rows from a dense table in single precision."""
        self.take_shape(X.shape[0], X.shape[1], X.strides[0], X.strides[1])
        self.single = True
        if self.n_rows == 0 or self.n_columns == 0:
            return 0
        self.cells = <const char *> &X[0, 0]
        return self.make_room()

    cdef int take_shape(self, Py_ssize_t n_rows, Py_ssize_t n_columns, Py_ssize_t row_step,
                        Py_ssize_t column_step) except -1:
        """Set the shape and the steps, in bytes, of a dense table."""
        self.n_rows, self.n_columns = n_rows, n_columns if n_rows else 0
        self.row_step, self.column_step = row_step, column_step
        return 0

    cdef int make_room(self) except -1:
        """Make room for a row that is copied."""
        self.room = double_array(self.n_columns)
        self.memory = &self.room[0]
        return 0

    cdef void copy_row(self, Py_ssize_t i, double *room) noexcept nogil:
        """Copy dense row i to `room`, in double precision."""
        cdef const char *cell = self.cells + i * self.row_step
        cdef Py_ssize_t j
        for j in range(self.n_columns):
            room[j] = (<const float *> cell)[0] if self.single else (<const double *> cell)[0]
            cell += self.column_step

    @classmethod
    @cython.binding(True)  # which the limited API needs for a class method
    def sparse(cls, const double[::1] data, const Py_ssize_t[::1] indices,
               const Py_ssize_t[::1] indptr, Py_ssize_t n_columns, const double[::1] weights=None):
        check_parts(data.shape[0], indices, indptr, n_columns)
        cdef Rows rows = Rows.__new__(Rows)
        rows.data, rows.indices, rows.indptr = data, indices, indptr
        rows.n_rows, rows.n_columns = indptr.shape[0] - 1, n_columns
        rows.columns = &NO_COLUMN
        if data.shape[0]:
            rows.first = &data[0]
            rows.columns = &indices[0]
        rows.starts = &indptr[0]
        rows.weigh(weights)
        return rows

    @property
    def is_sparse(self):
        return self.columns != NULL

    @property
    def n_cells(self):
        cdef Py_ssize_t i, n = 0
        if not self.is_sparse:
            return self.n_rows * self.n_columns
        for i in range(self.starts[self.n_rows]):
            n += self.first[i] != 0.0
        return n

    def __len__(self):
        return self.n_rows

    def values(self, Py_ssize_t i):
        self._check_row(i)
        cdef Row row = self.row(i)
        if row.columns == NULL:
            return [row.values[j] for j in range(row.n_values)]
        values = [0.0] * self.n_columns
        for j in range(row.n_values):
            values[row.columns[j]] = row.values[j]
        return values

    def weight(self, Py_ssize_t i):
        self._check_row(i)
        return self.weight_of(i)

    def take(self, const Py_ssize_t[::1] rows):
        self.check_rows(rows)
        cdef Py_ssize_t i
        cdef double[::1] weights = None if self.weights is None else empty(rows.shape[0])
        for i in range(rows.shape[0] if weights is not None else 0):
            weights[i] = self.weights[rows[i]]
        cdef Rows taken
        if self.is_sparse:
            taken = self.some_sparse(rows, weights)
        else:
            taken = self.some_dense(rows, weights)
        taken.n_columns = self.n_columns  # also if no row is taken
        return taken

    cdef Rows some_dense(self, const Py_ssize_t[::1] rows, const double[::1] weights):
        """Copies of dense rows, with these weights."""
        values = empty((rows.shape[0], self.n_columns))
        cdef double[:, ::1] out = values
        cdef Py_ssize_t n_threads = thread_limit() if values.size >= MIN_SHARED_CELLS else 1

        def copy(Py_ssize_t part):
            self.copy_rows(rows[part * rows.shape[0] // n_threads:
                                (part + 1) * rows.shape[0] // n_threads],
                           out[part * rows.shape[0] // n_threads:])

        on_threads(copy, range(n_threads))
        return Rows(values, weights)

    cdef int copy_rows(self, const Py_ssize_t[::1] rows, double[:, ::1] out) except -1:
        """Copy dense rows to `out`, one after the other."""
        cdef Py_ssize_t i, n_columns = self.n_columns
        cdef Row row
        with nogil:
            for i in range(rows.shape[0] if n_columns > 0 else 0):
                if i + PREFETCH_DISTANCE < rows.shape[0]:
                    self.prefetch(rows[i + PREFETCH_DISTANCE])
                row = self.row_into(rows[i], &out[i, 0])
                if row.values != &out[i, 0]:
                    memcpy(&out[i, 0], row.values, n_columns * sizeof(double))
        return 0

    cdef Rows some_sparse(self, const Py_ssize_t[::1] rows, const double[::1] weights):
        """Copies of sparse rows, with these weights."""
        cdef Py_ssize_t i, m, n = 0
        cdef Py_ssize_t[::1] indices, indptr = index_array(rows.shape[0] + 1)
        cdef Row row
        for i in range(rows.shape[0]):
            n += self.row(rows[i]).n_values
            indptr[i + 1] = n
        indices = index_array(n)
        cdef double[::1] data = empty(n)
        for i in range(rows.shape[0]):
            row = self.row(rows[i])
            for m in range(row.n_values):
                data[indptr[i] + m] = row.values[m]
                indices[indptr[i] + m] = row.columns[m]
        return Rows.sparse(data, indices, indptr, self.n_columns, weights)

    def _check_row(self, Py_ssize_t i):
        if not 0 <= i < self.n_rows:
            raise IndexError(f"rows must be in 0..{self.n_rows - 1}, got {i}")

    cdef int check_rows(self, const Py_ssize_t[::1] rows) except -1:
        """Raise IndexError if one of `rows` is not in 0..N-1."""
        cdef Py_ssize_t i
        for i in range(rows.shape[0]):
            if not 0 <= rows[i] < self.n_rows:
                self._check_row(rows[i])
        return 0

    cdef int weigh(self, const double[::1] weights) except -1:
        """Take these weights, checked; if all are 1, rows are read as if there were none."""
        cdef Py_ssize_t i
        self.weights = weights
        self.least_weight, self.most_weight = 1.0, 1.0
        if weights is None:
            return 0
        if weights.shape[0] != self.n_rows:
            raise ValueError(f"weights must have {self.n_rows} values, got {weights.shape[0]}")
        for i in range(self.n_rows):
            if not weights[i] > 0.0:
                raise ValueError(f"weights must be positive, got {weights[i]}")
            self.least_weight = weights[i] if i == 0 else min(self.least_weight, weights[i])
            self.most_weight = weights[i] if i == 0 else max(self.most_weight, weights[i])
        if self.least_weight != 1.0 or self.most_weight != 1.0:
            self.row_weights = &weights[0]
        return 0


def as_rows(X):
    return X if isinstance(X, Rows) else Rows(X)


cdef int check_order(const Py_ssize_t[::1] order, Py_ssize_t n_rows) except -1:
    """Raise ValueError unless an order has each number from 0 to n_rows - 1 once."""
    cdef Py_ssize_t i
    cdef Py_ssize_t[::1] seen = index_array(n_rows)
    cdef bint good = order.shape[0] == n_rows
    for i in range(n_rows if good else 0):
        good = good and 0 <= order[i] < n_rows and seen[order[i]] == 0
        if good:
            seen[order[i]] = 1
    if not good:
        raise ValueError(f"order must have each number from 0 to {n_rows - 1} once")
    return 0


cdef int check_parts(Py_ssize_t n_data, const Py_ssize_t[::1] indices,
                     const Py_ssize_t[::1] indptr, Py_ssize_t n_columns) except -1:
    """Raise ValueError unless the parts make a sparse table."""
    cdef Py_ssize_t i, n_rows = indptr.shape[0] - 1
    if n_rows < 0 or indptr[0] != 0:
        raise ValueError("indptr must start with 0")
    for i in range(n_rows):
        if indptr[i + 1] < indptr[i]:
            raise ValueError(f"indptr must not fall, got {indptr[i + 1]} after {indptr[i]}")
    if n_data != indptr[n_rows] or indices.shape[0] != indptr[n_rows]:
        raise ValueError(f"data and indices must have {indptr[n_rows]} values, "
                         f"got {n_data} and {indices.shape[0]}")
    for i in range(indices.shape[0]):
        if not 0 <= indices[i] < n_columns:
            raise ValueError(f"indices must be in 0..{n_columns - 1}, got {indices[i]}")
    return 0
