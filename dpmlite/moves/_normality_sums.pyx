"""Sums over the rows of clusters, for the test of _normality.pyx.

One pass over the rows as they lie finds the sums of all clusters, for slots know their means and
variances. Rows wait in a block of their cluster until it is full; the block's sums then stay in
registers. Columns are padded to whole vectors. A missing cell is a score of 0 in all sums and has a
bin of its own; numbers of cells are counted apart where cells may be missing.
"""

from libc.math cimport sqrt
from libc.stdint cimport uint64_t, uintptr_t

from dpmlite.core._constants cimport (
    MAX_PRIOR_FRACTION, MAX_VARIANCE_RATIO, MIN_SQUARE, MIN_SQUARES_FRACTION, UNPLACED)
from dpmlite.core._memory cimport double_array, index_array
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_void, inlined_void, larger, log_positive
from dpmlite.families._normal_columns cimport NormalColumn, NormalPrior, standardise
from dpmlite.families._student_t cimport FACTOR_GROUP

cdef extern from "kernels.h":
    uint64_t bin_of "dpm_bin_of"(double z, double n) noexcept nogil


cdef sums_of(Partition partition, slots, Py_ssize_t part, Py_ssize_t n_parts):
    """Memory that holds the Sums of each slot over a part of the rows."""
    cdef const NormalPrior *prior = partition.component.column_prior()
    cdef Py_ssize_t j, k, n = len(slots), n_rows = partition.n_rows
    cdef Py_ssize_t n_columns = partition.component.n_columns
    cdef double[::1] room = partition.room_of_a_row()
    cdef double[::1] memory = double_array(n * room_of_sums(n_columns) + 2 * FACTOR_GROUP)
    cdef Sums *sums = first_of(memory)
    cdef Py_ssize_t[::1] place = index_array(partition.component.n_slots - UNPLACED)
    lay_out_sums(sums, n, n_columns)
    place[:] = -1
    for j, k in enumerate(slots):
        sums[j].n_slot = partition.component.n[k]
        sums[j].has_group = partition.size[k] > partition.n_members(k)
        sums[j].is_testable = find_units(partition, k, &sums[j])
        if sums[j].is_testable:
            place[k - UNPLACED] = j
    with nogil:
        add_up_rows(partition, prior, sums, &place[0] - UNPLACED, part * n_rows // n_parts,
                    (part + 1) * n_rows // n_parts, &room[0])
        for j in range(n):
            if sums[j].n_waiting > 0:
                sum_rows(&sums[j], partition.X.row_weights != NULL)
    return memory


cdef void add_sums(double[::1] memory, double[::1] others, Py_ssize_t n) noexcept:
    """Add the sums of n slots over other rows."""
    cdef Sums *sums = first_of(memory)
    cdef Sums *other = first_of(others)
    cdef Py_ssize_t i, j
    for j in range(n):
        sums[j].n += other[j].n
        sums[j].squared_weights += other[j].squared_weights
        sums[j].log_squares += other[j].log_squares
        for i in range(sums[j].n_summed):
            sums[j].first[i] += other[j].first[i]


cdef Py_ssize_t padded_width(Py_ssize_t n_columns) noexcept nogil:  # in whole vectors
    return (n_columns + FACTOR_GROUP - 1) // FACTOR_GROUP * FACTOR_GROUP


cdef Py_ssize_t numbers_of(Py_ssize_t n_columns) noexcept nogil:
    """The numbers that the Sums of a slot point to."""
    cdef Py_ssize_t width = padded_width(n_columns)
    return width * (N_VECTORS + 2 * width + ALL_BINS + BLOCK) + padded_width(n_columns + 1)


cdef Py_ssize_t room_of_sums(Py_ssize_t n_columns) noexcept nogil:
    """The numbers that the Sums of a slot take, with those that it points to."""
    return numbers_of(n_columns) + sizeof(Sums) // sizeof(double) + FACTOR_GROUP


cdef Sums *first_of(double[::1] memory) noexcept:
    return <Sums *> line_at(&memory[0])


cdef double *line_at(void *memory) noexcept nogil:  # the next cache line
    return <double *> ((<uintptr_t> memory + 63) & ~(<uintptr_t> 63))


cdef void lay_out_sums(Sums *sums, Py_ssize_t n, Py_ssize_t n_columns) noexcept nogil:
    """Let the Sums of n slots point to the numbers behind them."""
    cdef double *numbers = line_at(sums + n)
    cdef Py_ssize_t j
    for j in range(n):
        lay_out_one(&sums[j], numbers + j * numbers_of(n_columns), n_columns)


cdef void lay_out_one(Sums *sums, double *numbers, Py_ssize_t n_columns) noexcept nogil:
    cdef Py_ssize_t width = padded_width(n_columns)
    sums.n_columns, sums.width = n_columns, width
    sums.n_all, sums.mean, sums.scale = numbers, numbers + width, numbers + 2 * width
    sums.absorbed, sums.present = numbers + 3 * width, numbers + 4 * width
    sums.first = numbers + 5 * width
    sums.cube, sums.fourth = sums.first + width, sums.first + 2 * width
    sums.share, sums.product = sums.first + 3 * width, sums.first + 4 * width
    sums.both = sums.product + width * width
    sums.bins = sums.both + width * width
    sums.rows = sums.bins + ALL_BINS * width
    sums.z = sums.rows + padded_width(n_columns + 1)
    sums.n_summed = sums.z - sums.first


cdef void add_up_rows(Partition partition, const NormalPrior *prior, Sums *sums,
                      const Py_ssize_t *place, Py_ssize_t first, Py_ssize_t last,
                      double *room) noexcept nogil:
    """Add rows first..last-1 of the slots whose place in `sums` is not negative."""
    cdef bint weighted = partition.X.row_weights != NULL
    cdef Py_ssize_t[LISTED] listed
    cdef Py_ssize_t i, m, n
    cdef Row row
    while first < last:
        n = 0
        for i in range(first, min(first + LISTED, last)):  # a branch would be mispredicted
            listed[n] = i
            n += place[partition.label[i]] >= 0
        for m in range(n):
            partition.X.prefetch(partition.in_use(listed[m]))
        for m in range(n):
            row = partition.row_into(listed[m], room)
            add_row(prior, &row, &sums[place[partition.label[listed[m]]]], weighted)
        first += LISTED


cdef inline inlined_void add_row(const NormalPrior *prior, const Row *row, Sums *sums,
                                 bint weighted) noexcept nogil:
    """Append a row to its slot's block, and sum the block if it is full."""
    sums.n += row.weight
    sums.squared_weights += row.weight * row.weight
    sums.weight[sums.n_waiting] = row.weight
    standardise_row(prior, row.values, sums, sums.z + sums.n_waiting * sums.width)
    if prior.has_gaps:
        count_cells(row, sums)
    sums.n_waiting += 1
    if sums.n_waiting == BLOCK:
        sum_rows(sums, weighted)


cdef void count_cells(const Row *row, Sums *sums) noexcept nogil:
    """Count the cells and pairs of cells that a row has."""
    cdef Py_ssize_t d, e, n_cells = 0
    cdef double *present = sums.present
    cdef double *both = sums.both
    for d in range(sums.n_columns):
        present[d] = row.weight if row.values[d] == row.values[d] else 0.0
        n_cells += present[d] > 0.0
    sums.rows[n_cells] += row.weight
    for d in range(sums.n_columns):
        if present[d] > 0.0:
            sums.share[d] += 2.0 * row.weight / n_cells
            for e in range(sums.n_columns):
                both[e] += present[e]
        both += sums.width


cdef clones_void standardise_row(const NormalPrior *prior, const double *values, const Sums *sums,
                                 double *z) noexcept nogil:
    cdef Py_ssize_t d = 0
    while d + FACTOR_GROUP <= sums.n_columns:
        standardise_rows(prior, values, sums, d, FACTOR_GROUP, z)
        d += FACTOR_GROUP
    standardise_rows(prior, values, sums, d, sums.n_columns - d, z)


cdef inline inlined_void standardise_rows(
        const NormalPrior *prior, const double *values, const Sums *sums, Py_ssize_t first,
        Py_ssize_t n, double *z) noexcept nogil:
    """Write the scores of n columns from `first`."""
    cdef Py_ssize_t d
    for d in range(first, first + n):
        z[d] = (standardise(values[d], prior.origin[d], prior.unit[d]) - sums.mean[d]) * sums.scale[d]


cdef clones_void sum_rows(Sums *sums, bint weighted) noexcept nogil:
    """Add the rows of the block to the sums, and empty it."""
    cdef double square[BLOCK + 1]
    cdef Py_ssize_t d, first = 0, i
    for i in range(BLOCK + 1):
        square[i] = 0.0
    while first < sums.n_columns:
        if weighted:
            add_to_bins(sums, first)
        else:
            count_in_bins(sums, first)
        sum_squares(sums, square, first)
        add_powers(sums, first)
        d = 0
        while d < min(first + FACTOR_GROUP, sums.n_columns):
            add_products(sums, d, first)
            d += PAIRED
        first += FACTOR_GROUP
    for i in range(sums.n_waiting, BLOCK + 1):
        sums.weight[i] = 0.0
    sums.log_squares += sum_of_logs(square, sums.weight)
    sums.n_waiting = 0


cdef inline inlined_double sum_of_logs(double *x, const double *weights) noexcept nogil:
    """The weighted sum of log(x / 2); x is overwritten."""
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(BLOCK + 1):
        x[i] = log_positive(larger(0.5 * x[i], MIN_SQUARE))
    for i in range(BLOCK + 1):
        total += weights[i] * x[i]
    return total


cdef inline inlined_void count_in_bins(Sums *sums, Py_ssize_t first) noexcept nogil:
    """Count rows of weight 1 in the bins of a group of columns.

    One number holds the counts of all bins of a column.
    """
    cdef uint64_t counts[FACTOR_GROUP]
    cdef uint64_t bins[FACTOR_GROUP]
    cdef uint64_t one[FACTOR_GROUP]  # shifts of a constant are not vectorised
    cdef const double *z = sums.z + first
    cdef double *rows = sums.bins + first
    cdef Py_ssize_t i, j
    for j in range(FACTOR_GROUP):
        counts[j], one[j] = 0, 1
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            bins[j] = bin_of(z[j], N_BINS)
        for j in range(FACTOR_GROUP):
            counts[j] += one[j] << (COUNT_BITS * bins[j])
        z += sums.width
    for i in range(N_BINS):
        for j in range(FACTOR_GROUP):
            rows[j] += <double> <int> ((counts[j] >> (COUNT_BITS * i)) & BLOCK)
        rows += sums.width


cdef inline inlined_void add_to_bins(Sums *sums, Py_ssize_t first) noexcept nogil:
    """Add the weights of rows to the bins of a group of columns."""
    cdef const double *z = sums.z + first
    cdef Py_ssize_t i, j
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            sums.bins[<Py_ssize_t> bin_of(z[j], N_BINS) * sums.width + first + j] += sums.weight[i]
        z += sums.width


cdef inline inlined_void sum_squares(Sums *sums, double *out, Py_ssize_t first) noexcept nogil:
    """Add the squares of a group of columns to each row's sum, and set missing cells to 0."""
    cdef double square[FACTOR_GROUP]
    cdef double *z = sums.z + first
    cdef Py_ssize_t i, j
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            z[j] = z[j] if z[j] == z[j] else 0.0
        for j in range(FACTOR_GROUP):
            square[j] = z[j] * z[j]
        out[i] += (((square[0] + square[1]) + (square[2] + square[3]))
                   + ((square[4] + square[5]) + (square[6] + square[7])))
        z += sums.width


cdef inline inlined_void add_powers(Sums *sums, Py_ssize_t first) noexcept nogil:
    """Add the powers of a group of columns."""
    cdef double total[FACTOR_GROUP]
    cdef double cube[FACTOR_GROUP]
    cdef double fourth[FACTOR_GROUP]
    cdef const double *z = sums.z + first
    cdef double weighted
    cdef Py_ssize_t i, j
    for j in range(FACTOR_GROUP):
        total[j] = cube[j] = fourth[j] = 0.0
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            weighted = sums.weight[i] * z[j]
            total[j] += weighted
            cube[j] += z[j] * z[j] * weighted
            fourth[j] += z[j] * z[j] * (z[j] * weighted)
        z += sums.width
    for j in range(FACTOR_GROUP):
        sums.first[first + j] += total[j]
        sums.cube[first + j] += cube[j]
        sums.fourth[first + j] += fourth[j]


cdef inline inlined_void add_products(Sums *sums, Py_ssize_t d,
                                      Py_ssize_t first) noexcept nogil:
    """Add the products of PAIRED columns from d, each with a group of columns."""
    cdef double product[PAIRED][FACTOR_GROUP]
    cdef double weighted[FACTOR_GROUP]
    cdef const double *z = sums.z
    cdef Py_ssize_t i, j, k
    for k in range(PAIRED):
        for j in range(FACTOR_GROUP):
            product[k][j] = 0.0
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            weighted[j] = sums.weight[i] * z[first + j]
        for k in range(PAIRED):
            for j in range(FACTOR_GROUP):
                product[k][j] += z[d + k] * weighted[j]
        z += sums.width
    for k in range(PAIRED):
        for j in range(FACTOR_GROUP):
            sums.product[(d + k) * sums.width + first + j] += product[k][j]


cdef bint find_units(Partition partition, Py_ssize_t k, Sums *sums) noexcept nogil:
    """Write the slot's means and scales; return False if a column's variance cannot be tested.

    A variance cannot be tested if it is not known, or much larger than the prior expects.
    """
    cdef const NormalPrior *prior = partition.component.column_prior()
    cdef NormalColumn column
    cdef Py_ssize_t d
    for d in range(sums.n_columns):
        column = partition.component.normal_column(k, d)
        sums.n_all[d], sums.mean[d] = column.n, column.mean
        sums.scale[d] = 1.0 / sqrt(column.variance)
        if column.n > 0.0 and not has_variance(prior, &column):  # others are not tested
            return False
    return True


cdef bint has_variance(const NormalPrior *prior, const NormalColumn *column) noexcept nogil:
    return column.n * column.variance >= MIN_SQUARES_FRACTION * column.rate and (
        prior.a0 <= MAX_PRIOR_FRACTION * column.n
        or prior.a0 * column.variance <= MAX_VARIANCE_RATIO)
