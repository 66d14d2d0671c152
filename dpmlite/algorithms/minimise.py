"""Minimisation of a smooth function of few variables with lower bounds, by its gradient.

The method is L-BFGS with projected steps (Nocedal & Wright 2006, algorithm 7.4; Bertsekas 1982): a
variable at its bound that would go below it stays out of a step.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from dpmlite.core.constants import (
    MAX_CHANGE,
    MAX_DESCENT_STEPS,
    MAX_HALVINGS,
    MIN_CURVATURE,
    MIN_FALL,
    N_REMEMBERED,
    SUFFICIENT_FALL,
)
from dpmlite.core.protocols import Buffer, Values

#: Of the variables, and of the buffer of the gradient.
Objective = Callable[[Any, Any], float]


class _Point(NamedTuple):
    """A point, with the function and its gradient there."""

    x: list[float]
    value: float
    gradient: list[float]


class _Curvature(NamedTuple):
    """A change of the variables, and the turn of the gradient that came with it."""

    change: list[float]
    turn: list[float]


def minimise(objective: Objective, x: Buffer, lower: Values) -> float:
    """A local minimum of a function, not above its value at the start.

    Parameters
    ----------
    objective : callable
        ``objective(x, gradient)`` returns the function at x, and writes its gradient.
    x : sequence of float, length P
        IN: where to start. OUT: the minimum.
    lower : sequence of float, length P
        Lower bounds of the variables.

    Returns
    -------
    float
        The function at the minimum.

    Raises
    ------
    ValueError
        If `lower` has another length than `x`.
    """
    if len(lower) != len(x):
        raise ValueError(f"lower must have the length of x, {len(x)}, got {len(lower)}")
    point = _evaluated(objective, [max(a, b) for a, b in zip(x, lower, strict=True)])
    memory: deque[_Curvature] = deque(maxlen=N_REMEMBERED)
    for _ in range(MAX_DESCENT_STEPS):
        new = _lower_point(objective, point, _direction(point, lower, memory), lower)
        if new is None and not memory:
            break
        if new is None:
            memory.clear()  # the remembered curvature misleads: go down the gradient
            continue
        curvature = _Curvature(_minus(new.x, point.x), _minus(new.gradient, point.gradient))
        if _dot(*curvature) > MIN_CURVATURE * _dot(curvature.turn, curvature.turn):
            memory.append(curvature)
        fall, point = point.value - new.value, new
        if fall < MIN_FALL:
            break
    for i, value in enumerate(point.x):
        x[i] = value
    return point.value


def _direction(point: _Point, lower: Values, memory: deque[_Curvature]) -> list[float]:
    """Where to go: minus the gradient times the approximate inverse of the Hessian.

    Variables that stay at their bounds are left out. This is the two-loop recursion.
    """
    free = [
        x > least or slope < 0.0
        for x, least, slope in zip(point.x, lower, point.gradient, strict=True)
    ]
    q = _masked(point.gradient, free)
    parts = []
    for change, turn in reversed(memory):
        parts.append(_dot(change, q) / _dot(change, turn))
        q = _plus(q, -parts[-1], turn)
    scale = _first_scale(q, memory)
    q = [scale * each for each in q]
    for (change, turn), part in zip(memory, reversed(parts), strict=True):
        q = _plus(q, part - _dot(turn, q) / _dot(change, turn), change)
    return _masked([-each for each in q], free)


def _first_scale(q: list[float], memory: deque[_Curvature]) -> float:
    """The multiple of the identity from which the inverse of the Hessian is approximated."""
    if memory:
        change, turn = memory[-1]
        return _dot(change, turn) / _dot(turn, turn)
    return 1.0 / max(1.0, max(abs(each) for each in q))


def _lower_point(
    objective: Objective, point: _Point, direction: list[float], lower: Values
) -> _Point | None:
    """A point along a direction where the function is enough lower; None if there is none."""
    longest = max(abs(each) for each in direction)
    size = min(1.0, MAX_CHANGE / longest) if longest > 0.0 else 1.0
    for _ in range(MAX_HALVINGS):
        moved = _plus(point.x, size, direction)
        moved = [max(a, b) for a, b in zip(moved, lower, strict=True)]
        promised = _dot(point.gradient, _minus(point.x, moved))
        if promised > 0.0:
            new = _evaluated(objective, moved)
            if new.value <= point.value - SUFFICIENT_FALL * promised:
                return new
        size *= 0.5
    return None


def _evaluated(objective: Objective, x: list[float]) -> _Point:
    gradient = [0.0] * len(x)
    return _Point(x, objective(x, gradient), gradient)


def _masked(x: list[float], free: list[bool]) -> list[float]:
    return [a if is_free else 0.0 for a, is_free in zip(x, free, strict=True)]


def _plus(x: list[float], factor: float, y: list[float]) -> list[float]:
    return [a + factor * b for a, b in zip(x, y, strict=True)]


def _minus(x: list[float], y: list[float]) -> list[float]:
    return [a - b for a, b in zip(x, y, strict=True)]


def _dot(x: list[float], y: list[float]) -> float:
    return sum(a * b for a, b in zip(x, y, strict=True))
