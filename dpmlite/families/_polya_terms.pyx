"""Scores of rows of counts: words drawn from Polya's urn of each slot.

A small whole count x of word w adds x factors beta_w + n_w, beta_w + n_w + 1, ... to a product,
of which one logarithm per slot is taken in the end. Counts lie [word][slot], so that one vector
instruction multiplies in many slots; for one slot, lanes have different words. What is large or
fractional needs logarithms of its own.
"""

from libc.math cimport INFINITY, log

from dpmlite.core._constants cimport INTEGER_SHIFT, LOG_2, MAX_POLYA_TERM, MIN_POLYA_TERM
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport column_of
from dpmlite.core._simd cimport (
    LANES, inlined_double, inlined_void, larger, log_positive, most_of, product_of, split_exponent,
    sum_of)
from dpmlite.core._special cimport log_rising_c, log_rising_of_lane
from dpmlite.families._family cimport left_of_c
from dpmlite.families._slot_vectors cimport NARROW, WIDE, padded

cdef enum:
    N_TABLED_COUNTS = 8192    # counts of log_rising_table
    FACTORS_PER_PRODUCT = 32  # factors whose product stays in 2^-992 .. 2^992
    FACTORS_PER_WRITE = 4     # factors of a word that are written at once: shorter loops mispredict

cdef struct Factors:
    Py_ssize_t next_value     # of the row, to be read next
    double n_words            # read so far
    Py_ssize_t n
    Py_ssize_t at[FACTORS_PER_PRODUCT + FACTORS_PER_WRITE]  # first count of a factor's word
    double shift[FACTORS_PER_PRODUCT + FACTORS_PER_WRITE]   # beta and earlier factors of the word

cdef struct Words:
    double x[LANES]       # of a row, how many times each
    double factor[LANES]  # beta and the slot's count
    double large[LANES]   # 1 if its factors are not multiplied, else 0
    double most, n_large  # the largest x; words with large[] = 1


cdef inline inlined_double is_large(double x, double least, double largest) noexcept nogil:
    """0 if a word's factors may be multiplied, all being from `least` to `largest`; else 1."""
    cdef double large = 0.0 if x + INTEGER_SHIFT - INTEGER_SHIFT == x else 1.0
    large = large if x <= FACTORS_PER_PRODUCT else 1.0
    large = large if least >= MIN_POLYA_TERM else 1.0
    return large if largest <= MAX_POLYA_TERM else 1.0


cdef clones_double score_one(const PolyaTerms *u, const Row *row, Py_ssize_t k, bint without,
                             double *n_words) noexcept nogil:
    """log p(row | slot k), or slot k without the row; also counts the row's words."""
    cdef double product[LANES]
    cdef double exponent[LANES]
    cdef double words[LANES]
    cdef Words some
    cdef double total = 0.0, e = 0.0, step, n_factors = 0.0
    cdef Py_ssize_t first = 0
    cdef int j
    for j in range(LANES):
        product[j], exponent[j], words[j] = 1.0, 0.0, 0.0
    while first < row.n_values:
        if first + LANES <= row.n_values:
            read_words(u, row, k, without, first, LANES, &some)
        else:
            read_words(u, row, k, without, first, row.n_values - first, &some)
        for j in range(LANES):
            words[j] += some.x[j]
        if some.n_large > 0.0:
            total += take_large(&some)
        n_factors += some.most
        if n_factors > FACTORS_PER_PRODUCT:
            for j in range(LANES):
                product[j] = split_exponent(product[j], &e)
                exponent[j] += e
            n_factors = some.most
        step = 0.0
        while step < some.most:
            for j in range(LANES):
                product[j] *= some.factor[j] + step if step < some.x[j] else 1.0
            step += 1.0
        first += LANES
    for j in range(LANES):
        product[j] = split_exponent(product[j], &e)
        exponent[j] += e
    n_words[0] = sum_of(words)
    total += LOG_2 * sum_of(exponent) + log(product_of(product))
    return total - log_rising_c(
        u.total + (left_of_c(u.size[k], n_words[0]) if without else u.size[k]), n_words[0])


