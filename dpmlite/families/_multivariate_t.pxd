from dpmlite.core._simd cimport clones_double, clones_void

cdef struct MultivariateDensities:
    Py_ssize_t n_columns
    Py_ssize_t stride        # slots that memory is there for
    double *power            # [slot] (nu + 1) / 2
    double *constant         # [slot] log density at the mean
    double *shift            # [column][slot] sqrt(t) = slope u - shift, t summed over columns
    double *slope            # [row][column][slot] packed lower triangle

# What a row of some weight costs at least at the mean of each slot: start + per_weight * weight.
cdef struct WeightedFloors:
    double weight
    double kappa0        # kappa is kappa0 + n
    const double *n      # [slot]
    const double *start
    const double *per_weight

cdef double log_peak_c(Py_ssize_t n_columns, double kappa, double nu, double log_det,
                       double weight, double power) noexcept nogil
cdef void spread_factor(const MultivariateDensities *t, Py_ssize_t k, const double *W,
                        const double *reciprocal, const double *z, double shrinkage,
                        double ratio) noexcept nogil
cdef clones_double least_weighted_floor(const MultivariateDensities *t, Py_ssize_t n_slots,
                                        const double *u, const WeightedFloors *floors,
                                        double limit) noexcept nogil
cdef clones_void weighted_floors(const MultivariateDensities *t, Py_ssize_t n_slots, const double *u,
                                 const WeightedFloors *floors, double *out) noexcept nogil
cdef clones_void squares(const MultivariateDensities *t, Py_ssize_t n_slots, const double *u,
                         double *out) noexcept nogil
cdef double multivariate_costs_below(const MultivariateDensities *t, Py_ssize_t n_slots,
                                     const double *u, const double *log_weight, double limit,
                                     double *out) noexcept nogil
