"""Kernel of normality.py: clusters that leave nothing to be divided.

It passes once over the rows as they lie, of all clusters at once, for slots know their means and
variances. Rows wait in a block of their cluster until it is full; its sums stay in registers then.
Columns are padded to whole vectors: there is nothing left over. A missing cell is a score of 0 in all
sums, and has a bin of its own; what else depends on which cells there are is counted apart, or known
where none is missing. Many rows are summed in as many parts however many threads there are, so that
sums are always the same.
"""

cdef extern from *:
    """
    #define DPM_ENTROPY 0.6
    #define DPM_HARDLY 0.02
    #define DPM_NARROWER 1.5
    #define DPM_LEAST_PART 1e-6
    #define DPM_LARGEST_PART 0.5
    #define DPM_TOGETHER 0.5
    #define DPM_LEAST_SETTLED 1e-9
    #define DPM_LEAST_SQUARE 1e-300
    #define DPM_LEAST_REST 1e-12

    /* Of n < 16 bins that which z is in; n if z is missing. Vectors may lack conversions, so x + 16 is
       looked at: behind its first bit are those of the whole part of x. */
    DPM_INLINE uint64_t dpm_bin_of(double z, double n) {
        uint64_t bits;
        double x = 2.0 * z + 0.5 * n;
        x = x > 0.0 ? x : 0.0;
        x = x < n - 1.0 ? x : n - 1.0;
        x = 16.0 + (z == z ? x : n);
        memcpy(&bits, &x, 8);
        return (bits >> 48) & 15;
    }
    """
    double ENTROPY "DPM_ENTROPY"
    double HARDLY "DPM_HARDLY"
    double NARROWER "DPM_NARROWER"
    double LEAST_PART "DPM_LEAST_PART"
    double LARGEST_PART "DPM_LARGEST_PART"
    double TOGETHER "DPM_TOGETHER"
    double LEAST_SETTLED "DPM_LEAST_SETTLED"
    double LEAST_SQUARE "DPM_LEAST_SQUARE"
    double LEAST_REST "DPM_LEAST_REST"
    uint64_t bin_of "dpm_bin_of"(double z, double n) noexcept nogil

cdef enum:
    N_BINS = 11
    ALL_BINS = N_BINS + 1  # with one of missing cells
    DEGREES_OF_BINS = 8
    COUNT_BITS = 5    # of the rows of a block in a bin: the counts of all bins are one number
    BLOCK = 31        # rows that are summed together: no more than that counts
    PAIRED = 4        # columns that are multiplied with a group of them together
    N_VECTORS = 9     # [column] of Sums
    WIDE_LOOK = 16         # of normality.py
    SUMS = 262144     # numbers of clusters that are asked together, which fit a cache
    LISTED = 64       # rows that come from memory together
    PART_ROWS = 4096  # of a part, at least
    MOST_PARTS = 8         # of the rows, at most

cdef struct Sums:             # over the rows of a cluster
    Py_ssize_t n_columns
    Py_ssize_t width          # columns, padded
    bint can_tell             # its slot tells of its cells
    bint beside               # there is a settled group
    bint normal               # what comes of all that
    double n_slot             # weight of the slot
    double *n_all             # [column] weight of the slot's cells
    double *mean              # [column] in units of the prior
    double *scale             # [column] 1 / standard deviation
    double *settled           # [column] w: the part of the slot's cells that is not asked
    double *there             # [column] the weight of a row's cells, 0 without one
    double n                  # the weight of the rows
    double log_square         # of half the sum of squares of each row
    Py_ssize_t n_summed       # numbers from here, which are sums too:
    double *first             # [column] of z, of its cube and its fourth power
    double *cube
    double *fourth
    double *share             # [column] 2 / d, of each cell of a row with d cells
    double *product           # [column][column] of z, each with those of its group and after it
    double *both              # [column][column] weight of the rows that have both cells
    double *bins              # [bin][column]
    double *rows              # [d] weight of the rows that have d cells
    Py_ssize_t n_waiting      # rows of a block that are not summed yet,
    double *z                 # [row][column] and their scores
    double weight[BLOCK + 1]  # whole vectors


def all_look_normal(Partition partition):
    cdef Py_ssize_t k
    return all(look_normal(partition, [
        k for k in range(partition.component.n_slots) if partition.n_members(k) > 0]))


