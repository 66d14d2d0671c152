"""Text files as people have them become tables; bad ones end in one line."""

import codecs
import csv
import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpmlite
from dpmlite.tables import Table, parse_table, read_table

pytestmark = pytest.mark.plain


def cells(table):
    """All cells by column, in lists; None for a missing one."""
    found = {name: table[name].tolist() for name in table.columns}
    return {name: [None if cell != cell else cell for cell in row] for name, row in found.items()}


def test_read_table_is_public():
    assert dpmlite.read_table is read_table
    assert dpmlite.Table is Table


AB = {"a": [1.5, 3.0], "b": [2.0, -4.25]}


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"a,b\n1.5,2\n3,-4.25\n", "utf-8"),
        (b"a,b\r\n1.5,2\r\n3,-4.25", "utf-8"),
        (b"a,b\r1.5,2\r3,-4.25\r", "utf-8"),
        (b"a;b\n1.5;2\n3;-4.25\n", "utf-8"),
        (b"a;b\n1,5;2\n3;-4,25\n", "utf-8"),
        (b"a\tb\n1,5\t2\n3\t-4,25\n", "utf-8"),
        (b"a|b\n1.5|2\n3|-4.25\n", "utf-8"),
        (b"a b\n1.5   2\n 3 -4.25\n", "utf-8"),
        (b"a b\n1,5 2\n3 -4,25\n", "utf-8"),
        (b"sep=;\r\na;b\r\n1,5;2\r\n3;-4,25\r\n", "utf-8"),
        (b"sep=,\na,b\n1.5,2\n3,-4.25\n", "utf-8"),
        (b'"a","b"\n"1.5","2"\n"3","-4.25"\n', "utf-8"),
        (b'"a","b"\n"1,5","2"\n"3","-4,25"\n', "utf-8"),
        (b"a,b,\n1.5,2,\n3,-4.25,\n", "utf-8"),
        (b"a,b\n1.5,2,\n3,-4.25,\n", "utf-8"),
        (b"a,b\n1.5,2\n3,-4.25\n,\n,\n", "utf-8"),
        (b"\n\na,b\n\n1.5,2\n  \n3,-4.25\n\n", "utf-8"),
        (codecs.BOM_UTF8 + b"a,b\n1.5,2\n3,-4.25\n", "utf-8-sig"),
        ("a,b\n1.5,2\n3,-4.25\n".encode("utf-16"), "utf-16"),
        ("a,b\n1.5,2\n3,-4.25\n".encode("utf-16-le"), "utf-16-le"),
        ("a,b\n1.5,2\n3,-4.25\n".encode("utf-16-be"), "utf-16-be"),
        ("a,b\n1.5,2\n3,-4.25\n".encode("utf-32"), "utf-32"),
        (gzip.compress(b"a,b\n1.5,2\n3,-4.25\n", mtime=0), "utf-8"),
    ],
)
def test_forms_of_one_table(tmp_path, data, encoding):
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    for file in (path, str(path), io.BytesIO(data)):
        table = read_table(file)
        assert cells(table) == AB
        assert table.source.encoding == encoding
        assert table.source.has_header


