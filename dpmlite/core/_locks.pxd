# Python's locks, for threads that do not hold the interpreter's lock.

cdef extern from "pythread.h":
    void *PyThread_allocate_lock() noexcept nogil
    void PyThread_free_lock(void *lock) noexcept nogil
    int PyThread_acquire_lock(void *lock, int wait) noexcept nogil
    void PyThread_release_lock(void *lock) noexcept nogil
