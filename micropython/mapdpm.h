/* MAP-DPM in integers, in plain C: the results of mapdpm_int.py, bit for bit.

   That file is the specification: its docstrings say what is computed, and why. This header is for
   Arduino and other firmware in C or C++. It needs no library, no heap and no numbers of more than
   32 bits. Names are those of the Python file.

       enum { DIM = 3, CLUSTERS = 8 };
       static int32_t words[MAPDPM_WORDS(DIM, CLUSTERS)];
       static mapdpm m;
       int32_t m0[DIM] = {0, 0, 0}, b0[DIM] = {160000, 160000, 160000}, x[DIM];

       mapdpm_init(&m, words, DIM, CLUSTERS, m0, b0, 1, 10, 16, 1024, 2048);
       int32_t bits256 = mapdpm_surprise(&m, x, 1);
       int label = mapdpm_learn(&m, x, 0);

   An int may have 16 bits; numbers that may need more are int32_t. Shifts of negative numbers to the
   right round down, as all compilers for boards have it. */

#ifndef MAPDPM_H
#define MAPDPM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of a slot, and words of a learner: slots, two more for a new cluster and for merges;
   weights; m0 and b0. */
#define MAPDPM_SLOT(dim) (3 * (dim) + 4)
#define MAPDPM_WORDS(dim, clusters) \
    (((clusters) + 2) * MAPDPM_SLOT(dim) + (clusters) + 2 * (dim))

/* What is returned for a row that is out of range; nothing has changed then. */
#define MAPDPM_BAD INT32_MIN

/* A bit, of logarithms in units of 2^-16. */
#define MAPDPM_BIT ((int32_t)1 << 16)

typedef struct {
    int dim, clusters;
    int32_t c0, one, two_a0, alpha, memory; /* the paper's c0 is c0 / one; 1024 alpha */
    int32_t *slots, *counts, *m0, *b0;
    int k, best, second; /* number of clusters; the cheapest of the last scan, and that before it */
    int32_t gap;         /* by how much the cheapest is cheaper */
} mapdpm;

/* Base-2 logarithm of 1 <= y < 2^30, in units of 2^-16. */
static inline int32_t mapdpm_log2(int32_t y) {
#ifdef __ARM_FEATURE_CLZ /* an instruction counts leading zeros */
    int zeros = __builtin_clz(y);
    int32_t e = (31 - zeros) * MAPDPM_BIT;
    y = (uint32_t)y << zeros >> 16;
#else
    int32_t e = 15 * MAPDPM_BIT;
    for (; y >> 19; y >>= 4) e += 4 * MAPDPM_BIT;
    for (; y >> 16; y >>= 1) e += MAPDPM_BIT;
    for (; !(y >> 15); y <<= 1) e -= MAPDPM_BIT;
#endif
    y -= 32768;
    return e + 2 * y +
           (((y * (32768 - y) >> 15) * (14376 - (y * (7833 - (y * 2691 >> 15)) >> 15))) >> 14);
}

/* The quotient rounded down; b > 0. */
static inline int32_t mapdpm_div(int32_t a, int32_t b) {
    return a / b - (a % b < 0);
}

static inline int32_t mapdpm_weight(const mapdpm *m) {
    int k;
    int32_t total = 0;
    for (k = 0; k < m->clusters; k++) total += m->counts[k];
    return total;
}

/* Forget half of every row of slot s; of an odd number, after a row at the mean, rounded down. */
static inline void mapdpm_halve(const mapdpm *m, int32_t *s) {
    int d;
    int32_t n = s[2];
    for (d = 0, s += 3; d < m->dim; d++, s += 3) {
        int32_t mean = mapdpm_div(s[0], n);
        int32_t y = s[0] + n % 2 * mean;
        s[1] = ((s[1] + n % 2 * mean * mean) >> 1) - (y & 1) * mean;
        s[0] = y >> 1;
    }
}

/* Add the row to the sums of slot s, and derive its B; return whether a sum is full. */
static inline int mapdpm_add(const mapdpm *m, const int32_t *x, int32_t *s, int sign) {
    int d, full = 0;
    int32_t one = m->one, c = m->c0 + one * s[2], total = 0, *t = s + 3;
    for (d = 0; d < m->dim; d++, t += 3) {
        int32_t y = x[d] - m->m0[d], mean, r;
        t[1] += sign * y * y;
        t[0] = y = t[0] + sign * y;
        mean = mapdpm_div(one * y, c);
        r = one * y - mean * c;
        full |= t[1] >= 500000000;
        y = t[1] + 2 * m->b0[d] - mean * y - mapdpm_div(mean * r + r * r / c, one);
        t[2] = y + y / c * one + y % c * one / c;
        total += mapdpm_log2(t[2]);
    }
    s[1] = total;
    return full;
}

