"""Components whose rows sweeps can screen, by the Student-t densities of their slots."""


cdef class Screenable(SoftComponent):

    cdef double log_peak(self, Py_ssize_t k, double others, double weight) noexcept nogil:
        """Return the log density of a row at the mean of slot k, if its other rows weigh `others`.

        It has the slot's widths, with the row or without it.
        """
        return 0.0

    cdef double least_kept(self, Py_ssize_t k) noexcept nogil:
        """Return the part of the widths of slot k that removals have left, in the least column."""
        return 0.0
