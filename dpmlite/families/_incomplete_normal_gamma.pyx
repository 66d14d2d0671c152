"""Kernel of incomplete_normal_gamma.py: the family, from its statistics and scores."""

from libc.math cimport INFINITY, NAN, sqrt

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._rows cimport Row
from dpmlite.families._component cimport Component
from dpmlite.families._incomplete_normal_gamma_scores cimport (
    log_marginal, merged_log_marginal, score_without, weighted_score)
from dpmlite.families._incomplete_normal_gamma_statistics cimport (
    COUNT, MEAN, RATE, IncompleteStatistics)
from dpmlite.families._normal_gamma_prior cimport NormalGammaPrior
from dpmlite.families._slot_vectors cimport least_of
from dpmlite.families._student_t cimport Terms, sum_terms, term_bounds, term_costs

from dpmlite.core.statistics_checks import RATES, UNITS, WEIGHT, check_statistics


cdef class IncompleteNormalGamma(IncompleteStatistics):

    def __init__(self, m0, double c0, double a0, b0, double power=1.0):
        self.begin(NormalGammaPrior(m0, c0, a0, b0, power))

    @property
    def m0(self):
        return self.prior.m0

    @property
    def b0(self):
        return self.prior.b0

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if row.weight != 1.0:
            return Component.costs_below(self, row, log_weight, limit, out)
        if limit == INFINITY and 2 * self.n_slots <= self.n_columns + 2:  # faster one by one
            return Component.costs_below(self, row, log_weight, limit, out)
        self.read(row)
        if limit == INFINITY:
            term_costs(&self.all, self.capacity, self.n_slots, &self.u[0], self.n_columns,
                       log_weight, out)
            return least_of(out, self.n_slots, limit)
        term_bounds(&self.all, self.most_power, self.capacity, self.n_slots, &self.u[0],
                    self.n_columns, log_weight, out)
        return self.score_below(row, log_weight, limit, out)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef Terms terms = self.terms(k, False)
        self.read(row)
        if row.weight != 1.0:
            return weighted_score(self, row.weight, k)
        return sum_terms(&terms, &self.u[0], self.width, 1.0, 1.0)

    cdef double log_scale_of(self, const Row *row) noexcept nogil:
        cdef double total = 0.0
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            total += 0.0 if row.values[d] != row.values[d] else self.log_scales[d]
        return total

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight, score = NAN
        cdef Terms terms = self.terms(k, True)
        if 0.0 < left < MIN_KEPT_FRACTION * self.n[k]:
            return NAN
        self.read(row)
        if row.weight == 1.0:
            score = sum_terms(&terms, &self.u[0], self.width, -1.0, self.min_factor[k])
        return score if score == score else score_without(self, row.weight, k)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return log_marginal(self, k)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = merged_log_marginal(self, j, k)

    def with_power(self, double power):
        cdef IncompleteNormalGamma other = IncompleteNormalGamma.__new__(IncompleteNormalGamma)
        other.begin(self.prior.with_power(power))
        return other

    def posterior(self, Py_ssize_t k):
        n, *columns = self.statistics(k)
        d = self.n_columns
        counts, means, rates = columns[:d], columns[d:2 * d], columns[2 * d:]
        return {
            "n": n,
            "m": [m0 + sqrt(b0 / self.power) * m for m0, b0, m in zip(self.m0, self.b0, means)],
            "c": [self.power * (self.c0 + count) for count in counts],
            "a": [self.power * (self.a0 + 0.5 * count) for count in counts],
            "b": [b0 * b for b0, b in zip(self.b0, rates)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t d
        return [self.n[k]] + [self.statistic(k, which)[d] for which in (COUNT, MEAN, RATE)
                              for d in range(self.n_columns)]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d, n_columns = self.n_columns
        check_statistics(statistics, (WEIGHT, 1 + n_columns), (UNITS, n_columns), (RATES, n_columns))
        self.clear_slot(k)
        self.n[k] = statistics[0]
        for which in (COUNT, MEAN, RATE):
            for d in range(n_columns):
                self.statistic(k, which)[d] = statistics[1 + which * n_columns + d]
        self.refresh(k)