/* What slot s adds to the joint, in 1/512 bit, without what is linear in n. */
static inline int32_t mapdpm_part(const mapdpm *m, const int32_t *s) {
    int32_t c = m->c0 + m->one * s[2], shape = m->two_a0 + s[2], n = s[2] ? s[2] : 1;
    int32_t log_n = mapdpm_log2(n), log_shape = m->dim * mapdpm_log2(shape);
    int32_t log_c = m->dim * mapdpm_log2(c);
    int32_t bits = 2 * log_n - s[1] + m->dim * mapdpm_log2(c + m->one) + log_shape - log_c;
    return (((2 * m->two_a0 + 1) * log_n + log_shape + log_c) >> 8) - shape * (bits >> 8) -
           ((shape * (bits & 255)) >> 8) - 123 * m->dim / shape - 61 / n;
}

/* Add (1), take away (-1) or disregard (0) row x in slot k; empty it if it weighs 0. */
static inline void mapdpm_update(mapdpm *m, const int32_t *x, int k, int sign) {
    int w = MAPDPM_SLOT(m->dim), d, full;
    int32_t shape, weight = 0, *s = m->slots + k * w;
    if (k < m->clusters) {
        weight = m->counts[k] += sign;
        if (!weight) {
            m->k--;
            for (d = 0; d < w; d++) s[d] = 0;
            return;
        }
    }
    s[2] += sign;
    for (;;) {
        full = mapdpm_add(m, x, s, sign);
        if (k >= m->clusters ||
            (m->c0 + m->one * s[2] < 16000 && !full && (sign || s[2] < weight + 10)))
            break;
        mapdpm_halve(m, s);
        s[2] = (s[2] + 1) >> 1;
        sign = 0;
    }
    shape = m->two_a0 + s[2];
    s[0] = s[1] - 2 * mapdpm_log2(k < m->clusters ? weight << 10 : m->alpha) -
           m->dim * mapdpm_log2((shape << 9) - 256 + 72 / shape);
    if (!sign) s[w - 1] = mapdpm_part(m, s);
}

/* Cost of row x in slot s: twice -log2 of weight times density. */
static inline int32_t mapdpm_cost(const mapdpm *m, const int32_t *x, const int32_t *s) {
    int d;
    int32_t c = m->c0 + m->one * s[2], cost = s[0], r = -s[1], n = s[2] + m->two_a0 + 1;
    const int32_t *t = s + 3;
    for (d = 0; d < m->dim; d++, t += 3) {
        int32_t y = mapdpm_div(((x[d] - m->m0[d]) * c - m->one * t[0]) * 8, c);
        r += mapdpm_log2(t[2] + (y * y >> 6));
    }
    if (r < (8192 * MAPDPM_BIT - cost) / n) return cost + r * n;
    return 8192 * MAPDPM_BIT + (cost >> 10) + (r >> 10) * n;
}

/* -log2 of the predictive density of x in 1/256 bit; 0 without `density`: a scan alone. */
static inline int32_t mapdpm_surprise(mapdpm *m, const int32_t *x, int density) {
    int d, k;
    int32_t least = 12288 * MAPDPM_BIT, total = 0, weight;
    for (d = 0; d < m->dim; d++)
        if (x[d] < -2048 || x[d] > 2047) return MAPDPM_BAD;
    m->best = m->second = 0;
    m->gap = 0;
    for (k = 0; k <= m->clusters; k++) {
        const int32_t *s = m->slots + k * MAPDPM_SLOT(m->dim);
        int32_t cost, y;
        if (!s[2] && k < m->clusters) continue;
        cost = mapdpm_cost(m, x, s);
        y = cost < least ? least - cost : cost - least;
        y = y >> 17 > 15 ? 0 : ((8192 - (y >> 5 & 4095)) >> 1) >> (y >> 17);
        total = least < cost ? total + y : ((total >> 1) * y >> 11) + 4096;
        if (cost < least) {
            m->gap = least - cost;
            m->second = m->best;
            m->best = k;
            least = cost;
        }
    }
    if (!density) return 0;
    weight = ((m->alpha + 1) >> 1) + (mapdpm_weight(m) << 9);
    least += 2 * (mapdpm_log2(weight) - mapdpm_log2(total));
    return (least + m->dim * 763593 + 26 * MAPDPM_BIT) >> 9;
}

/* Label of row x, or -1 where it would found a cluster. */
static inline int32_t mapdpm_predict(mapdpm *m, const int32_t *x) {
    if (mapdpm_surprise(m, x, 0) == MAPDPM_BAD) return MAPDPM_BAD;
    return m->best == m->clusters ? -1 : m->best;
}

/* The best pair of clusters whose merge raises the joint by less than `limit`, in 1/512 bit: the
   upper one, and the lower in `second`; or -1. */
