from dpmlite.families._component cimport Component
from dpmlite.families._incomplete_normal_gamma_statistics cimport IncompleteStatistics
from dpmlite.families._student_t cimport Densities
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screening_bounds cimport Chunk
from dpmlite.sweeps._screening_weights cimport Weights

cdef enum:  # what is read of each column of a slot
    SLOPE
    SHIFT
    CONSTANT         # of which a row's are CONSTANT + PER_WEIGHT times its weight
    PER_WEIGHT
    N_GAP_TERMS

# Coefficients of a slot's bounds. With U the largest absolute value of a chunk, the lower bound of
# the cost of a row of weight w is
# (shape + w / 2) log P + floor + floor_per_weight w - floor_error U - its constants.
cdef struct GapSlot:
    double least, most                 # the range of weights, w0 and w1
    double shape
    double floor, floor_per_weight, floor_error
    double error, error_per_value      # of log P, and for each unit of U
    double stay, stay_per_weight       # what a member pays beyond the floor at the mean, as a line
    double member_power, member_ratio  # R p / r and r; NaN if no row is known to stay
    bint has_rare                      # whether any column is rare

cdef const Densities *densities_with_gaps(Partition partition, Component component) noexcept nogil
cdef void begin_gaps(Weights *weights, Partition partition) noexcept nogil
cdef void load_slot_with_gaps(GapSlot *slot, float *terms, const Weights *weights,
                              Partition partition, IncompleteStatistics component,
                              Py_ssize_t k) noexcept nogil
cdef void mark_gaps(Chunk *chunk, Py_ssize_t n_columns) noexcept nogil
cdef void bound_slot_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                               Py_ssize_t n_columns, Py_ssize_t k) noexcept nogil
cdef void set_stay_terms_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                                   Py_ssize_t n_columns, Py_ssize_t i) noexcept nogil
