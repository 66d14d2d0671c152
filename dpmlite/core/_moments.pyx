"""Kernel of moments.py: one pass over a table, in blocks that stay in the processor's cache.

Narrow rows are read several at once, as one wide row, so that no sum waits for the one before; sums
of the same column are joined in the end. The mean and the scatter of a block are found in two loops
over its rows, and joined with those of earlier blocks: for weights n and means m, the scatter of
two blocks together is the sum of both scatters and of n_a n_b / (n_a + n_b) (m_a - m_b)^2.
"""

from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport MIN_SHARED_CELLS, Row, Rows, inlined_row
from dpmlite.core._simd cimport clones_void, inlined_void
from dpmlite.core._work_parts cimport part_start

from dpmlite.core._rows import as_rows
from dpmlite.core.threads import on_threads

cdef enum:
    BLOCK_CELLS = 16384    # cells of a block: 128 kB
    N_PARTS = 18           # of the rows, for any number of threads: results do not depend on it
    COLUMNS_PER_STEP = 8   # columns that are added together, in vectors
    MAX_WIDE_COLUMNS = 64  # columns of a wide row, at most, unless one row has more

cdef struct Moments:  # of each column, about an origin
    double *cells     # weight of the rows that have a value
    double *mean
    double *scatter   # sum of squared differences from the mean


def column_moments(X):
    cdef Rows rows = as_rows(X)
    if rows.columns != NULL:
        raise ValueError("moments are of dense rows, got sparse ones")
    if rows.n_columns == 0:
        return [], [], []
    cdef Py_ssize_t d, n_columns = rows.n_columns, width = rows_at_once(rows) * n_columns
    cdef double[::1] origin = value_in_each_column(rows), total = double_array(3 * width), found
    cdef Moments wide = moments_in(total), narrow, other
    starts = [part_start(i, N_PARTS, rows.n_rows) for i in range(N_PARTS + 1)]
    parts = list(zip(starts, starts[1:]))

    def moments_of_part(part):
        return moments_of(rows, origin, part[0], part[1])

    share = on_threads if rows.n_rows * n_columns >= MIN_SHARED_CELLS else map
    for found in share(moments_of_part, parts):
        other = moments_in(found)
        join(&wide, &other, width)
    narrow = wide
    for d in range(n_columns, width, n_columns):
        other.cells, other.mean, other.scatter = wide.cells + d, wide.mean + d, wide.scatter + d
        join(&narrow, &other, n_columns)
    cells, means, variances = [], [], []
    for d in range(n_columns):
        cells.append(narrow.cells[d])
        means.append(origin[d] + narrow.mean[d])
        variances.append(narrow.scatter[d] / narrow.cells[d] if narrow.cells[d] > 0.0 else 0.0)
    return cells, means, variances


cdef Py_ssize_t rows_at_once(Rows rows) noexcept nogil:
    """Rows that make a wide row; only rows of the same weight do."""
    if rows.row_weights != NULL:
        return 1
    return max(MAX_WIDE_COLUMNS // rows.n_columns, <Py_ssize_t> 1)


cdef value_in_each_column(Rows rows):
    """The first value of each column that is not missing; 0 if all are."""
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
    """Moments that lie in `memory`, one third each."""
    cdef Moments moments
    cdef Py_ssize_t n = memory.shape[0] // 3
    moments.cells = &memory[0]
    moments.mean, moments.scatter = moments.cells + n, moments.cells + 2 * n
    return moments


cdef moments_of(Rows rows, const double[::1] origin, Py_ssize_t first, Py_ssize_t last):
    """Moments of rows first..last-1, in an array for `moments_in`."""
    cdef Py_ssize_t n_columns = rows.n_columns, n = rows_at_once(rows)
    cdef Py_ssize_t width = n * n_columns, d
    cdef Py_ssize_t step = max(BLOCK_CELLS // width, <Py_ssize_t> 1) * n
    cdef double[::1] memory = double_array(8 * width)  # one array, for small tables take no time
    cdef double[::1] total = memory[:3 * width], of_block = memory[3 * width:6 * width]
    cdef double[::1] room = memory[6 * width:7 * width], origins = memory[7 * width:]
    cdef Moments before = moments_in(total), block = moments_in(of_block)
    for d in range(width):
        origins[d] = origin[d % n_columns]
    with nogil:
        while first < last:
            of_block[:] = 0.0
            add_block(rows, n, &origins[0], first, min(first + step, last), &room[0], &block)
            join(&before, &block, width)
            first += step
    return total


cdef void add_block(Rows rows, Py_ssize_t n, const double *origin, Py_ssize_t first,
                    Py_ssize_t last, double *room, Moments *block) noexcept nogil:
    """Find the moments of rows first..last-1, n of them at once; `block` holds zeros before."""
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
    """Rows i..i+n-1 as one row, which lies in `room` if they do not lie side by side."""
    cdef Row row = rows.row_into(i, room)
    cdef Py_ssize_t j
    for j in range(1, n if rows.first == NULL else 1):
        rows.row_into(i + j, room + j * rows.n_columns)
    row.n_values = n * rows.n_columns
    return row


cdef clones_void add_values(const Row *row, const double *origin, Moments *block) noexcept nogil:
    """Add a row's weight to `cells` and its values, about the origin, to `mean`."""
    cdef Py_ssize_t d = 0
    while d + COLUMNS_PER_STEP <= row.n_values:
        add_some_values(row, origin, d, COLUMNS_PER_STEP, block)
        d += COLUMNS_PER_STEP
    add_some_values(row, origin, d, row.n_values - d, block)


cdef inline inlined_void add_some_values(const Row *row, const double *origin, Py_ssize_t first,
                                         Py_ssize_t n, Moments *block) noexcept nogil:
    """Add the weights and the values of n columns from `first`, in vectors."""
    cdef double e[COLUMNS_PER_STEP]
    cdef double weight[COLUMNS_PER_STEP]
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
    """Add the squared differences of a row's values from the block's means to `scatter`."""
    cdef Py_ssize_t d = 0
    while d + COLUMNS_PER_STEP <= row.n_values:
        add_some_squares(row, origin, d, COLUMNS_PER_STEP, block)
        d += COLUMNS_PER_STEP
    add_some_squares(row, origin, d, row.n_values - d, block)


cdef inline inlined_void add_some_squares(const Row *row, const double *origin, Py_ssize_t first,
                                          Py_ssize_t n, Moments *block) noexcept nogil:
    """Add the squares of n columns from `first`, in vectors."""
    cdef double e[COLUMNS_PER_STEP]
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
    """Replace the moments of `one` by those of the rows of both."""
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
