# Urns of words, one for each slot, and what it costs to draw a row from them.

from dpmlite.models._rows cimport Row
from dpmlite.models._special cimport clones_double, clones_void

cdef extern from *:
    """
    #define DPM_LEAST_URN 4.656612873077392578e-10  /* 2^-31, and its inverse: */
    #define DPM_LARGEST_URN 2147483648.0
    #define DPM_INTEGERS 6755399441055744.0         /* 1.5 2^52: a sum with it is whole */
    """
    double LEAST_URN "DPM_LEAST_URN"
    double LARGEST_URN "DPM_LARGEST_URN"
    double INTEGERS "DPM_INTEGERS"

cdef struct Urns:
    Py_ssize_t n_words, capacity
    double total, largest_beta  # B, the sum of beta; the largest of them
    const double *beta          # [word]
    const double *count         # [word][slot]
    const double *size          # [slot] N, the number of words
    const double *growth        # [n] log of Gamma(beta + n) / Gamma(beta); NULL if betas differ
    double *product             # [slot] scratch: factors of a score,
    double *exponent            # and the exponent split off them


cdef growths(double beta)
cdef clones_double score_one(const Urns *u, const Row *row, Py_ssize_t k, bint without,
                             double *n_words) noexcept nogil
cdef clones_void marginals_by_growth(const Urns *u, Py_ssize_t n_slots, Py_ssize_t j,
                                     Py_ssize_t first, double *out) noexcept nogil
cdef void urn_costs(const Urns *u, Py_ssize_t n_slots, const Row *row, const double *log_weight,
                    double *out) noexcept nogil
