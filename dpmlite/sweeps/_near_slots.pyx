"""Near slots: the slots where rows of a slot may cost less than a level.

A row that costs g + F to stay has F = -m sum_d log(1 - r z_d^2) >= m r sum_d z_d^2
(_slot_drift.pyx), so sum_d z_d^2 <= Q = F / (m r). In another slot, its standardised values are
a_d z_d + b_d. For any number l > 0, the sum of their squares is at least

    sum_d (a_d z_d + b_d)^2 + l (sum_d z_d^2 - Q) >= sum_d l b_d^2 / (a_d^2 + l) - l Q,

the least value over all z. If that is S, the row costs at least f + p log(1 + S) there. Where all
a_d are equal, the right side reaches a given S for some l if and only if it does for
l = a sqrt(S / Q).

The level is a cost that few rows exceed to stay. A few rows of a slot lie far out, and Q would be
large because of them. So what is found holds for rows that cost less than `max_stay` to stay, and
nothing is known of the others.

What is found holds for slots as they were when the stage began (_drifting_slots.pyx), and the stay
bounds count the drift since then.
"""

from libc.math cimport INFINITY, expm1, fabs, sqrt
from libc.stdlib cimport free

from dpmlite.core._constants cimport HUGE_COST, NEAR_ROUNDING
from dpmlite.core._memory cimport zeroed_memory
from dpmlite.core._simd cimport LANES, clones_double, inlined_double, sum_of
from dpmlite.sweeps._slot_drift cimport MIN_MEMBER_POWER, SlotCosts
from dpmlite.sweeps._stay_bounds cimport StayBounds, stay_bounds_of

cdef enum:
    BITS = 64  # of a word


