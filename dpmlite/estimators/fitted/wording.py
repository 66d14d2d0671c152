"""Numbers, counts and levels as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Floats

# Numbers from here on are written with an exponent.
MAX_PLAIN = 1e9


def number(value: float) -> str:
    """A number for people: four digits, and no exponent below a thousand millions."""
    if np.isnan(value):
        return "-"
    text = f"{value:.4g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < MAX_PLAIN else text


def with_spread(centre: float, sign: str, spread: float) -> str:
    """A centre and the spread about it, as "1.5 ± 0.2"; only "-" if there is no value."""
    return "-" if np.isnan(centre) else f"{number(centre)} {sign} {number(spread)}"


def percentage(share: float) -> str:
    """A share as a percentage of three digits; only "-" if there is no value."""
    return "-" if np.isnan(share) else f"{100.0 * share:.3g}%"


def counted(n: float, noun: str) -> str:
    """A number of things, such as "1 row" and "2 rows"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def levels_in_words(levels: Any, probabilities: Floats, most: int = 3) -> str:
    """The most probable levels with their probabilities."""
    order = np.argsort(-probabilities, kind="stable")[:most]
    likely = [i for i in order if probabilities[i] >= 0.1] or [int(order[0])]
    return ", ".join(f"{_level(levels[i])} {probabilities[i]:.0%}" for i in likely)


def zero_or_in_words(p_zero: float, otherwise: str) -> str:
    """The probability of 0, and what is typical of other cells."""
    return f"0 {p_zero:.0%}, else {otherwise}" if p_zero >= 0.005 else otherwise


def _level(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float | np.floating) else str(level)
