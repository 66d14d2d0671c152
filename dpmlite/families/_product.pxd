from dpmlite.core._rows cimport Row
from dpmlite.families._component cimport Component
from dpmlite.families._product_parts cimport ProductParts
from dpmlite.families._screenable cimport densities_of, is_instance, PyTypeObject
from dpmlite.families._student_t cimport Densities


cdef class Product(ProductParts):
    cdef Py_ssize_t[::1] order     # parts, as they are scored
    cdef Py_ssize_t first_limited  # place in it from which on costs can only grow
    cdef Py_ssize_t n_densities    # parts that are not discrete

    cdef int find_order(self) except -1
    cdef const double *hand_on(self, const double *cost) noexcept nogil
    cdef double score_member_beside(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double least_cost_beside(self, const Row *row) noexcept nogil
    cdef double mean_cost_beside(self, Py_ssize_t k) noexcept nogil


# What rows of a product can be screened by, if only one part has densities; else NULL. The other
# parts then add nothing negative to a cost. The part's columns begin at `first`.
cdef inline const Densities *densities_in(Component component, Py_ssize_t *first) noexcept nogil:
    if not is_instance(component, <PyTypeObject *> Product):
        return NULL
    if (<Product> component).n_densities != 1:
        return NULL
    first[0] = (<Product> component).first[
        (<Product> component).order[(<Product> component).first_limited]]
    return densities_of(<Component> (<Product> component).part[
        (<Product> component).order[(<Product> component).first_limited]])
