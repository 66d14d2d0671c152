"""Kernel of minimise.py: L-BFGS with lower bounds."""

from libc.math cimport fabs
from libc.string cimport memmove

from dpmlite.core._constants cimport (
    MAX_CHANGE, MAX_DESCENT_STEPS, MAX_HALVINGS, MIN_CURVATURE, MIN_FALL, N_REMEMBERED,
    SUFFICIENT_FALL)
from dpmlite.core._memory cimport double_array
from dpmlite.core._simd cimport larger, smaller


def minimise(objective, double[::1] x, const double[::1] lower):
    if lower.shape[0] != x.shape[0]:
        raise ValueError(f"lower must have the length of x, {x.shape[0]}, got {lower.shape[0]}")
    cdef Descent descent = Descent(objective, x, lower)
    descent.run()
    x[:] = descent.x
    return descent.value


cdef class Descent:
    """A point, with the function and its gradient there, and the curvature on the way to it.

    `changes` and `turns` hold the last changes of the variables and of the gradient, the oldest
    first.
    """

    cdef object objective
    cdef const double[::1] lower
    cdef double[::1] x, gradient, new_x, new_gradient, direction
    cdef double[::1] changes, turns
    cdef double value, new_value
    cdef Py_ssize_t n, n_remembered

    def __init__(self, objective, const double[::1] x, const double[::1] lower):
        cdef Py_ssize_t i
        self.objective, self.lower, self.n = objective, lower, x.shape[0]
        self.x, self.gradient = double_array(self.n), double_array(self.n)
        self.new_x, self.new_gradient = double_array(self.n), double_array(self.n)
        self.direction = double_array(self.n)
        self.changes = double_array(N_REMEMBERED * self.n)
        self.turns = double_array(N_REMEMBERED * self.n)
        self.n_remembered = 0
        for i in range(self.n):
            self.x[i] = larger(x[i], lower[i])
        self.value = objective(self.x, self.gradient)

    cdef void run(self) except *:
        """Go down until a step lowers the function by little, or none does."""
        cdef double fall
        cdef Py_ssize_t step
        for step in range(MAX_DESCENT_STEPS):
            self.set_direction()
            if not self.finds_lower_point():
                if self.n_remembered == 0:
                    break
                self.n_remembered = 0  # the remembered curvature misleads: go down the gradient
                continue
            self.remember()
            fall = self.value - self.new_value
            self.value = self.new_value
            self.x, self.new_x = self.new_x, self.x
            self.gradient, self.new_gradient = self.new_gradient, self.gradient
            if fall < MIN_FALL:
                break

    cdef void set_direction(self) noexcept:
        """Minus the gradient times the approximate inverse of the Hessian: the two-loop recursion.

        Variables that stay at their bounds are left out.
        """
        cdef double part[N_REMEMBERED]
        cdef double *q = &self.direction[0]
        cdef double *change
        cdef double *turn
        cdef double scale
        cdef Py_ssize_t i, m
        for i in range(self.n):
            q[i] = self.gradient[i] if self.is_free(i) else 0.0
        for m in range(self.n_remembered - 1, -1, -1):
            change, turn = &self.changes[m * self.n], &self.turns[m * self.n]
            part[m] = dot(change, q, self.n) / dot(change, turn, self.n)
            add_multiple_of(q, turn, -part[m], self.n)
        scale = self.first_scale()
        for i in range(self.n):
            q[i] *= scale
        for m in range(self.n_remembered):
            change, turn = &self.changes[m * self.n], &self.turns[m * self.n]
            part[m] -= dot(turn, q, self.n) / dot(change, turn, self.n)
            add_multiple_of(q, change, part[m], self.n)
        for i in range(self.n):
            q[i] = -q[i] if self.is_free(i) else 0.0

    cdef bint is_free(self, Py_ssize_t i) noexcept:
        return self.x[i] > self.lower[i] or self.gradient[i] < 0.0

    cdef double first_scale(self) noexcept:
        """The multiple of the identity from which the inverse of the Hessian is approximated."""
        cdef double *change
        cdef double *turn
        if self.n_remembered:
            change = &self.changes[(self.n_remembered - 1) * self.n]
            turn = &self.turns[(self.n_remembered - 1) * self.n]
            return dot(change, turn, self.n) / dot(turn, turn, self.n)
        return 1.0 / larger(1.0, greatest(self.direction))

    cdef bint finds_lower_point(self) except -1:
        """Look along the direction for a point where the function is enough lower."""
        cdef double longest = greatest(self.direction), promised
        cdef double size = smaller(1.0, MAX_CHANGE / longest) if longest > 0.0 else 1.0
        cdef Py_ssize_t i, halving
        for halving in range(MAX_HALVINGS):
            promised = 0.0
            for i in range(self.n):
                self.new_x[i] = larger(self.x[i] + size * self.direction[i], self.lower[i])
                promised += self.gradient[i] * (self.x[i] - self.new_x[i])
            if promised > 0.0:
                self.new_value = self.objective(self.new_x, self.new_gradient)
                if self.new_value <= self.value - SUFFICIENT_FALL * promised:
                    return True
            size *= 0.5
        return False

    cdef void remember(self) noexcept:
        """Keep the change to the new point if the curvature along it is positive."""
        cdef Py_ssize_t i, at = self.n_remembered * self.n
        cdef double curvature = 0.0, square = 0.0, change, turn
        for i in range(self.n):
            change, turn = self.new_x[i] - self.x[i], self.new_gradient[i] - self.gradient[i]
            curvature += change * turn
            square += turn * turn
        if not curvature > MIN_CURVATURE * square:
            return
        if self.n_remembered == N_REMEMBERED:
            at -= self.n
            memmove(&self.changes[0], &self.changes[self.n], at * sizeof(double))
            memmove(&self.turns[0], &self.turns[self.n], at * sizeof(double))
        else:
            self.n_remembered += 1
        for i in range(self.n):
            self.changes[at + i] = self.new_x[i] - self.x[i]
            self.turns[at + i] = self.new_gradient[i] - self.gradient[i]


cdef double dot(const double *x, const double *y, Py_ssize_t n) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        total += x[i] * y[i]
    return total


cdef void add_multiple_of(double *x, const double *y, double factor, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        x[i] += factor * y[i]


cdef double greatest(const double[::1] x) noexcept nogil:
    """The greatest absolute value."""
    cdef double most = 0.0
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        most = larger(most, fabs(x[i]))
    return most
