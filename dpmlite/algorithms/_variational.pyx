"""Kernel of variational.py: mean-field variational inference.

A pass over the rows renews the responsibilities, the next puts the rows into all components at once.
Buffers of one value per component are padded to whole vectors.
"""

from array import array

from libc.math cimport INFINITY, log

from dpmlite.core._constants cimport LARGER, LEAST_LOG
from dpmlite.algorithms._mixing cimport Mixing
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport Row, Rows
from dpmlite.core._simd cimport LANES, clones_double, exp_above, larger, sum_of
from dpmlite.families._slot_vectors cimport padded
from dpmlite.families._soft_component cimport SoftComponent

from dpmlite.core._rows import as_rows


def absorb(X, SoftComponent component, Mixing mixing, double[:, ::1] responsibilities):
    cdef Rows rows = as_rows(X)
    component._check_rows(rows)
    mixing.check_shape(rows, responsibilities)
    cdef double[::1] shares = double_array(padded(mixing.n_components))
    cdef double entropy = 0.0, r
    cdef Py_ssize_t i, k
    with nogil:
        mixing.observe_all(rows, responsibilities)
        component.make_slots(mixing.n_components)
        share_all(rows, component, responsibilities, shares)
        for i in range(rows.n_rows):
            for k in range(mixing.n_components):
                r = responsibilities[i, k]
                entropy -= r * log(r) if r > 0.0 else 0.0
        entropy += variational_evidence(component, mixing)
    return entropy


def step(X, SoftComponent component, Mixing mixing, double[:, ::1] responsibilities, bint reorder):
    cdef Rows rows = as_rows(X)
    component._check_rows(rows)
    mixing.check_shape(rows, responsibilities)
    if component.n_slots != mixing.n_components:
        raise ValueError(f"component must have {mixing.n_components} slots, "
                         f"got {component.n_slots}")
    cdef double[::1] scores = double_array(padded(mixing.n_components))
    cdef double entropy
    component.expect()
    with nogil:
        entropy = renew_responsibilities(rows, component, mixing, responsibilities, scores)
        mixing.observe_all(rows, responsibilities)
    if reorder and mixing.ordered:
        put_in_order(rows, mixing, responsibilities)
    with nogil:
        share_all(rows, component, responsibilities, scores)
        entropy += variational_evidence(component, mixing)
    return entropy


cdef double renew_responsibilities(Rows rows, SoftComponent component, Mixing mixing,
                                   double[:, ::1] responsibilities, double[::1] scores) noexcept nogil:
    """New responsibilities of every row; returns their entropy."""
    cdef double entropy = 0.0, times
    cdef double *shares
    cdef const double *prior = &mixing.log_weight[0]
    cdef Py_ssize_t i, k
    cdef Row row
    mixing.weigh(1.0)
    for i in range(rows.n_rows):
        shares, row = &responsibilities[i, 0], rows.row(i)
        if mixing.depends:
            mixing.take(shares, row.weight, -1.0)
            mixing.weigh(row.weight)
        times = 1.0 if mixing.depends else row.weight
        component.expected_scores(&row, &scores[0])
        for k in range(mixing.n_components):
            scores[k] += times * prior[k]
        entropy += normalise(&scores[0], mixing.n_components, shares)
        if mixing.depends:
            mixing.take(shares, row.weight, 1.0)
    return entropy


cdef clones_double normalise(double *scores, Py_ssize_t n, double *out) noexcept nogil:
    """Probabilities from their logarithms, up to a constant; returns their entropy.

    `scores` has room for whole vectors.
    """
    cdef double lane[LANES]
    cdef double mean[LANES]
    cdef double most = -INFINITY, s, part, whole
    cdef Py_ssize_t first = 0, k
    cdef int j
    for k in range(n):
        most = scores[k] if scores[k] > most else most
    for k in range(n, padded(n)):
        scores[k] = most + 2.0 * LEAST_LOG
    for j in range(LANES):
        lane[j] = mean[j] = 0.0
    while first < n:
        for j in range(LANES):
            s = scores[first + j] - most
            part = exp_above(LEAST_LOG, s)
            scores[first + j] = part
            lane[j] += part
            mean[j] += part * larger(s, LEAST_LOG)
        first += LANES
    whole = sum_of(lane)
    for k in range(n):
        out[k] = scores[k] / whole
    return log(whole) - sum_of(mean) / whole


cdef void share_all(Rows rows, SoftComponent component, const double[:, ::1] responsibilities,
                    double[::1] shares) noexcept nogil:
    """Slot k gets of each row the part r_ik; `shares` is scratch."""
    cdef Py_ssize_t i, k, n = component.n_slots
    cdef Row row
    shares[:] = 0.0
    component.begin_sharing()
    for i in range(rows.n_rows):
        for k in range(n):
            shares[k] = responsibilities[i, k]
        row = rows.row(i)
        component.share(&row, &shares[0])
    component.end_sharing()


cdef double variational_evidence(SoftComponent component, Mixing mixing) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t k
    for k in range(component.n_slots):
        total += component.marginal(k)
    return total + mixing.evidence()


cdef int put_in_order(Rows rows, Mixing mixing, double[:, ::1] responsibilities) except -1:
    order = largest_first(mixing.counts, LARGER * sum(mixing.counts))
    if order == sorted(order):
        return 0
    cdef double before = mixing.evidence()
    permute(responsibilities, order)
    mixing.observe_all(rows, responsibilities)
    if mixing.evidence() < before:
        permute(responsibilities, sorted(order, key=order.__getitem__))
        mixing.observe_all(rows, responsibilities)
    return 0


cdef list largest_first(list counts, double margin):
    cdef list order = []
    for k in range(len(counts)):
        at = k
        while at > 0 and counts[k] > counts[order[at - 1]] + margin:
            at -= 1
        order.insert(at, k)
    return order


cdef int permute(double[:, ::1] responsibilities, list order) except -1:
    cdef Py_ssize_t i, k, n = len(order)
    cdef Py_ssize_t[::1] source = array(
        "q" if sizeof(Py_ssize_t) == 8 else "i", order)
    cdef double[::1] moved = double_array(n)
    for i in range(responsibilities.shape[0]):
        for k in range(n):
            moved[k] = responsibilities[i, source[k]]
        for k in range(n):
            responsibilities[i, k] = moved[k]
    return 0