static inline int mapdpm_pair(mapdpm *m, int32_t limit) {
    int w = MAPDPM_SLOT(m->dim), k, i, d, best = -1;
    int32_t *s = m->slots, *sum = s + (m->clusters + 1) * w;
    int32_t a = s[m->clusters * w + w - 1] + ((mapdpm_log2(m->alpha) - 10 * MAPDPM_BIT) >> 7) + 740;
    for (k = 0; k < m->clusters; k++)
        for (i = 0; i < k; i++) {
            int32_t y;
            if (!m->counts[k] || !m->counts[i]) continue;
            for (d = 2; d < w; d++) sum[d] = s[k * w + d] + s[i * w + d];
            mapdpm_update(m, m->m0, m->clusters + 1, 0);
            y = sum[w - 1] - s[k * w + w - 1] - s[i * w + w - 1] + a;
            if (y < limit) {
                limit = y;
                best = k;
                m->second = i;
            }
        }
    return best;
}

/* Merge that pair; return the label that is free now, or -1. */
static inline int mapdpm_merge(mapdpm *m, int32_t limit) {
    int w = MAPDPM_SLOT(m->dim), k, i, d;
    for (k = 0; k < m->clusters; k++)
        if (m->counts[k]) mapdpm_update(m, m->m0, k, 0);
    k = mapdpm_pair(m, limit);
    if (k < 0) return k;
    i = m->second;
    for (d = 0; d < w; d++) m->slots[i * w + d] += m->slots[k * w + d];
    m->counts[i] += m->counts[k];
    m->counts[k] = 0;
    mapdpm_update(m, m->m0, i, 0);
    mapdpm_update(m, m->m0, k, 0);
    return k;
}

static inline void mapdpm_forget(mapdpm *m) {
    int k;
    for (k = 0; k < m->clusters; k++)
        if (m->counts[k]) {
            m->counts[k] >>= 1;
            mapdpm_update(m, m->m0, k, 0);
        }
}

/* Add row x to the cluster that suits the joint best; return its label. Without `scan`, x must be
   the row that `surprise` or `predict` has just seen. */
static inline int32_t mapdpm_learn(mapdpm *m, const int32_t *x, int scan) {
    int k;
    if (scan && mapdpm_surprise(m, x, 0) == MAPDPM_BAD) return MAPDPM_BAD;
    if (mapdpm_weight(m) >= m->memory) mapdpm_forget(m);
    k = m->best;
    if (k == m->clusters) {
        if (m->k < k) {
            for (k = 0; m->counts[k];) k++;
        } else {
            k = mapdpm_merge(m, m->gap >> 8);
            if (k < 0) k = m->second;
        }
    }
    if (!m->counts[k]) m->k++;
    mapdpm_update(m, x, k, 1);
    return k;
}

/* Posterior mean of cluster k into x, rounded down; of a new one, -1, it is m0. */
static inline void mapdpm_mean(const mapdpm *m, int k, int32_t *x) {
    int d;
    for (d = 0; d < m->dim; d++) {
        const int32_t *s = m->slots + k * MAPDPM_SLOT(m->dim);
        x[d] = m->m0[d];
        if (k >= 0) x[d] += mapdpm_div(m->one * s[3 * d + 3], m->c0 + m->one * s[2]);
    }
}

/* Begin with MAPDPM_WORDS(dim, clusters) words of memory; return 0 if the prior is out of range. */
static inline int mapdpm_init(mapdpm *m, int32_t *words, int dim, int clusters,
                              const int32_t *m0, const int32_t *b0, int32_t c0, int32_t one,
                              int32_t two_a0, int32_t alpha, int32_t memory) {
    int d, size = MAPDPM_WORDS(dim, clusters);
    if (clusters < 1 || clusters > 127 || c0 < 1 || c0 > 32 || one < 1 || one > 32 || dim < 1 ||
        dim > 5 * one || two_a0 < 1 || two_a0 > 128 || alpha < 1 || alpha > 1048575 ||
        memory < 64 || memory > 16384)
        return 0;
    for (d = 0; d < dim; d++)
        if (m0[d] < -2047 || m0[d] > 2047 || b0[d] < 1 || b0[d] > 4194304) return 0;
    for (d = 0; d < size; d++) words[d] = 0;
    m->dim = dim, m->clusters = clusters, m->c0 = c0, m->one = one;
    m->two_a0 = two_a0, m->alpha = alpha, m->memory = memory;
    m->slots = words;
    m->counts = words + (clusters + 2) * MAPDPM_SLOT(dim);
    m->m0 = m->counts + clusters;
    m->b0 = m->m0 + dim;
    m->k = m->best = m->second = 0;
    m->gap = 0;
    for (d = 0; d < dim; d++) m->m0[d] = m0[d], m->b0[d] = b0[d];
    mapdpm_update(m, m->m0, clusters, 0);
    return 1;
}

#ifdef __cplusplus
}
#endif

#endif
