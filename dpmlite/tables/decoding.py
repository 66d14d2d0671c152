"""The text of a file: what is compressed, and in which encoding it is."""

from __future__ import annotations

import codecs
import re
import sys
import zlib
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

STDIN = "-"

GZIP, ZIP, OLE, PARQUET = b"\x1f\x8b", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1"

# UTF-32 comes first: its mark begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f]")


def read_bytes(file: str | os.PathLike[str] | IO[Any]) -> bytes:
    """The content of a path, of an open file, or of standard input for "-"; gz is unpacked.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is a damaged gz file, or a workbook.
    """
    if file == STDIN:
        data = sys.stdin.buffer.read()
    elif isinstance(file, str) or not hasattr(file, "read"):
        with open(file, "rb") as opened:
            data = opened.read()
    else:
        content = file.read()
        data = content.encode() if isinstance(content, str) else content
    if data.startswith(GZIP):
        data = _unpacked(data)
    if data.startswith((ZIP, OLE)):
        raise ValueError("is a workbook or an archive, not a text file: save the sheet as CSV")
    return data


def _unpacked(data: bytes) -> bytes:
    import gzip

    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"is a damaged gz file: {error}") from error


def decode(data: bytes) -> tuple[str, str]:
    """The text of bytes and the name of their encoding.

    UTF-8, and UTF-16 and UTF-32 with a byte order mark, are told by their form; UTF-16 without one
    by its zero bytes. Other text is taken as Windows' form of Latin-1.

    Raises
    ------
    ValueError
        If it is no text.
    """
    encoding = next((name for mark, name in MARKS if data.startswith(mark)), None)
    candidates = [encoding] if encoding else [*_without_mark(data), "utf-8", "cp1252", "latin-1"]
    for name in candidates:
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        if CONTROL_CHARACTER.search(text):
            break
        return text, name
    raise ValueError("is not a text file")


def _without_mark(data: bytes) -> list[str]:
    """UTF-16 in the byte order that the zero bytes of Latin letters and digits show."""
    even, odd = data[:1000:2].count(0), data[1:1000:2].count(0)
    if max(even, odd) <= 0.25 * len(data[:1000]):
        return []
    return ["utf-16-le" if odd > even else "utf-16-be"]
