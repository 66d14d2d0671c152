from dpmlite.core._constants cimport N_BINS
from dpmlite.core._simd cimport inlined_double
from dpmlite.partition._partition cimport Partition

cdef enum:
    ALL_BINS = N_BINS + 1 # with the bin of missing cells
    COUNT_BITS = 5        # of the count of a block's rows in a bin: one number counts all bins
    BLOCK = 31            # rows that are summed together, at most 2^COUNT_BITS - 1
    PAIRED = 4            # columns that are multiplied with a group of columns together
    N_VECTORS = 9         # vectors [column] of Sums
    LISTED = 64           # rows that are fetched from memory together

cdef struct Sums:             # over the rows of a slot
    Py_ssize_t n_columns
    Py_ssize_t width          # columns, padded
    bint is_testable          # its columns have variances that can be tested
    bint has_group            # an absorbed group is in the slot
    bint normal               # whether it passes the test
    double n_slot             # weight of the slot
    double *n_all             # [column] weight of the slot's cells, with those of the group
    double *mean              # [column] in units of the prior
    double *scale             # [column] 1 / standard deviation
    double chance             # what a statistic is by chance for each of its degrees of freedom
    double *absorbed          # [column] w: the fraction of the cells' weight that is absorbed
    double *present           # [column] weight of a row's cell, 0 if it is missing
    double n                  # the weight of the rows
    double squared_weights    # sum over rows of the squared weight
    double log_squares        # sum over rows of the log of half their sum of squares
    Py_ssize_t n_summed       # numbers from `first` to `rows`
    double *first             # [column] sum of z
    double *cube              # [column] sum of z^3
    double *fourth            # [column] sum of z^4
    double *share             # [column] sum of 2 / d, over the cells of rows with d cells
    double *product           # [column][column] sum of the products of two columns' z
    double *both              # [column][column] weight of the rows that have both cells
    double *bins              # [bin][column] weight of the cells in a bin
    double *rows              # [d] weight of the rows that have d cells
    Py_ssize_t n_waiting      # rows of the block that are not summed yet
    double *z                 # [row][column] scores of these rows
    double weight[BLOCK + 1]  # [row] their weights, padded to whole vectors

cdef sums_of(Partition partition, slots, Py_ssize_t part, Py_ssize_t n_parts)
cdef void add_sums(double[::1] memory, double[::1] others, Py_ssize_t n) noexcept
cdef Py_ssize_t room_of_sums(Py_ssize_t n_columns) noexcept nogil
cdef Sums *first_of(double[::1] memory) noexcept


cdef inline inlined_double cells_of(const Sums *sums, Py_ssize_t d) noexcept nogil:
    """The weight of the cells in column d."""
    return sums.both[d * sums.width + d]
