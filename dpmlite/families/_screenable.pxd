from dpmlite.families._component cimport Component
from dpmlite.families._soft_component cimport SoftComponent
from dpmlite.families._student_t cimport Densities

cdef extern from "Python.h":
    ctypedef struct PyTypeObject
    bint is_instance "PyObject_TypeCheck"(object component, PyTypeObject *kind) nogil


# Families whose columns have Student-t predictives with one power per slot: sweeps can screen rows.
cdef class Screenable(SoftComponent):
    cdef Densities t  # what scoring needs of the slots, kept by `refresh`

    cdef double log_peak(self, Py_ssize_t k, double others, double weight) noexcept nogil
    cdef double least_kept(self, Py_ssize_t k) noexcept nogil


# What rows are screened by; NULL if the family is not screenable. It needs no interpreter's lock.
cdef inline const Densities *densities_of(Component component) noexcept nogil:
    if is_instance(component, <PyTypeObject *> Screenable):
        return &(<Screenable> component).t
    return NULL
