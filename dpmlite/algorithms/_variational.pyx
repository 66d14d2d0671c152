"""Kernel of variational.py: mean-field variational inference.

A pass over the rows updates the responsibilities; the next adds each row to all components at once.
Arrays of one value per component are padded to whole vectors.
"""

from array import array

from libc.math cimport INFINITY, log

from dpmlite.algorithms._mixing cimport Mixing
from dpmlite.core._constants cimport MIN_EXCESS_FRACTION, MIN_EXP_ARGUMENT
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport Row, Rows
from dpmlite.core._simd cimport LANES, clones_double, exp_above, larger, sum_of
from dpmlite.families._component cimport Component
from dpmlite.families._slot_vectors cimport padded
from dpmlite.families._soft_component cimport SoftComponent

from dpmlite.core._rows import as_rows


def absorb(X, Component component, Mixing mixing, double[:, ::1] responsibilities):
    component._check_expectations()
    cdef SoftComponent soft = component
    cdef Rows rows = as_rows(X)
    component._check_rows(rows)
    mixing.check_shape(rows, responsibilities)
    cdef double[::1] room = double_array(padded(mixing.n_components))
    cdef double entropy = 0.0, r
    cdef Py_ssize_t i, k
    with nogil:
        mixing.observe_all(rows, responsibilities)
        soft.make_slots(mixing.n_components)
        add_weighted(rows, soft, responsibilities, room)
        for i in range(rows.n_rows):
            for k in range(mixing.n_components):
                r = responsibilities[i, k]
                entropy -= r * log(r) if r > 0.0 else 0.0
        entropy += evidence_without_entropy(soft, mixing)
    return entropy


def step(X, Component component, Mixing mixing, double[:, ::1] responsibilities, bint reorder):
    component._check_expectations()
    cdef SoftComponent soft = component
    cdef Rows rows = as_rows(X)
    component._check_rows(rows)
    mixing.check_shape(rows, responsibilities)
    if component.n_slots != mixing.n_components:
        raise ValueError(f"component must have {mixing.n_components} slots, "
                         f"got {component.n_slots}")
    cdef double[::1] scores = double_array(padded(mixing.n_components))
    cdef double entropy
    soft.expect()
    with nogil:
        entropy = update_responsibilities(rows, soft, mixing, responsibilities, scores)
        mixing.observe_all(rows, responsibilities)
    if reorder and mixing.ordered:
        reorder_components(rows, mixing, responsibilities)
    with nogil:
        add_weighted(rows, soft, responsibilities, scores)
        entropy += evidence_without_entropy(soft, mixing)
    return entropy


cdef double update_responsibilities(Rows rows, SoftComponent component, Mixing mixing,
                                    double[:, ::1] responsibilities,
                                    double[::1] scores) noexcept nogil:
    """Update the responsibilities of every row; return their entropy. `scores` is scratch."""
    cdef double entropy = 0.0, factor
    cdef double *r_i
    cdef const double *prior = &mixing.log_weight[0]
    cdef Py_ssize_t i, k
    cdef Row row
    mixing.weigh(1.0)
    for i in range(rows.n_rows):
        r_i, row = &responsibilities[i, 0], rows.row(i)
        if mixing.labels_depend:
            mixing.add(r_i, row.weight, -1.0)
            mixing.weigh(row.weight)
        factor = 1.0 if mixing.labels_depend else row.weight
        component.expected_scores(&row, &scores[0])
        for k in range(mixing.n_components):
            scores[k] += factor * prior[k]
        entropy += normalise(&scores[0], mixing.n_components, r_i)
        if mixing.labels_depend:
            mixing.add(r_i, row.weight, 1.0)
    return entropy


cdef clones_double normalise(double *scores, Py_ssize_t n, double *out) noexcept nogil:
    """Write the probabilities with these logarithms, up to a constant; return their entropy.

    `scores` has room for whole vectors, and is scratch.
    """
    cdef double lane[LANES]
    cdef double mean[LANES]
    cdef double most = -INFINITY, s, weight, total
    cdef Py_ssize_t first = 0, k
    cdef int j
    for k in range(n):
        most = scores[k] if scores[k] > most else most
    for k in range(n, padded(n)):
        scores[k] = most + 2.0 * MIN_EXP_ARGUMENT
    for j in range(LANES):
        lane[j] = mean[j] = 0.0
    while first < n:
        for j in range(LANES):
            s = scores[first + j] - most
            weight = exp_above(MIN_EXP_ARGUMENT, s)
            scores[first + j] = weight
            lane[j] += weight
            mean[j] += weight * larger(s, MIN_EXP_ARGUMENT)
        first += LANES
    total = sum_of(lane)
    for k in range(n):
        out[k] = scores[k] / total
    return log(total) - sum_of(mean) / total


cdef void add_weighted(Rows rows, SoftComponent component, const double[:, ::1] responsibilities,
                       double[::1] r_i) noexcept nogil:
    """Let slot k hold each row with the weight r_ik; `r_i` is scratch."""
    cdef Py_ssize_t i, k, n = component.n_slots
    cdef Row row
    r_i[:] = 0.0
    component.begin_sharing()
    for i in range(rows.n_rows):
        for k in range(n):
            r_i[k] = responsibilities[i, k]
        row = rows.row(i)
        component.share(&row, &r_i[0])
    component.end_sharing()


cdef double evidence_without_entropy(SoftComponent component, Mixing mixing) noexcept nogil:
    """The bound, without the entropy of the responsibilities."""
    cdef double total = 0.0
    cdef Py_ssize_t k
    for k in range(component.n_slots):
        total += component.marginal(k)
    return total + mixing.evidence()


cdef int reorder_components(Rows rows, Mixing mixing, double[:, ::1] responsibilities) except -1:
    """Sort the components by size, unless the bound falls by it."""
    order = largest_first(mixing.counts, MIN_EXCESS_FRACTION * sum(mixing.counts))
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
    """Order components by size; one that is larger by less than `margin` stays behind."""
    cdef list order = []
    for k in range(len(counts)):
        at = k
        while at > 0 and counts[k] > counts[order[at - 1]] + margin:
            at -= 1
        order.insert(at, k)
    return order


cdef int permute(double[:, ::1] responsibilities, list order) except -1:
    """Reorder the responsibilities of every row: the new k-th ones are the old order[k]-th ones."""
    cdef Py_ssize_t i, k, n = len(order)
    cdef Py_ssize_t[::1] source = array(
        "q" if sizeof(Py_ssize_t) == 8 else "i", order)
    cdef double[::1] permuted = double_array(n)
    for i in range(responsibilities.shape[0]):
        for k in range(n):
            permuted[k] = responsibilities[i, source[k]]
        for k in range(n):
            responsibilities[i, k] = permuted[k]
    return 0
