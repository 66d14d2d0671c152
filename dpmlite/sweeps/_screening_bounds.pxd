from dpmlite.core._simd cimport clones_float, clones_void
from dpmlite.families._student_t cimport Densities

cdef enum:
    CHUNK = 64             # rows that are screened together: their sums stay in registers
    COLUMNS_PER_GROUP = 8  # columns of a factor of P

# Coefficients of a slot's bounds. With U the largest absolute value of a chunk, the lower bound of
# a row's cost is power log2 P + floor - floor_error U. With the line bound, if line_slope > 0, it
# is line_slope min(q, line_end) + floor - floor_error U. The others make StayTerms, with
# base + base_error U as their base.
cdef struct SlotBound:
    double power, floor, floor_error
    double line_slope, line_end
    double base, base_error
    double per_power, stay, member_power, member_ratio, max_x

# Terms of the upper bound of staying, by row. From the row's bound in its own slot as if the row
# were new, log P <= y = base + per_power * bound. Then staying costs at most
# stay - power log(1 - x), with x = ratio (P - 1), if x < max_x. All terms are rounded up.
cdef struct StayTerms:
    float base[CHUNK]
    float per_power[CHUNK]
    float stay[CHUNK]
    float power[CHUNK]
    float ratio[CHUNK]
    float max_x[CHUNK]

cdef struct Chunk:
    Py_ssize_t n_rows
    Py_ssize_t index[CHUNK]    # the rows' indices in the partition, ascending
    Py_ssize_t end             # the row after them, and after rows between that are known to stay
    Py_ssize_t version         # of the stay bounds by which rows between were known to stay
    float max_value            # largest absolute standardised value
    double *row                # [column] memory for a row that has to be copied
    float *u                   # [column][row] standardised values; 0 where one is missing
    float *has_value           # [column][row] 1, or 0 where it is missing; only if rows have gaps
    float weight[CHUNK]        # of each row,
    float new_floor[CHUNK]     # and the least that it pays to found a cluster, if rows have weights
    float *bound               # [slot][row] lower bound of the cost; HUGE_COST in a row's own slot
    float beside[CHUNK]        # least cost of a row's discrete columns, where they are not in u
    float own_bound[CHUNK]     # the bound in its own slot, as if the row were new,
    float own_fixed[CHUNK]     # but for this part of it, if rows have gaps
    StayTerms stay_terms
    float least_bound[CHUNK]   # lower bound of a row's cost in all other slots
    float stay_ceiling[CHUNK]  # upper bound of what it costs to stay; HUGE_COST without a label
    int label[CHUNK]           # each row's slot when the chunk was screened
    int stays[CHUNK]           # 1 if the row is known to stay

cdef void choose_line(SlotBound *slot, double power, double max_bound) noexcept nogil
cdef clones_float copy_to_single(float *out, const double *values, Py_ssize_t n) noexcept nogil
cdef clones_void standardise_into_chunk(const Densities *t, const double *row,
                                        float *u) noexcept nogil
cdef clones_float clip_values(float *u, Py_ssize_t n_columns) noexcept nogil
cdef clones_void log_bounds(const float *u, Py_ssize_t n_columns, const float *slope, float power,
                            float floor, float *bound) noexcept nogil
cdef clones_void line_bounds(const float *u, Py_ssize_t n_columns, const float *slope,
                             float line_slope, float line_end, float floor,
                             float *bound) noexcept nogil
cdef clones_void find_stay_ceilings(const StayTerms *t, const float *own_bound,
                                    float *ceiling) noexcept nogil
cdef clones_void compare_bounds(Chunk *chunk, const Py_ssize_t *slots, Py_ssize_t n) noexcept nogil
cdef void find_stays(Chunk *chunk, const Py_ssize_t *slots, Py_ssize_t n,
                     float elsewhere) noexcept nogil
cdef clones_void add_costs_beside(const float *beside, float *bound) noexcept nogil
cdef clones_void allowed_drifts(const Chunk *chunk, float reference, float cap,
                                float *out) noexcept nogil
cdef clones_void two_least_bounds(const float *bound, const Py_ssize_t *slots, Py_ssize_t n,
                                  int *nearest, float *second) noexcept nogil