cdef inline inlined_void read_words(const PolyaTerms *u, const Row *row, Py_ssize_t k,
                                    bint without, Py_ssize_t first, Py_ssize_t n,
                                    Words *some) noexcept nogil:
    """Read n of the row's values from `first`, LANES at most."""
    cdef double count[LANES]
    cdef double taken = 1.0 if without else 0.0
    cdef Py_ssize_t j, w
    for j in range(LANES):
        some.x[j], some.factor[j], count[j] = 0.0, 1.0, 0.0
    for j in range(n):
        w = column_of(row, first + j)
        some.x[j] = row.values[first + j] * row.weight
        some.factor[j], count[j] = u.beta[w], u.count[w * u.capacity + k]
    for j in range(LANES):
        some.factor[j] += left_of_c(count[j], taken * some.x[j])
        some.large[j] = is_large(some.x[j], some.factor[j], some.factor[j] + some.x[j])
    some.n_large, some.most = sum_of(some.large), most_of(some.x)


cdef double take_large(Words *some) noexcept nogil:
    """Return what words add whose factors are not multiplied, and take them out."""
    cdef double total = 0.0
    cdef int j
    for j in range(LANES):
        if some.large[j] > 0.0:
            total += log_rising_c(some.factor[j], some.x[j])
            some.x[j] = 0.0
    some.most = most_of(some.x)
    return total


cdef log_rising_table(double beta):
    """log of Gamma(beta + n) / Gamma(beta) for n = 0, 1, ..."""
    values = double_array(N_TABLED_COUNTS)
    cdef double[::1] value = values
    cdef Py_ssize_t n
    for n in range(N_TABLED_COUNTS):
        value[n] = log_rising_c(beta, n)
    return values


cdef clones_void marginals_by_table(const PolyaTerms *u, Py_ssize_t n_slots, Py_ssize_t j,
                                    Py_ssize_t first, double *out) noexcept nogil:
    """Write log marginals of slot j merged with each of the others, from the table."""
    cdef const double *count = u.count
    cdef const double *log_rising = u.log_rising
    cdef double beta = u.beta[0], x
    cdef Py_ssize_t k, w, end = padded(n_slots)
    first -= first % NARROW
    for k in range(first, end):
        out[k] = 0.0
    add_log_rising(u.total, 0.0, u.size[j], u.size, -1.0, first, end, out)
    for w in range(u.n_words):
        x = count[j]
        if largest_sum(x, count, first, end) < N_TABLED_COUNTS:
            for k in range(first, end):
                out[k] += log_rising[<int> (x + count[k])]
        else:
            add_log_rising(beta, 0.0, x, count, 1.0, first, end, out)
        count += u.capacity


cdef clones_void marginals_by_words(const PolyaTerms *u, Py_ssize_t n_slots, const Row *row,
                                    const double *marginal, Py_ssize_t first,
                                    double *out) noexcept nogil:
    """Write log marginals of a slot, whose words are one row, with each of the others.

    To the marginal of slot k it adds log p(row | slot k).
    """
    cdef const double *count
    cdef const double *log_rising = u.log_rising
    cdef double beta = u.beta[0], x, n_words = 0.0
    cdef Py_ssize_t i, k, end = padded(n_slots)
    first -= first % NARROW
    for k in range(first, end):
        out[k] = marginal[k]
    for i in range(row.n_values):
        x, count = row.values[i], u.count + column_of(row, i) * u.capacity
        n_words += x
        if largest_sum(x, count, first, end) < N_TABLED_COUNTS:
            for k in range(first, end):
                out[k] += log_rising[<int> (x + count[k])] - log_rising[<int> count[k]]
        else:
            add_log_rising(beta, 1.0, x, count, 1.0, first, end, out)
    add_log_rising(u.total, 1.0, n_words, u.size, -1.0, first, end, out)


cdef clones_void add_log_rising(double beta, double drawn, double x, const double *count,
                                double sign, Py_ssize_t first, Py_ssize_t end,
                                double *out) noexcept nogil:
    """Add sign log Gamma(beta + x + count) / Gamma(b) of every slot.

    b is beta if none is `drawn`, 0, or beta + count if all but x are, 1.
    """
    cdef Py_ssize_t k
    for k in range(first, end):
        out[k] += sign * log_rising_of_lane(beta + drawn * count[k], x + (1.0 - drawn) * count[k])


cdef inline inlined_double largest_sum(double x, const double *count, Py_ssize_t first,
                                       Py_ssize_t end) noexcept nogil:
    """The largest x + count[k] from `first` to `end`, whole lanes; infinity if one is not whole."""
    cdef double most[LANES]
    cdef double sum
    cdef int j
    for j in range(LANES):
        most[j] = 0.0
    while first < end:
        for j in range(LANES):
            sum = x + count[first + j]
            sum = sum if sum + INTEGER_SHIFT - INTEGER_SHIFT == sum else INFINITY
            most[j] = larger(most[j], sum)
        first += LANES
    return most_of(most)


