"""Integrals by brute force, in doubles."""

from collections.abc import Callable
from itertools import product
from math import exp, fsum, lgamma, log, log1p, prod
from typing import NamedTuple


class Axis(NamedTuple):
    """A variable whose integrand is negligible at both ends."""

    low: float
    high: float
    step: float

    def points(self) -> list[float]:
        n = round((self.high - self.low) / self.step)
        return [self.low + i * self.step for i in range(n + 1)]


def log_integral(log_f: Callable[..., float], *axes: Axis) -> float:
    """Log of the integral of exp(log_f) over a box, by the trapezoidal rule.

    Of a smooth function that vanishes at the ends, its error falls faster than any power of the
    step.
    """
    values = [log_f(*point) for point in product(*(axis.points() for axis in axes))]
    top = max(values)
    return top + log(fsum(exp(v - top) for v in values) * prod(axis.step for axis in axes))


def log_beta_integral(n1: float, n0: float, a0: float, b0: float) -> float:
    """Log of the integral of p^n1 (1 - p)^n0 Beta(p; a0, b0), over s = log p / (1 - p)."""

    def log_f(s: float) -> float:
        log_p, log_q = -log1p(exp(-s)), -log1p(exp(s))  # dp = p (1 - p) ds
        return (a0 + n1) * log_p + (b0 + n0) * log_q

    log_beta = lgamma(a0) + lgamma(b0) - lgamma(a0 + b0)
    return log_integral(log_f, Axis(-200.0, 200.0, 0.125)) - log_beta
