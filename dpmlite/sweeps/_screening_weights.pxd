from dpmlite.core._rows cimport Rows
from dpmlite.families._screenable cimport Screenable
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screening_bounds cimport Chunk

cdef enum:
    N_NEW_COSTS = 17  # weights at which the cost of founding a cluster is tabled

# The range of the weights of a table's rows.
cdef struct Weights:
    double least, most
    bint of_one_row               # whether slots weigh for any row what they do for one of weight 1
    double new_cost[N_NEW_COSTS]  # of founding a cluster, of weights evenly from least to most

# What a row of weight w costs in a slot, but for its distance, as straight lines in w.
cdef struct WeightedSlot:
    bint is_empty
    double shape, count             # a and c of the posterior
    double floor, floor_per_weight  # the cost at the mean is at least this
    double above                    # by less than this, if slots weigh what they do for one row
    double stay, stay_per_weight    # that of a member, without itself, is at most this; or NaN
    double max_power                # a + w / 2 of the heaviest row
    double error, error_per_value   # of log P, and for each unit of the largest value

cdef void range_of_weights(Rows X, double *least, double *most) noexcept nogil
cdef void line_through(const Weights *weights, double at_least, double at_most, double *start,
                       double *slope) noexcept nogil
cdef double new_floor_of(const Weights *weights, double w) noexcept nogil
cdef bint members_may_stay(Screenable component, Py_ssize_t k, double most) noexcept nogil
cdef double cost_at_mean(Partition partition, Screenable component, Py_ssize_t k, double others,
                         double w) noexcept nogil
cdef double log_weight_of(const Weights *weights, Partition partition, Py_ssize_t k,
                          double w) noexcept nogil
cdef void begin_weights(Weights *weights, Partition partition,
                        Screenable component) noexcept nogil
cdef void load_weighted_slot(WeightedSlot *slot, const Weights *weights, Partition partition,
                             Screenable component, Py_ssize_t k, double slopes,
                             double shifts) noexcept nogil
cdef void read_weights(const Weights *weights, Partition partition, Chunk *chunk) noexcept nogil
cdef void find_new_floors(const Weights *weights, Partition partition,
                          Chunk *chunk) noexcept nogil
cdef void bound_weighted_slot(const WeightedSlot *slot, Chunk *chunk, const float *slope,
                              Py_ssize_t n_columns, float *bound) noexcept nogil
cdef void set_weighted_stay_terms(const WeightedSlot *slot, Chunk *chunk,
                                  Py_ssize_t i) noexcept nogil
cdef void set_weighted_join_terms(const WeightedSlot *slot, Chunk *chunk,
                                  Py_ssize_t i) noexcept nogil