def look_normal(Partition partition, slots, Py_ssize_t n_threads=1):
    cdef Py_ssize_t k, most, n_parts, piece = 0
    check_n_threads(n_threads)
    for k in slots:
        partition.component._check_slot(k)
    normal = dict.fromkeys(slots, False)
    cdef NormalGamma prior = prior_of(partition)
    asked = [k for k in normal if can_be_asked(partition, k)] if prior is not None else []
    most = max(SUMS // room_of_sums(prior.n_columns), <Py_ssize_t> 1) if asked else 1
    together = [asked[k:k + most] for k in range(0, len(asked), most)]
    n_parts = max(min(partition.n_rows // PART_ROWS, MOST_PARTS // max(len(together), 1)), 1)
    if most == 1:
        n_parts = 1  # sums of wide rows take much memory

    def part(Py_ssize_t i):
        some = together[i // n_parts]
        sums = sums_of(partition, some, i % n_parts, n_parts)
        return sums if n_parts > 1 else verdicts(partition, some, sums)

    for found in as_needed(part, range(len(together) * n_parts), n_threads):
        some = together[piece // n_parts]
        if n_parts == 1:
            normal.update(found)
        elif piece % n_parts == 0:
            total = found
        else:
            add(total, found, len(some))
        piece += 1
        if n_parts > 1 and piece % n_parts == 0:
            normal.update(verdicts(partition, some, total))
    return [normal[k] for k in slots]


cdef NormalGamma prior_of(Partition partition):
    """None of other families."""
    if isinstance(partition.component, IncompleteNormalGamma):
        return (<IncompleteNormalGamma> partition.component).complete
    return partition.component if isinstance(partition.component, NormalGamma) else None


cdef bint can_be_asked(Partition partition, Py_ssize_t k) except -1:
    """As far as is known before its rows are looked at."""
    cdef Py_ssize_t n_members = partition.n_members(k)
    cdef Py_ssize_t n_groups = partition.size[k] - n_members
    return (n_members > 0 and n_groups <= 1 and partition.component.n[k] >= partition.alpha
            and (n_groups > 0 or partition.component.n_columns <= WIDE_LOOK * n_members))


cdef sums_of(Partition partition, slots, Py_ssize_t part, Py_ssize_t n_parts):
    """Of each slot, over a part of the rows: memory that begins with them."""
    cdef NormalGamma prior = prior_of(partition)
    cdef Py_ssize_t j, k, n = len(slots), n_rows = partition.n_rows
    cdef bint gaps = partition.component is not prior
    cdef double[::1] room = partition.room_of_a_row()
    cdef double[::1] memory = double_array(n * room_of_sums(prior.n_columns) + 2 * FACTOR_GROUP)
    cdef Sums *sums = first_of(memory)
    cdef Py_ssize_t[::1] place = index_array(partition.component.n_slots - UNPLACED)
    lay_out_sums(sums, n, prior.n_columns)
    place[:] = -1
    for j, k in enumerate(slots):
        sums[j].n_slot = partition.component.n[k]
        sums[j].beside = partition.size[k] > partition.n_members(k)
        sums[j].can_tell = find_units(partition, prior, k, &sums[j])
        if sums[j].can_tell:
            place[k - UNPLACED] = j
    with nogil:
        add_up_rows(partition, prior.densities(), sums, &place[0] - UNPLACED, gaps,
                    part * n_rows // n_parts, (part + 1) * n_rows // n_parts, &room[0])
        for j in range(n):
            if sums[j].n_waiting > 0:
                sum_rows(&sums[j], partition.X.row_weights != NULL)
    return memory


cdef void add(double[::1] memory, double[::1] others, Py_ssize_t n) noexcept:
    """Sums over other rows."""
    cdef Sums *sums = first_of(memory)
    cdef Sums *other = first_of(others)
    cdef Py_ssize_t i, j
    for j in range(n):
        sums[j].n += other[j].n
        sums[j].log_square += other[j].log_square
        for i in range(sums[j].n_summed):
            sums[j].first[i] += other[j].first[i]


cdef verdicts(Partition partition, slots, double[::1] memory):
    """Of each slot."""
    cdef NormalGamma prior = prior_of(partition)
    cdef bint gaps = partition.component is not prior
    cdef Py_ssize_t j, n = len(slots)
    cdef Sums *sums = first_of(memory)
    with nogil:
        for j in range(n):
            sums[j].normal = verdict(prior, gaps, partition.alpha, &sums[j])
    return {k: sums[j].normal for j, k in enumerate(slots)}


cdef bint verdict(NormalGamma prior, bint gaps, double alpha, Sums *sums) noexcept nogil:
    cdef Py_ssize_t d
    if not sums.can_tell or (sums.beside and sums.n > LARGEST_PART * sums.n_slot):
        return False
    if not gaps:
        count_all(sums)
    for d in range(sums.n_columns if sums.beside else 0):
        sums.settled[d] = settled_part(cells_of(sums, d), sums.n_all[d])
    return excess(sums) < price(prior, sums, alpha)


cdef Py_ssize_t padded_width(Py_ssize_t n_columns) noexcept nogil:
    return (n_columns + FACTOR_GROUP - 1) // FACTOR_GROUP * FACTOR_GROUP


cdef Py_ssize_t numbers_of(Py_ssize_t n_columns) noexcept nogil:
    """What the sums of a cluster point to, and something to begin where lines of memory do."""
    cdef Py_ssize_t width = padded_width(n_columns)
    return width * (N_VECTORS + 2 * width + ALL_BINS + BLOCK) + padded_width(n_columns + 1)


cdef Py_ssize_t room_of_sums(Py_ssize_t n_columns) noexcept nogil:
    return numbers_of(n_columns) + sizeof(Sums) // sizeof(double) + FACTOR_GROUP


cdef Sums *first_of(double[::1] memory) noexcept:
    return <Sums *> line_at(&memory[0])


cdef double *line_at(void *memory) noexcept nogil:
    return <double *> ((<uintptr_t> memory + 63) & ~(<uintptr_t> 63))


cdef void lay_out_sums(Sums *sums, Py_ssize_t n, Py_ssize_t n_columns) noexcept nogil:
    """Behind the sums of n clusters lies what they point to."""
    cdef double *numbers = line_at(sums + n)
    cdef Py_ssize_t j
    for j in range(n):
        lay_out_one(&sums[j], numbers + j * numbers_of(n_columns), n_columns)


cdef void lay_out_one(Sums *sums, double *numbers, Py_ssize_t n_columns) noexcept nogil:
    cdef Py_ssize_t width = padded_width(n_columns)
    sums.n_columns, sums.width = n_columns, width
    sums.n_all, sums.mean, sums.scale = numbers, numbers + width, numbers + 2 * width
    sums.settled, sums.there = numbers + 3 * width, numbers + 4 * width
    sums.first = numbers + 5 * width
    sums.cube, sums.fourth = sums.first + width, sums.first + 2 * width
    sums.share, sums.product = sums.first + 3 * width, sums.first + 4 * width
    sums.both = sums.product + width * width
    sums.bins = sums.both + width * width
    sums.rows = sums.bins + ALL_BINS * width
    sums.z = sums.rows + padded_width(n_columns + 1)
    sums.n_summed = sums.z - sums.first


cdef bint find_units(Partition partition, NormalGamma prior, Py_ssize_t k, Sums *sums) except -1:
    """From the posterior; False if the test says nothing."""
    if partition.component is prior:
        return find_units_of_all(prior, k, sums)
    return find_units_of_gaps(partition.component, k, sums)


cdef bint find_units_of_all(NormalGamma prior, Py_ssize_t k, Sums *sums) noexcept nogil:
    cdef Py_ssize_t d, at = k * prior.n_along
    for d in range(sums.n_columns):
        if not find_unit(prior, d, prior.n[k], prior.m[at + d], prior.b[at + d], sums):
            return False
    return True


cdef bint find_units_of_gaps(IncompleteNormalGamma gaps, Py_ssize_t k, Sums *sums) noexcept nogil:
    cdef const double *n = gaps.statistic(k, COUNT)
    cdef const double *m = gaps.statistic(k, MEAN)
    cdef const double *b = gaps.statistic(k, RATE)
    cdef Py_ssize_t d
    for d in range(sums.n_columns):
        if not find_unit(gaps.complete, d, n[d], m[d], b[d], sums):
            return False
    return True


cdef bint find_unit(NormalGamma prior, Py_ssize_t d, double n, double m, double b,
                    Sums *sums) noexcept nogil:
    """Of column d, eq. (13) without the prior's part."""
    cdef double mean, variance, c = prior.c0 + n
    sums.n_all[d], sums.mean[d], sums.scale[d] = n, 0.0, 1.0
    if n == 0.0:
        return True  # there is nothing to tell
    mean = m * c / n
    variance = 2.0 * (b - 1.0) / n - prior.c0 / c * mean * mean
    sums.mean[d], sums.scale[d] = mean, 1.0 / sqrt(variance)
    return n * variance >= LEAST_PART * b and (
        prior.a0 <= HARDLY * n or prior.a0 * variance <= NARROWER)


cdef double price(NormalGamma prior, const Sums *sums, double alpha) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t d
    for d in range(sums.n_columns):
        total += log1p(cells_of(sums, d) / larger(prior.c0, 1.0))
        total += log1p(0.5 * cells_of(sums, d) / larger(prior.a0, 0.5))
    return 0.5 * total - log(larger(alpha, 1.0))


cdef inline inlined_double cells_of(const Sums *sums, Py_ssize_t d) noexcept nogil:
    """The weight of the cells in column d."""
    return sums.both[d * sums.width + d]


cdef void add_up_rows(Partition partition, const Densities *t, Sums *sums, const Py_ssize_t *place,
                      bint gaps, Py_ssize_t first, Py_ssize_t last, double *room) noexcept nogil:
    """Add rows first..last-1 of the slots that have a place."""
    cdef bint weighted = partition.X.row_weights != NULL
    cdef Py_ssize_t[LISTED] listed
    cdef Py_ssize_t i, m, n
    cdef Row row
    while first < last:
        n = 0
        for i in range(first, min(first + LISTED, last)):  # without a branch that none can foresee
            listed[n] = i
            n += place[partition.label[i]] >= 0
        for m in range(n):
            partition.X.prefetch(partition.in_use(listed[m]))
        for m in range(n):
            row = partition.row_into(listed[m], room)
            add_row(t, &row, &sums[place[partition.label[listed[m]]]], gaps, weighted)
        first += LISTED


cdef inline inlined_void add_row(const Densities *t, const Row *row, Sums *sums, bint gaps,
                                 bint weighted) noexcept nogil:
    """Let it wait until its block is full."""
    sums.n += row.weight
    sums.weight[sums.n_waiting] = row.weight
    standardise_row(t, row.values, sums, sums.z + sums.n_waiting * sums.width)
    if gaps:
        count_cells(row, sums)
    sums.n_waiting += 1
    if sums.n_waiting == BLOCK:
        sum_rows(sums, weighted)


cdef double settled_part(double n, double n_all) noexcept nogil:
    return 1.0 - n / n_all if n < (1.0 - LEAST_SETTLED) * n_all else 0.0


cdef void count_cells(const Row *row, Sums *sums) noexcept nogil:
    """Note which cells a row has."""
    cdef Py_ssize_t d, e, n_cells = 0
    cdef double *there = sums.there
    cdef double *both = sums.both
    for d in range(sums.n_columns):
        there[d] = row.weight if row.values[d] == row.values[d] else 0.0
        n_cells += there[d] > 0.0
    sums.rows[n_cells] += row.weight
    for d in range(sums.n_columns):
        if there[d] > 0.0:
            sums.share[d] += 2.0 * row.weight / n_cells
            for e in range(sums.n_columns):
                both[e] += there[e]
        both += sums.width


cdef void count_all(Sums *sums) noexcept nogil:
    """The same if all rows have all cells."""
    cdef Py_ssize_t d, e
    sums.rows[sums.n_columns] = sums.n
    for d in range(sums.n_columns):
        sums.share[d] = 2.0 * sums.n / sums.n_columns
        for e in range(sums.n_columns):
            sums.both[d * sums.width + e] = sums.n


cdef clones_void standardise_row(const Densities *t, const double *values, const Sums *sums,
                                 double *z) noexcept nogil:
    cdef Py_ssize_t d = 0
    while d + FACTOR_GROUP <= sums.n_columns:
        standardise_rows(t, values, sums, d, FACTOR_GROUP, z)
        d += FACTOR_GROUP
    standardise_rows(t, values, sums, d, sums.n_columns - d, z)


cdef inline inlined_void standardise_rows(
        const Densities *t, const double *values, const Sums *sums, Py_ssize_t first,
        Py_ssize_t n, double *z) noexcept nogil:
    """The same for n columns from `first`."""
    cdef Py_ssize_t d
    for d in range(first, first + n):
        z[d] = (standardise(values[d], t.origin[d], t.unit[d]) - sums.mean[d]) * sums.scale[d]


cdef clones_void sum_rows(Sums *sums, bint weighted) noexcept nogil:
    """Add up the scores of the rows that wait."""
    cdef double square[BLOCK + 1]
    cdef Py_ssize_t d, first = 0, i
    for i in range(BLOCK + 1):
        square[i] = 0.0
    while first < sums.n_columns:
        if weighted:
            add_to_bins(sums, first)
        else:
            count_in_bins(sums, first)
        sum_squares(sums, square, first)
        add_powers(sums, first)
        d = 0
        while d < min(first + FACTOR_GROUP, sums.n_columns):
            add_products(sums, d, first)
            d += PAIRED
        first += FACTOR_GROUP
    for i in range(sums.n_waiting, BLOCK + 1):
        sums.weight[i] = 0.0
    sums.log_square += sum_of_logs(square, sums.weight)
    sums.n_waiting = 0


cdef inline inlined_double sum_of_logs(double *x, const double *weights) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(BLOCK + 1):
        x[i] = log_positive(larger(0.5 * x[i], LEAST_SQUARE))
    for i in range(BLOCK + 1):
        total += weights[i] * x[i]
    return total


cdef inline inlined_void count_in_bins(Sums *sums, Py_ssize_t first) noexcept nogil:
    """Of a group of columns from `first`: shifts count in all bins of a column at once."""
    cdef uint64_t counts[FACTOR_GROUP]
    cdef uint64_t bins[FACTOR_GROUP]
    cdef uint64_t one[FACTOR_GROUP]  # shifts of a constant are not vectorised
    cdef const double *z = sums.z + first
    cdef double *rows = sums.bins + first
    cdef Py_ssize_t i, j
    for j in range(FACTOR_GROUP):
        counts[j], one[j] = 0, 1
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            bins[j] = bin_of(z[j], N_BINS)
        for j in range(FACTOR_GROUP):
            counts[j] += one[j] << (COUNT_BITS * bins[j])
        z += sums.width
    for i in range(N_BINS):
        for j in range(FACTOR_GROUP):
            rows[j] += <double> <int> ((counts[j] >> (COUNT_BITS * i)) & BLOCK)
        rows += sums.width


cdef inline inlined_void add_to_bins(Sums *sums, Py_ssize_t first) noexcept nogil:
    cdef const double *z = sums.z + first
    cdef Py_ssize_t i, j
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            sums.bins[<Py_ssize_t> bin_of(z[j], N_BINS) * sums.width + first + j] += sums.weight[i]
        z += sums.width


cdef inline inlined_void sum_squares(Sums *sums, double *out, Py_ssize_t first) noexcept nogil:
    """Of each row; missing cells, which have their bin, are 0 from here on."""
    cdef double square[FACTOR_GROUP]
    cdef double *z = sums.z + first
    cdef Py_ssize_t i, j
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            z[j] = z[j] if z[j] == z[j] else 0.0
        for j in range(FACTOR_GROUP):
            square[j] = z[j] * z[j]
        out[i] += (((square[0] + square[1]) + (square[2] + square[3]))
                   + ((square[4] + square[5]) + (square[6] + square[7])))
        z += sums.width


cdef inline inlined_void add_powers(Sums *sums, Py_ssize_t first) noexcept nogil:
    """Of a group of columns from `first`."""
    cdef double total[FACTOR_GROUP]
    cdef double cube[FACTOR_GROUP]
    cdef double fourth[FACTOR_GROUP]
    cdef const double *z = sums.z + first
    cdef double weighted
    cdef Py_ssize_t i, j
    for j in range(FACTOR_GROUP):
        total[j] = cube[j] = fourth[j] = 0.0
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            weighted = sums.weight[i] * z[j]
            total[j] += weighted
            cube[j] += z[j] * z[j] * weighted
            fourth[j] += z[j] * z[j] * (z[j] * weighted)
        z += sums.width
    for j in range(FACTOR_GROUP):
        sums.first[first + j] += total[j]
        sums.cube[first + j] += cube[j]
        sums.fourth[first + j] += fourth[j]


cdef inline inlined_void add_products(Sums *sums, Py_ssize_t d,
                                      Py_ssize_t first) noexcept nogil:
    """Of PAIRED columns from d, each with a group of columns from `first`."""
    cdef double product[PAIRED][FACTOR_GROUP]
    cdef double weighted[FACTOR_GROUP]
    cdef const double *z = sums.z
    cdef Py_ssize_t i, j, k
    for k in range(PAIRED):
        for j in range(FACTOR_GROUP):
            product[k][j] = 0.0
    for i in range(sums.n_waiting):
        for j in range(FACTOR_GROUP):
            weighted[j] = sums.weight[i] * z[first + j]
        for k in range(PAIRED):
            for j in range(FACTOR_GROUP):
                product[k][j] += z[d + k] * weighted[j]
        z += sums.width
    for k in range(PAIRED):
        for j in range(FACTOR_GROUP):
            sums.product[(d + k) * sums.width + first + j] += product[k][j]


cdef double excess(const Sums *sums) noexcept nogil:
    """All statistics above chance."""
    cdef double moments = 0.0, bins = 0.0
    cdef double[N_BINS] chance
    cdef Py_ssize_t d
    find_chances(chance)
    for d in range(sums.n_columns):
        moments += of_moments(sums, d)
        bins += of_bins(sums, d, chance)
    return larger(moments, bins) + of_widths(sums) + of_pairs(sums)


cdef double of_moments(const Sums *sums, Py_ssize_t d) noexcept nogil:
    cdef double n = cells_of(sums, d), settled = sums.settled[d], place, shape
    if n == 0.0:
        return 0.0
    cdef double first = sums.first[d] / n, second = sums.product[d * sums.width + d] / n
    cdef double third = sums.cube[d] / n, fourth = sums.fourth[d] / n
    if settled == 0.0:
        return of_shape(n, third / second / sqrt(second), fourth / second / second - 3.0)
    place = first ** 2 + (second - 1.0) ** 2 / 2.0
    shape = (third - 3.0 * first) ** 2 / 6.0 + (fourth - 6.0 * second + 3.0) ** 2 / 24.0
    return n * (place + shape) - 2.0 * (1.0 + settled)


cdef double of_shape(double n, double skewness, double kurtosis) noexcept nogil:
    cdef double between = sqrt(larger(0.5 * (skewness * skewness - kurtosis), 0.0))
    cdef double parts = -0.5 * log(larger(1.0 - between, LEAST_REST)) - ENTROPY
    return n * (skewness * skewness / 6.0 + kurtosis * kurtosis / 24.0 + larger(parts, 0.0)) - 2.0


cdef double of_bins(const Sums *sums, Py_ssize_t d, const double *chance) noexcept nogil:
    cdef double total = 0.0, n = cells_of(sums, d)
    cdef const double *rows = sums.bins + d
    cdef Py_ssize_t i
    for i in range(N_BINS):
        if rows[0] > 0.0:
            total += rows[0] * log(rows[0] / (n * chance[i]))
        rows += sums.width
    return 2.0 * total - DEGREES_OF_BINS - 2.0 * sums.settled[d] if n > 0.0 else 0.0


cdef void find_chances(double *chance) noexcept nogil:
    cdef double below = 0.0, next_below
    cdef Py_ssize_t i
    for i in range(N_BINS):
        next_below = 0.5 * erfc((0.25 * N_BINS - 0.5 * (i + 1)) / sqrt(2.0)) if i < N_BINS - 1 else 1.0
        chance[i] = next_below - below
        below = next_below


cdef double of_widths(const Sums *sums) noexcept nogil:
    cdef double away = -sums.log_square, variance = 0.0, n
    cdef Py_ssize_t d
    if sums.rows[0] > 0.0:
        return INFINITY
    for d in range(1, sums.n_columns + 1):
        if sums.rows[d] > 0.0:
            away += sums.rows[d] * digamma_c(0.5 * d)
            variance += sums.rows[d] * trigamma_c(0.5 * d)
    for d in range(sums.n_columns):
        n = cells_of(sums, d)
        if n > 0.0:
            variance -= 0.5 * (1.0 - sums.settled[d]) * sums.share[d] ** 2 / n
    return away * away / variance - 1.0 if sums.n_columns > 1 else 0.0


cdef double of_pairs(const Sums *sums) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t d, e
    for d in range(sums.n_columns):
        for e in range(d + 1, sums.n_columns):
            total += of_pair(sums, d, e)
    return total


cdef double of_pair(const Sums *sums, Py_ssize_t d, Py_ssize_t e) noexcept nogil:
    cdef double n = sums.both[d * sums.width + e], correlation
    if n < TOGETHER * cells_of(sums, d) * cells_of(sums, e) / sums.n:
        return INFINITY
    if n == 0.0:
        return 0.0
    correlation = sums.product[d * sums.width + e] / n
    if sums.settled[d] > 0.0 or sums.settled[e] > 0.0:
        return n * correlation * correlation - 1.0
    return -n * log(larger(1.0 - correlation * correlation, LEAST_REST)) - 1.0
