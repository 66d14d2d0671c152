"""The prior of every level of every column, which components of the same prior share."""

from array import array

from dpmlite.core._memory cimport index_array
from dpmlite.core._simd cimport clones_void, padded_columns

from dpmlite.core.checks import check_levels, check_power


cdef class CategoricalPrior:

    def __init__(self, beta0, double power):
        check_levels("beta0", beta0)
        check_power(power)
        cdef Py_ssize_t d, D = len(beta0)
        self.power, self.by_power = power, {}
        self.beta0 = [array("d", column).tolist() for column in beta0]
        self.n_columns, self.starts = D, index_array(D + 1)
        for d in range(D):
            self.starts[d + 1] = self.starts[d] + len(self.beta0[d])
        self.n_levels, self.n_lines = self.starts[D], self.starts[D] + D
        self.width = padded_columns(self.n_lines + 1)
        spare = self.width - self.n_lines
        levels = [b for column in self.beta0 for b in column]
        self.beta = array("d", levels + [sum(column) for column in self.beta0] + [1.0] * spare)
        self.sign = array("d", [1.0] * self.n_levels + [-1.0] * D + [0.0] * spare)
        self.unseen = self.beta.copy()
        score_lines(&self.unseen[0], self.width, power)
        self.unseen[self.n_lines:] = 0.0
        self.columns = array("d", [self.starts[d] for d in range(D)]
                             + [len(column) - 1.0 for column in self.beta0]
                             + [self.n_levels + d for d in range(D)])
        self.lines.first = &self.columns[0]
        self.lines.last, self.lines.missing = self.lines.first + D, self.lines.first + 2 * D
        self.lines.nothing = self.n_lines

    cdef CategoricalPrior with_power(self, double power):
        """Return the same prior with another power; trials ask for few, again and again."""
        if power == self.power:
            return self
        if power not in self.by_power:
            self.by_power[power] = CategoricalPrior(self.beta0, power)
        return self.by_power[power]


cdef clones_void score_lines(double *x, Py_ssize_t n, double power) noexcept nogil:
    """Turn the betas of n lines, in whole vectors, into scores of lines without cells."""
    cdef Py_ssize_t first = 0
    while first < n:
        score_counts(x + first, LANES, power)
        first += LANES
