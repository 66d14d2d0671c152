"""What a family of components overrides: updates of slots, scores of rows and log marginals."""

from libc.math cimport INFINITY, NAN

from dpmlite.families._slot_vectors cimport least_of, padded


cdef class Family(Slots):

    def __cinit__(self):
        self.power = 1.0

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """Add a row to the statistics alone; refresh(k) must follow before slot k is scored."""
        pass

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        """Renew what scoring needs of slot k from its statistics."""
        pass

    cdef void add_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        self.accumulate(row, k)
        self.refresh(k)

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """Take a row out; return False, and change nothing, if rounding would show."""
        return False

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        """Put all rows of slot k into slot j; slot k becomes empty."""
        pass

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """Return log p(row | rows of slot k)."""
        return 0.0

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """Return log p(row | other rows of slot k) of its member; NaN if rounding would show."""
        return 0.0

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        """Write the costs -log_weight[k] - log p(row | rows of slot k), eq. (15), of all slots.

        A cost that is not below `limit` may be given as any number from `limit` to the cost.
        Slots from n_slots on cost infinity if their log_weight is minus infinity. Returns the
        least cost, or `limit` if none is below it.
        """
        cdef Py_ssize_t k
        if self.has_heavy_bounds and row.weight != 1.0 and limit < INFINITY:
            self.heavy_bounds(row, log_weight, limit, out)
            return self.score_below(row, log_weight, limit, out)
        for k in range(self.n_slots):
            out[k] = -log_weight[k] - self.score_slot(row, k)
        for k in range(self.n_slots, padded(self.n_slots)):
            out[k] = INFINITY
        return least_of(out, self.n_slots, limit)

    cdef double score_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        """Replace bounds below the limit by costs; return the least cost, or `limit`."""
        cdef double least = limit
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            if out[k] < limit:
                out[k] = -log_weight[k] - self.score_slot(row, k)
                least = out[k] if out[k] < least else least
        return least

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        """Write lower bounds of the costs of a row of any weight, which take long to find exactly.

        Bounds that reach `limit` need not be close.
        """
        pass

    cdef void score_members(self, const Row *rows, const Py_ssize_t *slots, Py_ssize_t n,
                            double *out) noexcept nogil:
        """Write score_member of n rows, MEMBERS_PER_BATCH at most, each in one of the slots."""
        cdef Py_ssize_t i
        for i in range(n):
            out[i] = self.score_member(&rows[i], slots[i])

    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """Return a lower bound of score_member that may be cheaper; NaN where score_member is."""
        return self.score_member(row, k)

    cdef double log_scale_of(self, const Row *row) noexcept nogil:
        """Return the log of the product of the scales of the columns that the row has."""
        return self.log_scale

    cdef double least_cost(self, const Row *row) noexcept nogil:
        """Return a bound that -log p(row | rows of any slot) is not below; for discrete families."""
        return 0.0

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        """Return log p(all rows of slot k | theta_0)."""
        return 0.0

    cdef int begin_merging(self) except -1:
        """Prepare many calls of marginals_merged, while the interpreter's lock is held."""
        return 0

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        """out[k] = log marginal of the rows of slots j and k together, of slots from `first` on."""
        pass

    cdef void merging_bounds(self, Py_ssize_t j, double *out) noexcept nogil:
        """Upper bounds of what marginals_merged writes, of all slots."""
        pass

    cdef double marginal_merged(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        """Return what marginals_merged writes for slot k."""
        return 0.0

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        """Bound log p(row | rows of slot k and others) from above; others weigh at most `more`."""
        return INFINITY

    cdef const NormalPrior *column_prior(self) noexcept nogil:
        """Return the prior of columns that are independent normals; NULL for other families."""
        return NULL

    cdef NormalColumn normal_column(self, Py_ssize_t k, Py_ssize_t d) noexcept nogil:
        """Return the moments of slot k in column d; only where there is a column_prior."""
        cdef NormalColumn column
        column.n = column.mean = column.variance = column.rate = NAN
        return column