def test_latin_1_is_the_last_resort(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("dépense,prix €\n1,2\n".encode("cp1252"))
    table = read_table(path)
    assert table.columns == ["dépense", "prix €"]
    assert "in cp1252" in table.source.notes[0]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1.5,2\n3,-4.25\n")))
    assert cells(read_table("-")) == AB


def test_an_open_text_file_is_read():
    assert cells(read_table(io.StringIO("a,b\n1.5,2\n3,-4.25\n"))) == AB


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a, b",c\n"3",4\n', {"a, b": [3], "c": [4]}),
        (" a , b \n 3 , -4e1 \n", {"a": [3], "b": [-40]}),
        ('"a", "b, c"\n"3", "4"\n', {"a": [3], "b, c": [4]}),
        ('a,b\n"x\ny",4\nz,5\n', {"a": ["x\ny", "z"], "b": [4, 5]}),
        (",b\n3,4\n", {"column 1": [3], "b": [4]}),
        ("b,\n3,4\n", {"b": [3], "column 2": [4]}),
        ("a,a\n3,4\n", {"a": [3], "a (2)": [4]}),
        ("a,b\n3,x\n4,\n", {"a": [3, 4], "b": ["x", None]}),
        ("a\n1\nNA\nn/a\n?\nNaN\nnull\nNone\n", {"a": [1, *[None] * 6]}),
        ("a\nnone\nsome\nNone\n-\n", {"a": ["none", "some", "None", None]}),
        ("x y\nr1 1.5 2\nr2 3 4\n", {"column 1": ["r1", "r2"], "x": [1.5, 3], "y": [2, 4]}),
        ('"x"\t"y z"\n"r 1"\t1\t2\n', {"column 1": ["r 1"], "x": [1], "y z": [2]}),
        ("a,b\n1,\n,?\n", {"a": [1, None], "b": [None, None]}),
        ("a,b,\n1,2,\n3,4,5\n", {"a": [1, 3], "b": [2, 4], "column 3": [None, 5]}),
    ],
)
def test_cells_are_read_by_the_rules_of_their_text(text, expected):
    assert cells(parse_table(text)) == expected


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        ("1,2\n3,4\n", False),
        ("1,left\n3,right\n", False),
        ("a,2\n3,4\n", True),
        ("a,b\n1,left\n3,right\n", True),
        ("2019,2020\n3,4\n5,6\n", False),
        ("country,2019,2020\nItaly,3,4\nFrance,5,6\n", True),
        (",2019,2020\nItaly,3,4\nFrance,5,6\n", True),
        ("Italy,2019,2020\nItaly,3,4\nFrance,5,6\n", False),
        ("country,2019,2030\nItaly,3,4\nFrance,5,6\n", False),
        ("name,city\nAnna,Rome\nBert,Paris\n", True),
        ("Anna,Rome\nBert,Paris\nAnna,Rome\n", False),
        ("x,x\nAnna,Rome\nBert,Paris\n", False),
        ("when\n2024-01-05\n2024-01-06\n", True),
        ("2024-01-05\n2024-01-06\n", False),
        ("5\n", False),
        ("?,1\n2,3\n", False),
        ("a,b\n?,\n,?\n", True),
        (",0,1\n0,1.5,2\n1,3,4\n", True),  # pandas' index
        (",plan,city\n1,free,Rome\n2,team,Oslo\n", True),
        (",2,3\n1,3,4\n", False),
        (",2,3\n1,3,4\n7,5,6\n", False),
    ],
)
def test_the_header_is_found(text, has_header):
    table = parse_table(text)
    assert table.source.has_header == has_header
    n_lines = len(text.splitlines())
    assert len(table) == n_lines - has_header
    assert ("the first row is data" in table.source.notes[0]) == (not has_header)
    as_text = parse_table(text, header="no", kinds=lambda names: dict.fromkeys(names, "text"))
    assert len(as_text) == n_lines
    if n_lines > 1:
        told = parse_table(text, header="yes")
        assert len(told) == n_lines - 1
        assert told.columns[-1].split(" (")[0] == text.splitlines()[0].split(",")[-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        ("a,b\n", "there is no row below the header"),
        ("a,b\n1,2\n\n3\n", "row 4 has 1 cells, row 1 has 2: cells are separated by ','"),
        ("1,2\n3,4,5\n", "row 2 has 3 cells, row 1 has 2: cells are separated by ','"),
        ("a\n1,5\n", "row 2 has 2 cells, row 1 has 1: cells are separated by ','"),
        ("full name,age\nAnna Smith,3\nBob Jones,4,5\n", "row 3 has 3 cells, row 1 has 2"),
        ("a,b\n1,2\n3,high\n4,5\n", "text in column 'b', row 3: 'high' is not a number: mend it, "),
        ("1,2\n3,4\n5,1_000\n", "text in column 'column 2', row 3: '1_000' is not a number"),
        ("a,b\n1,-inf\n", "values must be finite in column 'b', row 2: '-inf'"),
        ("a,b\n1,2\n?,1e999\n", "values must be finite in column 'b', row 3: '1e999'"),
        ("a\n" + "1" * 2000, "values must be finite in column 'a', row 2: '1111"),
        ('a,b\n1,2\n3,"4\n5,6\n', "row 3 is not one of a CSV file: unexpected end of data"),
        ('a,b\n"1\n2",3\n"4"5,6\n', "row 3 is not one of a CSV file: ',' expected after '\"'"),
        ('sep=\x0b\na\x0bb\n"1"2\x0b3\n', r"is not one of a CSV file: '\x0b' expected after"),
        ('a,b\n"' + "1" * 200_000 + '",2\n', "field larger than field limit"),
        ("a\tb\n1,234\t5\n", "'1,234' may be a decimal number or one of thousands: say which"),
    ],
)
def test_an_error_names_the_file(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_table(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < len(str(path)) + 250


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not a text file"),
        (b"PK\x03\x04...", "is a workbook or an archive, not a text file: save the sheet as CSV"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "is a damaged gz file"),
    ],
)
def test_a_file_that_is_no_table_is_an_error(data, message):
    with pytest.raises(ValueError, match=f"^the file: {message}"):
        read_table(io.BytesIO(data))


