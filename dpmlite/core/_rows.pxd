cimport cython
from dpmlite.core._simd cimport inlined_double, inlined_ssize, inlined_void

cdef extern from "kernels.h":
    void fetch "DPM_FETCH" (const void *address) noexcept nogil
    void touch "DPM_TOUCH" (const double *address) noexcept nogil

    ctypedef struct Row "dpm_row":
        const double *values
        const Py_ssize_t *columns  # of each value; NULL: all columns in order
        Py_ssize_t n_values
        double weight              # how many equal rows it stands for

    ctypedef Row inlined_row "DPM_ALWAYS_INLINE dpm_row"

cdef enum:
    AHEAD = 16      # rows from the one that is read to the one that is to come from memory
    LINE = 8        # numbers that come from memory together
    MOST_LINES = 4  # to ask for: by then the processor has seen where this leads to


cdef inline inlined_ssize column_of(const Row *row, Py_ssize_t i) noexcept nogil:
    """The column of a row's value i."""
    return i if row.columns == NULL else row.columns[i]


cdef inline inlined_row dense_row(const double *values, Py_ssize_t n_values,
                                  double weight) noexcept nogil:
    cdef Row row
    row.values, row.columns, row.n_values, row.weight = values, NULL, n_values, weight
    return row


cdef enum:
    MANY_CELLS = 262144  # worth the start of a thread


@cython.final
cdef class Rows:
    cdef readonly Py_ssize_t n_columns
    cdef Py_ssize_t n_rows
    cdef object X                          # they own the memory that the pointers point to
    cdef double[::1] room                  # of one row, if rows have to be copied,
    cdef double *memory                    # which is here
    cdef const double[::1] data, weights
    cdef const Py_ssize_t[::1] indices, indptr
    cdef const double *first               # values of all rows; NULL: a dense row is copied
    cdef const char *cells                 # from here, these bytes from one to the next,
    cdef Py_ssize_t row_step, column_step
    cdef bint single                       # of single precision if so
    cdef const double *row_weights         # NULL: all 1
    cdef const Py_ssize_t *columns         # NULL: dense
    cdef const Py_ssize_t *starts

    cdef inline inlined_row row_into(self, Py_ssize_t i, double *room) noexcept nogil:
        """Row i, in `room` if it has to be copied: it is there until the next one is."""
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

    # Inlined, for GCC takes a function that only does this for one that does nothing.
    cdef inline inlined_void prefetch(self, Py_ssize_t i) noexcept nogil:
        """Row i will be read soon: let it come from memory meanwhile."""
        cdef Py_ssize_t d = 0, last = min(self.n_columns, <Py_ssize_t> (MOST_LINES * LINE)) - 1
        cdef const double *row = self.first + i * self.n_columns
        if self.first == NULL or self.columns != NULL:
            return
        while d < last:
            fetch(row + d)
            d += LINE
        fetch(row + last)

    cdef inline inlined_void read(self, Py_ssize_t i) noexcept nogil:
        """Read row i, which lies side by side with others, from memory, for nothing else."""
        cdef Py_ssize_t d = 0
        while d < self.n_columns:
            touch(self.first + i * self.n_columns + d)
            d += LINE

    cdef inline inlined_row row(self, Py_ssize_t i) noexcept nogil:
        """The same in memory of its own: for one thread, and one row at a time."""
        return self.row_into(i, self.memory)

    cdef inline inlined_double weight_of(self, Py_ssize_t i) noexcept nogil:
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
