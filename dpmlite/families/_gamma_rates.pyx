"""What counts have in common, with and without an exposure: rates that are gamma distributed.

A cell is a count x in an exposure e, 1 if none is told. Families that inherit differ in what they
score rows by.
"""

from array import array

from libc.math cimport log
from libc.string cimport memset

from dpmlite.core._memory cimport double_array
from dpmlite.core._simd cimport (
    LANES, clones_double, larger, log_positive, padded_columns, smaller, sum_of)
from dpmlite.core._special cimport digamma_c, log_rising_c

from dpmlite.core.checks import check_positive, check_power, check_same_length

cdef enum:
    N_TABLED_COUNTS = 1024  # counts whose factorials are in a table


cdef class PoissonGammaPrior:

    def __init__(self, a0, b0, double power):
        check_same_length("a0", a0, "b0", b0)
        check_positive("a0", a0)
        check_positive("b0", b0)
        check_power(power)
        cdef Py_ssize_t x
        self.power, self.by_power = power, {}
        self.a0, self.b0 = array("d", a0).tolist(), array("d", b0).tolist()
        self.n_columns = len(self.a0)
        self.least_a0 = min(self.a0, default=1.0)
        self.width = padded_columns(self.n_columns)
        spare = self.width - self.n_columns
        self.a, self.b = array("d", self.a0 + [1.0] * spare), array("d", self.b0 + [1.0] * spare)
        self.log_factorial = double_array(N_TABLED_COUNTS)
        self.least_cost = double_array(N_TABLED_COUNTS)
        for x in range(N_TABLED_COUNTS):
            self.log_factorial[x] = log_rising_c(1.0, x)
            self.least_cost[x] = self.log_factorial[x] + x - x * log(max(x, 1))

    cdef PoissonGammaPrior with_power(self, double power):
        """Return the same prior with another power; trials ask for few, again and again."""
        if power == self.power:
            return self
        if power not in self.by_power:
            self.by_power[power] = PoissonGammaPrior(self.a0, self.b0, power)
        return self.by_power[power]


cdef class GammaRates(SoftComponent):

    @property
    def a0(self):
        return self.prior.a0

    @property
    def b0(self):
        return self.prior.b0

    cdef int begin(self, PoissonGammaPrior prior) except -1:
        """Set what follows from the prior, and allocate slots."""
        raise NotImplementedError

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        self.n[k], self.log_factorials[k], self.kept[k] = 0.0, 0.0, 1.0
        memset(self.along + k * self.n_along, 0, self.n_along * sizeof(double))
        self.refresh(k)

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef double *to = self.sums + j * self.n_along
        cdef const double *taken = self.sums + k * self.n_along
        cdef Py_ssize_t i
        for i in range(2 * self.prior.width):  # the cells lie after the sums
            to[i] += taken[i]
        self.log_factorials[j] += self.log_factorials[k]
        self.n[j] += self.n[k]
        self.kept[j] = smaller(self.kept[j], self.kept[k])
        self.refresh(j)
        self.clear_slot(k)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return log_marginal(self, k, k, 0.0)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = log_marginal(self, j, k, 1.0)

    cdef int expect(self) except -1:
        self.expect_values(1 + 2 * self.n_counts)
        find_expectations(self, &self.expected[0])
        return 0

    def with_power(self, double power):
        cdef GammaRates other = type(self).__new__(type(self))
        other.begin(self.prior.with_power(power))
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t at = k * self.n_along, d
        return {
            "n": self.n[k],
            "a": [self.prior.a[d] + self.power * self.sums[at + d] for d in range(self.n_counts)],
            "b": [self.prior.b[d] + self.power * self.cells[at + d] for d in range(self.n_counts)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k * self.n_along, k * self.n_along + self.n_counts)
        return [self.n[k], *[self.sums[i] for i in at], *[self.cells[i] for i in at],
                self.log_factorials[k]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d, at = k * self.n_along, D = self.n_counts
        self._check_statistics(statistics)
        self.n[k], self.kept[k] = statistics[0], 1.0
        for d in range(D):
            self.sums[at + d], self.cells[at + d] = statistics[1 + d], statistics[1 + D + d]
        self.log_factorials[k] = statistics[1 + 2 * D]
        self.refresh(k)


cdef double row_log_factorials(PoissonGammaPrior prior, const Row *row) noexcept nogil:
    """Sum of log x! of a row's cells."""
    cdef double total = 0.0, x
    cdef Py_ssize_t d
    for d in range(prior.n_columns):
        x = larger(row.values[d], 0.0)
        if x < N_TABLED_COUNTS and <double> (<int> x) == x:
            total += prior.log_factorial[<int> x]
        else:
            total += log_rising_c(1.0, x)
    return total


cdef double row_least_cost(PoissonGammaPrior prior, const Row *row) noexcept nogil:
    """Return a bound of a row's costs: a mixture over rates is at most the greatest density.

    That is where the rate is x, and costs lambda - x log(lambda) + log x!. Others count as 0.
    """
    cdef double total = 0.0, x
    cdef Py_ssize_t d
    for d in range(prior.n_columns):
        x = larger(row.values[d], 0.0)
        if x < N_TABLED_COUNTS and <double> (<int> x) == x:
            total += prior.least_cost[<int> x]
    return total


cdef clones_double log_marginal(GammaRates self, Py_ssize_t j, Py_ssize_t k,
                                double part) noexcept nogil:
    """Log marginal of the rows of slot j and, if `part` is 1 and not 0, of slot k."""
    cdef double[LANES] total
    cdef const double *sums = self.sums + j * self.n_along
    cdef const double *cells = self.cells + j * self.n_along
    cdef const double *other_sums = self.sums + k * self.n_along
    cdef const double *other_cells = self.cells + k * self.n_along
    cdef const double *a0
    cdef const double *b0
    cdef double power = self.power, s, n
    cdef Py_ssize_t first = 0, i
    for i in range(LANES):
        total[i] = 0.0
    while first < self.prior.width:
        a0, b0 = &self.prior.a[first], &self.prior.b[first]
        for i in range(LANES):
            s = power * (sums[first + i] + part * other_sums[first + i])
            n = power * (cells[first + i] + part * other_cells[first + i])
            total[i] += log_evidence(a0[i], b0[i], s, n)
        first += LANES
    # A padded column has no cell, and its rate is 1: it adds nothing.
    return sum_of(total) / power - (self.log_factorials[j] + part * self.log_factorials[k])


cdef void find_expectations(GammaRates self, double *out) noexcept nogil:
    """Write E[-sum of lambda] of every slot; then E[log lambda] and E[lambda] of every column."""
    cdef double *log_lambda = out + self.capacity
    cdef double *mean = log_lambda + self.n_counts * self.capacity
    cdef double a, b
    cdef Py_ssize_t d, k
    for k in range(self.capacity):
        out[k] = 0.0
    for d in range(self.n_counts):
        for k in range(self.n_slots):
            a = self.prior.a[d] + self.sums[k * self.n_along + d]
            b = self.prior.b[d] + self.cells[k * self.n_along + d]
            log_lambda[k] = digamma_c(a) - log_positive(b)
            mean[k] = a / b
            out[k] -= mean[k]
        log_lambda += self.capacity
        mean += self.capacity
