"""Statistics of labelled rows, found in parts by several threads.

The number of parts does not depend on the number of threads, so that rounding does not either.
"""

from array import array

from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport PREFETCH_DISTANCE, Row, fetch
from dpmlite.core._work_parts cimport part_start

from dpmlite.core.threads import on_threads

cdef enum:
    N_PARTS = 10


cdef class PartialStatistics:
    """Statistics and sizes of clusters, over a part of the rows."""


cdef double add_rows(Component component, Py_ssize_t *size, Rows X, const Py_ssize_t[::1] rows,
                     const Py_ssize_t[::1] label, Py_ssize_t first, Py_ssize_t last,
                     double *room) noexcept nogil:
    """Add those of rows first..last-1 that have a label to its slot; return their weight.

    `rows` are the rows of X in use; None is all. The caller refreshes the slots.
    """
    cdef double weight = 0.0
    cdef Py_ssize_t i, k
    cdef Row row
    for i in range(first, last):
        if i + PREFETCH_DISTANCE < last:
            X.prefetch(rows[i + PREFETCH_DISTANCE] if rows is not None else i + PREFETCH_DISTANCE)
            fetch(&label[i + PREFETCH_DISTANCE])
        k = label[i]
        if k >= 0:
            row = X.row_into(rows[i] if rows is not None else i, room)
            component.accumulate(&row, k)
            size[k] += 1
            weight += row.weight
    return weight


cdef list partial_statistics(Component component, Py_ssize_t n_slots, Rows X,
                             const Py_ssize_t[::1] rows, const Py_ssize_t[::1] label):
    """The statistics of each part of the rows, in order."""
    cdef Py_ssize_t n_rows = label.shape[0]

    def statistics_of(Py_ssize_t i):
        cdef PartialStatistics part = PartialStatistics()
        cdef double[::1] room = double_array(X.n_columns + 1)
        cdef Py_ssize_t k
        part.component = component.like()
        part.component.make_slots(n_slots)
        part.size = array("q" if sizeof(Py_ssize_t) == 8 else "i", [0]) * n_slots
        with nogil:
            part.weight = add_rows(
                part.component, &part.size[0], X, rows, label, part_start(i, N_PARTS, n_rows),
                part_start(i + 1, N_PARTS, n_rows), &room[0])
            for k in range(n_slots):
                part.component.refresh(k)
        return part

    return on_threads(statistics_of, range(N_PARTS))
