"""The format of the files, and the precision at which everything is computed."""

import json
from collections.abc import Iterable
from typing import Any

from mpmath import chop, mp, mpf, nstr

DIGITS = 30  # of an expected value
AGREE = mpf(10) ** -33  # two derivations of one number differ by less than this part of it

mp.dps = 50


def vectors(name: str, source: str, tolerance: dict, cases: Iterable[dict]) -> dict:
    """A file of numbered cases."""
    numbered = [{"id": i, **case} for i, case in enumerate(cases, 1)]
    return {"schema": 1, "name": name, "source": source, "tolerance": tolerance, "cases": numbered}


def case(comment: str, given: dict, expected: dict, tolerance: dict | None = None) -> dict:
    """One case; a tolerance of its own replaces the file's."""
    own = {} if tolerance is None else {"tolerance": tolerance}
    return {"comment": comment, **own, "input": given, "expected": expected}


def within(relative: float, absolute: float) -> dict:
    """|result - expected| <= absolute + relative |expected|."""
    return {"relative": relative, "absolute": absolute}


def decimal(value: mpf) -> str:
    """An expected value as a decimal string."""
    value = chop(value, tol=mpf(10) ** -35)
    return nstr(value, DIGITS, strip_zeros=False) if value else "0.0"


def render(value: Any, indent: str = "") -> str:
    """JSON with every list of plain values on one line."""
    items = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(items, list) or not any(isinstance(item, dict | list) for item in items):
        return json.dumps(value)
    inner = indent + " "
    keys = (
        [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(items)
    )
    lines = [inner + key + render(item, inner) for key, item in zip(keys, items, strict=True)]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return f"{left}\n" + ",\n".join(lines) + f"\n{indent}{right}"


def agree(x: mpf, y: mpf, precision: mpf = AGREE) -> mpf:
    """`x`, which another derivation found to be `y`."""
    if not abs(x - y) <= precision * max(1, abs(x)):
        raise AssertionError(f"two derivations disagree: {nstr(x, DIGITS)} and {nstr(y, DIGITS)}")
    return x
