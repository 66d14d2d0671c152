"""Atomic numbers by which threads tell each other how far they are.

What a thread wrote before it stored a number is there for the thread that has loaded it.
"""

cdef extern from *:
    """
    #if defined(__GNUC__)
    #  include <time.h>
    #  define DPM_HAS_ATOMICS 1
    static void dpm_sleep_shortly(void) {
        struct timespec least = {0, 1000};
        nanosleep(&least, NULL);
    }
    #  define dpm_load(x) __atomic_load_n(x, __ATOMIC_ACQUIRE)
    #  define dpm_store(x, value) __atomic_store_n(x, value, __ATOMIC_RELEASE)
    #  define dpm_fetch_add(x, value) __atomic_fetch_add(x, value, __ATOMIC_RELAXED)
    #else  /* for one thread only */
    #  define DPM_HAS_ATOMICS 0
    #  define dpm_load(x) (*(x))
    #  define dpm_store(x, value) (*(x) = (value))
    #  define dpm_fetch_add(x, value) ((*(x) += (value)) - (value))
    #  define dpm_sleep_shortly()
    #endif
    #if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    #  define dpm_pause() __builtin_ia32_pause()
    #elif defined(__GNUC__) && defined(__aarch64__)
    #  define dpm_pause() __asm__ __volatile__("yield")
    #else
    #  define dpm_pause()
    #endif
    """
    const bint HAS_ATOMICS "DPM_HAS_ATOMICS"
    Py_ssize_t load "dpm_load"(const Py_ssize_t *x) noexcept nogil
    void store "dpm_store"(Py_ssize_t *x, Py_ssize_t value) noexcept nogil
    Py_ssize_t fetch_add "dpm_fetch_add"(Py_ssize_t *x, Py_ssize_t value) noexcept nogil
    void sleep_shortly "dpm_sleep_shortly"() noexcept nogil
    void pause "dpm_pause"() noexcept nogil

cdef enum:
    CACHE_LINE = 64        # bytes; numbers that different threads write should not share one
    LOADS_PER_SLEEP = 2000  # loads of a thread that waits: the other one is not running then
