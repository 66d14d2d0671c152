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
        Cells of each column, all of one length, by its name.
    separator : str, default ","
        One sign, which stands between cells. Cells that have it are quoted.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the columns are not of one length.
    TypeError
        If the separator is not one sign.

    See Also
    --------
    read_table : The way back.

    Examples
    --------
    >>> from dpmlite.tables import write_table
    >>> print(write_table({"city": ["Rome", "Oslo"], "visits": ["1", "2"]}), end="")
    city,visits
    Rome,1
    Oslo,2
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