def test_a_file_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        read_table("missing.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"header": "maybe"}, "header must be one of 'yes', 'no', 'auto', got 'maybe'"),
        ({"decimal": ";"}, "decimal must be one of '.', ',', None, got ';'"),
        ({"kinds": {"c": "text"}}, "there is no column 'c'; the columns are a, b"),
        (
            {"kinds": {"a": "date"}},
            "kind of column 'a' must be one of 'number', 'text', got 'date'",
        ),
        ({"kinds": {"b": "number"}}, "text in column 'b', row 2: 'x' is not a number: mend it, "),
    ],
)
def test_an_option_that_breaks_its_rule_is_an_error(options, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        parse_table("a,b\n1,x\n", **options)
    assert str(caught.value).startswith(message)


def test_what_is_told_is_not_found_out():
    table = parse_table("a;b\n1,234;x y\n", separator=";", decimal=",", kinds={"b": "text"})
    assert cells(table) == {"a": [1.234], "b": ["x y"]}
    assert cells(parse_table("a;b\n1,234;5\n", decimal="."))["a"] == [1234]
    assert cells(parse_table("a,b\n007,5\n", kinds={"a": "text"})) == {"a": ["007"], "b": [5]}
    by_names = parse_table("a,b\n1,2\n3,high\n5,6\n", kinds=lambda names: {names[-1]: "text"})
    assert by_names.kinds == {"a": "number", "b": "text"}


def test_rows_keep_the_numbers_of_a_spreadsheet():
    assert list(parse_table("a\n\n1\n2\n\n3\n").source.row_numbers) == [3, 4, 6]
    assert list(parse_table('"a"\n\n"1"\n2\n\n3\n').source.row_numbers) == [3, 4, 6]


@pytest.mark.parametrize(
    ("text", "columns", "first"),
    [
        ("# of a logger\n# x;y\na,b\n1,2\n3,4\n", ["a", "b"], 4),
        ("# of a logger\n\n# a,b\n1,2\n3,4\n", ["a", "b"], 4),
        ("##v=1\n#a\tb\n1\t2\n3\t4\n", ["a", "b"], 3),
        ("# of a logger\n1,2\n3,4\n", ["column 1", "column 2"], 2),
    ],
)
def test_comments_before_the_table(text, columns, first):
    table = parse_table(text)
    assert cells(table) == dict(zip(columns, [[1, 3], [2, 4]], strict=True))
    assert list(table.source.row_numbers) == [first, first + 1]
    assert "lines of comments are left out" in table.source.notes[1]


def test_files_of_savetxt_have_their_names():
    file = io.BytesIO()
    np.savetxt(file, [[1.5, 2.0], [3.0, 4.0]], header="width height")
    assert cells(read_table(io.BytesIO(file.getvalue()))) == {"width": [1.5, 3], "height": [2, 4]}


def test_rows_that_all_begin_with_a_sharp_are_no_comments():
    assert cells(parse_table("#1,2\n#3,4\n#1,5\n"))["column 2"] == [2, 4, 5]


def test_notes_tell_what_was_left_out():
    notes = parse_table("a,b,\n1,2,\n,,\n").source.notes[1:]
    assert notes == ["1 empty rows at the end are left out", "column 3 is left out: it is empty"]
    assert parse_table("a,b\n1,2,\n").source.notes[1:] == [
        "empty cells at the end of 1 rows are left out"
    ]


def parsed(data):
    """The table of some bytes and no message, or None and the message of the error."""
    try:
        return read_table(io.BytesIO(data)), ""
    except ValueError as error:
        return None, str(error)


@given(st.text("ab1,;\t| \n\"'.-/:?", max_size=40) | st.text(max_size=20))
def test_any_text_is_a_table_or_an_error_in_one_line(text):
    table, message = parsed(text.encode("utf-8", "ignore"))
    assert "\n" not in message
    if table is not None:
        n_rows, n_columns = table.shape
        assert n_rows > 0
        assert n_columns == len(table.source.texts) > 0
        assert len(table.source.row_numbers) == n_rows
        assert {len(column) for column in table.source.texts.values()} == {n_rows}


@given(st.binary(max_size=60))
def test_any_bytes_are_a_table_or_an_error(data):
    table, message = parsed(data)
    assert message.startswith("the file: ") if table is None else len(table) > 0


plain_text = st.text("abcxyz", min_size=1, max_size=4).filter(
    lambda text: text not in ("na", "nan", "inf")
)


@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 3)), min_size=2, max_size=20),
    st.data(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.booleans(),
)
def test_what_csv_writes_is_read_back(numbers, data, separator, quoted):
    words = data.draw(st.lists(plain_text, min_size=len(numbers), max_size=len(numbers)))
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=separator, quoting=quoting)
    writer.writerow(["length", "word", "number"])
    writer.writerows(zip(numbers, words, range(len(numbers)), strict=True))
    table = parse_table(text.getvalue(), decimal=".")
    assert table.source.separator == separator
    assert table.kinds == {"length": "number", "word": "text", "number": "number"}
    assert table["length"].tolist() == numbers
    assert table["word"].tolist() == words
    assert np.array_equal(table["number"], np.arange(len(numbers)))
