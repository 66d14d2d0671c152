# Rows visited in turn by several threads.

from dpmlite.inference._bounds cimport Chunk
from dpmlite.inference._drift cimport Drift
from dpmlite.inference._screening cimport Screen
from dpmlite.models._partition cimport Partition

# What another thread has written before it stored a value is there when that value is loaded.
cdef extern from *:
    """
    #if defined(__GNUC__)
    #  include <sched.h>
    #  define DPM_CAN_RELAY 1
    #  define dpm_load(x) __atomic_load_n(x, __ATOMIC_ACQUIRE)
    #  define dpm_store(x, value) __atomic_store_n(x, value, __ATOMIC_RELEASE)
    #  define dpm_add(x, value) __atomic_fetch_add(x, value, __ATOMIC_RELAXED)
    #  define dpm_let_others_run() sched_yield()
    #else  /* never called */
    #  define DPM_CAN_RELAY 0
    #  define dpm_load(x) (*(x))
    #  define dpm_store(x, value) (*(x) = (value))
    #  define dpm_add(x, value) (*(x))
    #  define dpm_let_others_run()
    #endif
    #if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    #  define dpm_wait_a_little() __builtin_ia32_pause()
    #elif defined(__GNUC__) && defined(__aarch64__)
    #  define dpm_wait_a_little() __asm__ __volatile__("yield")
    #else
    #  define dpm_wait_a_little()
    #endif
    """
    const bint CAN_RELAY "DPM_CAN_RELAY"
    Py_ssize_t load "dpm_load"(const Py_ssize_t *x) noexcept nogil
    void store "dpm_store"(Py_ssize_t *x, Py_ssize_t value) noexcept nogil
    Py_ssize_t fetch_add "dpm_add"(Py_ssize_t *x, Py_ssize_t value) noexcept nogil
    void let_others_run "dpm_let_others_run"() noexcept nogil
    void wait_a_little "dpm_wait_a_little"() noexcept nogil


cdef class Relay:
    cdef Partition partition
    cdef Drift drift
    cdef Py_ssize_t n_runners
    cdef Screen *screen        # [runner]
    cdef Py_ssize_t *turn      # the chunk whose turn it is, or OVER; and the memory of what follows:
    cdef Py_ssize_t *n_taken   # chunks that runners have taken
    cdef Py_ssize_t *changed   # [slot] the chunk in which it last changed, or NEVER
    cdef Py_ssize_t opened     # the same of which slots are open
    cdef Py_ssize_t first, last  # rows to visit
    cdef Py_ssize_t visited    # row after those that were, if there is room for all slots `last`
    cdef Py_ssize_t n_moves    # of the sweep
    cdef object error          # why

    cdef int begin(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t moves) except -1 nogil
    cdef Py_ssize_t end(self) except -1 nogil
    cdef Py_ssize_t run(self, Py_ssize_t i) noexcept with gil
    cdef Py_ssize_t take_chunks(self, Screen *screen) except -1 nogil
    cdef bint wait_for_turn(self, Py_ssize_t c) noexcept nogil
    cdef void catch_up(self, Screen *screen, Py_ssize_t known) noexcept nogil
    cdef Py_ssize_t visit_all(self, Screen *screen, Py_ssize_t c) except -1 nogil
    cdef void note_move(self, Py_ssize_t left, Py_ssize_t joined, Py_ssize_t c) noexcept nogil
