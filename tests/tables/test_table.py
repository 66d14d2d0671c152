"""The table as a light data frame, its other files, and what is written."""

import builtins
import io
import json

import numpy as np
import pytest

from dpmlite import MAPDPM
from dpmlite.tables import Table, cell_text, parse_table, read_table, write_table


def test_kinds_and_cells():
    table = Table(
        {
            "n": [1, None, 2.5],
            "flag": np.array([True, False, True]),
            "city": ["Rome", None, "Paris"],
            "when": np.array(["2024-01-05", "NaT", "2024-01-06"], dtype="M8[D]"),
        }
    )
    assert table.columns == ["n", "flag", "city", "when"]
    assert table.kinds == {"n": "number", "flag": "number", "city": "text", "when": "date"}
    assert (table.shape, len(table)) == ((3, 4), 3)
    for name in ("n", "city", "when"):
        assert table.missing(name).tolist() == [False, True, False]
    assert np.asarray(table[["n", "flag"]]).tolist()[2] == [2.5, 1.0]
    assert np.asarray(table[["n", "flag"]]).dtype == np.float64
    assert np.asarray(table[["n", "city"]]).tolist()[0] == [1.0, "Rome"]
    assert repr(table[["n", "city"]]) == "Table(3 rows; 'n': number, 'city': text)"


def test_columns_that_make_no_table_are_an_error():
    with pytest.raises(
        ValueError, match=r"columns must have the same length, got {'a': 1, 'b': 2}"
    ):
        Table({"a": [1], "b": [1, 2]})
    with pytest.raises(ValueError, match=r"a column must be 1-D, got shape \(1, 2\)"):
        Table({"a": [[1, 2]]})


def test_columns_can_be_left_out():
    table = Table({"a": [1, 2], "b": ["x", "y"], "c": [3, 4]})
    assert table.drop("b").columns == ["a", "c"]
    assert table.drop(["c", "a"]).columns == ["b"]
    assert table.columns == ["a", "b", "c"]
    with pytest.raises(KeyError, match="no column 'd': columns are"):
        table.drop(["a", "d"])


def test_estimators_take_it_as_a_data_frame():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1.0, (30, 2)) for c in (0.0, 20.0)])
    table = Table({"x": X[:, 0], "y": X[:, 1]})
    model = MAPDPM(prior="paper", random_state=0).fit(table)
    expected = MAPDPM(prior="paper", random_state=0).fit(X)
    assert model.labels_.tolist() == expected.labels_.tolist()
    assert model.feature_names_in_.tolist() == ["x", "y"]


def test_columns_are_written_and_read_back():
    columns = {"a": ["1", "2"], "city, town": ['the "old" one', "x;y"]}
    for separator in (",", ";", "\t", "|"):
        table = parse_table(write_table(columns, separator), separator=separator)
        assert table["a"].tolist() == [1.0, 2.0]
        assert table["city, town"].tolist() == columns["city, town"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (float("nan"), ""), (3.0, "3"), (0.1, "0.1"), (1e300, "1e+300"), ("x", "x"),
        (np.datetime64("2024-01-05T00:00:00").item(), "2024-01-05"),
        (np.datetime64("2024-01-05T10:30:00").item(), "2024-01-05T10:30:00"),
    ],
)  # fmt: skip
def test_cells_as_text(value, text):
    assert cell_text(value) == text


RECORDS = [{"n": 1, "city": "Rome", "ok": True}, {"n": 2.5, "city": None}, {"n": None, "ok": False}]


def test_json_lines_have_the_kinds_of_their_values(tmp_path):
    path = tmp_path / "x.ndjson"
    path.write_text("\n".join(map(json.dumps, RECORDS)) + "\n\n")
    table = read_table(path)
    assert table.kinds == {"n": "number", "city": "text", "ok": "text"}
    assert table["n"][:2].tolist() == [1.0, 2.5]
    assert np.isnan(table["n"][2])
    assert table["city"].tolist() == ["Rome", None, None]
    assert table["ok"].tolist() == ["True", None, "False"]
    assert table.source.texts["n"] == ["1", "2.5", ""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ('{"a": 1}\n{"a": \n', "line 2 is not JSON: Expecting value"),
        ('{"a": 1}\n{"a": ' + 1_000_000 * "[", "line 2 is nested too deeply"),
        ("[1, 2]\n", "line 1 must be an object, got '[1, 2]'"),
        ('{"a": 1}\n{"a": [1]}\n', "cells must not be nested, got '[1]' in column 'a', row 2"),
        ('{"a": 1}\n\n{"a": Infinity}\n', "values must be finite in column 'a', row 3: inf"),
    ],
)
def test_bad_json_lines(tmp_path, text, message):
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_table(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def parquet():
    """A parquet file with numbers, text, truth values and dates, and a gap in each."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    when = pa.array([np.datetime64("2024-01-05T10:00", "ms"), None])
    columns = {"n": pa.array([1, None]), "city": pa.array(["Rome", None]), "when": when}
    columns |= {"x": pa.array([1.5, 2.5]), "ok": pa.array([None, True])}
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


@pytest.mark.parametrize("reader", ["pyarrow", "polars"])
def test_parquet_has_the_kinds_of_its_columns(monkeypatch, reader):
    data = parquet()
    pytest.importorskip(reader)
    if reader == "polars":
        without(monkeypatch, "pyarrow")
    table = read_table(io.BytesIO(data))
    kinds = {"n": "number", "city": "text", "when": "date", "x": "number", "ok": "text"}
    assert table.kinds == kinds
    assert table["n"][0] == 1.0
    assert table["when"][0] == np.datetime64("2024-01-05T10:00")
    assert table["ok"].tolist() == [None, "True"]
    for name, i in {"n": 1, "city": 1, "when": 1, "ok": 0}.items():
        assert table.missing(name)[i]
    with pytest.raises(ValueError, match="the file: is a damaged parquet file: "):
        read_table(io.BytesIO(data[: len(data) // 2]))


def test_parquet_needs_a_library(monkeypatch):
    without(monkeypatch, "pyarrow", "polars")
    with pytest.raises(ImportError, match="python3 -m pip install pyarrow"):
        read_table(io.BytesIO(b"PAR1..."))


def without(monkeypatch, *names):
    """Imports of these packages fail."""
    genuine = builtins.__import__

    def imported(name, *others):
        if name.split(".")[0] in names:
            raise ImportError(name)
        return genuine(name, *others)

    monkeypatch.setattr(builtins, "__import__", imported)
