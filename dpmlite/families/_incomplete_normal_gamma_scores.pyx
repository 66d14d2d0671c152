"""Scores of heavy rows and members of incomplete normal-gamma clusters, and log marginals.

As in _normal_gamma_scores.pyx, a member is scored without taking it out. The predictive has the
power -(a + 1/2) of 1 + t, the member's predictive the power a - 1/2 of 1 - t (c + 1) / (c - 1).
"""

from libc.math cimport NAN

from dpmlite.core._constants cimport LOG_2PI
from dpmlite.core._simd cimport LANES, inlined_double, log_positive, sum_of
from dpmlite.core._special cimport log_rising_of_lane
from dpmlite.families._incomplete_normal_gamma_statistics cimport COUNT, MEAN, RATE, Column, without
from dpmlite.families._normal_gamma_prior cimport merged_rate
from dpmlite.families._student_t cimport log_student_t_c


cdef clones_double weighted_score(IncompleteStatistics self, double w,
                                  Py_ssize_t k) noexcept nogil:
    """Score of the row that was read, of any weight, LANES columns at a time."""
    cdef const double *n = self.statistic(k, COUNT)
    cdef const double *m = self.statistic(k, MEAN)
    cdef const double *b = self.statistic(k, RATE)
    cdef const double *u = &self.u[0]
    cdef const double *log_scale = &self.log_scales[0]
    cdef double total[LANES]
    cdef double half = 0.5 * w, power = self.power, c, a, e, term
    cdef Py_ssize_t column = 0, d
    cdef int i
    for i in range(LANES):
        total[i] = 0.0
    while column < self.width:
        for i in range(LANES):
            d = column + i
            c, a, e = self.c0 + n[d], self.a0 + 0.5 * n[d], u[d] - m[d]
            term = ((log_rising_of_lane(power * a, power * half)
                     - 0.5 * log_positive((c + w) / c)) / power
                    - half * (LOG_2PI + log_positive(b[d])) - w * log_scale[d]
                    - (a + half) * log_positive(1.0 + half * c * e * e / ((c + w) * b[d])))
            total[i] += term if u[d] == u[d] else 0.0
        column += LANES
    return sum_of(total)


cdef double score_without(IncompleteStatistics self, double w, Py_ssize_t k) noexcept nogil:
    """Score of the member that was read, column by column; NaN if rounding would show."""
    cdef double score = 0.0
    cdef Column left
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        if self.u[d] == self.u[d]:
            if not without(self, k, d, w, &left):
                return NAN
            score += log_student_t_c(self.u[d], left.m, self.c0 + left.n, left.b,
                                     self.a0 + 0.5 * left.n, w, self.power)
            score -= w * self.log_scales[d]
    return score


cdef clones_double log_marginal(IncompleteStatistics self, Py_ssize_t k) noexcept nogil:
    """Log marginal of slot k, LANES columns at a time."""
    cdef const double *n = self.statistic(k, COUNT)
    cdef const double *b = self.statistic(k, RATE)
    cdef const double *log_scale = &self.log_scales[0]
    cdef double total[LANES]
    cdef Py_ssize_t column = 0, d
    cdef int i
    for i in range(LANES):
        total[i] = 0.0
    while column < self.width:
        for i in range(LANES):
            d = column + i
            total[i] += log_evidence(self.c0, self.a0, log_scale[d], self.power, n[d], b[d])
        column += LANES
    return sum_of(total)


cdef clones_double merged_log_marginal(IncompleteStatistics self, Py_ssize_t j,
                                       Py_ssize_t k) noexcept nogil:
    """Log marginal of slots j and k together."""
    cdef const double *pj = self.statistic(j, COUNT)
    cdef const double *pk = self.statistic(k, COUNT)
    cdef const double *log_scale = &self.log_scales[0]
    cdef Py_ssize_t column = 0, d, m, b
    cdef double total[LANES]
    cdef double rate
    cdef int i
    for i in range(LANES):
        total[i] = 0.0
    while column < self.width:
        for i in range(LANES):
            d = column + i
            m, b = d + MEAN * self.width, d + RATE * self.width
            rate = merged_rate(self.c0, self.c0 + pj[d], self.c0 + pk[d], pj[m], pk[m],
                               pj[b], pk[b])
            total[i] += log_evidence(self.c0, self.a0, log_scale[d], self.power, pj[d] + pk[d],
                                     rate)
        column += LANES
    return sum_of(total)


cdef inline inlined_double log_evidence(double c0, double a0, double log_scale, double power,
                                        double n, double b) noexcept nogil:
    return ((log_rising_of_lane(power * a0, power * 0.5 * n)
             + 0.5 * log_positive(c0 / (c0 + n))) / power
            - (a0 + 0.5 * n) * log_positive(b) - n * (0.5 * LOG_2PI + log_scale))
