"""Kernel of moments.py: one pass over a table, in blocks that stay in the processor's cache.

Narrow rows are taken several at once, as one wide row, so that no sum waits for the one before; what
belongs to the same column is joined in the end. A block's mean and scatter are found in two loops
over its rows, and joined with those before: with n and m of each, the scatter of both about their
mean is theirs and n_a n_b / (n_a + n_b) (m_a - m_b)^2.
"""

from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport MANY_CELLS, Row, Rows, inlined_row
from dpmlite.core._simd cimport clones_void, inlined_void
from dpmlite.core._work_parts cimport start_of

from dpmlite.core._rows import as_rows
from dpmlite.core.threads import on_threads

cdef enum:
    BLOCK_CELLS = 16384
    MOMENT_PARTS = 18  # of the rows, which threads take: sums are of these however many they are
    MOMENT_GROUP = 8   # columns that are added together
    WIDE_TABLE = 64    # columns, or nearly, that rows of the same weight are taken for

cdef struct Moments:  # about an origin
    double *cells
    double *mean
    double *scatter


def column_moments(X):
    cdef Rows rows = as_rows(X)
    if rows.columns != NULL:
        raise ValueError("moments are of dense rows, got sparse ones")
    if rows.n_columns == 0:
        return [], [], []
    cdef Py_ssize_t d, n_columns = rows.n_columns, width = rows_at_once(rows) * n_columns
    cdef double[::1] origin = a_value_of_each(rows), total = double_array(3 * width), found
    cdef Moments wide = moments_in(total), all_rows, some_rows
    ends = [start_of(i, MOMENT_PARTS, rows.n_rows) for i in range(MOMENT_PARTS + 1)]
    parts = [(ends[i], ends[i + 1]) for i in range(MOMENT_PARTS)]

    def part(some):
        return moments_of(rows, origin, some[0], some[1])

    share = on_threads if rows.n_rows * n_columns >= MANY_CELLS else map
    for found in share(part, parts):
        some_rows = moments_in(found)
        join(&wide, &some_rows, width)
    all_rows = wide
    for d in range(n_columns, width, n_columns):
        some_rows.cells, some_rows.mean = wide.cells + d, wide.mean + d
        some_rows.scatter = wide.scatter + d
        join(&all_rows, &some_rows, n_columns)
    cells, means, variances = [], [], []
    for d in range(n_columns):
        cells.append(all_rows.cells[d])
        means.append(origin[d] + all_rows.mean[d])
        variances.append(all_rows.scatter[d] / all_rows.cells[d] if all_rows.cells[d] > 0.0 else 0.0)
    return cells, means, variances


