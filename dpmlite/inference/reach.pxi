"""Which slots the rows of a slot may be near: the others need not be looked at.

Of a row that pays g + F to stay, with F = -m sum_d log(1 - r z_d^2) >= m r sum_d z_d^2, all that is
known of z is that sum_d z_d^2 <= Q = F / (m r). In another slot it has a z + b (drift.pxi). For any
number l > 0 the sum of squares there is at least

    sum_d (a_d z_d + b_d)^2 + l (sum_d z_d^2 - Q) >= sum_d l b_d^2 / (a_d^2 + l) - l Q,

the least over all z; where all a_d are equal, l = a^2 sqrt(S / Q) is best to tell whether that is S.
So it costs the row at least f + p log(1 + S). Where that reaches a level that few rows pay, the other
slot is far from all rows that pay little to stay, as things were when the stage began: what is noted
of a row that is looked at later is that drift since then may come to so much, and no more.
"""

cdef extern from *:
    """
    #define DPM_SAFE 1e-5  /* more than all roundings */
    """
    double SAFE "DPM_SAFE"

cdef enum:
    REACH_GROUP = 8          # columns that are added together
    BITS = 64
    MANY_FAR = 512   # of slots that are far: to sort rows takes as long as to look at these
    PAIR_CELLS = 4096  # of rows: to look at these takes as long as to find what is near one slot


