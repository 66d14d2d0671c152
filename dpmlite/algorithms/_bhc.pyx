"""Kernel of bhc.py: Bayesian hierarchical clustering.

Roots lie side by side in slots, so that one call scores a node against all of them. When slot b is
merged into slot a, the last slot moves to b: the order of the slots is not that of the nodes.
"""

from libc.math cimport INFINITY, log

from dpmlite.algorithms._trees cimport log_add_c
from dpmlite.core._constants cimport NO_NODE, TIE
from dpmlite.core._memory cimport double_array, index_array
from dpmlite.core._rows cimport Row, Rows
from dpmlite.core._simd cimport clones_void, larger
from dpmlite.core._special cimport log_gamma_c, log_gamma_of_lane
from dpmlite.families._component cimport Component
from dpmlite.families._slot_vectors cimport padded

from dpmlite.algorithms.leaves import rows_of_leaves
from dpmlite.core._rows import as_rows

cdef enum:
    NO_SLOT = -1


cdef class Forest:
    cdef Rows X
    cdef Component component
    cdef readonly Py_ssize_t n_leaves, n_nodes
    cdef double log_alpha, slack
    cdef const double[:, ::1] trees
    cdef Py_ssize_t[::1] members     # rows of leaf 0, then of leaf 1, ...
    cdef Py_ssize_t[::1] start       # [leaf] where its rows start
    cdef double[::1] odds            # [node] log odds, of merges
    cdef double[::1] count           # [node] rows, by weight
    cdef double[::1] f, e, d         # [node] logarithms
    cdef Py_ssize_t[::1] first, second  # [node] children
    cdef Py_ssize_t[::1] slot        # [node] NO_SLOT if it has been merged
    cdef Py_ssize_t[::1] node        # [slot] its root
    cdef Py_ssize_t[::1] partner     # [slot] a node
    cdef double[::1] best            # [slot] log odds with the partner
    cdef double[::1] tree            # [slot] log e of the root
    cdef double[::1] scores          # [slot] scratch

    def __init__(self, X, const Py_ssize_t[::1] leaves, Component component, double alpha,
                 const double[:, ::1] trees=None):
        self.X = as_rows(X)
        component._check_rows(self.X)
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {alpha}")
        members = rows_of_leaves(leaves, self.X.n_rows)
        if trees is not None and trees.shape[0] != len(members):
            raise ValueError(f"trees must have {len(members)} rows, got {trees.shape[0]}")
        self.trees = trees
        self.log_alpha = log(alpha)
        self.slack = TIE * larger(1.0, 1e-6 * self.X.n_rows * component.n_columns)
        self.component = component.like()
        self.component.begin_merging()
        self.n_leaves = len(members)
        self.members, self.start = index_array(self.X.n_rows), index_array(self.n_leaves + 1)
        self.allocate(2 * self.n_leaves - 1)
        cdef Py_ssize_t i, k, at = 0
        for k in range(self.n_leaves):
            for i in members[k]:
                self.members[at] = i
                at += 1
            self.start[k + 1] = at

    cdef int allocate(self, Py_ssize_t n_nodes) except -1:
        cdef Py_ssize_t n_slots = padded(self.n_leaves)
        self.odds, self.count = double_array(n_nodes), double_array(n_nodes)
        self.f, self.e, self.d = double_array(n_nodes), double_array(n_nodes), double_array(n_nodes)
        self.first, self.second = index_array(n_nodes), index_array(n_nodes)
        self.slot = index_array(n_nodes)
        self.node, self.partner = index_array(self.n_leaves), index_array(self.n_leaves)
        self.best, self.tree = double_array(n_slots), double_array(n_slots)
        self.scores = double_array(n_slots)
        return 0

    @property
    def children(self):
        return [(self.first[k], self.second[k]) for k in range(self.n_leaves, self.n_nodes)]

    @property
    def log_odds(self):
        return [self.odds[k] for k in range(self.n_leaves, self.n_nodes)]

    @property
    def counts(self):
        return [self.count[k] for k in range(self.n_nodes)]

    @property
    def log_f(self):
        return [self.f[k] for k in range(self.n_nodes)]

    @property
    def log_e(self):
        return [self.e[k] for k in range(self.n_nodes)]

    @property
    def log_d(self):
        return [self.d[k] for k in range(self.n_nodes)]

    def grow(self, Py_ssize_t n_nodes):
        cdef Py_ssize_t last = 2 * self.n_leaves - 1, slot
        with nogil:
            while n_nodes > 0 and self.n_nodes < last:
                if self.n_nodes < self.n_leaves:
                    slot = self.add_leaf()
                else:
                    slot = self.merge(self.best_slot())
                self.n_nodes += 1
                self.find_partner(slot)
                n_nodes -= 1
        return last - self.n_nodes

    cdef Py_ssize_t add_leaf(self) except -1 nogil:
        """Make the node of the next leaf; return its slot."""
        cdef Py_ssize_t node = self.n_nodes, i
        cdef Row row
        self.component.make_slots(node + 1)
        for i in range(self.start[node], self.start[node + 1]):
            row = self.X.row(self.members[i])
            self.component.accumulate(&row, node)
        self.component.refresh(node)
        self.weigh(node, node)
        if self.trees is None:
            self.e[node] = self.f[node]
            self.d[node] = self.log_alpha + log_gamma_c(self.count[node])
        else:
            self.e[node], self.d[node] = self.trees[node, 0], self.trees[node, 1]
        self.place(node, node)
        return node

    cdef Py_ssize_t merge(self, Py_ssize_t other) except -1 nogil:
        """Merge the root of slot `other` with its partner; return the slot of the new root."""
        cdef Py_ssize_t node = self.n_nodes, i = self.partner[other], j = self.node[other]
        cdef Py_ssize_t slot = self.slot[i]
        cdef double apart = self.e[i] + self.e[j]
        self.first[node], self.second[node] = i, j
        self.slot[i] = self.slot[j] = NO_SLOT
        self.component.merge_slots(slot, other)
        self.weigh(node, slot)
        self.odds[node] = self.f[node] - apart
        self.e[node] = log_add_c(self.f[node], apart)
        self.d[node] = log_add_c(
            self.log_alpha + log_gamma_c(self.count[node]), self.d[i] + self.d[j])
        self.place(node, slot)
        return self.close_gap(other, slot)

    cdef void weigh(self, Py_ssize_t node, Py_ssize_t slot) noexcept nogil:
        """Set the weight and log f, eq. (6), of a new node."""
        self.count[node] = self.component.n[slot]
        self.f[node] = (self.log_alpha + log_gamma_c(self.count[node])
                        + self.component.marginal(slot))

    cdef void place(self, Py_ssize_t node, Py_ssize_t slot) noexcept nogil:
        """Record that a root lies in a slot."""
        self.slot[node] = slot
        self.node[slot] = node
        self.tree[slot] = self.e[node]

    cdef Py_ssize_t close_gap(self, Py_ssize_t gap, Py_ssize_t slot) except -1 nogil:
        """Move the last slot to an empty one; return where `slot` is now."""
        cdef Py_ssize_t last = self.component.n_slots - 1
        if gap != last:
            self.component.copy_slot(gap, self.component, last)
            self.place(self.node[last], gap)
            self.best[gap], self.partner[gap] = self.best[last], self.partner[last]
        self.component.make_slots(last)
        return gap if slot == last else slot

    cdef Py_ssize_t best_slot(self) noexcept nogil:
        """Find the slot whose root is to be merged with its partner."""
        cdef Py_ssize_t k, found
        cdef double most
        while True:
            most, found = -INFINITY, NO_SLOT
            for k in range(self.component.n_slots):
                most = larger(self.best[k], most)
            for k in range(self.component.n_slots):
                if self.best[k] >= most - self.slack and (
                        found == NO_SLOT or self.node[k] < self.node[found]):
                    found = k
            if self.slot[self.partner[found]] != NO_SLOT:
                return found
            self.find_partner(found)

    cdef void find_partner(self, Py_ssize_t slot) noexcept nogil:
        """Find the best partner of a slot's root among the roots before it."""
        cdef Py_ssize_t node = self.node[slot], n_slots = self.component.n_slots, found = NO_SLOT, k
        cdef double most = -INFINITY
        self.score(slot)
        for k in range(n_slots):
            if self.node[k] < node:
                most = larger(self.scores[k], most)
        for k in range(n_slots):
            if (self.node[k] < node and self.scores[k] >= most - self.slack
                    and (found == NO_SLOT or self.node[k] < self.node[found])):
                found = k
        self.best[slot] = self.scores[found] if found != NO_SLOT else -INFINITY
        self.partner[slot] = self.node[found] if found != NO_SLOT else <Py_ssize_t> NO_NODE

    cdef void score(self, Py_ssize_t slot) noexcept nogil:
        """Set scores[k] to the log odds of a merge of two slots, or to a bound below the greatest."""
        if self.component.has_merging_bounds:
            self.component.merging_bounds(slot, &self.scores[0])
        else:
            self.component.marginals_merged(slot, 0, &self.scores[0])
        add_odds(self.component.n, &self.tree[0], self.component.n[slot],
                 self.log_alpha - self.tree[slot], self.component.n_slots, &self.scores[0])
        if self.component.has_merging_bounds:
            self.replace_bounds(slot)

    cdef void replace_bounds(self, Py_ssize_t slot) noexcept nogil:
        """Replace the bounds of slots that may be the best partner by their log odds."""
        cdef Py_ssize_t node = self.node[slot], first = NO_SLOT, k
        cdef double most
        for k in range(self.component.n_slots):
            if self.node[k] < node and (first == NO_SLOT or self.scores[k] > self.scores[first]):
                first = k
        if first == NO_SLOT:
            return
        most = self.scores[first] = self.odds_of(slot, first)
        for k in range(self.component.n_slots):
            if self.node[k] < node and k != first and self.scores[k] >= most - self.slack:
                self.scores[k] = self.odds_of(slot, k)
                most = larger(self.scores[k], most)

    cdef double odds_of(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        """Return log r_k / (1 - r_k), eq. (8), of a merge of two slots."""
        return (self.log_alpha - self.tree[j] - self.tree[k]
                + log_gamma_c(self.component.n[j] + self.component.n[k])
                + self.component.marginal_merged(j, k))


cdef clones_void add_odds(const double *n, const double *log_e, double own, double base,
                          Py_ssize_t n_slots, double *scores) noexcept nogil:
    """Turn log marginals of merged slots into log r_k / (1 - r_k), eq. (8)."""
    cdef Py_ssize_t k
    for k in range(n_slots):
        scores[k] += base - log_e[k] + log_gamma_of_lane(own + n[k])
