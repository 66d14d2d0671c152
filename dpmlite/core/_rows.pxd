cimport cython
from dpmlite.core._simd cimport inlined_double, inlined_ssize, inlined_void

cdef extern from "kernels.h":
    void fetch "DPM_FETCH" (const void *address) noexcept nogil

    ctypedef struct Row "dpm_row":
        const double *values
        const Py_ssize_t *columns  # the column of each value; NULL: all columns in order
        Py_ssize_t n_values
        double weight              # number of equal rows that it stands for

    ctypedef Row inlined_row "DPM_ALWAYS_INLINE dpm_row"

cdef enum:
    PREFETCH_DISTANCE = 16    # rows between the row that is read and the row that is prefetched
    DOUBLES_PER_LINE = 8      # of the cache
    MAX_PREFETCHED_LINES = 4  # of a row: then the processor's own prefetching goes on
    MIN_SHARED_CELLS = 262144  # cells of a table that are worth the start of a thread


cdef inline inlined_ssize column_of(const Row *row, Py_ssize_t i) noexcept nogil:
    """The column of a row's value i."""
    return i if row.columns == NULL else row.columns[i]


cdef inline inlined_row dense_row(const double *values, Py_ssize_t n_values,
                                  double weight) noexcept nogil:
    """A row of values in all columns."""
    cdef Row row
    row.values, row.columns, row.n_values, row.weight = values, NULL, n_values, weight
    return row


@cython.final
cdef class Rows:
    cdef readonly Py_ssize_t n_columns
    cdef Py_ssize_t n_rows
    # These own the memory that the pointers below point to.
    cdef object X
    cdef double[::1] room                   # for one row, if rows have to be copied
    cdef const double[::1] data, weights
    cdef const Py_ssize_t[::1] indices, indptr
    cdef double *memory                     # of `room`
    cdef const double *first                # values of all rows; NULL: dense rows are copied
    cdef const char *cells                  # where rows are copied from
    cdef Py_ssize_t row_step, column_step   # bytes from one row, or column, of `cells` to the next
    cdef bint single                        # whether `cells` are of single precision
    cdef const double *row_weights          # NULL: all 1
    cdef double least_weight, most_weight   # of all rows
    cdef const Py_ssize_t *columns          # of all non-zeros; NULL: the table is dense
    cdef const Py_ssize_t *starts           # where the non-zeros of each row start

    cdef inline inlined_row row_into(self, Py_ssize_t i, double *room) noexcept nogil:
        """Row i. If it has to be copied, it is in `room`, until the next row is copied there."""
        cdef Row row
        row.weight = self.weight_of(i)
        if self.columns != NULL:
            row.values, row.columns = self.first + self.starts[i], self.columns + self.starts[i]
            row.n_values = self.starts[i + 1] - self.starts[i]
            return row
        row.values, row.columns, row.n_values = room, NULL, self.n_columns
        if self.first != NULL:
            row.values = self.first + i * self.n_columns
        else:
            self.copy_row(i, room)
        return row

    # Inlined: GCC drops calls of a function that only prefetches, as if it did nothing.
    cdef inline inlined_void prefetch(self, Py_ssize_t i) noexcept nogil:
        """Begin to load row i, which will be read soon, into the cache."""
        cdef Py_ssize_t d = 0
        cdef Py_ssize_t last = min(
            self.n_columns, <Py_ssize_t> (MAX_PREFETCHED_LINES * DOUBLES_PER_LINE)) - 1
        cdef const double *row = self.first + i * self.n_columns
        if self.first == NULL or self.columns != NULL:
            return
        while d < last:
            fetch(row + d)
            d += DOUBLES_PER_LINE
        fetch(row + last)

    cdef inline inlined_row row(self, Py_ssize_t i) noexcept nogil:
        """Row i, in the table's own room if it has to be copied: for one thread and one row."""
        return self.row_into(i, self.memory)

    cdef inline inlined_double weight_of(self, Py_ssize_t i) noexcept nogil:
        """Number of equal rows that row i stands for."""
        return self.row_weights[i] if self.row_weights != NULL else 1.0

    cdef int take_double(self, const double[:, :] X) except -1
    cdef int take_single(self, const float[:, :] X) except -1
    cdef int take_shape(self, Py_ssize_t n_rows, Py_ssize_t n_columns, Py_ssize_t row_step,
                        Py_ssize_t column_step) except -1
    cdef int make_room(self) except -1
    cdef void copy_row(self, Py_ssize_t i, double *room) noexcept nogil
    cdef Rows some_dense(self, const Py_ssize_t[::1] rows, const double[::1] weights)
    cdef int copy_rows(self, const Py_ssize_t[::1] rows, double[:, ::1] out) except -1
    cdef Rows some_sparse(self, const Py_ssize_t[::1] rows, const double[::1] weights)
    cdef int check_rows(self, const Py_ssize_t[::1] rows) except -1
    cdef int weigh(self, const double[::1] weights) except -1


cdef int check_order(const Py_ssize_t[::1] order, Py_ssize_t n_rows) except -1
