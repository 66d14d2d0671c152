from dpmlite.core._rows cimport Row
from dpmlite.families._component cimport Component
from dpmlite.families._product_parts cimport ProductParts
from dpmlite.families._screenable cimport is_instance, PyTypeObject


cdef class Product(ProductParts):
    cdef Py_ssize_t[::1] order     # parts, as they are scored
    cdef Py_ssize_t first_limited  # place in it from which on costs can only grow
    cdef Py_ssize_t n_densities    # parts that are not discrete

    cdef int find_order(self) except -1
    cdef const double *hand_on(self, const double *cost) noexcept nogil
    cdef double score_member_beside(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double least_cost_beside(self, const Row *row) noexcept nogil
    cdef void add_costs_beside(self, const Row *row, double limit, double *bound) noexcept nogil
    cdef double mean_cost_beside(self, Py_ssize_t k) noexcept nogil


# The only part of a product that has densities, whose columns begin at `first`; NULL if there is none
# such. The other parts then add nothing negative to a cost.
cdef inline void *part_with_densities(Component component, Py_ssize_t *first) noexcept nogil:
    cdef Py_ssize_t i
    if (not is_instance(component, <PyTypeObject *> Product)
            or (<Product> component).n_densities != 1):
        return NULL
    i = (<Product> component).order[(<Product> component).first_limited]
    first[0] = (<Product> component).first[i]
    return (<Product> component).part[i]
