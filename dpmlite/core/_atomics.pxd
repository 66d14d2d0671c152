# Atomic integers, by which threads tell each other how far they are.
#
# `store` releases and `load` acquires: whatever a thread wrote before it stored a number, another
# thread reads after it has loaded that number.

cdef extern from "kernels.h":
    const bint HAS_ATOMICS "DPM_HAS_ATOMICS"
    Py_ssize_t load "dpm_load"(const Py_ssize_t *x) noexcept nogil
    void store "dpm_store"(Py_ssize_t *x, Py_ssize_t value) noexcept nogil
    Py_ssize_t fetch_add "dpm_fetch_add"(Py_ssize_t *x, Py_ssize_t value) noexcept nogil
    void yield_processor "dpm_yield_processor"() noexcept nogil
    void pause "dpm_pause"() noexcept nogil

cdef enum:
    CACHE_LINE = 64         # bytes; numbers that different threads write should not share a line
    LOADS_PER_YIELD = 1000  # loads of a waiting thread after which another program may run
