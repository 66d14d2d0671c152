"""Warnings that point at the user's line."""

from __future__ import annotations

import sys
import warnings


def warn(message: str, category: type[UserWarning] = UserWarning) -> None:
    """Issue a warning at the innermost caller outside dpmlite."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("dpmlite."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
