"""Kernel of mixing.py: priors of the labels of a mixture, and their posteriors."""

from libc.math cimport log

from dpmlite.core._constants cimport PADDING_LOG_WEIGHT
from dpmlite.core._memory cimport double_array
from dpmlite.core._simd cimport clones_void, inlined_double, larger, log_positive
from dpmlite.core._special cimport digamma_c, log_gamma_c, log_rising_c, trigamma_c
from dpmlite.families._slot_vectors cimport padded


cdef class Mixing:

    def __init__(self, double alpha, Py_ssize_t n_components):
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {alpha}")
        if n_components < 1:
            raise ValueError(f"n_components must be at least 1, got {n_components}")
        self.alpha, self.n_components = alpha, n_components
        cdef Py_ssize_t n = padded(n_components)
        self.mean, self.variance = double_array(n), double_array(n)
        self.tail, self.tail_variance = double_array(n), double_array(n)
        self.scratch, self.tail_logs = double_array(n), double_array(n)
        self.log_weight = double_array(n)
        self.log_weight[n_components:] = PADDING_LOG_WEIGHT

    # What a prior of the labels overrides.

    cdef void clear(self) noexcept nogil:
        """Forget all rows."""
        self.mean[:] = 0.0
        self.variance[:] = 0.0
        self.tail[:] = 0.0
        self.tail_variance[:] = 0.0

    cdef void add(self, const double *r_i, double weight, double sign) noexcept nogil:
        """Add a row with these responsibilities (`sign` 1), or remove it (-1)."""
        cdef Py_ssize_t k
        for k in range(self.n_components):
            self.mean[k] += sign * weight * r_i[k]

    cdef void finish(self) noexcept nogil:
        """Complete the moments after all rows were added."""
        pass

    cdef void weigh(self, double weight) noexcept nogil:
        """Set log_weight for a row of this weight; of weight 1 if labels are independent."""
        pass

    cdef double evidence(self) noexcept nogil:
        """Mean of log p(z), less the divergence of the posterior of the v_k from their prior."""
        return 0.0

    cdef void observe_all(self, Rows rows, const double[:, ::1] responsibilities) noexcept nogil:
        """Set the posterior to the best one for responsibilities of the right shape."""
        cdef Py_ssize_t i
        self.clear()
        for i in range(rows.n_rows):
            self.add(&responsibilities[i, 0], rows.weight_of(i), 1.0)
        self.finish()

    cdef int check_shape(self, Rows rows, const double[:, ::1] responsibilities) except -1:
        cdef Py_ssize_t n_columns = self.n_components
        if responsibilities.shape[0]:
            n_columns = responsibilities.shape[1]
        shape = (rows.n_rows, self.n_components)
        given = (responsibilities.shape[0], n_columns)
        if given != shape:
            raise ValueError(f"responsibilities must have shape {shape}, got {given}")
        return 0

    # What Python calls.

    @property
    def counts(self):
        return list(self.mean[:self.n_components])

    def observe(self, Rows rows, const double[:, ::1] responsibilities):
        self.check_shape(rows, responsibilities)
        self.observe_all(rows, responsibilities)

    def leave(self, const double[::1] r_i, double weight=1.0):
        if self.labels_depend:
            self.add(&r_i[0], weight, -1.0)

    def join(self, const double[::1] r_i, double weight=1.0):
        if self.labels_depend:
            self.add(&r_i[0], weight, 1.0)

    def log_weights(self, double weight=1.0):
        self.weigh(weight)
        factor = 1.0 if self.labels_depend else weight
        return [factor * log_weight for log_weight in self.log_weight[:self.n_components]]

    def log_evidence(self):
        return self.evidence()

    def means(self):
        raise NotImplementedError


cdef class Sticks(Mixing):

    def __cinit__(self):
        self.ordered = True

    cdef void finish(self) noexcept nogil:
        tails_of(&self.mean[0], self.n_components, &self.tail[0])

    cdef void weigh(self, double weight) noexcept nogil:
        cdef double before = 0.0, common, n, tail
        cdef Py_ssize_t k, last = self.n_components - 1
        for k in range(last):
            n, tail = self.mean[k], self.tail[k]
            common = digamma_c(1.0 + self.alpha + n + tail)
            self.log_weight[k] = before + digamma_c(1.0 + n) - common
            before += digamma_c(self.alpha + tail) - common
        self.log_weight[last] = before

    cdef double evidence(self) noexcept nogil:
        cdef double total = 0.0, rest = self.mean[0] + self.tail[0], rest_variance = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_components - 1):
            total += (log_break(self.alpha, self.mean[k], self.tail[k])
                      + curvature_of(1.0 + self.mean[k], self.variance[k])
                      + curvature_of(self.alpha + self.tail[k], self.tail_variance[k])
                      - curvature_of(1.0 + self.alpha + rest, rest_variance))
            rest, rest_variance = self.tail[k], self.tail_variance[k]
        return total

    def means(self):
        cdef double left = 1.0, mean_v
        cdef Py_ssize_t k
        means = []
        for k in range(self.n_components - 1):
            mean_v = (1.0 + self.mean[k]) / (1.0 + self.alpha + self.mean[k] + self.tail[k])
            means.append(left * mean_v)
            left *= 1.0 - mean_v
        return [*means, left]


