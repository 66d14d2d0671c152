from dpmlite.families._student_t cimport Densities
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screening_bounds cimport Chunk

cdef enum:  # what is read of each column of a slot
    SLOPE
    SHIFT
    CONSTANT
    N_GAP_TERMS

# Coefficients of a slot's bounds. With U the largest absolute value of a chunk, the lower bound of
# a row's cost is power log P + floor - floor_error U - its constants.
cdef struct GapSlot:
    double power, floor, floor_error
    double per_power                   # for log P from its bound, rounded up
    double error, error_per_value      # of log P, and for each unit of U
    double stay                        # what is added to it for the cost of staying at the mean
    double member_power, member_ratio  # R p / r and r; NaN if no row is known to stay
    bint has_rare                      # whether any column is rare

cdef const Densities *densities_with_gaps(Partition partition) noexcept nogil
cdef void load_slot_with_gaps(GapSlot *slot, float *terms, Partition partition,
                              Py_ssize_t k) noexcept nogil
cdef void mark_gaps(Chunk *chunk, Py_ssize_t n_columns) noexcept nogil
cdef void bound_slot_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                               Py_ssize_t n_columns, Py_ssize_t k) noexcept nogil
cdef void set_stay_terms_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                                   Py_ssize_t n_columns, Py_ssize_t i) noexcept nogil
