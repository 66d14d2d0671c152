"""Kernel of normal_inverse_wishart.py: the family, from its statistics and their merging.

A member is scored without taking it out: w rows less multiply det Psi by
1 - q kappa w / (kappa - w).
_multivariate_t.pyx scores a row in all slots.
"""

from array import array

from libc.math cimport INFINITY, NAN, fabs, log
from libc.string cimport memcpy

from dpmlite.core._constants cimport LOG_2, LOG_PI, MERGING_SLACK, MIN_KEPT_FRACTION, ROUNDING_MARGIN
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport larger, log2_floor
from dpmlite.core._triangular cimport add_square
from dpmlite.families._component cimport Component
from dpmlite.families._multivariate_t cimport multivariate_costs_below
from dpmlite.families._normal_inverse_wishart_gaps cimport has_missing, score_known_cells
from dpmlite.families._normal_inverse_wishart_merging cimport (
    log_det_bounds, log_det_merged, merge_into)
from dpmlite.families._normal_inverse_wishart_sharing cimport (
    expected_scores, find_expectations, share_row)
from dpmlite.families._normal_inverse_wishart_statistics cimport (
    N_CACHED_COUNTS, WishartStatistics, distance, log_peak_in_data, marginal_peak, part_left,
    whiten_row)
from dpmlite.families._whitening cimport restore_c, restore_square, whitening_columns

from dpmlite.core.checks import check_normal_inverse_wishart, check_power
from dpmlite.core.statistics_checks import FACTOR, PIVOT, SCATTER, UNITS, WEIGHT, check_statistics


