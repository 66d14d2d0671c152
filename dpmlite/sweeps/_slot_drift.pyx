"""Drift: how much a change of a slot can change what rows cost.

In a slot that is not its own, a row costs f + E with E = p sum_d log(1 + r z_d^2). When the slot
changes, f, p, r and z become f', p', r' and a z + b. For 0 < t < 1, 2 a z b >= -t a^2 z^2 - b^2 / t,
so (a z + b)^2 >= (1 - t) a^2 z^2 - (1/t - 1) b^2. Since log(1 + c q) >= c log(1 + q) for c <= 1,

    f' + E' >= f + (1 - x) E - y,   x = 1 - (p'/p) c,   c = (1 - t) (r'/r) min_d a_d^2,  at most 1,
    y = (f - f') + p' s / (1 - s),   s = (1/t - 1) r' sum_d b_d^2,    x, y >= 0.

In its own slot, a row costs g + F with F = -m sum_d log(1 - w_d) and w = r z^2. Likewise
w' <= c w + s_d with c = (1 + t) (r'/r) max_d a_d^2 and s_d = r' (1 + 1/t) b_d^2. -log(1 - w) is
convex, and no steeper than MAX_SLOPE where w <= 0.63:

    g' + F' <= g + (1 + x) F + y,   x = (m'/m) (1 + MAX_SLOPE (c - 1)) - 1,
    y = (g' - g) + MAX_SLOPE m' sum_d s_d,          for c < 1 without MAX_SLOPE in x.

Let `least` be a lower bound of what a row costs elsewhere, and `ceiling` an upper bound of what it
costs to stay. Then E >= least - f and, as long as the row is known to stay, F <= least - g. So with
any number h, the `reference`, a change lowers least - ceiling by at most
drift (1 + max(least - h, 0)). Here the drift is the larger of x and x (h - f) + y; in the row's own
slot, of x and x (h - g) + y. Drifts of successive changes add up.

If w <= 1/2 and m >= MIN_MEMBER_POWER at first, w stays below 0.63 while the own drift, which is at
least MAX_SLOPE (c - 1) and MAX_SLOPE MIN_MEMBER_POWER sum_d s_d, is below 1/2: then the product of
all c is at most exp(2/11), and the sum of all s_d at most 1/44.

Rows of different weights cost about as much for each unit of weight, so that f, g, y and all costs
are divided by the row's weight. f and g stand for the straight lines of _screening_weights.pyx, by
which such rows are screened. Divided by the weight, these lines and their differences have their
extremes at the ends of the range of weights; so have p'/p, m'/m, r'/r, p' r' and m' r' divided by
the weight, as ratios of linear functions of it. What founds a cluster is no line: a slot that was
empty, or is now, has drifted too far.
"""

from libc.math cimport INFINITY, sqrt

from dpmlite.core._constants cimport MAX_DRIFT, MAX_SLOPE
from dpmlite.core._simd cimport larger
from dpmlite.families._screenable cimport Screenable
from dpmlite.families._student_t cimport Densities
from dpmlite.sweeps._screening_weights cimport cost_at_mean, members_may_stay, range_of_weights


cdef SlotCosts costs_of_slot(Partition partition, Py_ssize_t k) noexcept nogil:
    cdef const Densities *t = &(<Screenable> partition.component).t
    cdef SlotCosts costs
    cdef Py_ssize_t e
    costs.is_empty = partition.component.n[k] == 0.0
    if partition.X.row_weights != NULL:
        set_weighted_costs(&costs, partition, k)
        return costs
    for e in range(N_ENDS):
        costs.weight[e] = costs.scale[e] = 1.0
        costs.power[e], costs.member_power[e] = t.power[k], t.power[k] - 1.0
        costs.fixed[e] = -t.constant[k] - partition.log_weight[k]
        costs.stay[e] = -t.member_constant[k] - partition.light_member_weight[k]
        costs.member_scale[e] = t.member_ratio[k]
    return costs


cdef void set_weighted_costs(SlotCosts *costs, Partition partition, Py_ssize_t k) noexcept nogil:
    cdef const Densities *t = &(<Screenable> partition.component).t
    cdef double n = partition.component.n[k], shape = t.power[k] - 0.5, count = t.c0 + n, w
    cdef bint may_stay
    cdef Py_ssize_t e
    range_of_weights(partition.X, &costs.weight[0], &costs.weight[1])
    may_stay = members_may_stay(<Screenable> partition.component, k, costs.weight[1])
    for e in range(N_ENDS):
        w = costs.weight[e]
        costs.power[e], costs.scale[e] = shape + 0.5 * w, w * (count + 1.0) / (count + w)
        costs.fixed[e] = cost_at_mean(partition, <Screenable> partition.component, k, n, w) / w
        costs.member_power[e] = costs.stay[e] = costs.member_scale[e] = 0.0
        if may_stay:
            costs.member_power[e] = shape - 0.5 * w
            costs.stay[e] = cost_at_mean(
                partition, <Screenable> partition.component, k, n - w, w) / w
            costs.member_scale[e] = w * (count + 1.0) / (count - w)


