"""Kernel of normal_gamma.py: the family, from its statistics, scores, sharing and marginals.

_student_t.pyx scores one row in many slots.
"""

from libc.math cimport sqrt

from dpmlite.core._rows cimport Row
from dpmlite.families._normal_gamma_marginals cimport log_marginal, merged_marginals
from dpmlite.families._normal_gamma_prior cimport NormalGammaPrior
from dpmlite.families._normal_gamma_scores cimport (
    heavy_costs, log_constant, score_batch, score_in_own_slot)
from dpmlite.families._normal_gamma_sharing cimport (
    end_rows, expected_scores, find_expectations, share_row)
from dpmlite.families._normal_gamma_statistics cimport NormalGammaStatistics
from dpmlite.families._slot_vectors cimport least_of
from dpmlite.families._student_t cimport log_factors, student_costs_below

from dpmlite.core.statistics_checks import RATES, UNITS, WEIGHT, check_statistics


cdef class NormalGamma(NormalGammaStatistics):

    def __cinit__(self):
        self.has_heavy_costs = True

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
        if row.weight == 1.0:
            return student_costs_below(&self.t, self.n_slots, row.values, log_weight, limit, out)
        heavy_costs(self, row, log_weight, out)
        return least_of(out, self.n_slots, limit)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        heavy_costs(self, row, log_weight, out)

    cdef double log_peak(self, Py_ssize_t k, double others, double weight) noexcept nogil:
        return log_constant(self, self.a0 + 0.5 * others, self.c0 + others, weight, self.log_b[k])

    cdef double least_kept(self, Py_ssize_t k) noexcept nogil:
        return self.kept[k]

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, c = self.c0 + self.n[k]
        if w == 1.0:
            return self.t.constant[k] - self.t.power[k] * log_factors(
                &self.t, row.values, k, 1.0, True)
        return (log_constant(self, self.a0 + 0.5 * self.n[k], c, w, self.log_b[k])
                - (self.t.power[k] - 0.5 + 0.5 * w) * log_factors(
                    &self.t, row.values, k, w * (c + 1.0) / (c + w), True))

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return score_in_own_slot(self, row, k, True)

    cdef void score_members(self, const Row *rows, const Py_ssize_t *slots, Py_ssize_t n,
                            double *out) noexcept nogil:
        score_batch(self, rows, slots, n, out)

    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return score_in_own_slot(self, row, k, False)

    cdef int expect(self) except -1:
        self.expect_values(2)
        find_expectations(self)
        return 0

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        expected_scores(self, row, out)

    cdef void share(self, const Row *row, const double *responsibilities) noexcept nogil:
        share_row(self, row, responsibilities)

    cdef void end_sharing(self) noexcept nogil:
        end_rows(self)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return log_marginal(self, k)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        merged_marginals(self, j, first, out)

    def with_power(self, double power):
        cdef NormalGamma other = NormalGamma.__new__(NormalGamma)
        other.begin(self.prior.with_power(power))
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k * self.n_along, k * self.n_along + self.n_columns)
        return {
            "n": self.n[k],
            "m": [m0 + sqrt(b0 / self.power) * self.m[i]
                  for m0, b0, i in zip(self.m0, self.b0, at)],
            "c": self.power * (self.c0 + self.n[k]),
            "a": self.power * (self.a0 + 0.5 * self.n[k]),
            "b": [b0 * self.b[i] for b0, i in zip(self.b0, at)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k * self.n_along, k * self.n_along + self.n_columns)
        return [self.n[k], *[self.m[i] for i in at], *[self.b[i] for i in at]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d, n_columns = self.n_columns
        check_statistics(statistics, (WEIGHT, 1), (UNITS, n_columns), (RATES, n_columns))
        self.n[k], self.kept[k] = statistics[0], 1.0
        for d in range(n_columns):
            self.m[k * self.n_along + d] = statistics[1 + d]
            self.b[k * self.n_along + d] = statistics[1 + n_columns + d]
        self.refresh(k)
