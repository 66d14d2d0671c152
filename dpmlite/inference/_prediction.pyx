"""Kernel of prediction.py: prediction for new rows, leave-one-out likelihood of old ones."""

from array import array

from libc.math cimport INFINITY, exp, log

from dpmlite.inference._map_dpm cimport check_n_threads
from dpmlite.models._component cimport Component, padded
from dpmlite.models._crp cimport log_prob_counts_c
from dpmlite.models._partition cimport TIE, UNPLACED, Partition
from dpmlite.models._rows cimport Row, Rows

from dpmlite._threads import on_threads
from dpmlite.models._rows import as_rows


cdef class Mixture:
    """The terms of eq. (17) for one row after another."""

    cdef Rows X
    cdef Component component
    cdef double[::1] log_weight, cost  # per slot
    cdef Py_ssize_t n_rows, n_slots

    def __init__(self, X, Component component, log_weights, Py_ssize_t n_out):
        self.X = as_rows(X)
        self.n_rows = self.X.n_rows
        if n_out != self.n_rows:
            raise ValueError(f"out must be for {self.n_rows} rows, got {n_out}")
        component._check_rows(self.X)
        if len(log_weights) != component.n_slots:
            raise ValueError(
                f"log_weights must have {component.n_slots} values, got {len(log_weights)}")
        self.component = component
        self.n_slots = component.n_slots
        self.log_weight = array("d", [-INFINITY] * padded(self.n_slots))
        self.cost = array("d", self.log_weight)
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            self.log_weight[k] = log_weights[k]

    cdef double score(self, Py_ssize_t i) noexcept nogil:
        """cost[k] = -log of the term of slot k for row i; returns the least."""
        return self.score_into(i, &self.cost[0], self.X.memory)

    cdef double score_into(self, Py_ssize_t i, double *cost, double *room) noexcept nogil:
        cdef Row row = self.X.row_into(i, room)
        return self.component.costs_below(&row, &self.log_weight[0], INFINITY, cost)

    cdef int assign_part(self, Py_ssize_t part, Py_ssize_t n_parts,
                         Py_ssize_t[::1] out) except -1:
        cdef double[::1] cost = array("d", self.cost), room = array("d", bytes(8 * (self.X.n_columns + 1)))
        cdef Py_ssize_t i, k
        cdef double least
        with nogil:
            for i in range(part * self.n_rows // n_parts, (part + 1) * self.n_rows // n_parts):
                least, k = self.score_into(i, &cost[0], &room[0]), 0
                while cost[k] > least + TIE:
                    k += 1
                out[i] = k if self.component.n[k] > 0.0 else UNPLACED
        return 0


def log_density(X, Component component, double alpha, double[::1] out):
    log_mixture_density(X, component, log_weights(component, alpha), out)


def log_weights(Component component, double alpha):
    cdef double n, log_total = log(alpha + sum(component.counts))
    return [log(n if n > 0.0 else alpha) - log_total for n in component.counts]


def log_mixture_density(X, Component component, log_weights, double[::1] out):
    cdef Mixture mixture = Mixture(X, component, log_weights, out.shape[0])
    cdef Py_ssize_t i, k
    cdef double least, total
    with nogil:
        for i in range(mixture.n_rows):
            least, total = mixture.score(i), 0.0
            for k in range(mixture.n_slots):
                total += exp(least - mixture.cost[k])
            out[i] = log(total) - least


def assign(X, Component component, double alpha, Py_ssize_t[::1] out, Py_ssize_t n_threads=1):
    check_n_threads(n_threads)
    cdef Mixture mixture = Mixture(X, component, log_weights(component, alpha), out.shape[0])

    def part(Py_ssize_t i):
        mixture.assign_part(i, n_threads, out)

    on_threads(part, range(n_threads), n_threads)


def responsibilities(X, Component component, double alpha, double[:, ::1] out):
    mixture_responsibilities(X, component, log_weights(component, alpha), out)


def mixture_responsibilities(X, Component component, log_weights, double[:, ::1] out):
    cdef Mixture mixture = Mixture(X, component, log_weights, out.shape[0])
    if out.shape[1] != mixture.n_slots:
        raise ValueError(f"out must have {mixture.n_slots} columns, got {out.shape[1]}")
    cdef Py_ssize_t i, k
    cdef double least, total
    with nogil:
        for i in range(mixture.n_rows):
            least, total = mixture.score(i), 0.0
            for k in range(mixture.n_slots):
                out[i, k] = exp(least - mixture.cost[k])
                total += out[i, k]
            for k in range(mixture.n_slots):
                out[i, k] /= total


def neg_log_loo(Partition partition):
    cdef Component component = partition.component
    check_placed(partition)
    cdef double total = -log_prob_counts_c(component.n, component.n_slots, partition.alpha)
    cdef Py_ssize_t i
    with nogil:
        for i in range(partition.n_rows):
            total += partition.stay_cost(i) + partition.member_weight(i, partition.row_weight(i))
    return total


def own_costs(Partition partition, double[::1] out):
    cdef Py_ssize_t i
    check_placed(partition)
    if out.shape[0] != partition.n_rows:
        raise ValueError(f"out must be for {partition.n_rows} rows, got {out.shape[0]}")
    with nogil:
        for i in range(partition.n_rows):
            out[i] = partition.stay_cost(i)


cdef int check_placed(Partition partition) except -1:
    if UNPLACED in partition.labels:
        raise ValueError("every row must have a label")
    return 0
