from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_double, clones_void

cdef struct PolyaTerms:
    Py_ssize_t n_words, capacity
    double total, largest_beta  # B, the sum of beta; the largest of them
    const double *beta          # [word]
    const double *count         # [word][slot]
    const double *size          # [slot] N, the number of words
    const double *log_rising    # [n] log of Gamma(beta + n) / Gamma(beta); NULL if betas differ
    double *product             # [slot] scratch: factors of a score,
    double *exponent            # and the exponent split off them

cdef clones_double score_one(const PolyaTerms *u, const Row *row, Py_ssize_t k, bint without,
                             double *n_words) noexcept nogil
cdef log_rising_table(double beta)
cdef clones_void marginals_by_table(const PolyaTerms *u, Py_ssize_t n_slots, Py_ssize_t j,
                                    Py_ssize_t first, double *out) noexcept nogil
cdef clones_void marginals_by_words(const PolyaTerms *u, Py_ssize_t n_slots, const Row *row,
                                    const double *marginal, Py_ssize_t first,
                                    double *out) noexcept nogil
cdef clones_void add_log_rising(double beta, double drawn, double x, const double *count,
                                double sign, Py_ssize_t first, Py_ssize_t end,
                                double *out) noexcept nogil
cdef void polya_costs(const PolyaTerms *u, Py_ssize_t n_slots, const Row *row,
                      const double *log_weight, double *out) noexcept nogil
