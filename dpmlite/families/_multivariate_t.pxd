cdef struct MultivariateDensities:
    Py_ssize_t n_columns
    Py_ssize_t stride        # slots that memory is there for
    double *power            # [slot] (nu + 1) / 2
    double *constant         # [slot] log density at the mean
    double *shift            # [column][slot] sqrt(t) = slope u - shift, t summed over columns
    double *slope            # [row][column][slot] packed lower triangle

cdef double log_peak_c(Py_ssize_t n_columns, double kappa, double nu, double log_det,
                       double weight, double power) noexcept nogil
cdef void spread_factor(const MultivariateDensities *t, Py_ssize_t k, const double *W,
                        const double *reciprocal, const double *z, double shrinkage,
                        double ratio) noexcept nogil
cdef double multivariate_costs_below(const MultivariateDensities *t, Py_ssize_t n_slots,
                                     const double *u, const double *log_weight, double limit,
                                     double *out) noexcept nogil
