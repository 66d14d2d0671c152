"""The memory of slots, and whose turn it is to write to scratch memory."""

from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dpmlite.core._locks cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock)
from dpmlite.families._slot_vectors cimport NARROW

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX


cdef class Slots:
    """Memory for the statistics of clusters, one slot each."""

    def __cinit__(self):
        self.block = NULL
        self.turn = PyThread_allocate_lock()
        if self.turn == NULL:
            raise MemoryError("no memory for a lock")

    def __dealloc__(self):
        free(self.block)
        if self.turn != NULL:
            PyThread_free_lock(self.turn)

    cdef void lay_out(self) noexcept nogil:
        """Set the family's pointers into `across` and `along`; slots may be uncleared."""
        pass

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        """Return slot k to the prior."""
        pass

    cdef void clear_slots(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Return slots first..last-1 to the prior."""
        cdef Py_ssize_t k
        for k in range(first, last):
            self.clear_slot(k)

    cdef void copy_slot(self, Py_ssize_t k, Slots other, Py_ssize_t j) noexcept nogil:
        """Overwrite slot k by slot j of a component of the same prior."""
        cdef Py_ssize_t i
        for i in range(self.n_across):
            self.across[i * self.capacity + k] = other.across[i * other.capacity + j]
        memcpy(self.along + k * self.n_along, other.along + j * self.n_along,
               self.n_along * sizeof(double))

    cdef int start(self, Py_ssize_t n_across, Py_ssize_t n_along) except -1:
        """Allocate the first slots; what `lay_out` and `clear_slot` need must be set."""
        self.n_across, self.n_along = n_across, n_along
        return self.reserve(NARROW)

    cdef int reserve(self, Py_ssize_t capacity) except -1 nogil:
        """Allocate memory for `capacity` slots, at addresses that fit a cache line."""
        cdef Py_ssize_t i, step = self.capacity, known = min(step, capacity)
        cdef double wanted = 8.0 * (self.n_across + self.n_along) * capacity
        cdef size_t n_bytes = (self.n_across + self.n_along) * capacity * sizeof(double)
        cdef void *block = malloc(n_bytes + 64) if wanted < 0.5 * <double> PY_SSIZE_T_MAX else NULL
        if block == NULL:
            with gil:
                raise MemoryError(f"no memory for the statistics of {capacity} clusters")
        cdef double *across = <double *> ((<uintptr_t> block + 63) & ~(<uintptr_t> 63))
        cdef double *along = across + self.n_across * capacity
        memset(across, 0, n_bytes)
        if known > 0:
            for i in range(self.n_across):
                memcpy(across + i * capacity, self.across + i * step, known * sizeof(double))
            memcpy(along, self.along, self.n_along * known * sizeof(double))
        free(self.block)
        self.block, self.capacity = block, capacity
        self.n, self.across, self.along = across, across, along
        self.lay_out()
        self.clear_slots(known, capacity)
        return 0

    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil:
        """Make exactly n_slots slots; those that are new are empty."""
        cdef Py_ssize_t capacity = self.capacity
        while capacity < n_slots and capacity <= PY_SSIZE_T_MAX // 2:
            capacity *= 2
        if capacity > self.capacity:
            self.reserve(capacity)
        self.clear_slots(n_slots, self.n_slots)
        self.n_slots = n_slots
        return 0

    cdef int shrink(self) except -1 nogil:
        """Move slots closer together where most are gone: they share cache lines then."""
        cdef Py_ssize_t capacity = self.capacity
        while capacity > NARROW and capacity >= 4 * self.n_slots:
            capacity //= 2
        return self.reserve(capacity) if capacity < self.capacity else 0

    cdef int copy_all(self, Slots other) except -1 nogil:
        """Copy all slots of another of the same prior; for families that have all in the block."""
        if self.capacity != other.capacity:
            self.reserve(other.capacity)
        self.n_slots = other.n_slots
        memcpy(self.across, other.across,
               (self.n_across + self.n_along) * self.capacity * sizeof(double))
        return 0

    cdef void begin_turn(self) noexcept nogil:
        """Let no other thread score rows in single slots of this component until end_turn.

        For components that threads share; called without the interpreter's lock.
        """
        if self.has_scratch:
            PyThread_acquire_lock(self.turn, True)

    cdef void end_turn(self) noexcept nogil:
        if self.has_scratch:
            PyThread_release_lock(self.turn)
