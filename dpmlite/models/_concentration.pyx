"""Kernel of concentration.py: the concentration given the number of clusters."""

from libc.math cimport INFINITY


def alpha_given_eta(Py_ssize_t n_clusters, double n_rows, double shape, double rate,
                    double log_eta, double uniform):
    if not n_clusters >= 1:
        raise ValueError(f"n_clusters must be at least 1, got {n_clusters}")
    for name, value in (("n_rows", n_rows), ("shape", shape), ("rate", rate)):
        if not 0.0 < value < INFINITY:
            raise ValueError(f"{name} must be positive and finite, got {value}")
    if not -INFINITY < log_eta <= 0.0:
        raise ValueError(f"log_eta must be finite and not above 0, got {log_eta}")
    if not 0.0 <= uniform < 1.0:
        raise ValueError(f"uniform must be in [0, 1), got {uniform}")
    rate -= log_eta
    shape += n_clusters
    cdef double odds = (shape - 1.0) / (n_rows * rate)
    return (shape if uniform * (1.0 + odds) < odds else shape - 1.0), rate
