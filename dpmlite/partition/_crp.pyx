"""Kernel of crp.py: the Chinese restaurant process."""

from array import array

from libc.math cimport log, log1p

from dpmlite.core._memory cimport double_array
from dpmlite.core._special cimport log_gamma_c, log_rising_c

from dpmlite.core.checks import check_discount, check_power


cdef double log_prob_counts_c(const double *counts, Py_ssize_t n_counts, double alpha,
                              double power, double discount) noexcept nogil:
    """Log of eq. (1); counts of 0 are those of empty slots."""
    cdef double total = 0.0, n = 0.0
    cdef Py_ssize_t i, k = 0
    for i in range(n_counts):
        if counts[i] > 0.0:
            total += (log(alpha * power + k * discount)
                      + log_gamma_c(power * counts[i] - discount))
            n += counts[i]
            k += 1
    if discount > 0.0:
        total -= k * log_gamma_c(1.0 - discount)
    return total - log_rising_c(alpha, power * n)


def log_prob_counts(counts, double alpha, double power=1.0, double discount=0.0):
    require_positive_alpha(alpha)
    check_power(power)
    check_discount(discount, power)
    cdef double[::1] sizes = array("d", counts)
    for count in counts:
        if not count > discount:
            raise ValueError(f"counts must be {above(discount)}, got {count}")
    return log_prob_counts_c(&sizes[0] if len(counts) else NULL, len(counts), alpha,
                             power, discount)


def log_prob(labels, double alpha, double discount=0.0):
    counts = {}
    for label in labels:
        counts[label] = counts.get(label, 0.0) + 1.0
    return log_prob_counts(list(counts.values()), alpha, discount=discount)


def predictive(counts, double alpha, double discount=0.0):
    require_positive_alpha(alpha)
    check_discount(discount)
    cdef double total = sum(counts) + alpha
    return [(n - discount) / total for n in counts] + [(alpha + len(counts) * discount) / total]


def sample(const double[::1] uniforms, double alpha, double discount=0.0):
    require_positive_alpha(alpha)
    check_discount(discount)
    cdef Py_ssize_t i, k, n_clusters = 0, n = uniforms.shape[0]
    cdef double rest
    cdef double[::1] counts = double_array(n)
    labels = []
    for i in range(n):
        rest, k = uniforms[i] * (i + alpha), 0
        while k < n_clusters and rest >= counts[k] - discount:
            rest -= counts[k] - discount
            k += 1
        n_clusters = max(n_clusters, k + 1)
        counts[k] += 1.0
        labels.append(k)
    return labels


def stick_breaking(const double[::1] uniforms, double alpha):
    require_positive_alpha(alpha)
    cdef double left = 1.0, rest
    cdef Py_ssize_t i
    weights = []
    for i in range(uniforms.shape[0]):
        rest = left * (1.0 - uniforms[i]) ** (1.0 / alpha)
        weights.append(left - rest)
        left = rest
    return weights


def log_best_completion(double n_largest, double n_left, double alpha):
    require_positive_alpha(alpha)
    if not n_largest > 0.0:
        raise ValueError(f"x must be positive, got {n_largest}")
    if not n_left >= 0.0:
        raise ValueError(f"n must not be negative, got {n_left}")
    return log_best_completion_c(n_largest, n_left, log(alpha))


cdef double log_best_completion_c(double n_largest, double n_left,
                                  double log_alpha) noexcept nogil:
    """Log of the larger of Gamma(n + R) / Gamma(n) and alpha^R."""
    cdef double joined = log_rising_c(n_largest, n_left)
    return joined if joined > n_left * log_alpha else n_left * log_alpha


def log_prob_multiplicities(multiplicities, double alpha):
    require_positive_alpha(alpha)
    cdef double total = 0.0
    cdef Py_ssize_t size, m, n_rows = 0
    for size, m in multiplicities.items():
        require_multiplicity(size, m)
        n_rows += size * m
        total += m * (log(alpha) - log(<double> size)) - log_gamma_c(m + 1.0)
    return total + log_gamma_c(n_rows + 1.0) - log_rising_c(alpha, n_rows)


def log_best_growth(double n_largest, double n_left, double log_new):
    return log_best_growth_c(n_largest, n_left, log_new)


cdef double log_best_growth_c(double n_largest, double n_left, double log_new) noexcept nogil:
    """Log of the larger of n / (n + R) and exp(log_new); 0 if no row is left."""
    cdef double joined = -log1p(n_left / n_largest)
    if n_left == 0.0:
        return 0.0
    return joined if joined > log_new else log_new


def log_best_sizes(Py_ssize_t n_rows, double alpha):
    require_positive_alpha(alpha)
    cdef double total = 0.0
    cdef Py_ssize_t size, m
    for size in range(1, min(n_rows, <Py_ssize_t> min(alpha, 9e15)) + 1):
        m = <Py_ssize_t> (alpha / size)
        total += m * log(alpha / size) - log_gamma_c(m + 1.0)
    return total if alpha >= 1.0 else log(alpha)


class GreedyCompletion:

    def __init__(self, alpha):
        require_positive_alpha(alpha)
        self.alpha = alpha
        self._known = {}

    def complete(self, multiplicities, n_left):
        if n_left < 0:
            raise ValueError(f"n_left must not be negative, got {n_left}")
        for size, count in multiplicities.items():
            require_multiplicity(size, count)
        key = tuple(sorted(multiplicities.items())), n_left
        if key not in self._known:
            self._known[key] = greedily_completed(dict(key[0]), n_left, self.alpha)
        return dict(self._known[key])


cdef dict greedily_completed(dict m, Py_ssize_t n_left, double alpha):
    cdef Py_ssize_t size, best, largest
    while n_left:
        largest = max(m, default=0)
        if only_the_largest_grows(m, largest, alpha):
            grow(m, largest, largest + n_left)
            break
        best = 0
        for size in sorted(m):
            if factor(m, size, alpha) > factor(m, best, alpha):
                best = size
        grow(m, best, best + 1)
        n_left -= 1
    return m


cdef double factor(dict m, Py_ssize_t size, double alpha):
    cdef double others = m.get(size + 1, 0) + 1
    return alpha / others if size == 0 else size * <double> m[size] / ((size + 1) * others)


cdef bint only_the_largest_grows(dict m, Py_ssize_t largest, double alpha):
    if largest == 0 or m[largest] > 1:
        return False
    others = dict(m)
    del others[largest]
    cdef double least = factor(m, largest, alpha)
    for size in (0, *others):
        if not factor(others, size, alpha) < least:
            return False
    return True


cdef int grow(dict m, Py_ssize_t size, Py_ssize_t grown) except -1:
    if size:
        m[size] -= 1
        if not m[size]:
            del m[size]
    m[grown] = m.get(grown, 0) + 1
    return 0


cdef int require_multiplicity(Py_ssize_t size, Py_ssize_t count) except -1:
    if size < 1:
        raise ValueError(f"sizes must be positive, got {size}")
    if count < 1:
        raise ValueError(f"multiplicities must be positive, got {count}")
    return 0


cdef above(double discount):
    return f"above the discount, {discount}" if discount > 0.0 else "positive"


cdef int require_positive_alpha(double alpha) except -1:
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha}")
    return 0
