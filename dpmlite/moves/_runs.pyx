"""Kernel of runs.py: the best division of rows into intervals of a column."""

from array import array
from numpy import argsort

from libc.math cimport INFINITY, isnan, log, sqrt

from dpmlite.core._constants cimport (
    BIMODALITY_TIE, MAX_RUN_COLUMNS, MAX_SLICES, MIN_BIMODALITY, SLICE_FACTOR, TIE, UNPLACED)
from dpmlite.core._memory cimport double_array, index_array
from dpmlite.core._rows cimport Row
from dpmlite.core._special cimport log_gamma_c
from dpmlite.families._component cimport Component

from dpmlite.core import constants as _constants


assert MAX_SLICES == _constants.MAX_SLICES

cdef struct RunMoments:  # of a column
    double least, most, n, mean
    double second, third, fourth  # sums of powers of (value - mean) / (most - least)


cpdef best_runs(Partition partition, members, Py_ssize_t step=1):
    cdef const Py_ssize_t[::1] member = members
    cdef double gain, most = 0.0
    best = None
    if partition.X.columns == NULL:
        for column in most_bimodal(partition, member):
            labels = index_array(member.shape[0])
            gain = find_runs_along(partition, member, column, labels, step)
            if gain > most + TIE:
                best, most = labels, gain
    return best


cdef list most_bimodal(Partition partition, const Py_ssize_t[::1] members):
    """The columns of greatest bimodality, greatest first; of equal ones the first column first."""
    cdef Py_ssize_t column, n_columns = partition.X.n_columns
    cdef double[::1] found = double_array(n_columns)
    cdef double most
    columns = []
    find_bimodality(partition, members, found)
    while len(columns) < MAX_RUN_COLUMNS:
        most = max(found)
        if not most > MIN_BIMODALITY:
            break
        column = 0
        while not found[column] > most - BIMODALITY_TIE:
            column += 1
        columns.append(column)
        found[column] = 0.0
    return columns


cdef int find_bimodality(Partition partition, const Py_ssize_t[::1] members,
                         double[::1] out) except -1:
    """The bimodality of each column; 0 if all values are equal, or their range overflows."""
    cdef Py_ssize_t column
    cdef double[::1] memory = array("d", bytes(out.shape[0] * sizeof(RunMoments)))
    cdef RunMoments *of = <RunMoments *> &memory[0]
    cdef double[::1] room = partition.room_of_a_row()
    with nogil:
        for column in range(out.shape[0]):
            of[column].least, of[column].most = INFINITY, -INFINITY
        add_up_run(partition, members, &room[0], of, add_value)
        for column in range(out.shape[0]):
            of[column].mean /= of[column].n
        add_up_run(partition, members, &room[0], of, add_run_powers)
        for column in range(out.shape[0]):
            out[column] = bimodality(&of[column])
    return 0


cdef void add_up_run(Partition partition, const Py_ssize_t[::1] members, double *room,
                     RunMoments *of,
                     void (*add)(RunMoments *, double, double) noexcept nogil) noexcept nogil:
    """Call `add` for each cell that is not missing."""
    cdef Py_ssize_t i, d
    cdef Row row
    for i in range(members.shape[0]):
        partition.prefetch_after(members, i)
        row = partition.row_into(members[i], room)
        for d in range(row.n_values):
            if not isnan(row.values[d]):
                add(&of[d], row.values[d], row.weight)


cdef void add_value(RunMoments *of, double x, double weight) noexcept nogil:
    of.least, of.most = min(of.least, x), max(of.most, x)
    of.n += weight
    of.mean += weight * x


cdef void add_run_powers(RunMoments *of, double x, double weight) noexcept nogil:
    cdef double z = (x - of.mean) / (of.most - of.least)
    of.second += weight * z * z
    of.third += weight * z * z * z
    of.fourth += weight * z * z * z * z


cdef double bimodality(const RunMoments *of) noexcept nogil:
    cdef double found
    if not 0.0 < of.most - of.least < INFINITY:
        return 0.0
    found = (of.third * of.third / of.second + of.second * of.second / of.n) / of.fourth
    return found if found < INFINITY else 0.0


