"""Tables as text files."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def write_table(columns: Mapping[str, Sequence[str]], separator: str = ",") -> str:
    """The text of columns of cells, with their names in the first row.

    Parameters
    ----------
    columns : mapping of str to sequence of str
    separator : str

    Returns
    -------
    str
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
