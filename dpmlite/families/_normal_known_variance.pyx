"""Kernel of normal_known_variance.py.

With f = 1 + n r and m the posterior mean, a row costs

    -log p(u | cluster) = sum_d (u slope - shift)^2 - constant,  slope^2 = f(n) / (2 f(n + 1)),

and shift = m slope: two fused multiply-adds for a slot and column. Slopes and shifts lie
[column][slot], so that one vector instruction serves many clusters. A member is scored without
taking it out: with m the mean of all rows, the posterior without w of them has

    (u - m')^2 f(n - w) / f(n) = (u - m)^2 f(n) / f(n - w).
"""

from array import array

from libc.math cimport INFINITY, NAN, fabs, log, sqrt

from dpmlite.core._constants cimport LOG_2PI, ROUNDING_MARGIN
from dpmlite.core._rows cimport Row, Rows
from dpmlite.core._simd cimport larger
from dpmlite.families._component cimport Component
from dpmlite.families._normal_known_variance_scores cimport (
    costs_in_all_slots, log_constant, log_evidence, merged_marginals, scaled_distance, score_new)
from dpmlite.families._normal_known_variance_statistics cimport (
    KnownVarianceStatistics, can_lose, log_ratio, standardise)
from dpmlite.families._slot_vectors cimport least_of

from dpmlite.core.checks import check_positive, check_same_length, require_bound
from dpmlite.core.statistics_checks import SIGMAS, SPREAD, WEIGHT, check_statistics


cdef class NormalKnownVariance(KnownVarianceStatistics):
    cdef double[::1] low, high     # ends of the columns that `bound_over` was given, in units

    def __cinit__(self):
        self.has_heavy_bounds = True

    def __init__(self, m0, sigma2, tau2):
        for name, values in (("sigma2", sigma2), ("tau2", tau2)):
            check_same_length("m0", m0, name, values)
            check_positive(name, values)
        Component.__init__(self, len(m0))
        self.m0 = array("d", m0).tolist()
        self.sigma2 = array("d", sigma2).tolist()
        self.tau2 = array("d", tau2).tolist()
        self.origin = array("d", self.m0)
        self.unit = array("d", [1.0 / sqrt(s) for s in self.sigma2])
        self.ratio = array("d", [t / s for t, s in zip(self.tau2, self.sigma2)])
        self.log_scale = sum([0.5 * log(s) for s in self.sigma2])
        self.low, self.high = self.origin[:0], self.origin[:0]
        self.start(5 + 3 * self.n_columns, self.n_columns)

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if row.weight != 1.0:
            return Component.costs_below(self, row, log_weight, limit, out)
        if costs_in_all_slots(self, row.values, log_weight, limit, out) == 0:
            return limit
        return least_of(out, self.n_slots, limit)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        """Bound costs by the squares of a row of weight 1, and determinants that do not grow.

        f(n + 1) / f(n + w) is between 1 and (n + 1) / (n + w).
        """
        cdef double w = row.weight, square, part, fixed
        cdef Py_ssize_t k
        costs_in_all_slots(self, row.values, log_weight, INFINITY, out)
        for k in range(self.n_slots):
            if log_weight[k] == -INFINITY:
                continue
            square = larger(out[k] + log_weight[k] + self.constant[k], 0.0)
            part = w * min((self.n[k] + 1.0) / (self.n[k] + w), 1.0)
            fixed = w * (0.5 * self.n_columns * LOG_2PI + self.log_scale) - log_weight[k]
            out[k] = fixed + part * square - ROUNDING_MARGIN * (
                w * self.n_columns + fabs(fixed) + part * (
                square + fabs(log_weight[k]) + fabs(self.constant[k])))

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, n = self.n[k]
        return (self.constant[k] if w == 1.0 else log_constant(self, n, w)) - 0.5 * w * (
            scaled_distance(self, row, k, n + w))

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, left = self.n[k] - w, spread = 0.0, kept = 1.0, constant
        if left <= 0.0:
            return score_new(self, row)
        if not can_lose(self, row, k, &spread, &kept):
            return NAN
        constant = self.member_constant[k] if w == 1.0 else log_constant(self, left, w)
        return constant - 0.5 * w * scaled_distance(self, row, k, left)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        cdef double n = self.n[k], total = self.spread[k]
        cdef const double *mean = self.mean + k * self.n_columns
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            total += n * mean[d] * mean[d] / (1.0 + n * self.ratio[d])
        return log_evidence(self, n, log_ratio(self, 0.0, n) + total)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        merged_marginals(self, j, first, out)

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        cdef double n = self.n[k], w = row.weight, loss = 0.0, u, r, away, pull, left
        cdef const double *mean = self.mean + k * self.n_columns
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            u = standardise(row.values[d], self.origin[d], self.unit[d])
            r = self.ratio[d]
            away = n * r * mean[d] - (1.0 + n * r) * u
            pull = more * r * (u - self.low[d] if away > 0.0 else self.high[d] - u)
            left = larger((away if away > 0.0 else -away) - larger(pull, 0.0), 0.0)
            loss += left * left / ((1.0 + (n + more) * r) * (1.0 + (n + more + w) * r))
        return log_constant(self, n + more, w) - 0.5 * w * loss

    def bound_over(self, Rows X):
        cdef Py_ssize_t d, i
        cdef Row row
        cdef double u
        self.low = array("d", [INFINITY] * self.n_columns)
        self.high = array("d", [-INFINITY] * self.n_columns)
        for i in range(X.n_rows):
            row = X.row(i)
            for d in range(self.n_columns):
                u = standardise(row.values[d], self.origin[d], self.unit[d])
                self.low[d] = min(self.low[d], u)
                self.high[d] = max(self.high[d], u)

    def log_bound(self, const double[::1] row, Py_ssize_t k, double more, double weight=1.0):
        require_bound(self.low.shape[0] == self.n_columns)
        return Component.log_bound(self, row, k, more, weight)

    def like(self):
        cdef NormalKnownVariance other = NormalKnownVariance.__new__(NormalKnownVariance)
        other.n_columns, other.log_scale = self.n_columns, self.log_scale
        other.m0, other.sigma2, other.tau2 = self.m0, self.sigma2, self.tau2
        other.origin, other.unit, other.ratio = self.origin, self.unit, self.ratio
        other.low, other.high = self.low, self.high
        other.start(self.n_across, self.n_along)
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        cdef double n = self.n[k]
        cdef const double *mean = self.mean + k * self.n_columns
        f = [1.0 + n * r for r in self.ratio]
        return {
            "n": n,
            "m": [self.m0[d] + n * self.ratio[d] * mean[d] / (f[d] * self.unit[d])
                  for d in range(self.n_columns)],
            "tau2": [tau2 / f_d for tau2, f_d in zip(self.tau2, f)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        cdef const double *mean = self.mean + k * self.n_columns
        return [self.n[k], *[mean[d] for d in range(self.n_columns)], self.spread[k]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d
        check_statistics(statistics, (WEIGHT, 1), (SIGMAS, self.n_columns), (SPREAD, 1))
        self.n[k], self.kept[k] = statistics[0], 1.0
        for d in range(self.n_columns):
            self.mean[k * self.n_columns + d] = statistics[1 + d]
        self.spread[k] = statistics[1 + self.n_columns]
        self.refresh(k)
