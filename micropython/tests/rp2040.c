/* check.py in C, for an RP2040 without any firmware: answers of mapdpm.h to a stream in its flash.

   Words at STREAM: columns, slots, c0's numerator and denominator, 2 a0, 1024 alpha, memory, rows;
   m0 and b0; the rows. UART0 gets the words of the answer, the lowest byte first: the rolling hash,
   the number of clusters, and the slots' weights. Then it stops. */

#include "mapdpm.h"

#define STREAM ((const int32_t *)0x10100000)
#define UART0_DATA (*(volatile uint32_t *)0x40034000)

static int32_t words[16384];
static mapdpm m;

static void send(int32_t word) {
    int shift;
    for (shift = 0; shift < 32; shift += 8) UART0_DATA = word >> shift & 255;
}

static int32_t hashed(int32_t value, int32_t answer) {
    int32_t y = value * 31 + answer + 7;
    return y - mapdpm_div(y, 65521) * 65521;
}

static int32_t answers(const int32_t *x, int32_t rows) {
    int32_t value = 0, i, k;
    for (i = 0; i < rows; i++, x += m.dim) {
        k = mapdpm_predict(&m, x);
        value = hashed(value, mapdpm_surprise(&m, x, 1));
        value = hashed(value, k);
        value = hashed(value, mapdpm_learn(&m, x, i & 1));
        if (i % 64 == 63) value = hashed(value, mapdpm_merge(&m, 0));
    }
    return value;
}

void start(void) {
    const int32_t *t = STREAM;
    int dim = t[0], clusters = t[1], k;
    if (MAPDPM_WORDS(dim, clusters) <= 16384 &&
        mapdpm_init(&m, words, dim, clusters, t + 8, t + 8 + dim, t[2], t[3], t[4], t[5], t[6])) {
        send(answers(t + 8 + 2 * dim, t[7]));
        send(m.k);
        for (k = 0; k < clusters; k++) send(m.counts[k]);
    }
    __asm__("bkpt 0");
}
