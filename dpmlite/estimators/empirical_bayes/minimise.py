"""Minimisation of a smooth function of few variables with lower bounds, by its gradient.

The method is L-BFGS with projected steps (Nocedal & Wright 2006, algorithm 7.4; Bertsekas 1982): a
variable at its bound that would go below it stays out of a step.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Objective = Callable[[Floats], tuple[float, Floats]]

# Steps and gradients that are remembered.
N_REMEMBERED = 8

MAX_STEPS = 200
MAX_HALVINGS = 30

# Greatest change of a variable in one step: variables are logarithms here.
MAX_CHANGE = 2.0

# The part of the fall that the gradient promises, at least.
SUFFICIENT_FALL = 1e-4

# The search ends when a step lowers the function by less.
MIN_FALL = 1e-6


def minimise(objective: Objective, start: Floats, lower: Floats) -> tuple[Floats, float]:
    """A local minimum of a function.

    Parameters
    ----------
    objective : callable
        Returns the function and its gradient, shape (P,).
    start : ndarray, shape (P,)
    lower : ndarray, shape (P,)
        Lower bounds of the variables.

    Returns
    -------
    x : ndarray, shape (P,)
    value : float
        The function at `x`, not above that at `start`.
    """
    x = np.maximum(start, lower)
    value, gradient = objective(x)
    memory: deque[tuple[Floats, Floats]] = deque(maxlen=N_REMEMBERED)
    for _ in range(MAX_STEPS):
        free = (x > lower) | (gradient < 0.0)
        step = _line_search(
            objective, x, value, gradient, -_scaled(gradient * free, memory) * free, lower
        )
        if step is None and memory:
            memory.clear()  # the remembered curvature misleads: go down the gradient
            continue
        if step is None:
            break
        new_x, new_value, new_gradient = step
        change, turn = new_x - x, new_gradient - gradient
        if change @ turn > 1e-12 * (turn @ turn):
            memory.append((change, turn))
        fall = value - new_value
        x, value, gradient = new_x, new_value, new_gradient
        if fall < MIN_FALL:
            break
    return x, value


def _scaled(gradient: Floats, memory: deque[tuple[Floats, Floats]]) -> Floats:
    """The gradient times the approximate inverse of the Hessian: the two-loop recursion."""
    q, parts = gradient.copy(), []
    for change, turn in reversed(memory):
        part = (change @ q) / (change @ turn)
        parts.append(part)
        q -= part * turn
    if memory:
        change, turn = memory[-1]
        q *= (change @ turn) / (turn @ turn)
    else:
        q /= max(1.0, float(np.abs(q).max()))
    for (change, turn), part in zip(memory, reversed(parts), strict=True):
        q += (part - (turn @ q) / (change @ turn)) * change
    return q


def _line_search(
    objective: Objective,
    x: Floats,
    value: float,
    gradient: Floats,
    direction: Floats,
    lower: Floats,
) -> tuple[Floats, float, Floats] | None:
    """A point along a direction where the function is enough lower; None if there is none."""
    size = min(1.0, MAX_CHANGE / max(float(np.abs(direction).max()), np.finfo(float).tiny))
    for _ in range(MAX_HALVINGS):
        new_x = np.maximum(x + size * direction, lower)
        promised = gradient @ (x - new_x)
        if promised > 0.0:
            new_value, new_gradient = objective(new_x)
            if new_value <= value - SUFFICIENT_FALL * promised:
                return new_x, new_value, new_gradient
        size *= 0.5
    return None
