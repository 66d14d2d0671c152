from dpmlite.families._student_t cimport Densities
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screening_bounds cimport Chunk

cdef enum:  # what is read of each column of a slot, [term][column]
    SLOPE
    SHIFT
    CONSTANT
    MEMBER_SLOPE
    MEMBER_SHIFT
    MEMBER_POWER
    MEMBER_CONSTANT
    N_GAP_TERMS

# Coefficients of a slot's bounds. With U the largest absolute value of a chunk, the lower bound of
# a row's cost is power log2 P + floor - floor_error U - its constants.
cdef struct GapSlot:
    double power, floor, floor_error
    double stay, max_power          # cost of staying at the mean, but for constants; largest m
    double error, error_per_value   # of W, and for each unit of U

cdef const Densities *densities_with_gaps(Partition partition) noexcept nogil
cdef void load_slot_with_gaps(GapSlot *slot, float *terms, Partition partition,
                              Py_ssize_t k) noexcept nogil
cdef void mark_gaps(Chunk *chunk, Py_ssize_t n_columns) noexcept nogil
cdef void bound_slot_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                               Py_ssize_t n_columns, float *bound) noexcept nogil
cdef float stay_ceiling_with_gaps(const GapSlot *slot, const float *terms, const Chunk *chunk,
                                  Py_ssize_t n_columns, Py_ssize_t i) noexcept nogil
