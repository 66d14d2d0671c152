"""Kernel of trees.py: statistics, clusters and predictive weights of a finished tree."""

from libc.math cimport exp, fabs, log, log1p

from dpmlite.core._constants cimport TIE, UNPLACED
from dpmlite.core._memory cimport index_array
from dpmlite.core._rows cimport Row, Rows
from dpmlite.families._component cimport Component

from dpmlite.algorithms.leaves import rows_of_leaves
from dpmlite.core._rows import as_rows


def hold(X, const Py_ssize_t[::1] leaves, Component component,
         const Py_ssize_t[:, ::1] children):
    cdef Rows rows = as_rows(X)
    component._check_rows(rows)
    cdef Py_ssize_t n_leaves = len(rows_of_leaves(leaves, rows.n_rows))
    check_tree(children, n_leaves)
    cdef Py_ssize_t n_nodes = 2 * n_leaves - 1, i, k
    cdef Row row
    with nogil:
        component.make_slots(0)
        component.make_slots(n_nodes + 1)
        for i in range(rows.n_rows):
            row = rows.row(i)
            component.add_row(&row, leaves[i])
        for k in range(n_leaves, n_nodes):
            component.copy_slot(k, component, children[k - n_leaves, 0])
            component.copy_slot(n_nodes, component, children[k - n_leaves, 1])
            component.merge_slots(k, n_nodes)


def cut(const Py_ssize_t[:, ::1] children, const double[::1] log_odds, Py_ssize_t[::1] labels):
    cdef Py_ssize_t n = labels.shape[0], n_clusters = 0, k
    check_tree(children, n)
    check_length("log_odds", log_odds.shape[0], n - 1)
    cdef Py_ssize_t[::1] cluster = index_array(2 * n - 1)
    cluster[:] = UNPLACED
    for k in range(2 * n - 2, -1, -1):
        if cluster[k] == UNPLACED and (k < n or log_odds[k - n] >= -TIE):
            cluster[k] = n_clusters
            n_clusters += 1
        if k >= n:
            cluster[children[k - n, 0]] = cluster[children[k - n, 1]] = cluster[k]
        else:
            labels[k] = cluster[k]
    return n_clusters


def log_node_weights(const Py_ssize_t[:, ::1] children, const double[::1] log_odds,
                     const double[::1] counts, double alpha, double[::1] out):
    cdef Py_ssize_t n = log_odds.shape[0] + 1, k
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha}")
    check_tree(children, n)
    check_length("counts", counts.shape[0], 2 * n - 1)
    check_length("out", out.shape[0], 2 * n)
    cdef double log_total = log(counts[2 * n - 2] + alpha), log_rest
    out[2 * n - 2] = 0.0
    for k in range(2 * n - 2, n - 1, -1):
        log_rest = out[k] - softplus(log_odds[k - n])
        out[children[k - n, 0]] = out[children[k - n, 1]] = log_rest
        out[k] -= softplus(-log_odds[k - n])
    for k in range(2 * n - 1):
        out[k] += log(counts[k]) - log_total
    out[2 * n - 1] = log(alpha) - log_total


def check_tree(const Py_ssize_t[:, ::1] children, Py_ssize_t n_leaves):
    check_length("children", children.shape[0], n_leaves - 1)
    cdef Py_ssize_t[::1] merged = index_array(2 * n_leaves)
    cdef Py_ssize_t i, c, k
    if children.shape[0] > 0 and children.shape[1] != 2:
        raise ValueError(f"children must be pairs, got {children.shape[1]} values")
    for i in range(children.shape[0]):
        for c in range(2):
            k = children[i, c]
            if not 0 <= k < n_leaves + i or merged[k]:
                raise ValueError(f"children must be nodes made before and not merged, got {k}")
            merged[k] = 1


def log_add(double x, double y):
    return log_add_c(x, y)


def softplus(double x):
    return log_add_c(x, 0.0)


cdef double log_add_c(double x, double y) noexcept nogil:
    return (x if x > y else y) + log1p(exp(-fabs(x - y)))


cdef int check_length(str name, Py_ssize_t n, Py_ssize_t length) except -1:
    if n != length:
        raise ValueError(f"{name} must have {length} values, got {n}")
    return 0
