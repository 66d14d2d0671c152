from libc.math cimport log

from dpmlite.core._constants cimport LOG_2
from dpmlite.core._simd cimport (
    LANES, inlined_double, inlined_void, padded_columns, split_exponent, sum_of)


cdef inline inlined_void add_multiple(double *y, const double *x, double factor, Py_ssize_t i,
                                      Py_ssize_t width) noexcept nogil:
    """Add factor * x to y, from the vector of lanes that holds row i on."""
    cdef double part[LANES]  # products come first: for the compiler, y might overlap x
    cdef Py_ssize_t first = i & ~(<Py_ssize_t> (LANES - 1))
    cdef int lane
    while first < width:
        for lane in range(LANES):
            part[lane] = factor * x[first + lane]
        for lane in range(LANES):
            y[first + lane] += part[lane]
        first += LANES


cdef inline inlined_void residuals_c(const double *W, const double *x, Py_ssize_t n,
                                     double *z) noexcept nogil:
    """Set z to W x; z must not be x."""
    cdef double sum[LANES]
    cdef Py_ssize_t first = 0, width = padded_columns(n), j, end
    cdef int i
    while first < n:
        for i in range(LANES):
            sum[i] = 0.0
        end = first + LANES if first + LANES < n else n
        for j in range(end):
            for i in range(LANES):
                sum[i] += W[j * width + first + i] * x[j]
        for i in range(LANES):
            z[first + i] = sum[i]
        first += LANES


cdef inline inlined_double weighted_square(const double *z, const double *weight,
                                           Py_ssize_t n) noexcept nogil:
    """Sum of weight[i] z[i]^2."""
    cdef double sum[LANES]
    cdef Py_ssize_t first = 0
    cdef int i
    for i in range(LANES):
        sum[i] = 0.0
    while first < n:
        for i in range(LANES):
            sum[i] += weight[first + i] * z[first + i] * z[first + i]
        first += LANES
    return sum_of(sum)


cdef inline inlined_void add_square(double *A, const double *x, double weight,
                                    Py_ssize_t n) noexcept nogil:
    """Add weight x x^T to A, on and below its diagonal; above, A becomes meaningless."""
    cdef Py_ssize_t j, width = padded_columns(n)
    for j in range(n):
        add_multiple(A + j * width, x, weight * x[j], j, width)


cdef inline inlined_void update_c(double *W, double *d, const double *z, double weight,
                                  Py_ssize_t n, double *slope) noexcept nogil:
    """Make W and d those of A + weight x x^T, given z = W x; `slope` is room for n values."""
    cdef double before = 1.0, after, taken, w
    cdef Py_ssize_t i, j, width = padded_columns(n)
    for i in range(n):
        after = before + weight * z[i] * z[i] / d[i]
        slope[i] = weight * z[i] / (d[i] * after)
        d[i] *= after / before
        before = after
    for j in range(n):
        taken = slope[j]
        for i in range(j + 1, n):
            w = W[j * width + i] - z[i] * taken
            W[j * width + i] = w
            taken += slope[i] * w


cdef inline inlined_void eliminate(double *A, double least, Py_ssize_t n, double *carried,
                                   Py_ssize_t n_carried, double *factor) noexcept nogil:
    """Factorise A: its diagonal becomes d, and each of the carried columns x becomes W x.

    Values of d below `least` are set to it. A is not read above its diagonal; `factor` is room for
    a column.
    """
    cdef Py_ssize_t i, j, c, width = padded_columns(n)
    cdef double *column
    cdef double f
    for j in range(n):
        column = A + j * width
        column[j] = column[j] if column[j] > least else least
        f = 1.0 / column[j]
        for i in range(width):
            factor[i] = column[i] * f if i > j else 0.0
        for c in range(j + 1, n):
            add_multiple(A + c * width, factor, -column[c], c, width)
        for c in range(n_carried):
            if carried[c * width + j] != 0.0:
                add_multiple(carried + c * width, factor, -carried[c * width + j], j, width)


cdef inline inlined_double log_det_with(const double *A, Py_ssize_t n, const double *x,
                                        double weight_x, const double *y,
                                        double weight_y) noexcept nogil:
    """log det (A + weight_x a a^T + weight_y b b^T), given d of A, x = W a and y = W b.

    The first update, as in update_c, gives W' and d' of A' = A + weight_x a a^T. It also turns
    y = W b into W' b, from which b^T A'^-1 b follows. A is what `eliminate` left.
    """
    cdef double before = 1.0, after, taken = 0.0, turned, d, ratio = 1.0, product = 1.0
    cdef double exponent = 0.0, e = 0.0
    cdef Py_ssize_t i, width = padded_columns(n)
    for i in range(n):
        d = A[i * width + i]
        after = before + weight_x * x[i] * x[i] / d
        turned = y[i] - x[i] * taken
        taken += weight_x * x[i] / (d * after) * turned
        d *= after / before
        ratio += weight_y * turned * turned / d
        product = split_exponent(product * d, &e)
        exponent += e
        before = after
    return exponent * LOG_2 + log(product) + log(ratio)


cdef double[::1] columns_of(A)
cdef rows_of(const double[::1] columns, Py_ssize_t n)