cdef class NormalInverseWishart(WishartStatistics):

    def __cinit__(self):
        self.has_scratch = self.has_heavy_bounds = self.has_merging_bounds = True

    def __init__(self, m0, double kappa0, double nu0, psi0, double power=1.0):
        check_normal_inverse_wishart(m0, kappa0, nu0, psi0)
        check_power(power)
        self.m0 = array("d", m0).tolist()
        self.psi0 = [array("d", row).tolist() for row in psi0]
        self.given_kappa0, self.given_nu0, self.power = kappa0, nu0, power
        self.origin = array("d", self.m0)
        self.whitening = whitening_columns([[p / power for p in row] for row in self.psi0])
        self.peaks = array("d", [NAN]) * (N_CACHED_COUNTS if power != 1.0 else 0)
        self.marginal_peaks = array("d", [NAN]) * N_CACHED_COUNTS
        self.by_power = {}
        self.begin()

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        merge_into(self, self.slot(j), self.n[j], self.slot(k), self.n[k])
        self.n[j] += self.n[k]
        self.refresh(j)
        self.clear_slot(k)

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if has_missing(row.values, self.n_columns):
            return Component.costs_below(self, row, log_weight, limit, out)
        whiten_row(self, row.values)
        if row.weight == 1.0:
            return multivariate_costs_below(&self.t, self.n_slots, self.u, log_weight, limit, out)
        return Component.costs_below(self, row, log_weight, limit, out)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        """Bound costs by the square of a row of weight 1, and by the largest factor of Gamma_D.

        With h = w / 2 and x = w / kappa, Gamma(y + h) / Gamma(y) <= (y + h)^h and
        log(1 + x) >= 2 x / (2 + x); and log(1 + g t) >= g log(1 + t) for g < 1. With a power p, y
        and h are p times as large.
        """
        cdef double w = row.weight, D = self.n_columns, kappa, nu, log_square, growth, fixed
        cdef double p = self.power
        cdef Py_ssize_t k
        multivariate_costs_below(&self.t, self.n_slots, self.u, log_weight, INFINITY, out)
        for k in range(self.n_slots):
            if log_weight[k] == -INFINITY:
                continue
            kappa, nu = self.kappa0 + self.n[k], self.nu0 + self.n[k]
            log_square = larger(
                (out[k] + log_weight[k] + self.t.constant[k]) / self.t.power[k], 0.0)
            growth = w / (2.0 * kappa + w) / p + 0.5 * w * (LOG_PI - log(0.5 * p * (nu + w)))
            fixed = D * growth + w * (0.5 * self.log_det[k] + self.log_scale) - log_weight[k]
            out[k] = fixed + 0.5 * (nu + w) * min(w * (kappa + 1.0) / (kappa + w), 1.0) * log_square
            out[k] -= ROUNDING_MARGIN * (fabs(fixed) + (nu + w) * (
                D + fabs(log_weight[k]) + fabs(self.t.constant[k])))

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        if has_missing(row.values, self.n_columns):
            return score_known_cells(self, row.values, k, row.weight)
        whiten_row(self, row.values)
        return score(self, k, row.weight)

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return score_in_own_slot(self, row, k, True)

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

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return log_evidence(self, self.n[k], self.log_det[k])

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = self.marginal_merged(j, k)

    cdef void merging_bounds(self, Py_ssize_t j, double *out) noexcept nogil:
        cdef Py_ssize_t k
        log_det_bounds(self, j, out)
        for k in range(self.n_slots):
            out[k] = log_evidence(self, self.n[j] + self.n[k], out[k])
            out[k] += MERGING_SLACK * (1.0 + fabs(out[k]))

    cdef double marginal_merged(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        return log_evidence(self, self.n[j] + self.n[k], log_det_merged(
            self, self.slot(j), self.n[j], self.slot(k), self.n[k]))

    def like(self):
        cdef NormalInverseWishart other = NormalInverseWishart.__new__(NormalInverseWishart)
        other.m0, other.psi0, other.power = self.m0, self.psi0, self.power
        other.given_kappa0, other.given_nu0 = self.given_kappa0, self.given_nu0
        other.origin, other.whitening = self.origin, self.whitening
        other.peaks, other.marginal_peaks = self.peaks, self.marginal_peaks
        other.by_power = self.by_power
        other.begin()
        return other

    def with_power(self, double power):
        if power not in self.by_power:  # trials ask for few powers, again and again
            self.by_power[power] = NormalInverseWishart(
                self.m0, self.given_kappa0, self.given_nu0, self.psi0, power)
        return self.by_power[power].like()

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t i, j, D = self.n_columns, width = self.width
        cdef double kappa = self.kappa0 + self.n[k]
        cdef double *slot = self.slot(k)
        cdef double *psi = self.matrix
        memcpy(psi, slot + self.at_scatter, D * width * sizeof(double))
        add_square(psi, slot, self.kappa0 * self.n[k] / kappa, D)
        for i in range(D):
            psi[i * width + i] += 1.0
            for j in range(i + 1):
                psi[j * width + i] *= self.power
            for j in range(i):
                psi[i * width + j] = psi[j * width + i]
            self.spare[i] = slot[i] * self.n[k] / kappa
        restore_c(&self.units, self.spare)
        restore_square(&self.units, psi, self.z)
        return {
            "n": self.n[k],
            "m": [self.origin[i] + self.spare[i] for i in range(D)],
            "kappa": self.power * kappa,
            "nu": self.power * (self.nu0 + self.n[k]),
            "psi": [[psi[j * width + i] for j in range(D)] for i in range(D)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        cdef double *slot = self.slot(k)
        return [self.n[k], *[slot[at] for at in self.places()]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t at, D = self.n_columns, n_below = D * (D - 1) // 2
        check_statistics(
            statistics,
            (WEIGHT, 1),
            (UNITS, D),
            (PIVOT, D),
            (SCATTER, n_below + D),
            (FACTOR, n_below),
        )
        cdef double *slot = self.slot(k)
        self.clear_slot(k)
        values = iter(statistics)
        self.n[k] = next(values)
        for at, value in zip(self.places(), values, strict=True):
            slot[at] = value
        self.refresh(k)

    cdef list places(self):
        """Return where a slot has its statistics: mean, d, scatter and W, triangles row by row."""
        D, width = self.n_columns, self.width
        return [
            *range(D),
            *range(self.at_d, self.at_d + D),
            *[self.at_scatter + j * width + i for i in range(D) for j in range(i + 1)],
            *[self.at_W + j * width + i for i in range(D) for j in range(i)],
        ]


cdef double log_evidence(NormalInverseWishart self, double n, double log_det) noexcept nogil:
    """log p(n rows | theta_0) from det Psi."""
    return marginal_peak(self, n) - 0.5 * (self.nu0 + n) * log_det


cdef double score(NormalInverseWishart self, Py_ssize_t k, double w) noexcept nogil:
    """log p(w rows u | rows of slot k)."""
    cdef double kappa = self.kappa0 + self.n[k], nu = self.nu0 + self.n[k]
    cdef double constant = self.t.constant[k]
    if w != 1.0:
        constant = log_peak_in_data(self, kappa, nu, self.log_det[k], w)
    return constant - 0.5 * (nu + w) * log(1.0 + kappa * w / (kappa + w) * distance(self, k))


cdef double score_new(NormalInverseWishart self, double w) noexcept nogil:
    """log p(w rows u | theta_0)."""
    cdef double square = 0.0
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        square += self.u[d] * self.u[d]
    return (log_peak_in_data(self, self.kappa0, self.nu0, 0.0, w)
            - 0.5 * (self.nu0 + w) * log(1.0 + self.kappa0 * w / (self.kappa0 + w) * square))


cdef double score_in_own_slot(NormalInverseWishart self, const Row *row, Py_ssize_t k,
                              bint exact) noexcept nogil:
    cdef double w = row.weight, left = self.n[k] - w, kappa = self.kappa0 + self.n[k]
    cdef double rest, constant = self.member_constant[k]
    whiten_row(self, row.values)
    if left <= 0.0:
        return score_new(self, w)
    rest = part_left(self, k, w)
    if rest != rest:
        return NAN
    if w != 1.0:
        constant = log_peak_in_data(self, kappa - w, self.nu0 + left, self.log_det[k], w)
    return constant + 0.5 * (self.nu0 + left) * (log(rest) if exact else LOG_2 * log2_floor(rest))
