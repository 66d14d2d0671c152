"""Symmetric positive definite matrices, as lists of rows."""

from collections.abc import Sequence
from typing import NamedTuple

from mpmath import fsum, log, mpf

Matrix = Sequence[Sequence[mpf]]


class Factors(NamedTuple):
    """A = L diag(pivots) L^T with a unit lower triangular L."""

    lower: list[list[mpf]]
    pivots: list[mpf]


def factorise(matrix: Matrix) -> Factors:
    lower: list[list[mpf]] = []
    pivots: list[mpf] = []
    for i, row in enumerate(matrix):
        left: list[mpf] = []  # of L, each times its pivot
        for j in range(i):
            left.append(mpf(row[j]) - _dot(left, lower[j]))
        lower.append([x / d for x, d in zip(left, pivots, strict=True)])
        pivots.append(mpf(row[i]) - _dot(left, lower[i]))
    return Factors(lower, pivots)


def log_determinant(factors: Factors) -> mpf:
    return fsum(map(log, factors.pivots))


def inner(x: Sequence[mpf], factors: Factors, y: Sequence[mpf]) -> mpf:
    """x^T A^-1 y."""
    left, right = _solved(factors, x), _solved(factors, y)
    return fsum(a * b / d for a, b, d in zip(left, right, factors.pivots, strict=True))


def _solved(factors: Factors, x: Sequence[mpf]) -> list[mpf]:
    """L^-1 x."""
    z: list[mpf] = []
    for x_i, row in zip(x, factors.lower, strict=True):
        z.append(x_i - _dot(z, row))
    return z


def _dot(x: Sequence[mpf], y: Sequence[mpf]) -> mpf:
    """Of the first values, as many as `y` has."""
    return fsum(a * b for a, b in zip(x, y, strict=False))
