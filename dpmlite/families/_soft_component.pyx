"""Components for variational inference: expected log densities, and rows that clusters share."""

from dpmlite.core._memory cimport double_array
from dpmlite.families._slot_vectors cimport padded


cdef class SoftComponent(Component):

    def __cinit__(self):
        self.expected = None

    cdef int expect(self) except -1:
        """Bring what expected_scores needs up to the slots' statistics."""
        raise NotImplementedError

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        """out[k] = expected log density of the row in slot k, of every slot; finite in the rest."""
        pass

    cdef void begin_sharing(self) noexcept nogil:
        """Return every slot to the prior; nothing but `share` may follow before `end_sharing`."""
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            self.clear_slot(k)

    cdef void share(self, const Row *row, const double *responsibilities) noexcept nogil:
        """Put the part responsibilities[k] of the row into slot k, for all k."""
        cdef Row part = row[0]
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            if responsibilities[k] > 0.0:
                part.weight = row.weight * responsibilities[k]
                self.accumulate(&part, k)

    cdef void end_sharing(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            self.refresh(k)

    def _check_expectations(self):
        pass

    cdef int expect_values(self, Py_ssize_t n_values) except -1:
        """Allocate n_values of every slot in `expected`; ValueError unless the power is 1."""
        if self.power != 1.0:
            raise ValueError(f"power must be 1 for expected log densities, got {self.power}")
        if self.expected is None or self.expected.shape[0] < n_values * self.capacity:
            self.expected = double_array(n_values * self.capacity)
        return 0

    def expected_log_density(self, const double[::1] row, Py_ssize_t k, double weight=1.0):
        self._check_slot(k)
        cdef Row checked = self.checked_row(row, weight)
        cdef double[::1] scores = double_array(padded(self.n_slots))
        self.expect()
        self.expected_scores(&checked, &scores[0])
        return scores[k]
