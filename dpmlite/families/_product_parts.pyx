"""The parts of a product of components, and their statistics.

Each part is a component that holds all rows, so that all parts have the same slots. The product has
memory of its own only for the weights of slots.
"""

from libc.stdlib cimport free
from libc.string cimport memset

from dpmlite.core._memory cimport zeroed_memory
from dpmlite.families._component cimport Component


cdef class ProductParts(SoftComponent):

    def __cinit__(self):
        self.part, self.first = NULL, NULL

    def __dealloc__(self):
        free(self.part)
        free(self.first)

    cdef int begin(self, list parts) except -1:
        """Take parts without slots."""
        cdef Component part
        cdef Py_ssize_t i
        self.parts, self.n_parts, self.is_soft = parts, len(parts), True
        self.part = <void **> zeroed_memory(self.n_parts * sizeof(void *))
        self.first = <Py_ssize_t *> zeroed_memory((self.n_parts + 1) * sizeof(Py_ssize_t))
        for i in range(self.n_parts):
            part = parts[i]
            self.part[i] = <void *> part
            self.first[i + 1] = self.first[i] + part.n_columns
            self.log_scale += part.log_scale
            self.is_soft = self.is_soft and isinstance(part, SoftComponent)
            self.has_scratch = self.has_scratch or part.has_scratch
        self.n_columns, self.power = self.first[self.n_parts], (<Component> parts[0]).power
        return self.start(2, 0)

    cdef void lay_out(self) noexcept nogil:
        self.handed_on = self.n + self.capacity

    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            (<Component> self.part[i]).make_slots(n_slots)
        return SoftComponent.make_slots(self, n_slots)

    cdef int shrink(self) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            (<Component> self.part[i]).shrink()
        return SoftComponent.shrink(self)

    cdef int copy_all(self, Slots other) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            (<Component> self.part[i]).copy_all(<Slots> (<ProductParts> other).part[i])
        return SoftComponent.copy_all(self, other)

    cdef void copy_slot(self, Py_ssize_t k, Slots other, Py_ssize_t j) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            (<Component> self.part[i]).copy_slot(k, <Slots> (<ProductParts> other).part[i], j)
        self.n[k] = other.n[j]

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            (<Component> self.part[i]).clear_slot(k)
        self.n[k] = 0.0

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            (<Component> self.part[i]).accumulate(&cells, k)
        self.n[k] += row.weight

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            (<Component> self.part[i]).refresh(k)

    cdef void add_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        add_to_parts(self, row, k, self.n_parts)
        self.n[k] += row.weight

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            if not (<Component> self.part[i]).remove_row(&cells, k):
                add_to_parts(self, row, k, i)
                return False
        self.n[k] = (<Component> self.part[0]).n[k]
        return True

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            (<Component> self.part[i]).merge_slots(j, k)
        self.n[j] += self.n[k]
        self.n[k] = 0.0

    cdef void begin_sharing(self) noexcept nogil:
        cdef Py_ssize_t i
        if not self.is_soft:
            SoftComponent.begin_sharing(self)
            return
        for i in range(self.n_parts):
            (<SoftComponent> self.part[i]).begin_sharing()
        memset(self.n, 0, self.capacity * sizeof(double))

    cdef void share(self, const Row *row, const double *responsibilities) noexcept nogil:
        cdef Row cells
        cdef Py_ssize_t i, k
        if not self.is_soft:
            SoftComponent.share(self, row, responsibilities)
            return
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            (<SoftComponent> self.part[i]).share(&cells, responsibilities)
        for k in range(self.n_slots):
            self.n[k] += row.weight * responsibilities[k]

    cdef void end_sharing(self) noexcept nogil:
        cdef Py_ssize_t i
        if not self.is_soft:
            SoftComponent.end_sharing(self)
            return
        for i in range(self.n_parts):
            (<SoftComponent> self.part[i]).end_sharing()


cdef void add_to_parts(ProductParts self, const Row *row, Py_ssize_t k,
                       Py_ssize_t n_parts) noexcept nogil:
    """Add a row to the first n_parts parts."""
    cdef Row cells
    cdef Py_ssize_t i
    for i in range(n_parts):
        take_cells(self, row, i, &cells)
        (<Component> self.part[i]).add_row(&cells, k)