cdef double find_runs_along(Partition partition, const Py_ssize_t[::1] member, Py_ssize_t column,
                            Py_ssize_t[::1] label, Py_ssize_t step) except? -1.0:
    """Write labels of the best runs along a column; returns their nats below one run."""
    cdef Py_ssize_t i, k, n = member.shape[0]
    values = double_array(n)
    cdef double[::1] value = values
    read_column(partition, member, column, value)
    cdef const Py_ssize_t[::1] order = argsort(values)  # NaN come last; equal rows are in one slice
    while isnan(value[order[n - 1]]):
        n -= 1
    cdef Py_ssize_t[MAX_SLICES + 1] start
    cdef Py_ssize_t[MAX_SLICES] run
    cdef Py_ssize_t n_slices = find_starts(value, order, n, partition.X.n_columns, start)
    label[:] = UNPLACED
    for k in range(n_slices):
        for i in range(start[k], start[k + 1]):
            label[order[i]] = k
    cdef Partition slices = partition.part(member, label, step=step)
    cdef Component scratch = slices.component.like()
    cdef double gain
    scratch.make_slots(2)
    with nogil:
        gain = find_runs(slices, scratch, n_slices, run)
        for i in range(n):
            label[order[i]] = run[label[order[i]]]
    return gain


cdef int read_column(Partition partition, const Py_ssize_t[::1] members, Py_ssize_t column,
                     double[::1] out) except -1:
    cdef double[::1] room = partition.room_of_a_row()
    cdef Py_ssize_t i
    with nogil:
        for i in range(members.shape[0]):
            partition.prefetch_after(members, i)
            out[i] = partition.row_into(members[i], &room[0]).values[column]
    return 0


cdef Py_ssize_t find_starts(const double[::1] value, const Py_ssize_t[::1] order, Py_ssize_t n,
                            Py_ssize_t n_columns, Py_ssize_t *start) noexcept nogil:
    """Write where slices begin, and the end of the last; returns their number.

    Slices begin at the first of the widest gaps near even spacing.
    """
    cdef Py_ssize_t i, j, n_found = 1
    cdef Py_ssize_t n_slices = min(
        <Py_ssize_t> MAX_SLICES, SLICE_FACTOR * <Py_ssize_t> sqrt(<double> (n // n_columns)), n // 2)
    cdef double gap, widest
    start[0] = 0
    for i in range(1, n_slices):
        widest = 0.0
        for j in range((2 * i - 1) * n // (2 * n_slices), (2 * i + 1) * n // (2 * n_slices)):
            gap = value[order[j]] - value[order[j - 1]]
            if gap > widest:
                widest, start[n_found] = gap, j
        n_found += widest > 0.0
    start[n_found] = n
    return n_found


cdef double find_runs(Partition slices, Component run, Py_ssize_t n,
                      Py_ssize_t *number) except? -1.0 nogil:
    """Write each slice's run number in the best division; returns its nats below one run."""
    cdef double[MAX_SLICES + 1] least  # the joint of the first 0, 1, ... n slices, divided best
    cdef Py_ssize_t[MAX_SLICES + 1] first  # the first slice of the last run of that division
    cdef Py_ssize_t i, end, n_runs = 0
    cdef double cost, whole = INFINITY
    cdef double of_one = log_gamma_c(1.0 - slices.discount) if slices.discount > 0.0 else 0.0
    least[0] = 0.0
    for end in range(1, n + 1):
        least[end], first[end] = INFINITY, 0
    for i in range(n):
        run.copy_slot(0, slices.component, i)
        for end in range(i + 1, n + 1):
            if end > i + 1:
                run.copy_slot(1, slices.component, end - 1)
                run.merge_slots(0, 1)
            cost = log(slices.alpha * run.power)
            cost += log_gamma_c(run.power * run.n[0] - slices.discount) - of_one
            cost /= -run.power
            cost -= run.marginal(0)
            if least[i] + cost < least[end] - TIE:
                least[end], first[end] = least[i] + cost, i
            if end - i == n:
                whole = cost
    end = n
    while end > 0:  # from the last run on
        for i in range(first[end], end):
            number[i] = n_runs
        end, n_runs = first[end], n_runs + 1
    for i in range(n):
        number[i] = n_runs - 1 - number[i]
    return whole - least[n]
