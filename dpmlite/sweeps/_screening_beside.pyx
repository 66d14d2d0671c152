"""Screening of products: what the parts beside the one with densities add to bounds.

They are discrete, so that a row costs something in each. What it costs to stay is added to its
ceiling, and to its bounds elsewhere what it costs at least in any slot. If that does not show that
the row stays, its visit adds what it costs in each (_visits.pyx).
"""

from libc.math cimport NAN, fabs

from dpmlite.core._constants cimport SINGLE_ERROR
from dpmlite.core._rows cimport Row
from dpmlite.families._product cimport Product
from dpmlite.sweeps._screening_bounds cimport CHUNK, add_costs_beside


cdef void add_beside(Partition partition, Chunk *chunk, const Py_ssize_t *slots,
                     Py_ssize_t n) noexcept nogil:
    """Add to the stay terms of a chunk's rows, and to their bounds in n slots."""
    cdef Row row
    cdef Py_ssize_t i, k
    for i in range(chunk.n_rows):
        row = partition.row_into(chunk.index[i], chunk.row)
        chunk.beside[i] = <float> (<Product> partition.component).least_cost_beside(&row)
        if chunk.label[i] >= 0:
            add_to_stay(partition, &row, chunk, i)
    for i in range(chunk.n_rows, CHUNK):
        chunk.beside[i] = 0
    for k in range(n):
        add_costs_beside(chunk.beside, chunk.bound + slots[k] * CHUNK)


cdef void add_beside_to_stay(Partition partition, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Add to the stay terms of the rows of slot k, which has changed."""
    cdef Row row
    cdef Py_ssize_t i
    for i in range(chunk.n_rows):
        if chunk.label[i] == k:
            row = partition.row_into(chunk.index[i], chunk.row)
            add_to_stay(partition, &row, chunk, i)


cdef void add_to_stay(Partition partition, const Row *row, Chunk *chunk,
                      Py_ssize_t i) noexcept nogil:
    """Add what row i costs in its own slot. If rounding would show, it has no ceiling."""
    cdef double stay = chunk.stay_terms.stay[i]
    cdef double score = (<Product> partition.component).score_member_beside(row, chunk.label[i])
    if score == score:
        chunk.stay_terms.stay[i] = <float> (
            stay - score + SINGLE_ERROR * (fabs(stay) + fabs(score)))
    else:
        chunk.stay_terms.ratio[i] = NAN
