# Multivariate Student-t densities of one row in every slot, ready to be scored.

cdef extern from *:
    """
    #define DPM_LOG_PI 1.144729885849400174143
    """
    double LOG_PI "DPM_LOG_PI"

cdef struct Densities:
    Py_ssize_t n_columns
    Py_ssize_t stride        # slots that memory is there for
    double *power            # [slot] (nu + 1) / 2
    double *constant         # [slot] log density at the mean
    double *shift            # [column][slot] sqrt(t) = slope u - shift, t summed over columns
    double *slope            # [row][column][slot] packed lower triangle


cdef double log_peak_c(Py_ssize_t n_columns, double kappa, double nu, double log_det,
                       double weight) noexcept nogil
cdef void spread(const Densities *t, Py_ssize_t k, const double *W, const double *reciprocal,
                 const double *z, double shrinkage, double ratio) noexcept nogil
cdef double costs_below(const Densities *t, Py_ssize_t n_slots, const double *u,
                        const double *log_weight, double limit, double *out) noexcept nogil
