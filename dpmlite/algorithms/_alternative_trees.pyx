"""Kernel of alternative_trees.py: what relocations of branches add to the lower bound."""

from libc.math cimport INFINITY, log

from dpmlite.core._memory cimport double_array
from dpmlite.core._special cimport log_gamma_c, log_rising_c
from dpmlite.families._component cimport Component

from dpmlite.algorithms._trees import check_tree


def log_increments(Component component, const Py_ssize_t[:, ::1] children,
                   const double[::1] log_e, double alpha, double[:, ::1] out):
    cdef Py_ssize_t n = children.shape[0] + 1, k, one, other, side, moved, left
    check_tree(children, n)
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha}")
    if component.n_slots != 2 * n:
        raise ValueError(f"component must have {2 * n} slots, got {component.n_slots}")
    if log_e.shape[0] != 2 * n - 1:
        raise ValueError(f"log_e must have {2 * n - 1} values, got {log_e.shape[0]}")
    if out.shape[0] != n - 1 or out.shape[1] != 2:
        raise ValueError(f"out must have shape ({n - 1}, 2)")
    cdef double[::1] outside = double_array(2 * n - 1)
    cdef double log_alpha = log(alpha)
    outside[2 * n - 2] = -log_rising_c(alpha, component.n[2 * n - 2])
    with nogil:
        component.make_slots(2 * n + 1)
        for k in range(2 * n - 2, n - 1, -1):
            one, other = children[k - n, 0], children[k - n, 1]
            outside[one], outside[other] = outside[k] + log_e[other], outside[k] + log_e[one]
            for side in range(2):
                out[k - n, side] = -INFINITY
                if other >= n:
                    moved, left = children[other - n, side], children[other - n, 1 - side]
                    out[k - n, side] = (outside[k] + log_e[left] + log_alpha
                                        + log_f(component, moved, one))
        component.make_slots(2 * n)


cdef double log_f(Component component, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Log of Gamma(n) p(D | H_1) of the rows of two nodes; the last two slots are scratch."""
    cdef Py_ssize_t spare = component.n_slots - 1
    component.copy_slot(spare - 1, component, i)
    component.copy_slot(spare, component, j)
    component.merge_slots(spare, spare - 1)
    cdef double total = log_gamma_c(component.n[spare]) + component.marginal(spare)
    component.clear_slot(spare)
    return total
