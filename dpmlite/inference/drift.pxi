"""How long rows are known to stay: as long as clusters have not drifted too far.

Where few rows move, clusters hardly change, and a row that was far from moving stays. Hamerly
(2010) does this for k-means; here costs are not distances. Of a row let `ceiling` be a bound from
above of what it costs to stay, `least` one from below of what it costs elsewhere, both of some moment.

Elsewhere it costs f + E, with E = p sum_d log(1 + z_d^2). The slot changes: f, p and z become f', p'
and a z + b. For 0 < t < 1, 2 a z b >= -t a^2 z^2 - b^2 / t, so that
(a z + b)^2 >= (1 - t) a^2 z^2 - (1/t - 1) b^2, and since log(1 + c q) >= c log(1 + q) for c <= 1,

    f' + E' >= f + (1 - x) E - y,   x = 1 - (p'/p) c,   c = (1 - t) min_d a_d^2,   at most 1,
    y = (f - f') + p' s / (1 - s),   s = (1/t - 1) sum_d b_d^2,    x, y >= 0.

To stay costs g + F with F = -m sum_d log(1 - w_d), w = r z^2. Likewise w' <= c w + s_d with
c = (1 + t) max_d a_d^2 r'/r and s_d = r' (1 + 1/t) b_d^2. -log(1 - w) is convex, and no steeper than
STEEP where w <= 0.63:

    g' + F' <= g + (1 + x) F + y,   x = (m'/m) (1 + STEEP (c - 1)) - 1,   for c < 1 without STEEP,
    y = (g' - g) + STEEP m' sum_d s_d.

Whatever the row, E >= least - f, and as long as it is known to stay F <= least - g. So with any
number h, the `reference`, a change takes at most drift (1 + max(least - h, 0)) from least - ceiling,
where the slot's drift is the larger of x and x (h - f) + y, or x (h - g) + y. That adds up, change by
change. Where w <= 1/2 and m >= 8 at the beginning, w stays below 0.63 while own drift, which is at
least STEEP (c - 1), is below 1/2: then c in all is at most exp(2/11), and sum_d s_d at most 1/44.

Rows come and go, and mostly back: of a stage, drift counts from what there was when it began to what
there is, not the whole way. For a row that is looked at in between, that is the drift back to the
beginning, and from there. A stage is a sweep, or where clusters drift much, a part of it, for rows
that are looked at late need not pay for what was before. Elsewhere, the most that any slot drifts
counts. Small clusters would drift too far whenever a row moves; but since E >= 0, slots with f above
some `cap` may change as they like if no `least` counts for more than that. And a slot that is new
when a sweep begins, or has drifted far since the last one, is set apart: rows that would stay but for
it are bounded in it anew, and in their own, which takes a fraction of what all slots do.
"""

cdef struct Shape:              # of what rows cost in a slot, but for slopes and shifts
    double power, fixed         # if it is not theirs: fixed + power sum log(1 + z^2)
    double member_power, stay   # if it is: stay - member_power sum log(1 - ratio z^2)
    double ratio

cdef struct Known:              # of a slot
    Shape shape                 # when the stage began
    double own_before           # drift of what it costs to stay, until the stage began
    double own_back             # most of it from a state in this stage to that when it began
    double noted                # what a row begins with that is noted now: own_before - own_back

cdef enum:
    LEAST_POWER = 8  # m of clusters that rows may be known to stay in
    FEW_MOVE = 64    # one row in so many: else it is not known which stay in the next sweep

cdef extern from *:
    """
    #define DPM_STEEP 2.75
    #define DPM_LONGEST 0.5     /* drift for which a row may be known to stay, as `slack` has it, */
    #define DPM_MOST_DRIFT 1.0  /* and of one change: more than that */
    #define DPM_APART 0.125     /* drift of a slot that is better looked at by itself */
    #define DPM_STAGE_DRIFT 0.05  /* after so much in a stage another begins, */
    #define DPM_SWEEP_DRIFT 1.0   /* unless it was so much in all stages of the sweep */
    #define DPM_ROUNDED 2e-6    /* of drift in single precision, up to 32 */
    """
    double STEEP "DPM_STEEP"
    double LONGEST "DPM_LONGEST"
    double MOST_DRIFT "DPM_MOST_DRIFT"
    double DRIFT_APART "DPM_APART"
    double STAGE_DRIFT "DPM_STAGE_DRIFT"
    double SWEEP_DRIFT "DPM_SWEEP_DRIFT"
    double ROUNDED "DPM_ROUNDED"

