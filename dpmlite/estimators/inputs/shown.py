"""Values in messages of errors."""

from __future__ import annotations

from reprlib import Repr
from typing import Any

SHORT = Repr()
SHORT.maxstring = SHORT.maxother = 100
SHORT.maxdict = SHORT.maxlist = SHORT.maxtuple = 12


def shown(value: Any) -> str:
    """Any value as a message has it: in one line, which is not long."""
    try:
        return " ".join(SHORT.repr(value).split())
    except ValueError:  # a whole number that has more digits than Python writes
        return f"a value of type {type(value).__name__}"