cdef class Reach:
    """What is near each slot; reckoned anew when asked for another stage."""

    cdef Py_ssize_t n_words    # of bits
    cdef uint64_t *near        # [slot][word] a bit for each slot that its rows may be near,
    cdef float *most           # [slot] if they paid no more than this to stay
    cdef float level           # what the others cost them, at least
    cdef int stage             # when that was,
    cdef Py_ssize_t n_found    # and how many times it was found
    cdef bint is_short         # few slots are near most rows,
    cdef Py_ssize_t n_many     # so many pairs of slots or more are far from each other

    def __cinit__(self):
        self.stage = -1

    def __dealloc__(self):
        PyMem_RawFree(self.near)

    def near_slots(self, Partition partition):
        """What each slot's rows may pay to stay, and slots that they may be near then; the level."""
        cdef Screen screen
        cdef Drift drift = remembered(partition)
        drift.begin(partition)
        begin_screen(&screen, partition, 1)
        slots = index_array(partition.component.n_slots)
        cdef Py_ssize_t[::1] found = slots
        cdef Py_ssize_t k
        try:
            prepare(&screen, partition)
            self.start(drift)
            self.find_some(drift, &screen, 0, screen.n_open)
            near = [slots[:self.near_any(k, k, &found[0])].tolist() for k in range(len(slots))]
            return [self.most[k] for k in range(len(slots))], near, self.level
        finally:
            end_screen(&screen)

    cdef bint begin(self, Drift drift, const Screen *screen) except -1 nogil:
        """Whether to find what is near in the stage that there is.

        Not if it was found, or if that would take too long, with all times before in a sweep.
        """
        cdef Py_ssize_t n = screen.n_open, D = drift.n_columns
        if self.stage == drift.stage:
            return False
        self.stage, self.is_short = drift.stage, False
        if n * D < MANY_FAR or drift.n_rows * D < PAIR_CELLS * n * (self.n_found + 1):
            return False
        self.n_found += 1
        self.n_many = (MANY_FAR * n + D - 1) // D
        self.start(drift)
        return True

    cdef void end(self, Py_ssize_t n_far) noexcept nogil:
        """All was found: so many pairs of slots are far from each other."""
        self.is_short = n_far >= self.n_many

    cdef Py_ssize_t find_some(self, Drift drift, const Screen *screen, Py_ssize_t first,
                              Py_ssize_t last) noexcept nogil:
        """What is near the open slots first..last-1; returns how many others are far, in all."""
        cdef Py_ssize_t j, n_far = 0
        for j in range(first, last):
            n_far += screen.n_open - self.find_near(drift, screen, screen.open[j])
        return n_far

    cdef int start(self, Drift drift) except -1 nogil:
        """Nothing is known to be near."""
        cdef Py_ssize_t n_slots = drift.n_slots
        self.level = min(drift.cap, <float> (drift.reference + drift.n_columns + 4.0))
        self.n_words = (n_slots + BITS - 1) // BITS
        PyMem_RawFree(self.near)
        self.near = <uint64_t *> PyMem_RawCalloc(
            n_slots, self.n_words * sizeof(uint64_t) + sizeof(float))
        if self.near == NULL:
            with gil:
                raise MemoryError(f"no memory for what is near {n_slots} clusters")
        self.most = <float *> (self.near + n_slots * self.n_words)
        return 0

    cdef Py_ssize_t find_near(self, Drift drift, const Screen *screen, Py_ssize_t k) noexcept nogil:
        """Slots that rows of slot k may be near, itself among them; returns how many."""
        cdef Shape own = drift.known[k].shape
        cdef uint64_t *near = self.near + k * self.n_words
        cdef Py_ssize_t i, j, n_near = 0
        cdef double spread = 0.5 * drift.n_columns  # about what F is; hardly a row has 3 sigma more
        cdef double most = min(own.stay + spread + 3.0 * sqrt(spread), <double> self.level)
        cdef double q = (1.0 + SAFE) * (most - own.stay) / (own.member_power * own.ratio)
        cdef bint has_members = own.member_power >= LEAST_POWER and q > 0.0
        self.most[k] = <float> most if has_members else -INFINITY
        for i in range(screen.n_open):
            j = screen.open[i]
            if j == k or (has_members and is_near(drift, k, j, q, self.level)):
                near[j // BITS] |= <uint64_t> 1 << j % BITS
                n_near += 1
        return n_near

    cdef Py_ssize_t near_any(self, Py_ssize_t first, Py_ssize_t last,
                             Py_ssize_t *slots) noexcept nogil:
        """List the slots that rows of the slots first..last may be near; returns how many."""
        cdef Py_ssize_t k, word, bit, found = 0
        cdef uint64_t bits
        for word in range(self.n_words):
            bits = 0
            for k in range(first, last + 1):
                bits |= self.near[k * self.n_words + word]
            for bit in range(BITS if bits else 0):
                if bits >> bit & 1:
                    slots[found] = word * BITS + bit
                    found += 1
        return found

    cdef bint holds(self, Drift drift, const Chunk *chunk, Py_ssize_t j) noexcept nogil:
        """Whether the chunk's row j paid so little to stay when the stage began.

        A ceiling is above the cost by more than `most` is rounded.
        """
        cdef Py_ssize_t k = chunk.label[j]
        cdef double since = drift.known[k].own_back * (1.0 + self.level - drift.reference)
        return chunk.ceiling[j] + since < self.most[k]


cdef bint is_near(Drift drift, Py_ssize_t k, Py_ssize_t j, double q, double level) noexcept nogil:
    """Whether a row of slot k with sum_d z_d^2 <= q may cost less than `level` in slot j."""
    cdef Shape there = drift.known[j].shape
    cdef const double *one = drift.slope + 2 * k * drift.n_columns
    cdef const double *other = drift.slope + 2 * j * drift.n_columns
    cdef double above = level + SAFE * (1.0 + fabs(level)) - there.fixed
    if above <= 0.0:
        return False
    cdef double s = expm1(above / there.power), a = other[0] / one[0]
    return not least_squares(one, other, drift.n_columns, q, a * a * sqrt(s / q)) > s * (1.0 + SAFE)


cdef clones_double least_squares(const double *one, const double *other, Py_ssize_t n, double q,
                                 double weight) noexcept nogil:
    """What the sum of squares is at least; slopes of both slots, then shifts. `weight` is l."""
    cdef double[REACH_GROUP] part
    cdef double a, b, total = -q
    cdef Py_ssize_t d = 0
    cdef int j
    for j in range(REACH_GROUP):
        part[j] = 0.0
    while d + REACH_GROUP <= n:
        for j in range(REACH_GROUP):
            a = other[d + j] / one[d + j]
            b = a * one[n + d + j] - other[n + d + j]
            part[j] += b * b / (a * a + weight)
        d += REACH_GROUP
    for j in range(REACH_GROUP):
        total += part[j]
    while d < n:
        a = other[d] / one[d]
        b = a * one[n + d] - other[n + d]
        total += b * b / (a * a + weight)
        d += 1
    return weight * total
