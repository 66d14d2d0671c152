"""Kernel of prediction.py: prediction for new rows, leave-one-out likelihood of old ones."""

from array import array

from libc.math cimport INFINITY, exp, log

from dpmlite.models._component cimport Component, padded
from dpmlite.models._crp cimport log_prob_counts_c
from dpmlite.models._partition cimport TIE, UNPLACED, Partition


cdef class Mixture:
    """The terms of eq. (17) for one row after another."""

    cdef Component component
    cdef double[::1] log_weight, cost  # per slot
    cdef Py_ssize_t n_slots

    def __init__(self, Component component, double alpha, Py_ssize_t n_columns):
        if n_columns != component.n_columns:
            raise ValueError(f"row must have {component.n_columns} values, got {n_columns}")
        self.component = component
        self.n_slots = component.n_slots
        self.log_weight = array("d", [-INFINITY] * padded(self.n_slots))
        self.cost = array("d", self.log_weight)
        cdef double n, log_total = log(alpha + sum(component.counts))
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            n = component.n[k]
            self.log_weight[k] = log(n if n > 0.0 else alpha) - log_total

    cdef double score(self, const double *row) noexcept nogil:
        """cost[k] = -log of the term of slot k; returns the least."""
        return self.component.costs_below(row, &self.log_weight[0], INFINITY, &self.cost[0])


def log_density(const double[:, ::1] X, Component component, double alpha, double[::1] out):
    cdef Mixture mixture = Mixture(component, alpha, X.shape[1])
    check_out(out.shape[0], X.shape[0])
    cdef Py_ssize_t i, k
    cdef double least, total
    with nogil:
        for i in range(X.shape[0]):
            least, total = mixture.score(&X[i, 0]), 0.0
            for k in range(mixture.n_slots):
                total += exp(least - mixture.cost[k])
            out[i] = log(total) - least


def assign(const double[:, ::1] X, Component component, double alpha, Py_ssize_t[::1] out):
    cdef Mixture mixture = Mixture(component, alpha, X.shape[1])
    check_out(out.shape[0], X.shape[0])
    cdef Py_ssize_t i, k
    cdef double least
    with nogil:
        for i in range(X.shape[0]):
            least, k = mixture.score(&X[i, 0]), 0
            while mixture.cost[k] > least + TIE:
                k += 1
            out[i] = k if component.n[k] > 0.0 else UNPLACED


def responsibilities(const double[:, ::1] X, Component component, double alpha,
                     double[:, ::1] out):
    cdef Mixture mixture = Mixture(component, alpha, X.shape[1])
    check_out(out.shape[0], X.shape[0])
    if out.shape[1] != mixture.n_slots:
        raise ValueError(f"out must have {mixture.n_slots} columns, got {out.shape[1]}")
    cdef Py_ssize_t i, k
    cdef double least, total
    with nogil:
        for i in range(X.shape[0]):
            least, total = mixture.score(&X[i, 0]), 0.0
            for k in range(mixture.n_slots):
                out[i, k] = exp(least - mixture.cost[k])
                total += out[i, k]
            for k in range(mixture.n_slots):
                out[i, k] /= total


cdef int check_out(Py_ssize_t n_out, Py_ssize_t n_rows) except -1:
    if n_out != n_rows:
        raise ValueError(f"out must be for {n_rows} rows, got {n_out}")
    return 0


def neg_log_loo(Partition partition):
    cdef Component component = partition.component
    if partition.n_placed < partition.n_rows:
        raise ValueError("every row must have a label")
    cdef double total = -log_prob_counts_c(component.n, component.n_slots, partition.alpha)
    cdef Py_ssize_t i
    with nogil:
        for i in range(partition.n_rows):
            total += partition.stay_cost(i) + partition.member_log_weight[partition.label[i]]
    return total
