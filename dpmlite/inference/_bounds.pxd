# What is known of a chunk of rows, and the vector loops that find it.

from dpmlite.models._special cimport clones_float, clones_ssize, clones_void
from dpmlite.models._student_t cimport Densities

cdef extern from *:
    """
    #define DPM_HUGE 1e30f
    """
    float HUGE "DPM_HUGE"

cdef enum:
    CHUNK = 64  # rows that are screened together: their sums stay in registers

# For log P, from the bound of a row's own slot as if it were new: base + per_power bound; then the
# cost to stay is stay - power log (1 - ratio (P - 1)), where ratio (P - 1) is less than `most`. Each
# a little more, not less.
cdef struct Stay:
    float base, per_power, stay, power, ratio, most

cdef struct Stays:  # the same of a chunk of rows
    float base[CHUNK]
    float per_power[CHUNK]
    float stay[CHUNK]
    float power[CHUNK]
    float ratio[CHUNK]
    float most[CHUNK]

cdef struct Chunk:
    Py_ssize_t n_rows
    Py_ssize_t index[CHUNK]    # of these rows in the partition, ascending
    Py_ssize_t end             # row after them, and after others that need not be screened
    float reach                # largest of the standardised values, without its sign
    double *row                # [column] room for a row
    double *cost               # [slot] room for its costs
    float *u                   # [column][row] standardised values
    float *bound               # [slot][row] of the cost, from below; huge for a row's own slot,
    float own[CHUNK]           # whose bound is here,
    Stays stay                 # and what else it costs to stay there
    float least[CHUNK]         # not above any bound of a row,
    float ceiling[CHUNK]       # not below what it costs to stay: huge without a label
    int label[CHUNK]           # slot of each row when the chunk was screened
    int stays[CHUNK]           # rows that are known to stay

cdef clones_float copied(float *out, const double *values, Py_ssize_t n) noexcept nogil
cdef clones_void spread(const Densities *t, const double *row, float *u) noexcept nogil
cdef clones_float largest(float *u, Py_ssize_t n) noexcept nogil
cdef clones_void bounds(const float *u, Py_ssize_t n_columns, const float *slope, float power,
                        float floor, float *bound) noexcept nogil
cdef clones_void close_bounds(const float *u, Py_ssize_t n_columns, const float *slope,
                              float power, float floor, float *bound) noexcept nogil
cdef clones_void line_bounds(const float *u, Py_ssize_t n_columns, const float *slope, float power,
                             float most, float floor, float *bound) noexcept nogil
cdef clones_void own_bounds(const float *u, Py_ssize_t n_columns, const float *slopes,
                            const Py_ssize_t *at, const float *power, float *own) noexcept nogil
cdef clones_ssize set_aside(Chunk *chunk, int k, const Stay *there) noexcept nogil
cdef clones_void find_ceilings(const Stays *t, const float *own, float *ceiling) noexcept nogil
cdef clones_void judge(Chunk *chunk, const Py_ssize_t *slots, Py_ssize_t n) noexcept nogil
cdef clones_void slack(const Chunk *chunk, float reference, float most, float *out) noexcept nogil
cdef clones_void two_least(const float *bound, const Py_ssize_t *slots, Py_ssize_t n, int *nearest,
                           float *second) noexcept nogil
