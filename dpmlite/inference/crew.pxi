"""Threads that share the work of a kernel.

The work is in pieces, which a thread takes one after the other: where the processor has other
things to do, the threads that it runs do more of them, and one that comes late is not waited for.

They wait at locks of Python's, which put them to sleep: other programs can use the processor while
they have nothing to do, they are there on every platform, and when they have ended, with the kernel
or with the fit that keeps them, nothing is left that would be broken by a fork.
"""

cdef enum:
    APART = 16  # numbers between what one thread writes and what others do: no cache line is shared


cdef class Crew:
    """So many threads, one of them the caller's, for a with statement.

    The others start when there is work for them.
    """

    cdef Py_ssize_t n_helpers  # threads beside the caller's
    cdef void **go             # [helper] a lock that is open when it has been called
    cdef bint *called          # [helper] whether it was, and has not come yet
    cdef void *board           # a lock for `called` and what follows:
    cdef Py_ssize_t n_pieces   # of the work,
    cdef Py_ssize_t n_taken    # of these,
    cdef Py_ssize_t n_busy     # threads that have one,
    cdef Py_ssize_t total      # and the sum of what `do` returned
    cdef void *finished        # a lock that is open when the last of the helpers is,
    cdef bint awaited          # if the caller waits for that
    cdef bint started, over
    cdef object pool           # that the helpers are from,
    cdef list helpers          # whose futures are here

    def __cinit__(self, Py_ssize_t n_threads, *args):
        cdef Py_ssize_t i
        self.go = <void **> PyMem_Calloc(n_threads, sizeof(void *) + sizeof(bint))
        if self.go == NULL:
            raise MemoryError(f"no memory for {n_threads} threads")
        self.called = <bint *> (self.go + n_threads)
        self.helpers = []
        self.board = new_lock()
        self.finished = new_lock()
        PyThread_acquire_lock(self.finished, True)
        for i in range(n_threads - 1):
            self.go[i] = new_lock()
            PyThread_acquire_lock(self.go[i], True)
            self.n_helpers += 1

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_helpers):
            PyThread_free_lock(self.go[i])
        if self.board != NULL:
            PyThread_free_lock(self.board)
        if self.finished != NULL:
            PyThread_free_lock(self.finished)
        PyMem_Free(self.go)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        PyThread_acquire_lock(self.board, True)
        self.over = True
        PyThread_release_lock(self.board)
        self.call(0)
        if self.started:
            end(self.helpers)
            self.pool.__exit__(*error)

    def help(self, Py_ssize_t i):
        """What helper i does until all is over."""
        cdef bint over = False
        with nogil:
            while not over:
                PyThread_acquire_lock(self.go[i], True)
                PyThread_acquire_lock(self.board, True)
                self.called[i] = False
                over = self.over
                PyThread_release_lock(self.board)
                if not over:
                    self.work(i + 1)

    cdef int start(self) except -1:
        self.pool = pool_of(self.n_helpers)
        pool = self.pool.__enter__()
        self.started = True
        for i in range(self.n_helpers):
            self.helpers.append(pool.submit(self.help, i))
        return 0

    cdef Py_ssize_t share(self, Py_ssize_t n_pieces) except -1 nogil:
        """Do the work, and return the sum of what `do` did when all is done."""
        self.hand_out(n_pieces)
        return self.finish()

    cdef int hand_out(self, Py_ssize_t n_pieces) except -1 nogil:
        """Let the helpers begin; the caller may do something else before it calls `finish`."""
        if not self.started and self.n_helpers > 0:
            with gil:
                self.start()
        self.call(n_pieces)
        return 0

    cdef Py_ssize_t finish(self) noexcept nogil:
        """Help; return the sum of what `do` did when all is done."""
        cdef bint wait
        self.work(0)
        PyThread_acquire_lock(self.board, True)
        wait = self.awaited = self.n_busy > 0
        PyThread_release_lock(self.board)
        if wait:
            PyThread_acquire_lock(self.finished, True)
        return self.total

    cdef void call(self, Py_ssize_t n_pieces) noexcept nogil:
        """There is work: wake the helpers that are not about to come anyway."""
        cdef Py_ssize_t i
        PyThread_acquire_lock(self.board, True)
        self.n_pieces, self.n_taken, self.total, self.awaited = n_pieces, 0, 0, False
        for i in range(self.n_helpers):
            if not self.called[i]:
                self.called[i] = True
                PyThread_release_lock(self.go[i])
        PyThread_release_lock(self.board)

    cdef void work(self, Py_ssize_t i) noexcept nogil:
        """Thread i does pieces until all are taken."""
        cdef Py_ssize_t piece, n_pieces, total = 0
        cdef bint busy = False
        while True:
            PyThread_acquire_lock(self.board, True)
            if self.n_taken == self.n_pieces:
                break
            piece, n_pieces = self.n_taken, self.n_pieces
            self.n_taken += 1
            self.n_busy += not busy
            busy = True
            PyThread_release_lock(self.board)
            total += self.do(i, piece, n_pieces)
        if busy:  # who came late writes nothing: the caller may be reading
            self.n_busy -= 1
            self.total += total
            if self.awaited and self.n_busy == 0:
                PyThread_release_lock(self.finished)
        PyThread_release_lock(self.board)

    cdef Py_ssize_t do(self, Py_ssize_t i, Py_ssize_t piece, Py_ssize_t n_pieces) noexcept nogil:
        """What a subclass has to do for one piece of so many, on thread i."""
        return 0


cdef void *new_lock() except NULL:
    cdef void *lock = PyThread_allocate_lock()
    if lock == NULL:
        raise MemoryError("no memory for a lock")
    return lock
