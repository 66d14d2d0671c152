from dpmlite.core._simd cimport clones_double, clones_void
from dpmlite.families._zero_rows cimport ZeroRows

cdef enum:
    MAX_ONES = 16             # of a column: each is a factor of a product
    COLUMNS_PER_OCCUPIED = 8  # where more than one of so many columns has ones, none is listed

cdef struct OccupiedColumn:   # as long as a double
    int column
    float ones

cdef struct OccupiedColumns:  # of a slot
    double n                  # NOT_LISTED, or how many columns follow
    OccupiedColumn first

cdef struct UnionPrefix:      # of unions of slot j with others
    const double *ones        # of slot j, in all columns
    const OccupiedColumns *listed
    double n                  # weight of the union that the next was found for, or -1
    double log_product        # what slot j's ones add


cdef inline Py_ssize_t n_occupied_values(Py_ssize_t n_columns) noexcept nogil:
    """Doubles that hold OccupiedColumns: how many, each, and one that is written in vain."""
    return 2 + n_columns // COLUMNS_PER_OCCUPIED

cdef clones_void list_occupied(const double *ones, const double *zeros, double n,
                               Py_ssize_t n_columns, double *occupied) noexcept nogil
cdef UnionPrefix union_prefix(const double *ones, const double *occupied) noexcept nogil
cdef double log_marginal_of_union(ZeroRows prior, const double *zero_row_marginals,
                                  UnionPrefix *prefix, const double *occupied,
                                  double n) noexcept nogil
