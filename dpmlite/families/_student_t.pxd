from dpmlite.core._simd cimport clones_void

cdef enum:
    FACTOR_GROUP = 8    # columns whose factors cannot overflow when multiplied
    PLAIN_FACTORS = 16  # columns whose factors, of a row of weight 1, are each below 2^60

cdef struct Densities:
    Py_ssize_t n_columns
    Py_ssize_t stride           # slots that memory is there for
    double c0                   # of the prior; c of a slot is that and its weight
    const double *origin        # [column] m0
    const double *unit          # [column] 1 / sqrt(b0)
    double *slope               # [column][slot] sqrt(t) = u slope - shift
    double *shift
    Py_ssize_t n_along          # from a slot to the next in
    double *slot_slope          # [slot][column] the same, to score a row in one slot
    double *slot_shift
    double *power               # [slot] a + 1/2
    double *constant            # [slot] log density at the mean,
    double *member_constant     # [slot] of a member, without itself
    double *member_ratio        # [slot] t of a member in units of t, with itself; NaN: look closer

# Where each column has a power of its own: log densities constant + power log(1 +- sqrt(t)^2).
cdef struct Terms:
    double *slope               # [column] of one slot, or [column][slot]: as above
    double *shift
    double *power
    double *constant


cdef double log_student_t_c(double x, double m, double c, double b, double a, double weight,
                            double power) noexcept nogil
cdef double log_factors(const Densities *t, const double *row, Py_ssize_t k, double ratio,
                        bint exact) noexcept nogil
cdef clones_void logs_of_factors(const Densities *t, const double *const *rows,
                                 const Py_ssize_t *slots, const double *ratio, Py_ssize_t n,
                                 double *out) noexcept nogil
cdef double student_costs_below(const Densities *t, Py_ssize_t n_slots, const double *row,
                                const double *log_weight, double limit, double *out) noexcept nogil
cdef double sum_terms(const Terms *t, const double *u, Py_ssize_t width, double sign,
                      double least_factor) noexcept nogil
cdef clones_void term_costs(const Terms *t, Py_ssize_t stride, Py_ssize_t n_slots, const double *u,
                            Py_ssize_t n_columns, const double *log_weight,
                            double *out) noexcept nogil
cdef clones_void term_bounds(const Terms *t, const double *most_power, Py_ssize_t stride,
                             Py_ssize_t n_slots, const double *u, Py_ssize_t n_columns,
                             const double *log_weight, double *out) noexcept nogil