def near_slots(Partition partition):
    """Return `max_stay` and the list of near slots, for each slot, and the level."""
    cdef StayBounds bounds = stay_bounds_of(partition)
    cdef NearSlots found = NearSlots(bounds)
    cdef Py_ssize_t j, k
    bounds.begin_sweep(partition)
    found.find()
    slots = range(found.n_slots)
    near = [[j for j in slots if found.near[k * found.n_words + j // BITS] >> (j % BITS) & 1]
            for k in slots]
    return [found.max_stay[k] for k in slots], near, found.level


cdef class NearSlots:

    def __cinit__(self, DriftingSlots drifting):
        self.drifting = drifting

    def __dealloc__(self):
        free(self.max_stay)

    cdef int find(self) except -1:
        """Find which slots were near each slot when this stage began."""
        cdef Py_ssize_t k
        self.allocate(self.drifting.n_slots)
        # F is about D / 2, so few rows cost more to stay.
        self.level = self.drifting.reference + self.drifting.n_columns + 4
        for k in range(self.n_slots):
            self.far_squares[k] = self.far_squares_in(k)
        self.n_near = 0
        for k in range(self.n_slots):
            self.n_near += self.find_near(k)
        return 0

    cdef int allocate(self, Py_ssize_t n_slots) except -1:
        """Allocate memory for n_slots, none of which is near another."""
        free(self.max_stay)
        self.max_stay = NULL
        self.n_slots, self.n_words = n_slots, (n_slots + BITS - 1) // BITS
        self.max_stay = <double *> zeroed_memory(
            n_slots * (2 * sizeof(double) + self.n_words * sizeof(uint64_t)))
        self.far_squares = self.max_stay + n_slots
        self.near = <uint64_t *> (self.far_squares + n_slots)
        return 0

    cdef double far_squares_in(self, Py_ssize_t k) noexcept nogil:
        """Return the sum of squares at which a row costs the level in slot k; 0 if all rows do."""
        cdef SlotCosts costs = self.drifting.slot[k].costs
        cdef double above = self.level + NEAR_ROUNDING * (1.0 + fabs(self.level)) - costs.fixed[0]
        return expm1(above / costs.power[0]) if above > 0.0 else 0.0

    cdef Py_ssize_t find_near(self, Py_ssize_t k) noexcept nogil:
        """Find the slots near slot k, itself among them; return how many they are."""
        cdef SlotCosts own = self.drifting.slot[k].costs
        cdef uint64_t *near = self.near + k * self.n_words
        cdef double mean = 0.5 * self.drifting.n_columns  # F has about this mean and variance
        cdef double max_stay = min(own.stay[0] + mean + 3.0 * sqrt(mean), <double> self.level)
        cdef double max_squares = (1.0 + NEAR_ROUNDING) * (max_stay - own.stay[0]) / (
            own.member_power[0] * own.member_scale[0])
        cdef bint may_stay = own.member_power[0] >= MIN_MEMBER_POWER and max_squares > 0.0
        cdef Py_ssize_t j, n_near = 0
        self.max_stay[k] = max_stay if may_stay else -INFINITY
        for j in range(self.n_slots):
            if j == k or (may_stay and self.is_near(k, j, max_squares)):
                near[j // BITS] |= <uint64_t> 1 << j % BITS
                n_near += 1
        return n_near

    cdef bint is_near(self, Py_ssize_t k, Py_ssize_t j, double max_squares) noexcept nogil:
        """Return whether rows of slot k, with sum_d z_d^2 <= max_squares, may be near slot j."""
        cdef Py_ssize_t n = self.drifting.n_columns
        cdef const double *slope = self.drifting.slope + 2 * k * n
        cdef const double *other_slope = self.drifting.slope + 2 * j * n
        cdef double far = self.far_squares[j]
        cdef double weight = other_slope[0] / slope[0] * sqrt(far / max_squares)
        return far > 0.0 and not (least_squares(slope, other_slope, n, max_squares, weight)
                                  > far * (1.0 + NEAR_ROUNDING))

    cdef Py_ssize_t list_near(self, Partition partition, Py_ssize_t first, Py_ssize_t last,
                              Py_ssize_t *slots) noexcept nogil:
        """List the open slots that are near any of the slots first..last; return how many.

        The empty one is always listed: it may be new since the stage began.
        """
        cdef Py_ssize_t j, k, word, n = 0
        cdef uint64_t bits
        for word in range(self.n_words):
            bits = 0
            for k in range(first, last + 1):
                bits |= self.near[k * self.n_words + word]
            j = word * BITS
            while bits:
                if bits & 1 and partition.component.n[j] > 0.0:
                    slots[n] = j
                    n += 1
                bits >>= 1
                j += 1
        slots[n] = partition.first_empty()
        return n + 1

    cdef void remove_high_ceilings(self, Chunk *chunk) noexcept nogil:
        """Remove the ceilings of rows that may have cost `max_stay` when the stage began."""
        cdef double drift_scale = 1.0 + self.level - self.drifting.reference
        cdef double drift_back
        cdef Py_ssize_t j, k
        for j in range(chunk.n_rows):
            k = chunk.label[j]
            drift_back = self.drifting.slot[k].own_back * drift_scale
            if not chunk.stay_ceiling[j] + drift_back < self.max_stay[k]:
                chunk.stay_ceiling[j] = HUGE_COST


cdef clones_double least_squares(const double *slope, const double *other_slope, Py_ssize_t n,
                                 double max_squares, double weight) noexcept nogil:
    """Return sum_d l b_d^2 / (a_d^2 + l) - l Q for l = `weight`; shifts follow slopes."""
    cdef double[LANES] lane
    cdef double total
    cdef Py_ssize_t d = 0
    cdef int j
    for j in range(LANES):
        lane[j] = 0.0
    while d + LANES <= n:
        for j in range(LANES):
            lane[j] += least_square(slope[d + j], slope[n + d + j], other_slope[d + j],
                                    other_slope[n + d + j], weight)
        d += LANES
    total = sum_of(lane) - max_squares
    while d < n:
        total += least_square(slope[d], slope[n + d], other_slope[d], other_slope[n + d], weight)
        d += 1
    return weight * total


cdef inline inlined_double least_square(double slope, double shift, double other_slope,
                                        double other_shift, double weight) noexcept nogil:
    """Return b^2 / (a^2 + l): a = other_slope / slope, and b = a shift - other_shift."""
    cdef double scaled_b = other_slope * shift - slope * other_shift
    return scaled_b * scaled_b / (other_slope * other_slope + weight * slope * slope)
