"""Statistics of labelled rows, of many rows on threads.

These are added up in as many parts however many threads there are, so that sums are always the same.
"""

from array import array

from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport PREFETCH_DISTANCE, Row, fetch
from dpmlite.core._work_parts cimport part_start

from dpmlite.core.threads import on_threads

cdef enum:
    TALLY_PARTS = 10


cdef class Tally:
    """Statistics and sizes of the clusters of some rows."""


cdef double add_rows(Component component, Py_ssize_t *size, Rows X, const Py_ssize_t[::1] rows,
                     const Py_ssize_t[::1] label, Py_ssize_t first, Py_ssize_t last,
                     double *room) noexcept nogil:
    """Add those of rows first..last-1 that have a label to its slot, and return their weight.

    `rows` are the rows of X in use; None is all. Slots have to be refreshed then.
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


cdef list tallies(Component component, Py_ssize_t n_slots, Rows X, const Py_ssize_t[::1] rows,
                  const Py_ssize_t[::1] label):
    """Of parts of the rows, in order."""
    cdef Py_ssize_t n_rows = label.shape[0]

    def part(Py_ssize_t i):
        cdef Tally tally = Tally()
        cdef double[::1] room = double_array(X.n_columns + 1)
        cdef Py_ssize_t k
        tally.component = component.like()
        tally.component.make_slots(n_slots)
        tally.size = array("q" if sizeof(Py_ssize_t) == 8 else "i", [0]) * n_slots
        with nogil:
            tally.weight = add_rows(
                tally.component, &tally.size[0], X, rows, label, part_start(i, TALLY_PARTS, n_rows),
                part_start(i + 1, TALLY_PARTS, n_rows), &room[0])
            for k in range(n_slots):
                tally.component.refresh(k)
        return tally

    return on_threads(part, range(TALLY_PARTS))
