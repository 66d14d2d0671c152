"""Drift: how much a change of a slot can change what rows cost.

In a slot that is not its own, a row costs f + E with E = p sum_d log(1 + z_d^2). When the slot
changes, f, p and z become f', p' and a z + b. For 0 < t < 1, 2 a z b >= -t a^2 z^2 - b^2 / t, so
(a z + b)^2 >= (1 - t) a^2 z^2 - (1/t - 1) b^2. Since log(1 + c q) >= c log(1 + q) for c <= 1,

    f' + E' >= f + (1 - x) E - y,   x = 1 - (p'/p) c,   c = (1 - t) min_d a_d^2,   at most 1,
    y = (f - f') + p' s / (1 - s),   s = (1/t - 1) sum_d b_d^2,    x, y >= 0.

In its own slot, a row costs g + F with F = -m sum_d log(1 - w_d) and w = r z^2. Likewise
w' <= c w + s_d with c = (1 + t) max_d a_d^2 r'/r and s_d = r' (1 + 1/t) b_d^2. -log(1 - w) is convex, and no
steeper than MAX_SLOPE where w <= 0.63:

    g' + F' <= g + (1 + x) F + y,   x = (m'/m) (1 + MAX_SLOPE (c - 1)) - 1,
    y = (g' - g) + MAX_SLOPE m' sum_d s_d,          for c < 1 without MAX_SLOPE in x.

Let `least` be a lower bound of what a row costs elsewhere, and `ceiling` an upper bound of what it
costs to stay. Then E >= least - f and, as long as the row is known to stay, F <= least - g. So with
any number h, the `reference`, a change lowers least - ceiling by at most
drift (1 + max(least - h, 0)). Here the drift is the larger of x and x (h - f) + y; in the row's own
slot, of x and x (h - g) + y. Drifts of successive changes add up.

If w <= 1/2 and m >= MIN_MEMBER_POWER at first, w stays below 0.63 while the own drift, which is at
least MAX_SLOPE (c - 1), is below 1/2: then the product of all c is at most exp(2/11), and the sum
of all s_d at most 1/44.
"""

from libc.math cimport INFINITY, sqrt

from dpmlite.core._constants cimport MAX_DRIFT, MAX_SLOPE
from dpmlite.core._simd cimport larger
from dpmlite.families._screenable cimport Screenable
from dpmlite.families._student_t cimport Densities


cdef SlotCosts costs_of_slot(Partition partition, Py_ssize_t k) noexcept nogil:
    cdef const Densities *t = &(<Screenable> partition.component).t
    cdef SlotCosts costs
    costs.power, costs.member_power = t.power[k], t.power[k] - 1.0
    costs.fixed = -t.constant[k] - partition.log_weight[k]
    costs.stay = -t.member_constant[k] - partition.light_member_weight[k]
    costs.ratio = t.member_ratio[k]
    return costs


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
    cdef double t = sqrt(new.power * change.shift_squares), x, y
    if new.fixed >= cost_cap:
        return 0.0
    y = change.shift_squares / t * (1.0 - t) if t > 0.0 else 0.0
    y = positive(old.fixed - new.fixed) + new.power * y / (1.0 - y)
    x = 1.0 - new.power / old.power * min((1.0 - t) * change.min_scale, 1.0)
    if t < 0.5 and old.fixed < cost_cap:
        return drift_from(x, y, reference - old.fixed)
    return MAX_DRIFT


cdef double drift_of_own(const SlotCosts *old, const SlotCosts *new, const SlotChange *change,
                         double reference) noexcept nogil:
    """Return the drift of a slot for its own rows."""
    cdef double t = sqrt(new.member_power * change.shift_squares), c, x, y
    cdef bint was_large = old.member_power >= MIN_MEMBER_POWER
    cdef bint is_large = new.member_power >= MIN_MEMBER_POWER
    if not was_large and not is_large:
        return 0.0  # no row is known to stay there
    if not (was_large and is_large and t < 0.5):
        return MAX_DRIFT
    y = change.shift_squares / t * (1.0 + t) if t > 0.0 else 0.0
    y = positive(new.stay - old.stay) + MAX_SLOPE * new.member_power * new.ratio * y
    c = (1.0 + t) * change.max_scale * new.ratio / old.ratio - 1.0
    c *= 1.0 if c < 0.0 else MAX_SLOPE
    x = new.member_power / old.member_power * (1.0 + c) - 1.0
    return larger(c, drift_from(x, y, reference - old.stay))


cdef double drift_from(double x, double y, double below_reference) noexcept nogil:
    """Return the larger of x and x * below_reference + y; MAX_DRIFT if that is more, or NaN."""
    x = positive(x)
    y += x * positive(below_reference)
    x = x if x > y else y
    return x if x < MAX_DRIFT else MAX_DRIFT


cdef double positive(double x) noexcept nogil:
    return 0.0 if x <= 0.0 else x  # NaN stays
