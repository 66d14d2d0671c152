from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_void
from dpmlite.families._slots cimport Slots
from dpmlite.families._soft_component cimport SoftComponent


cdef class ProductParts(SoftComponent):
    cdef readonly list parts
    cdef Py_ssize_t n_parts
    cdef void **part             # [part] those of `parts`, for use without the interpreter's lock
    cdef Py_ssize_t *first       # [part] its first column; last, the number of columns
    cdef bint is_soft            # whether all parts are SoftComponents
    cdef double *handed_on       # [slot] scratch: what one part hands on to the next

    cdef int begin(self, list parts) except -1
    cdef void lay_out(self) noexcept nogil
    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil
    cdef int shrink(self) except -1 nogil
    cdef int copy_all(self, Slots other) except -1 nogil
    cdef void copy_slot(self, Py_ssize_t k, Slots other, Py_ssize_t j) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void add_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil


cdef inline inlined_void take_cells(ProductParts self, const Row *row, Py_ssize_t i,
                                    Row *cells) noexcept nogil:
    """Set `cells` to the row that part i sees: its columns of a row, where they lie."""
    cells.values, cells.columns = row.values + self.first[i], NULL
    cells.n_values, cells.weight = self.first[i + 1] - self.first[i], row.weight
