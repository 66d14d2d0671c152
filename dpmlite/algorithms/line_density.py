"""A kernel estimate of the density of weighted values on a line, and how sure it is."""

from math import exp

from dpmlite.core.constants import MIN_EXP_ARGUMENT
from dpmlite.core.protocols import Buffer, Values


def density_on_line(
    values: Values, shares: Values, points: Values, density: Buffer, squares: Buffer
) -> None:
    """Sums of normal kernels of width 1 about values, at points.

    Parameters
    ----------
    values : sequence of float, length N
        In units of the width of the kernel.
    shares : sequence of float, length N
        Weight of each value.
    points : sequence of float, length P
        In the same units.
    density : sequence of float, length P
        OUT: sum of the weighted kernels at each point, without the factor of 1 / sqrt(2 pi).
    squares : sequence of float, length P
        OUT: sum of their squares: the variance of `density`, if values are drawn.

    Raises
    ------
    ValueError
        If lengths do not agree.
    """
    _require_length("shares", len(shares), len(values))
    _require_length("density", len(density), len(points))
    _require_length("squares", len(squares), len(points))
    for p, point in enumerate(points):
        density[p] = squares[p] = 0.0
        for value, share in zip(values, shares, strict=True):
            argument = -0.5 * (point - value) ** 2
            kernel = share * exp(argument) if argument > MIN_EXP_ARGUMENT else 0.0
            density[p] += kernel
            squares[p] += kernel * kernel


def _require_length(name: str, length: int, expected: int) -> None:
    if length != expected:
        raise ValueError(f"{name} must have {expected} values, got {length}")
