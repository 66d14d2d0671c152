/* An int that ends the program where it reaches 2^30 in magnitude: with this header before it,
   `mapdpm.h` checks all its numbers. C++. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* An instruction of some processors takes words without a sign. */
#undef __ARM_FEATURE_CLZ

static int64_t ranged_count = 0;

struct Ranged {
    int32_t v;
    Ranged() : v(0) {}
    Ranged(int64_t value) : v((int32_t)value) {
        ranged_count++;
        if (value <= -(1 << 30) || value >= 1 << 30) {
            fprintf(stderr, "%lld is out of range\n", (long long)value);
            abort();
        }
    }
    explicit operator bool() const { return v; }
    Ranged operator-() const { return Ranged(-(int64_t)v); }
};

/* Ranged with Ranged, and with the numbers that are written in the source. */
#define RANGED_OPERATOR(result, op)                                                           \
    static inline result operator op(Ranged a, Ranged b) { return (int64_t)a.v op b.v; }      \
    static inline result operator op(Ranged a, int b) { return (int64_t)a.v op b; }           \
    static inline result operator op(int a, Ranged b) { return (int64_t)a op b.v; }
RANGED_OPERATOR(Ranged, +)
RANGED_OPERATOR(Ranged, -)
RANGED_OPERATOR(Ranged, *)
RANGED_OPERATOR(Ranged, /)
RANGED_OPERATOR(Ranged, %)
RANGED_OPERATOR(Ranged, &)
RANGED_OPERATOR(Ranged, >>)
RANGED_OPERATOR(Ranged, <<)
RANGED_OPERATOR(bool, <)
RANGED_OPERATOR(bool, <=)
RANGED_OPERATOR(bool, >)
RANGED_OPERATOR(bool, >=)
RANGED_OPERATOR(bool, ==)

#define RANGED_ASSIGNMENT(op) \
    static inline Ranged &operator op##=(Ranged &a, Ranged b) { return a = a op b; }
RANGED_ASSIGNMENT(+)
RANGED_ASSIGNMENT(-)
RANGED_ASSIGNMENT(>>)
RANGED_ASSIGNMENT(<<)
