"""Components whose rows sweeps can screen, by the Student-t densities of their slots."""


cdef class Screenable(SoftComponent):
    pass
