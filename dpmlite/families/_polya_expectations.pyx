"""Expected log probabilities of words, and of rows of counts."""

from dpmlite.core._rows cimport column_of
from dpmlite.core._special cimport digamma_c
from dpmlite.families._slot_vectors cimport padded


cdef void expected_logs(const PolyaTerms *u, Py_ssize_t n_slots, double *out) noexcept nogil:
    """E[log theta_w] = psi(beta_w + n_w) - psi(B + N), [word][slot]."""
    cdef double *common = u.product  # scores write it anew
    cdef Py_ssize_t w, k
    for k in range(n_slots):
        common[k] = digamma_c(u.total + u.size[k])
    for w in range(u.n_words):
        for k in range(n_slots):
            out[k] = digamma_c(u.beta[w] + u.count[w * u.capacity + k]) - common[k]
        out += u.capacity


cdef clones_void expected_word_scores(const double *expected, Py_ssize_t capacity,
                                      Py_ssize_t n_slots, const Row *row,
                                      double *out) noexcept nogil:
    """Expected log density of a row in every slot, from what expected_logs wrote."""
    cdef const double *mean
    cdef double x
    cdef Py_ssize_t i, k, end = padded(n_slots)
    for k in range(end):
        out[k] = 0.0
    for i in range(row.n_values):
        x = row.values[i] * row.weight
        if x != 0.0:
            mean = expected + column_of(row, i) * capacity
            for k in range(end):
                out[k] += x * mean[k]