# All slots at once: products are started, multiplied by groups of factors, and made costs.


cdef void polya_costs(const PolyaTerms *u, Py_ssize_t n_slots, const Row *row,
                      const double *log_weight, double *out) noexcept nogil:
    """out[k] = -log_weight[k] - log p(row | slot k), of every slot up to `padded`."""
    cdef Factors factors
    cdef double largest = 0.0
    cdef Py_ssize_t k
    for k in range(n_slots):
        largest = u.size[k] if u.size[k] > largest else largest
    largest += u.largest_beta + FACTORS_PER_PRODUCT
    start_products(u, n_slots, out)
    factors.next_value, factors.n_words = 0, 0.0
    while next_factors(u, row, largest, &factors):
        multiply(u, n_slots, &factors)
    add_large(u, n_slots, row, largest, out)
    finish_costs(u, n_slots, factors.n_words, log_weight, out)


cdef void start_products(const PolyaTerms *u, Py_ssize_t n_slots, double *out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(padded(n_slots)):
        u.product[k] = 1.0
        u.exponent[k] = 0.0
        out[k] = 0.0


cdef bint next_factors(const PolyaTerms *u, const Row *row, double largest,
                       Factors *factors) noexcept nogil:
    """Read on to the next factors of the row's small counts; False if there are none left."""
    cdef double x, beta
    cdef Py_ssize_t i, j, w, n = 0
    while factors.next_value < row.n_values:
        x = row.values[factors.next_value] * row.weight
        w = column_of(row, factors.next_value)
        beta = u.beta[w]
        if x != 0.0 and is_large(x, beta, largest) == 0.0:
            if n + <Py_ssize_t> x > FACTORS_PER_PRODUCT:
                break
            i = 0
            while i < x:
                for j in range(FACTORS_PER_WRITE):
                    factors.at[n + i + j] = w * u.capacity
                    factors.shift[n + i + j] = beta + (i + j)
                i += FACTORS_PER_WRITE
            n += <Py_ssize_t> x
        factors.n_words += x
        factors.next_value += 1
    factors.n = n
    return n > 0


cdef clones_void multiply(const PolyaTerms *u, Py_ssize_t n_slots,
                          const Factors *factors) noexcept nogil:
    cdef Py_ssize_t first = 0, end = padded(n_slots)
    while first + WIDE <= end:
        multiply_block(u, factors, first, WIDE)
        first += WIDE
    if first < end:
        multiply_block(u, factors, first, NARROW)


cdef inline inlined_void multiply_block(const PolyaTerms *u, const Factors *factors,
                                        Py_ssize_t first, int width) noexcept nogil:
    """Multiply the products of `width` slots from `first`."""
    cdef double product[WIDE]
    cdef const double *count
    cdef double shift, e = 0.0
    cdef Py_ssize_t j
    cdef int i
    for i in range(width):
        product[i] = u.product[first + i]
    for j in range(factors.n):
        count = u.count + factors.at[j] + first
        shift = factors.shift[j]
        for i in range(width):
            product[i] *= count[i] + shift
    for i in range(width):
        u.product[first + i] = split_exponent(product[i], &e)
        u.exponent[first + i] += e


cdef void add_large(const PolyaTerms *u, Py_ssize_t n_slots, const Row *row, double largest,
                    double *out) noexcept nogil:
    """Add the logarithms of the words whose factors are not multiplied."""
    cdef Py_ssize_t i
    cdef double x, beta
    for i in range(row.n_values):
        x = row.values[i] * row.weight
        beta = u.beta[column_of(row, i)]
        if x != 0.0 and is_large(x, beta, largest) > 0.0:
            add_log_rising(beta, 1.0, x, u.count + column_of(row, i) * u.capacity, 1.0, 0,
                           padded(n_slots), out)


cdef clones_void finish_costs(const PolyaTerms *u, Py_ssize_t n_slots, double n_words,
                              const double *log_weight, double *out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(padded(n_slots)):
        out[k] = (log_rising_of_lane(u.total + u.size[k], n_words) - log_weight[k]
                  - LOG_2 * u.exponent[k] - log_positive(u.product[k]) - out[k])
