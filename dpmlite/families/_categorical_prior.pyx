"""The prior of every level of every column, which components of the same prior share."""

from array import array

from dpmlite.core._memory cimport index_array
from dpmlite.core._simd cimport padded_columns

from dpmlite.core.checks import check_levels, check_power


cdef class CategoricalPrior:

    def __init__(self, beta0, double power):
        check_levels("beta0", beta0)
        check_power(power)
        cdef Py_ssize_t d
        self.power, self.by_power = power, {}
        self.beta0 = [array("d", column).tolist() for column in beta0]
        self.n_columns = len(self.beta0)
        levels = [b for column in self.beta0 for b in column]
        self.n_levels, self.n_lines = len(levels), len(levels) + self.n_columns
        self.width = padded_columns(self.n_lines)
        spare = self.width - self.n_lines
        self.beta = array("d", levels + [sum(column) for column in self.beta0] + [1.0] * spare)
        self.sign = array(
            "d", [1.0] * self.n_levels + [-1.0] * self.n_columns + [0.0] * spare)
        self.last_level = array("d", [len(column) - 1.0 for column in self.beta0])
        self.first_line = index_array(self.n_columns + 1)
        for d in range(self.n_columns):
            self.first_line[d + 1] = self.first_line[d] + len(self.beta0[d])

    cdef CategoricalPrior with_power(self, double power):
        """Return the same prior with another power; trials ask for few, again and again."""
        if power == self.power:
            return self
        if power not in self.by_power:
            self.by_power[power] = CategoricalPrior(self.beta0, power)
        return self.by_power[power]