cdef class CollapsedSticks(Sticks):

    def __cinit__(self):
        self.labels_depend = True

    cdef void add(self, const double *r_i, double weight, double sign) noexcept nogil:
        cdef double *tails = &self.scratch[0]
        tails_of(r_i, self.n_components, tails)
        add_to_moments(r_i, weight, sign, self.n_components, &self.mean[0], &self.variance[0])
        add_to_moments(
            tails, weight, sign, self.n_components, &self.tail[0], &self.tail_variance[0])

    cdef void finish(self) noexcept nogil:
        pass

    cdef void weigh(self, double weight) noexcept nogil:
        cdef double before = 0.0, rest = self.mean[0] + self.tail[0]
        cdef double common = mean_log_rising_c(1.0 + self.alpha + rest, 0.0, weight)
        cdef Py_ssize_t k, last = self.n_components - 1
        cdef const double *tail = &self.tail[0]
        cdef const double *variance = &self.tail_variance[0]
        mean_logs(&self.mean[0], &self.variance[0], 1.0, weight, last, &self.log_weight[0])
        mean_logs(tail, variance, self.alpha, weight, last, &self.scratch[0])
        mean_logs(tail, variance, 1.0 + self.alpha, weight, last, &self.tail_logs[0])
        for k in range(last):
            self.log_weight[k] += before - common
            before += self.scratch[k] - common
            common = self.tail_logs[k]
        self.log_weight[last] = before


cdef class CollapsedDirichlet(Mixing):

    def __cinit__(self):
        self.labels_depend = True

    cdef void add(self, const double *r_i, double weight, double sign) noexcept nogil:
        add_to_moments(r_i, weight, sign, self.n_components, &self.mean[0], &self.variance[0])

    cdef void weigh(self, double weight) noexcept nogil:
        mean_logs(&self.mean[0], &self.variance[0], self.alpha / self.n_components, weight,
                  self.n_components, &self.log_weight[0])

    cdef double evidence(self) noexcept nogil:
        cdef double part = self.alpha / self.n_components, n = 0.0, total = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_components):
            n += self.mean[k]
            total += (log_rising_c(part, self.mean[k])
                      + curvature_of(part + self.mean[k], self.variance[k]))
        return total - log_rising_c(self.alpha, n)

    def means(self):
        cdef double part = self.alpha / self.n_components
        cdef list counts = self.counts
        total = self.alpha + sum(counts)
        return [(part + n) / total for n in counts]


def mean_log_rising(double mean, double variance, double weight):
    return mean_log_rising_c(mean, variance, weight)


def unbroken_log_evidence(counts, double alpha):
    cdef double total = 0.0, tail = 0.0, n
    for n in sorted(counts):
        total += log_break(alpha, n, tail)
        tail += n
    return total


cdef inline inlined_double mean_log_c(double mean, double variance) noexcept nogil:
    """Mean of log x, to second order."""
    return log_positive(mean) - 0.5 * variance / (mean * mean)


cdef double mean_log_rising_c(double mean, double variance, double weight) noexcept nogil:
    if weight == 1.0:
        return mean_log_c(mean, variance)
    cdef double curvature = trigamma_c(mean + weight) - trigamma_c(mean)
    return log_rising_c(mean, weight) + 0.5 * curvature * variance


cdef double log_break(double alpha, double n, double tail) noexcept nogil:
    """Log of B(1 + n, alpha + tail) / B(1, alpha)."""
    return log(alpha) + log_gamma_c(1.0 + n) - log_rising_c(alpha + tail, 1.0 + n)


cdef double curvature_of(double mean, double variance) noexcept nogil:
    """What the variance of x adds to the mean of log Gamma(x), to second order."""
    return 0.5 * trigamma_c(mean) * variance if variance > 0.0 else 0.0


cdef void tails_of(const double *values, Py_ssize_t n_values, double *out) noexcept nogil:
    """Set out[k] to the sum of all values after value k."""
    cdef double total = 0.0
    cdef Py_ssize_t k = n_values
    while k > 0:
        k -= 1
        out[k] = total
        total += values[k]


cdef clones_void add_to_moments(const double *r_i, double weight, double sign, Py_ssize_t n,
                                double *mean, double *variance) noexcept nogil:
    """Add a row to the moments of the n_k, or remove it; they stay 0 or more."""
    cdef Py_ssize_t k
    cdef double r
    for k in range(n):
        r = r_i[k]
        mean[k] = larger(mean[k] + sign * weight * r, 0.0)
        variance[k] = larger(variance[k] + sign * weight * weight * r * (1.0 - r), 0.0)


cdef void mean_logs(const double *mean, const double *variance, double shift, double weight,
                    Py_ssize_t n, double *out) noexcept nogil:
    """Set out[k] to `mean_log_rising` of shift + n_k, from the moments of n_k."""
    cdef Py_ssize_t k
    if weight == 1.0:
        mean_logs_of_one(mean, variance, shift, n, out)
        return
    for k in range(n):
        out[k] = mean_log_rising_c(shift + mean[k], variance[k], weight)


cdef clones_void mean_logs_of_one(const double *mean, const double *variance, double shift,
                                  Py_ssize_t n, double *out) noexcept nogil:
    """Set out[k] to the mean of log(shift + n_k), in vectors."""
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = mean_log_c(shift + mean[k], variance[k])
