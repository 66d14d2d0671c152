"""Cells that stand for a missing value."""

#: In lower case. Among text, "none" is a level: none of the others.
NONE = "none"
MISSING = frozenset(("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", NONE, "?", "-", "--"))


def is_missing(cell: str) -> bool:
    """Whether a stripped cell stands for a missing value."""
    return len(cell) <= 4 and cell.lower() in MISSING


#: As most files write them.
USUAL_FORMS = MISSING | {form for cell in MISSING for form in (cell.upper(), cell.title(), "NaN")}