cdef enum:
    FAR = 8          # drift from which on all is forgotten
    SMALL = 64       # rows of clusters that drift far whenever one comes or goes
    STAGE_ROWS = 2048  # to look at them takes much longer than to begin a stage
    DRIFT_TOGETHER = 8     # rows that are asked at once whether all are known to stay
    FEW_APART = 4    # one slot in so many: to look at more takes as long as to look at all

cdef struct Change:
    double least, most   # a^2 of the columns
    double squares       # sum of b^2


cdef class Drift:
    """What sweeps remember of a partition, whatever else changes it in between.

    One beside an `original` has the same notes of rows, and drift of its own.
    """

    cdef Drift original
    cdef bint owns_until
    cdef float *until           # [row] the drift until which it is known to stay; 0: not at all
    cdef Py_ssize_t n_rows, n_columns
    cdef Py_ssize_t n_slots     # that are known
    cdef Known *known           # [slot], and the memory of what follows:
    cdef double *slope          # [slot][2 columns] slopes, then shifts, when the stage began
    cdef float *own             # [slot] drift of what it costs to stay in all, or a little more
    cdef Py_ssize_t *apart      # slots that drifted far, of which rows known to stay know nothing
    cdef Py_ssize_t n_apart
    # The most that any slot drifted, of what it costs elsewhere:
    cdef double before          # the sum of that over stages that have ended,
    cdef double before_sweep    # and what that was when this sweep began,
    cdef double forth           # since this stage began,
    cdef double back            # from a state in this stage to that when it began
    cdef Py_ssize_t stage_row   # where this stage began
    cdef int stage              # how many began so far
    cdef float reference        # of the costs that drift is in proportion to
    cdef float cap              # bounds of costs above it count as this
    cdef bint blank             # nothing was noted when the sweep began, or
    cdef bint lost              # slots have changed that were not followed
    cdef readonly Py_ssize_t n_in_turn  # rows that threads visited in turn in this sweep (relay.pxi)
    cdef bint busy              # so many rows moved in the last sweep that it was in vain

    # Whether row i is known to stay, as things stand.
    cdef inline inlined_bint knows(self, Partition partition, Py_ssize_t i) noexcept nogil:
        return self.until[i] > self.before + self.forth + self.own[partition.label[i]]

    # So many of the rows before `first` moved: where that is more than few, slots are not followed.
    cdef inline inlined_void lose_if_busy(self, Py_ssize_t moves, Py_ssize_t first) noexcept nogil:
        if moves > first // FEW_MOVE + CHUNK:
            self.lose()

    # The row to go on from: those of first..last-1 before it are known to stay.
    cdef inline inlined_ssize pass_known(self, Partition partition, Py_ssize_t first,
                                         Py_ssize_t last) noexcept nogil:
        if first >= last:
            return first
        return pass_known(self.until, &partition.label[0], self.own, self.before + self.forth,
                          first, last)

    def __cinit__(self, Partition partition, Drift original=None):
        self.n_rows, self.n_columns = partition.n_rows, partition.component.n_columns
        self.original, self.owns_until = original, original is None
        if original is None:
            self.until = <float *> calloc(self.n_rows, sizeof(float))
        else:
            self.until = original.until
        self.lost = True

    def __dealloc__(self):
        if self.owns_until:
            PyMem_RawFree(self.until)
        PyMem_RawFree(self.known)

    def known_to_stay(self, Partition partition):
        """Of each row, whether a sweep that began now would pass over it."""
        cdef Screen screen
        self.begin(partition)
        begin_screen(&screen, partition, 1)
        try:
            prepare(&screen, partition)
            self.meet(partition, &screen, &screen.chunk[0], 0, self.n_rows)
        finally:
            end_screen(&screen)
        return [bool(self.knows(partition, i)) for i in range(self.n_rows)]

    cdef int begin(self, Partition partition) except -1:
        """A sweep begins: find out what has changed since the last one did."""
        self.n_apart = self.n_in_turn = 0
        if self.busy:
            self.lose()
            return 0
        self.renumber(partition)
        self.before += self.start_all(partition, DRIFT_APART)
        self.blank = False
        if self.lost or not self.before < FAR or FEW_APART * self.n_apart > self.n_slots:
            self.forget(partition)
            self.blank = True
            self.n_apart = 0
        else:
            self.start_counting(partition)
        self.before_sweep, self.stage_row = self.before, 0
        self.forth = self.back = 0.0
        self.lost = False
        return 0

    cdef int renumber(self, Partition partition) except -1:
        """Slots may have come, gone, or got other numbers since the last sweep began."""
        cdef Known *then = self.known
        cdef const double *slope = self.slope
        cdef Py_ssize_t k, old, n_then = self.n_slots, n_slots = partition.component.n_slots
        cdef bint same = n_slots == n_then
        for k in range(n_slots):
            same = same and partition.former[k] == k
        if same:
            return 0
        self.make_slots(n_slots)
        for k in range(n_slots):
            old = partition.former[k]
            partition.former[k] = k
            if old < 0:
                self.known[k].shape.fixed = INFINITY  # from which any drift is far
                continue
            self.known[k] = then[old]
            memcpy(self.slope + 2 * k * self.n_columns, slope + 2 * old * self.n_columns,
                   2 * self.n_columns * sizeof(double))
        PyMem_RawFree(then)
        return 0

    cdef int make_slots(self, Py_ssize_t n_slots) except -1:
        """New memory; that which there was is the caller's."""
        self.known = <Known *> calloc(1, self.n_bytes(n_slots))
        self.slope = <double *> (self.known + n_slots)
        self.apart = <Py_ssize_t *> (self.slope + 2 * self.n_columns * n_slots)
        self.own = <float *> (self.apart + n_slots) - UNPLACED  # there too, where it says nothing
        self.n_slots = n_slots
        return 0

    cdef size_t n_bytes(self, Py_ssize_t n_slots) noexcept nogil:
        """Memory of so many slots."""
        return (n_slots * (sizeof(Known) + sizeof(Py_ssize_t) + 2 * self.n_columns * sizeof(double))
                + (n_slots - UNPLACED) * sizeof(float))

    cdef int copy_drift(self, Drift other) except -1 nogil:
        if self.n_slots != other.n_slots:
            with gil:
                PyMem_RawFree(self.known)
                self.known = NULL  # for the case that there is no memory
                self.make_slots(other.n_slots)
        memcpy(self.known, other.known, self.n_bytes(self.n_slots))
        self.before, self.forth, self.back = other.before, other.forth, other.back
        self.reference, self.cap, self.n_apart = other.reference, other.cap, other.n_apart
        self.stage, self.lost = other.stage, other.lost
        return 0

    cdef void forget(self, Partition partition) noexcept nogil:
        """All rows have to be looked at; drift is counted from here."""
        cdef const double *n = partition.component.n
        cdef double total = 0.0, weight = 0.0, least = INFINITY
        cdef Py_ssize_t k
        if partition.until == NULL:
            partition.until = self.until  # as new
        else:
            partition.forget_all()
        self.before = 0.0
        for k in range(self.n_slots):
            self.begin_anew(k)
            weight += n[k]
            total += n[k] * self.known[k].shape.fixed
            if n[k] < SMALL:
                least = min(least, self.known[k].shape.fixed)
        self.reference = <float> (total / weight)
        # Few rows cost more where they are than this, in which F is about D / 2.
        self.cap = <float> max(least - 1.0, self.reference + self.n_columns + 4.0)

    cdef double start_all(self, Partition partition, double far) noexcept nogil:
        """A stage begins: list slots that have drifted far; returns the most drift of the others."""
        cdef Py_ssize_t k, empty = partition.first_empty()
        cdef double drift, most = 0.0
        self.stage += 1
        for k in range(self.n_slots):
            drift = self.start(partition, k)
            if partition.component.n[k] == 0.0 and k != empty:
                continue  # it is like the first empty one, which rows go to
            if drift > far:
                self.apart[self.n_apart] = k
                self.n_apart += 1
            else:
                most = larger(most, drift)
        return most

    cdef double start(self, Partition partition, Py_ssize_t k) noexcept nogil:
        """Slot k is as the stage finds it; returns the drift of what it costs others."""
        cdef Known *known = &self.known[k]
        cdef Shape now = shape_of(partition, k)
        cdef const Densities *t = partition.component.densities()
        cdef Py_ssize_t n = self.n_columns
        cdef double *slope = self.slope + 2 * k * n
        cdef Change change = compared(partition, slope, k)
        cdef double drift = drift_elsewhere(&known.shape, &now, &change, self.reference, self.cap)
        known.own_before += drift_of_own(&known.shape, &now, &change, self.reference)
        known.own_back, known.shape = 0.0, now
        self.own[k] = rounded_up(known.own_before)
        known.noted = beginning(known)
        memcpy(slope, t.slot_slope + k * t.n_along, n * sizeof(double))
        memcpy(slope + n, t.slot_shift + k * t.n_along, n * sizeof(double))
        return drift

    cdef void follow(self, Partition partition, Py_ssize_t k) noexcept nogil:
        """Slot k has changed since the stage began."""
        if k >= self.n_slots:
            self.lose()
            return
        cdef Known *known = &self.known[k]
        cdef Shape then = known.shape, now = shape_of(partition, k)
        cdef Change change = compared(partition, self.slope + 2 * k * self.n_columns, k)
        cdef Change back = reverse(&change)
        cdef double elsewhere = drift_elsewhere(&now, &then, &back, self.reference, self.cap)
        cdef double own = drift_of_own(&now, &then, &back, self.reference)
        self.back, known.own_back = larger(self.back, elsewhere), larger(known.own_back, own)
        known.noted = beginning(known)
        elsewhere = drift_elsewhere(&then, &now, &change, self.reference, self.cap)
        own = known.own_before + drift_of_own(&then, &now, &change, self.reference)
        self.forth = larger(self.forth, elsewhere)
        self.own[k] = <float> larger(self.own[k], rounded_up(own))

    cdef void start_counting(self, Partition partition) noexcept nogil:
        """Slots whose own drift is large begin anew; their rows have to be looked at."""
        cdef Py_ssize_t i, k
        cdef bint none = True
        for k in range(self.n_slots):
            none = none and self.own[k] < FAR
        for i in range(0 if none else self.n_rows):
            if not self.own[partition.label[i]] < FAR:
                self.until[i] = 0.0
        for k in range(self.n_slots):
            if not self.own[k] < FAR:
                self.begin_anew(k)

    cdef void begin_anew(self, Py_ssize_t k) noexcept nogil:
        """Own drift is counted from here."""
        self.known[k].own_before = self.own[k] = 0.0
        self.known[k].noted = beginning(&self.known[k])

    cdef void lose(self) noexcept nogil:
        """Slots change that are not followed: more than is worth while, say."""
        self.lost = self.blank = True
        self.forth = FAR

    cdef void meet(self, Partition partition, const Screen *screen, Chunk *chunk,
                   Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Find how long those of rows first..last-1 stay that would, but for slots apart."""
        cdef float[CHUNK] some
        cdef double drift = self.before - ROUNDED
        cdef float until
        cdef Py_ssize_t i, j
        while first < last and self.n_apart > 0:
            fill(self, partition, chunk, first, last, True)
            screen_against(screen, partition, chunk, self.apart, self.n_apart)
            slack(chunk, self.reference, self.cap, some)
            for j in range(chunk.n_rows):
                i = chunk.index[j]
                until = <float> (drift + self.known[chunk.label[j]].noted + some[j])
                self.until[i] = until if until < self.until[i] else self.until[i]
            first = chunk.end

    cdef void gather(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                     Py_ssize_t last) noexcept nogil:
        """The next rows of first..last-1 that are not known to stay, as many as fill a chunk."""
        fill(self, partition, chunk, first, last, False)

    cdef void row_moved(self, Partition partition, const Chunk *chunk,
                        Py_ssize_t j) noexcept nogil:
        """Row j of a chunk has; if clusters have drifted much by now, another stage begins."""
        if self.lost:
            return
        if chunk.label[j] != UNPLACED:
            self.follow(partition, chunk.label[j])
        self.follow(partition, partition.label[chunk.index[j]])
        if self.lost:
            return
        cdef double drift = self.forth + self.back
        if drift >= STAGE_DRIFT and self.may_begin_stage(chunk.index[j]):
            # None is apart: rows that were passed over are not met again in this sweep.
            self.before += self.start_all(partition, INFINITY)
            self.forth = self.back = 0.0
        elif drift >= LONGEST:
            self.lose()  # whatever may be noted

    cdef bint may_begin_stage(self, Py_ssize_t i) noexcept nogil:
        """Whether the last one did long before row i, and drift in this sweep is not too much."""
        if i < self.stage_row + STAGE_ROWS or self.before - self.before_sweep >= SWEEP_DRIFT:
            return False
        self.stage_row = i
        return True

    cdef bint still_known(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                          Py_ssize_t last) noexcept nogil:
        """Whether rows first..last-1, passed over, stay whatever moved. Else the chunk ends there."""
        cdef Py_ssize_t i
        for i in range(self.pass_known(partition, first, last), last):
            if not self.knows(partition, i):
                chunk.end = i
                return False
        return True

    cdef void note(self, Partition partition, const Chunk *chunk, float most) noexcept nogil:
        """Note how long the rows of a chunk stay, whose bounds are up to date."""
        cdef float[CHUNK] some
        cdef double drift = self.before - self.back - ROUNDED
        cdef Py_ssize_t j, i, k
        if self.lost:
            return
        slack(chunk, self.reference, most, some)
        for j in range(chunk.n_rows):
            i, k = chunk.index[j], chunk.label[j]
            if k != UNPLACED and partition.label[i] == k:
                self.until[i] = <float> (drift + self.known[k].noted + some[j])


cdef Drift remembered(Partition partition):
    """What sweeps of it remember, from now on if there was nothing."""
    if partition.drift is None:
        partition.drift = Drift(partition)
    return partition.drift


cdef inline inlined_void fill(Drift drift, Partition partition, Chunk *chunk, Py_ssize_t first,
                              Py_ssize_t last, bint known) noexcept nogil:
    """The next rows of first..last-1 that are known to stay, or are not, as many as fill a chunk."""
    cdef Py_ssize_t n = 0, n_before, i
    while first < last and n < CHUNK:
        if not known:
            first = drift.pass_known(partition, first, last)
        n_before = n
        for i in range(first, min(first + DRIFT_TOGETHER, last)):
            chunk.index[n] = first
            n += drift.knows(partition, first) == known
            first += 1
            if n == CHUNK:
                break
        if not known:  # they may be far between: have them come from memory meanwhile
            for i in range(n_before, n):
                partition.X.prefetch(partition.in_use(chunk.index[i]))
    chunk.n_rows, chunk.end = n, first


cdef Py_ssize_t pass_known(const float *until, const Py_ssize_t *label, const float *own,
                           double drift, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """See `Drift.pass_known`: rows are asked so many at once, a rest at the end is not.

    One by one they are asked twice as fast as by the gathers of AVX-512.
    """
    cdef float least = <float> drift + <float> (2 * ROUNDED)  # so that rounding does not count
    cdef Py_ssize_t i
    cdef bint known
    while first + DRIFT_TOGETHER <= last:
        known = True
        for i in range(first, first + DRIFT_TOGETHER):
            known &= until[i] - least > own[label[i]]
        if not known:
            break
        first += DRIFT_TOGETHER
    return first


cdef double rounded_up(double drift) noexcept nogil:
    """No less in single precision."""
    return <float> (drift + ROUNDED)


cdef double beginning(const Known *known) noexcept nogil:
    if known.shape.member_power < LEAST_POWER or not known.own_before < FAR:
        return -INFINITY
    return known.own_before - known.own_back


cdef Shape shape_of(Partition partition, Py_ssize_t k) noexcept nogil:
    cdef const Densities *t = partition.component.densities()
    cdef Shape shape
    shape.power, shape.member_power = t.power[k], t.power[k] - 1.0
    shape.fixed = -t.constant[k] - partition.log_weight[k]
    shape.stay = -t.member_constant[k] - partition.light_member_weight[k]
    shape.ratio = t.member_ratio[k]
    return shape


cdef Change compared(Partition partition, const double *old, Py_ssize_t k) noexcept nogil:
    """How slopes and shifts of slot k differ from older ones."""
    cdef const Densities *t = partition.component.densities()
    cdef const double *slope = t.slot_slope + k * t.n_along
    cdef const double *shift = t.slot_shift + k * t.n_along
    cdef double a, b
    cdef Change change
    cdef Py_ssize_t d
    change.least, change.most, change.squares = INFINITY, 0.0, 0.0
    for d in range(t.n_columns):
        a = slope[d] / old[d]
        b = a * old[t.n_columns + d] - shift[d]
        change.squares += b * b
        change.least = a * a if a * a < change.least else change.least
        change.most = a * a if a * a > change.most else change.most
    return change


cdef Change reverse(const Change *change) noexcept nogil:
    cdef Change back
    back.least, back.most = 1.0 / change.most, 1.0 / change.least
    back.squares = change.squares / change.least
    return back


cdef double drift_elsewhere(const Shape *old, const Shape *new, const Change *change,
                            double reference, double cap) noexcept nogil:
    cdef double t = sqrt(new.power * change.squares), x, y
    if new.fixed >= cap:
        return 0.0
    y = change.squares / t * (1.0 - t) if t > 0.0 else 0.0
    y = positive(old.fixed - new.fixed) + new.power * y / (1.0 - y)
    x = 1.0 - new.power / old.power * min((1.0 - t) * change.least, 1.0)
    return drift_of(x, y, reference - old.fixed) if t < 0.5 and old.fixed < cap else MOST_DRIFT


cdef double drift_of_own(const Shape *old, const Shape *new, const Change *change,
                         double reference) noexcept nogil:
    cdef double t = sqrt(new.member_power * change.squares), c, x, y
    if old.member_power < LEAST_POWER and new.member_power < LEAST_POWER:
        return 0.0  # no row is known to stay there
    if not (old.member_power >= LEAST_POWER and new.member_power >= LEAST_POWER and t < 0.5):
        return MOST_DRIFT
    y = change.squares / t * (1.0 + t) if t > 0.0 else 0.0
    y = positive(new.stay - old.stay) + STEEP * new.member_power * new.ratio * y
    c = (1.0 + t) * change.most * new.ratio / old.ratio - 1.0
    c *= 1.0 if c < 0.0 else STEEP
    x = new.member_power / old.member_power * (1.0 + c) - 1.0
    return larger(c, drift_of(x, y, reference - old.stay))


cdef double drift_of(double x, double y, double nearer) noexcept nogil:
    """The larger of x and x * nearer + y; MOST_DRIFT if that is more, or no number."""
    x = positive(x)
    y += x * positive(nearer)
    x = x if x > y else y
    return x if x < MOST_DRIFT else MOST_DRIFT


cdef double positive(double x) noexcept nogil:
    return 0.0 if x <= 0.0 else x  # NaN stays


cdef void *calloc(size_t n, size_t size) except NULL:
    cdef void *memory = PyMem_RawCalloc(n, size)
    if memory == NULL:
        raise MemoryError(f"no memory to remember what rows or clusters are like, {n * size} bytes")
    return memory
