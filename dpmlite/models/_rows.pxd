# One row of a table, dense or sparse, as kernels are given it.

cimport cython

from dpmlite.models._special cimport inlined_ssize

cdef struct Row:
    const double *values
    const Py_ssize_t *columns  # of each value; NULL: all columns in order
    Py_ssize_t n_values
    double weight              # how many equal rows it stands for


@cython.final
cdef class Rows:
    cdef readonly Py_ssize_t n_columns
    cdef Py_ssize_t n_rows
    cdef const double[:, ::1] X            # they own the memory that the pointers point to
    cdef const double[::1] data, weights
    cdef const Py_ssize_t[::1] indices, indptr
    cdef const double *first               # values of all rows
    cdef const double *row_weights         # NULL: all 1
    cdef const Py_ssize_t *columns         # NULL: dense
    cdef const Py_ssize_t *starts

    cdef int weigh(self, const double[::1] weights) except -1

    cdef inline Row row(self, Py_ssize_t i) noexcept nogil:
        cdef Row row
        row.weight = self.row_weights[i] if self.row_weights != NULL else 1.0
        if self.columns == NULL:
            row.values, row.columns = self.first + i * self.n_columns, NULL
            row.n_values = self.n_columns
        else:
            row.values, row.columns = self.first + self.starts[i], self.columns + self.starts[i]
            row.n_values = self.starts[i + 1] - self.starts[i]
        return row


cdef inline inlined_ssize column_of(const Row *row, Py_ssize_t i) noexcept nogil:
    """The column of a row's value i."""
    return i if row.columns == NULL else row.columns[i]


cdef inline Row dense_row(const double *values, Py_ssize_t n_values, double weight) noexcept nogil:
    cdef Row row
    row.values, row.columns, row.n_values, row.weight = values, NULL, n_values, weight
    return row
