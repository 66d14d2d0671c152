"""Threads that share the work of a kernel.

They wait at locks of Python's, which put them to sleep: other programs can use the processor while
they have nothing to do, they are there on every platform, and when they have ended nothing is left
that would be broken by a fork.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free

from dpmlite.models._locks cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock)


cdef class Crew:
    """So many threads, one of them the caller's, for a with statement.

    The others start when there is work for them.
    """

    def __cinit__(self, Py_ssize_t n_threads, *args):
        cdef Py_ssize_t i
        self.go = <void **> PyMem_Calloc(2 * n_threads, sizeof(void *))
        if self.go == NULL:
            raise MemoryError(f"no memory for {n_threads} threads")
        self.done = self.go + n_threads
        self.threads = []
        for i in range(n_threads - 1):
            self.go[i], self.done[i] = closed_lock(), closed_lock()
            self.n_helpers += 1

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_helpers):
            PyThread_free_lock(self.go[i])
            PyThread_free_lock(self.done[i])
        PyMem_Free(self.go)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.over = True
        for i, thread in enumerate(self.threads):
            PyThread_release_lock(self.go[i])
            thread.join()

    def help(self, Py_ssize_t i):
        """What thread i does until there is no more work."""
        with nogil:
            while True:
                PyThread_acquire_lock(self.go[i], True)
                if self.over:
                    break
                self.work(i + 1, self.n_helpers + 1)
                PyThread_release_lock(self.done[i])

    cdef int start(self) except -1:
        from threading import Thread

        self.started = True
        for i in range(self.n_helpers):
            thread = Thread(target=self.help, args=(i,), daemon=True)
            thread.start()
            self.threads.append(thread)
        return 0

    cdef int share(self) except -1 nogil:
        """Do the work, each thread a part of it, and return when all is done."""
        cdef Py_ssize_t i
        if not self.started:
            with gil:
                self.start()
        for i in range(self.n_helpers):
            PyThread_release_lock(self.go[i])
        self.work(0, self.n_helpers + 1)
        for i in range(self.n_helpers):
            PyThread_acquire_lock(self.done[i], True)
        return 0

    cdef void work(self, Py_ssize_t part, Py_ssize_t n_parts) noexcept nogil:
        """What a subclass has to do, divided into so many parts."""


cdef void *closed_lock() except NULL:
    cdef void *lock = PyThread_allocate_lock()
    if lock == NULL:
        raise MemoryError("no memory for a lock")
    PyThread_acquire_lock(lock, True)
    return lock
