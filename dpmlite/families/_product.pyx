"""Kernel of product.py: log densities, as sums over parts.

Costs of all slots are handed on from part to part as log weights, so that each part adds its own.
From the last part with densities on, the parts to come are discrete and add nothing negative: a
slot that reaches the limit stays above it. Parts that are scored by additions alone come first, so
that the others, which take longer, see how far the slots are from the limit.
"""

from libc.math cimport INFINITY

from dpmlite.core._memory cimport double_array, index_array
from dpmlite.core._rows cimport Row, Rows
from dpmlite.families._component cimport Component
from dpmlite.families._family cimport MEMBERS_PER_BATCH
from dpmlite.families._product_parts cimport ProductParts, take_cells
from dpmlite.families._slot_vectors cimport padded
from dpmlite.families._soft_component cimport SoftComponent

from dpmlite.core.statistics_checks import check_number


cdef class Product(ProductParts):

    def __init__(self, parts):
        if len(parts) == 0:
            raise ValueError("parts must not be empty")
        cdef Component part, first = parts[0]
        for part in parts:
            if part.power != first.power:
                raise ValueError(
                    f"parts must have the same power, got {first.power} and {part.power}")
        self.begin([part.like() for part in parts])
        self.find_order()

    cdef int find_order(self) except -1:
        """Set what depends on the parts' kinds."""
        cdef Component part
        cdef Py_ssize_t i, place
        self.is_discrete = self.is_tabled = True
        for part in self.parts:
            self.has_heavy_bounds = self.has_heavy_bounds or part.has_heavy_bounds
            self.is_discrete = self.is_discrete and part.is_discrete
            self.is_tabled = self.is_tabled and part.is_tabled

        def when_scored(Py_ssize_t i):
            cdef Component part = self.parts[i]
            return 0 if part.is_tabled else 2 if part.is_discrete else 1

        self.order = index_array(self.n_parts)
        for place, i in enumerate(sorted(range(self.n_parts), key=when_scored)):
            part = self.parts[i]
            self.order[place] = i
            if not part.is_discrete:
                self.first_limited = place
                self.n_densities += 1
        return 0

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if row.weight != 1.0:
            return Component.costs_below(self, row, log_weight, limit, out)
        cdef double least = INFINITY
        cdef Row cells
        cdef Py_ssize_t j
        for j in range(self.n_parts):
            take_cells(self, row, self.order[j], &cells)
            least = (<Component> self.part[self.order[j]]).costs_below(
                &cells, log_weight, limit if j >= self.first_limited else INFINITY, out)
            if j + 1 == self.n_parts or j >= self.first_limited and least >= limit:
                break
            log_weight = self.hand_on(out)
        return least

    cdef const double *hand_on(self, const double *cost) noexcept nogil:
        """Return costs so far as log weights of the next part."""
        cdef Py_ssize_t k
        for k in range(padded(self.n_slots)):
            self.handed_on[k] = -cost[k]
        return self.handed_on

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            part_bounds(<Component> self.part[i], &cells, log_weight, limit, out)
            log_weight = self.hand_on(out)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double total = 0.0
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            total += (<Component> self.part[i]).score_slot(&cells, k)
        return total

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double total = 0.0
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            total += (<Component> self.part[i]).score_member(&cells, k)
        return total

    cdef void score_members(self, const Row *rows, const Py_ssize_t *slots, Py_ssize_t n,
                            double *out) noexcept nogil:
        cdef Row[MEMBERS_PER_BATCH] cells
        cdef double[MEMBERS_PER_BATCH] score
        cdef Py_ssize_t i, j
        for j in range(n):
            out[j] = 0.0
        for i in range(self.n_parts):
            for j in range(n):
                take_cells(self, &rows[j], i, &cells[j])
            (<Component> self.part[i]).score_members(cells, slots, n, score)
            for j in range(n):
                out[j] += score[j]

    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double total = 0.0
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            total += (<Component> self.part[i]).score_member_floor(&cells, k)
        return total

    cdef double score_member_beside(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """Return score_member of all parts but the one with densities."""
        cdef double total = 0.0
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            if i != self.order[self.first_limited]:
                take_cells(self, row, i, &cells)
                total += (<Component> self.part[i]).score_member(&cells, k)
        return total

    cdef double least_cost_beside(self, const Row *row) noexcept nogil:
        """Return least_cost of all parts but the one with densities."""
        cdef double total = 0.0
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            if i != self.order[self.first_limited]:
                take_cells(self, row, i, &cells)
                total += (<Component> self.part[i]).least_cost(&cells)
        return total

    cdef void add_costs_beside(self, const Row *row, double limit, double *bound) noexcept nogil:
        """Add to bounds of all slots what the row costs at least in all parts but that one.

        Those that reach `limit` need not be close.
        """
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            if i == self.order[self.first_limited]:
                continue
            take_cells(self, row, i, &cells)
            part_bounds(<Component> self.part[i], &cells, self.hand_on(bound), limit, bound)

    cdef double mean_cost_beside(self, Py_ssize_t k) noexcept nogil:
        """Return the mean cost of rows of slot k in all parts but the one with densities."""
        cdef double total = 0.0
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            if i != self.order[self.first_limited]:
                total -= (<Component> self.part[i]).marginal(k)
        return total / self.n[k] if self.n[k] > 0.0 else 0.0

    cdef double log_scale_of(self, const Row *row) noexcept nogil:
        cdef double total = 0.0
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            total += (<Component> self.part[i]).log_scale_of(&cells)
        return total

    def _check_expectations(self):
        for part in self.parts:
            part._check_expectations()

    cdef int expect(self) except -1:
        for part in self.parts:
            if not isinstance(part, SoftComponent):
                raise NotImplementedError
            (<SoftComponent> part).expect()
        return self.expect_values(1)

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        cdef double *score = &self.expected[0]
        cdef Row cells
        cdef Py_ssize_t i, k
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            (<SoftComponent> self.part[i]).expected_scores(&cells, score if i > 0 else out)
            for k in range(padded(self.n_slots) if i > 0 else 0):
                out[k] += score[k]

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        cdef double total = 0.0
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            total += (<Component> self.part[i]).marginal(k)
        return total

    cdef int begin_merging(self) except -1:
        cdef Component part
        for part in self.parts:
            part.begin_merging()
        return 0

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef double *marginal = self.handed_on
        cdef Py_ssize_t i, k
        for i in range(self.n_parts):
            (<Component> self.part[i]).marginals_merged(j, first, marginal if i > 0 else out)
            for k in range(first, self.n_slots if i > 0 else first):
                out[k] += marginal[k]

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        cdef double total = 0.0
        cdef Row cells
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            take_cells(self, row, i, &cells)
            total += (<Component> self.part[i]).score_bound(&cells, k, more)
        return total

    def bound_over(self, Rows X):
        for i, part in enumerate(self.parts):
            part.bound_over(columns_of(X, self.first[i], self.first[i + 1]) if X.n_rows else X)

    def log_bound(self, const double[::1] row, Py_ssize_t k, double more, double weight=1.0):
        """The parts' own checks run, too."""
        self._check_slot(k)
        self._check_row(row)
        return sum([part.log_bound(row[self.first[i]:self.first[i + 1]], k, more, weight)
                    for i, part in enumerate(self.parts)])

    def expected_log_density(self, const double[::1] row, Py_ssize_t k, double weight=1.0):
        self._check_slot(k)
        self._check_row(row)
        return sum([part.expected_log_density(row[self.first[i]:self.first[i + 1]], k, weight)
                    for i, part in enumerate(self.parts)])

    def like(self):
        return Product(self.parts)

    def with_power(self, double power):
        return Product([part.with_power(power) for part in self.parts])

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        return {"n": self.n[k], "parts": [part.posterior(k) for part in self.parts]}

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        return [self.n[k], *[x for part in self.parts for x in part.statistics(k)]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t first = 1
        sizes = [len(part.statistics(k)) for part in self.parts]
        check_number(statistics, 1 + sum(sizes))
        for part, size in zip(self.parts, sizes):
            part.load(k, statistics[first:first + size])
            first += size
        self.n[k] = (<Component> self.part[0]).n[k]


cdef void part_bounds(Component part, const Row *cells, const double *log_weight, double limit,
                      double *out) noexcept nogil:
    """Write lower bounds of costs in one part, or costs where these are as fast.

    Without bounds, all costs are exact: those of parts to come may be negative.
    """
    if cells.weight != 1.0 and (part.has_heavy_bounds or part.has_heavy_costs):
        part.heavy_bounds(cells, log_weight, limit, out)
    else:
        part.costs_below(cells, log_weight, limit if part.is_discrete else INFINITY, out)


cdef columns_of(Rows X, Py_ssize_t first, Py_ssize_t last):
    """Rows of some columns of a dense table."""
    cdef Py_ssize_t n_columns = last - first, i, d
    cdef double[::1] values = double_array(X.n_rows * n_columns)
    cdef Row row
    for i in range(X.n_rows):
        row = X.row(i)
        for d in range(n_columns):
            values[i * n_columns + d] = row.values[first + d]
    return Rows(memoryview(values).cast("B").cast("d", (X.n_rows, n_columns)))