cdef SlotChange change_of_slot(Partition partition, const double *old, Py_ssize_t k) noexcept nogil:
    """Compare slot k with `old` slopes and shifts of it."""
    cdef const Densities *t = &(<Screenable> partition.component).t
    cdef const double *slope = t.slot_slope + k * t.n_along
    cdef const double *shift = t.slot_shift + k * t.n_along
    cdef double a, b
    cdef SlotChange change
    cdef Py_ssize_t d
    change.min_scale, change.max_scale, change.shift_squares = INFINITY, 0.0, 0.0
    for d in range(t.n_columns):
        a = slope[d] / old[d]
        b = a * old[t.n_columns + d] - shift[d]
        change.shift_squares += b * b
        change.min_scale = a * a if a * a < change.min_scale else change.min_scale
        change.max_scale = a * a if a * a > change.max_scale else change.max_scale
    return change


cdef SlotChange reversed_change(const SlotChange *change) noexcept nogil:
    """Return bounds of the change from the new state of the slot to the old one."""
    cdef SlotChange back
    back.min_scale, back.max_scale = 1.0 / change.max_scale, 1.0 / change.min_scale
    back.shift_squares = change.shift_squares / change.min_scale
    return back


cdef double drift_elsewhere(const SlotCosts *old, const SlotCosts *new, const SlotChange *change,
                            double reference, double cost_cap) noexcept nogil:
    """Return the drift of a slot for rows of other slots."""
    cdef double squares = new.scale[1] * change.shift_squares
    cdef double t = sqrt(new.power[1] * squares), x, y, s
    if min(new.fixed[0], new.fixed[1]) >= cost_cap:
        return 0.0
    if not (t < 0.5 and larger(old.fixed[0], old.fixed[1]) < cost_cap
            and old.is_empty == new.is_empty):
        return MAX_DRIFT
    s = squares / t * (1.0 - t) if t > 0.0 else 0.0
    y = largest_fall(old.fixed, new.fixed) + (
        largest_product(new.power, new.scale, new.weight) / new.scale[1] * s / (1.0 - s))
    x = (1.0 - t) * change.min_scale * least_ratio(new.scale, old.scale)
    x = 1.0 - least_ratio(new.power, old.power) * min(x, 1.0)
    return drift_from(x, y, reference - min(old.fixed[0], old.fixed[1]))


cdef double drift_of_own(const SlotCosts *old, const SlotCosts *new, const SlotChange *change,
                         double reference) noexcept nogil:
    """Return the drift of a slot for its own rows."""
    cdef double squares = new.member_scale[1] * change.shift_squares
    cdef double t = sqrt(new.member_power[0] * squares), c, x, y, s
    cdef bint was_large = old.member_power[1] >= MIN_MEMBER_POWER
    cdef bint is_large = new.member_power[1] >= MIN_MEMBER_POWER
    if not was_large and not is_large:
        return 0.0  # no row is known to stay there
    if not (was_large and is_large and t < 0.5):
        return MAX_DRIFT
    s = squares / t * (1.0 + t) if t > 0.0 else 0.0
    y = largest_fall(new.stay, old.stay) + MAX_SLOPE * s * (
        largest_product(new.member_power, new.member_scale, new.weight) / new.member_scale[1])
    c = (1.0 + t) * change.max_scale * largest_ratio(new.member_scale, old.member_scale) - 1.0
    c *= 1.0 if c < 0.0 else MAX_SLOPE
    x = largest_ratio(new.member_power, old.member_power) * (1.0 + c) - 1.0
    c = larger(c, MAX_SLOPE * MIN_MEMBER_POWER * s)
    return larger(c, drift_from(x, y, reference - min(old.stay[0], old.stay[1])))


cdef double largest_fall(const double *high, const double *low) noexcept nogil:
    """Return by how much `high` is above `low` at either end; 0 if it is not."""
    return larger(positive(high[0] - low[0]), positive(high[1] - low[1]))


cdef double least_ratio(const double *new, const double *old) noexcept nogil:
    return min(new[0] / old[0], new[1] / old[1])


cdef double largest_ratio(const double *new, const double *old) noexcept nogil:
    return larger(new[0] / old[0], new[1] / old[1])


cdef double largest_product(const double *power, const double *scale,
                            const double *weight) noexcept nogil:
    return larger(power[0] * scale[0] / weight[0], power[1] * scale[1] / weight[1])


cdef double drift_from(double x, double y, double below_reference) noexcept nogil:
    """Return the larger of x and x * below_reference + y; MAX_DRIFT if that is more, or NaN."""
    x = positive(x)
    y += x * positive(below_reference)
    x = x if x > y else y
    return x if x < MAX_DRIFT else MAX_DRIFT


cdef double positive(double x) noexcept nogil:
    return 0.0 if x <= 0.0 else x  # NaN stays
