"""Seeded damage to files of tables: to bytes, to cells, to rows, to separators and to encodings."""

import gzip

from mutations import of_bytes

CELLS = (
    "", " ", "NA", "nan", "?", "-", "+", ".", ",", "'", '"', '""', '"a', 'a"b', "x", "inf",
    "-Infinity", "1e308", "1e309", "-1e400", "1e-400", "1_000", "1,234", "1.234", "1.234,5",
    "1'000", "1 000", "0x10", "=1+1", "5 %", "$5", "€", "½", "²", "١٢", "1.2.3", "2024-02-30",
    "2024-02-29", "0000-01-01", "9999-12-31", "01/02/03", "31.12.1999 25:61", "1 Feb 99", "True",
    "None", "\\N", "\ufeff", "\u2028", "\x0b", "\x1c", "\x85", "\U0001f600", "9" * 400, "9" * 5000,
    "1," * 200 + "x", "0" * 3000 + "x", "." * 3000, '"' * 3001, "ab " * 1500,
    '"a": 1e400', '"a": [1]', '"a": {"b": null}', '"a": NaN', '"a": "\\ud800"', '{"a": 1}', '"a"',
    '"a": ' + "9" * 5000, '"a": ' + "[" * 100_000,
)  # fmt: skip
SEPARATORS = (",", ";", "\t", "|", " ", "  ", ":", '"', "a", ", ")
ENDS = ("\n", "\r\n", "\r", "\n\n", "\n\r", "\x0b", "\x85")
FIRST_LINES = ("sep=;\n", "sep=,\n", 'sep="\n', "sep=\n", "SEP=1\n", "\ufeff", "# x\n", "\n\n")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "utf-7", "latin-1", "cp1252")


def mutate(text, rng):
    """The bytes of a damaged file, from the text of a whole one."""
    for _ in range(int(rng.choice([0, 1, 1, 2, 4]))):
        text = DAMAGES[rng.integers(len(DAMAGES))](text, rng)
    content = text.encode(rng.choice(ENCODINGS) if rng.random() < 0.2 else "utf-8", "replace")
    if rng.random() < 0.2:
        content = of_bytes(content, rng) if content else content
    if rng.random() < 0.1:
        content = gzip.compress(content, 0, mtime=0)  # the same bytes at any time, by any zlib
        content = of_bytes(content, rng) if rng.random() < 0.5 else content
    return content


def of_cells(text, rng):
    """Another cell in place of some, or of a whole column."""
    separator = separator_of(text)
    rows = [line.split(separator) for line in text.split("\n")]
    cell, column = str(rng.choice(CELLS)), rng.integers(8)
    everywhere = rng.random() < 0.2
    for i in range(len(rows)) if everywhere else rng.integers(len(rows), size=2):
        rows[i][column % len(rows[i])] = cell
    return "\n".join(map(separator.join, rows))


def of_rows(text, rng):
    """A row is lost, comes twice, gets or loses cells, or is joined with the next one."""
    rows = text.split("\n")
    i, kind, separator = rng.integers(len(rows)), rng.integers(5), separator_of(text)
    if kind == 0:
        del rows[i]
    elif kind == 1:
        rows[i:i] = [rows[i]] * int(rng.choice([1, 2, 50]))
    elif kind == 2:
        rows[i] += separator * int(rng.choice([1, 2, 500]))
    elif kind == 3:
        rows[i] = separator.join(rows[i].split(separator)[: rng.integers(1, 4)])
    else:
        rows[i : i + 2] = [" ".join(rows[i : i + 2])]
    return "\n".join(rows)


def of_separators(text, rng):
    """Another separator, in one row or in all."""
    old, new = separator_of(text), str(rng.choice(SEPARATORS))
    if rng.random() < 0.5:
        return text.replace(old, new)
    rows = text.split("\n")
    i = rng.integers(len(rows))
    rows[i] = rows[i].replace(old, new)
    return "\n".join(rows)


def of_ends(text, rng):
    """Other ends of lines, or none at the end of the file."""
    return text.replace("\n", str(rng.choice(ENDS))) if rng.random() < 0.7 else text.rstrip("\n")


def of_characters(text, rng):
    """Characters lost, put in or moved."""
    if not text:
        return text
    at, n = int(rng.integers(len(text))), int(rng.choice([1, 1, 3, 30]))
    kind = rng.integers(3)
    if kind == 0:
        return text[:at] + text[at + n :]
    if kind == 1:
        return text[:at] + n * str(rng.choice([*CELLS, *SEPARATORS, "\n"])) + text[at:]
    return text[at:] + text[:at]


def of_first_line(text, rng):
    return str(rng.choice(FIRST_LINES)) + text


DAMAGES = (of_cells, of_cells, of_rows, of_separators, of_ends, of_characters, of_first_line)


def separator_of(text):
    """The separator that is most frequent."""
    return max(",;\t| ", key=text.count)
