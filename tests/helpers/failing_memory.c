/* Memory that fails: loaded before the C library, it lets allocations of dpmlite's kernels fail.

   Only allocations whose caller lies in a file of the package count. glibc only. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *memory, size_t n);

static atomic_long n_calls, first_failure = -1, last_failure = -1;

/* Let calls first..last from now on fail. */
void fail_calls(long first, long last)
{
    atomic_store(&n_calls, 0);
    atomic_store(&first_failure, first);
    atomic_store(&last_failure, last);
}

long calls(void) { return atomic_load(&n_calls); }

static int fails(const void *caller)
{
    Dl_info file;
    if (!dladdr(caller, &file) || strstr(file.dli_fname, "/dpmlite/") == NULL)
        return 0;
    long i = atomic_fetch_add(&n_calls, 1);
    return atomic_load(&first_failure) <= i && i <= atomic_load(&last_failure);
}

void *malloc(size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *memory, size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, n);
}