cdef Py_ssize_t rows_at_once(Rows rows) noexcept nogil:
    return max(WIDE_TABLE // rows.n_columns, <Py_ssize_t> 1) if rows.row_weights == NULL else 1


cdef a_value_of_each(Rows rows):
    """The first of each column that is not missing; 0 if all are."""
    found = double_array(rows.n_columns)
    cdef double[::1] value = found
    cdef double[::1] room = double_array(rows.n_columns)
    cdef Py_ssize_t i, d, n_missing
    cdef Row row
    for d in range(rows.n_columns):
        value[d] = float("nan")
    for i in range(rows.n_rows):
        row = rows.row_into(i, &room[0])
        n_missing = 0
        for d in range(rows.n_columns):
            value[d] = row.values[d] if value[d] != value[d] else value[d]
            n_missing += value[d] != value[d]
        if n_missing == 0:
            break
    for d in range(rows.n_columns):
        value[d] = value[d] if value[d] == value[d] else 0.0
    return found


cdef Moments moments_in(double[::1] memory):
    cdef Moments moments
    cdef Py_ssize_t n = memory.shape[0] // 3
    moments.cells = &memory[0]
    moments.mean, moments.scatter = moments.cells + n, moments.cells + 2 * n
    return moments


cdef moments_of(Rows rows, const double[::1] origin, Py_ssize_t first, Py_ssize_t last):
    """Those of some rows, in an array."""
    cdef Py_ssize_t n_columns = rows.n_columns, n = rows_at_once(rows)
    cdef Py_ssize_t width = n * n_columns, d
    cdef Py_ssize_t step = max(BLOCK_CELLS // width, <Py_ssize_t> 1) * n
    cdef double[::1] total = double_array(3 * width), of_block = double_array(3 * width)
    cdef double[::1] room = double_array(width), origins = double_array(width)
    cdef Moments so_far = moments_in(total), block = moments_in(of_block)
    for d in range(width):
        origins[d] = origin[d % n_columns]
    with nogil:
        while first < last:
            of_block[:] = 0.0
            find(rows, n, &origins[0], first, min(first + step, last), &room[0], &block)
            join(&so_far, &block, width)
            first += step
    return total


cdef void find(Rows rows, Py_ssize_t n, const double *origin, Py_ssize_t first, Py_ssize_t last,
               double *room, Moments *block) noexcept nogil:
    """Those of rows first..last-1, n of them at once."""
    cdef Py_ssize_t i = first, d
    cdef Row row
    while i < last:
        row = wide_row(rows, i, min(n, last - i), room)
        add_values(&row, origin, block)
        i += n
    for d in range(n * rows.n_columns):
        block.mean[d] /= block.cells[d] if block.cells[d] > 0.0 else 1.0
    i = first
    while i < last:
        row = wide_row(rows, i, min(n, last - i), room)
        add_squares(&row, origin, block)
        i += n


cdef inline inlined_row wide_row(Rows rows, Py_ssize_t i, Py_ssize_t n,
                                 double *room) noexcept nogil:
    """Rows i..i+n-1, as they lie or in `room`, as if they were one."""
    cdef Row row = rows.row_into(i, room)
    cdef Py_ssize_t j
    for j in range(1, n if rows.first == NULL else 1):
        rows.row_into(i + j, room + j * rows.n_columns)
    row.n_values = n * rows.n_columns
    return row


cdef clones_void add_values(const Row *row, const double *origin, Moments *block) noexcept nogil:
    cdef Py_ssize_t d = 0
    while d + MOMENT_GROUP <= row.n_values:
        add_some_values(row, origin, d, MOMENT_GROUP, block)
        d += MOMENT_GROUP
    add_some_values(row, origin, d, row.n_values - d, block)


cdef inline inlined_void add_some_values(const Row *row, const double *origin, Py_ssize_t first,
                                         Py_ssize_t n, Moments *block) noexcept nogil:
    """The same for n columns from `first`, in vectors."""
    cdef double e[MOMENT_GROUP]
    cdef double weight[MOMENT_GROUP]
    cdef double *cells = block.cells + first
    cdef double *total = block.mean + first
    cdef Py_ssize_t d
    for d in range(n):
        e[d] = row.values[first + d] - origin[first + d]
    for d in range(n):
        weight[d] = row.weight
        weight[d] = weight[d] if e[d] == e[d] else 0.0
    for d in range(n):
        e[d] = e[d] if e[d] == e[d] else 0.0
    for d in range(n):
        cells[d] += weight[d]
    for d in range(n):
        total[d] += row.weight * e[d]


cdef clones_void add_squares(const Row *row, const double *origin, Moments *block) noexcept nogil:
    cdef Py_ssize_t d = 0
    while d + MOMENT_GROUP <= row.n_values:
        add_some_squares(row, origin, d, MOMENT_GROUP, block)
        d += MOMENT_GROUP
    add_some_squares(row, origin, d, row.n_values - d, block)


cdef inline inlined_void add_some_squares(const Row *row, const double *origin, Py_ssize_t first,
                                          Py_ssize_t n, Moments *block) noexcept nogil:
    """The same for n columns from `first`, in vectors."""
    cdef double e[MOMENT_GROUP]
    cdef double *mean = block.mean + first
    cdef double *scatter = block.scatter + first
    cdef Py_ssize_t d
    for d in range(n):
        e[d] = row.values[first + d] - origin[first + d] - mean[d]
    for d in range(n):
        e[d] = e[d] if e[d] == e[d] else 0.0
    for d in range(n):
        scatter[d] += row.weight * e[d] * e[d]


cdef void join(Moments *one, const Moments *other, Py_ssize_t n_columns) noexcept nogil:
    """Those of the rows of both."""
    cdef double part, gap
    cdef Py_ssize_t d
    for d in range(n_columns):
        if other.cells[d] == 0.0:
            continue
        part = other.cells[d] / (one.cells[d] + other.cells[d])
        gap = other.mean[d] - one.mean[d] if one.cells[d] > 0.0 else 0.0
        one.scatter[d] += other.scatter[d] + one.cells[d] * part * gap * gap
        one.mean[d] = one.mean[d] + part * gap if one.cells[d] > 0.0 else other.mean[d]
        one.cells[d] += other.cells[d]
