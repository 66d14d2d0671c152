"""Commands that apply saved models, and the one that converts tables."""

import gzip
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import MAPDPM
from dpmlite.cli.facts import print_facts
from dpmlite.tables import read_table

pytestmark = needs_kernels  # fits of the default model

ROWS = "x,y,kind\n" + "".join(
    f"{c + i / 10},{c - i / 7},{'left' if c == 0 else 'right'}\n" for i in range(9) for c in (0, 50)
)
NEW = "kind;y;other;x\nright;49,714;a;50,2\nleft;-0,714;b;0,5\n"


@pytest.fixture
def model(run, csv):
    """A model of the columns x and y, and its file."""
    assert run("fit", csv(ROWS), "--label-column", "kind", "--save", "m.npz")[0] == 0
    return MAPDPM.load("m.npz")


def test_predict_finds_the_columns_by_name(run, csv, model):
    code, out, err = run("predict", "m.npz", csv(NEW))
    assert (code, err) == (0, [])
    assert out[0] == "kind;y;other;x;cluster;probability;outlier_score"
    X = np.array([[50.2, 49.714], [0.5, -0.714]])
    table = read_table(io.StringIO("\n".join(out)))
    rows = table[["x", "y"]]
    assert np.asarray(rows).tolist() == X.tolist()
    assert table["cluster"].tolist() == model.predict(rows).tolist()
    assert set(table["cluster"]) == {0, 1}
    assert table["probability"] == pytest.approx(model.predict_proba(rows).max(axis=1), rel=1e-5)
    assert table["outlier_score"] == pytest.approx(model.outlier_score(rows), rel=1e-5)


def test_predict_writes_a_file(run, csv, model):
    code, out, _ = run("predict", "m.npz", csv(NEW), "--out", "new.csv")
    assert (code, out[-1]) == (0, "wrote new.csv")
    assert [line.split() for line in out[:3]] == [["cluster", "rows"], ["0", "1"], ["1", "1"]]
    with open("new.csv") as file:
        assert file.read().splitlines() == run("predict", "m.npz", csv(NEW))[1]


def test_rows_that_fit_no_cluster_have_no_probability(run, csv, model):
    _, out, _ = run("predict", "m.npz", csv("x,y\n1e7,-1e7\n"))
    assert out[1] == "1e7,-1e7,-1,,0"


def test_score_prints_the_mean_log_density(run, csv, model):
    code, out, _ = run("score", "m.npz", csv(NEW))
    mean = model.score_samples(read_table(csv(NEW))[["x", "y"]]).mean()
    assert (code, out) == (0, [f"2 rows; mean log density {mean:.6g} nats a row"])


def test_score_writes_a_file(run, csv, model):
    code, out, _ = run("score", "m.npz", csv(NEW), "--out", "scored.csv")
    assert (code, out[-1]) == (0, "wrote scored.csv")
    table = read_table("scored.csv")
    assert table.columns == ["kind", "y", "other", "x", "log_density", "outlier_score"]
    rows = table[["x", "y"]]
    assert table["log_density"] == pytest.approx(model.score_samples(rows), rel=1e-5)
    assert table["outlier_score"] == pytest.approx(model.outlier_score(rows), rel=1e-5)


def test_json_is_for_programs(run, csv, model):
    rows = read_table(csv(NEW))[["x", "y"]]

    def found(*argv):
        code, (line,), err = run(*argv, "--json")
        assert (code, err) == (0, [])
        return json.loads(line)

    labels = found("predict", "m.npz", csv(NEW))
    assert labels["labels"] == model.predict(rows).tolist()
    assert labels["clusters"] == [{"cluster": 0, "rows": 1}, {"cluster": 1, "rows": 1}]
    score = found("score", "m.npz", csv(NEW))
    assert score["log_densities"] == pytest.approx(model.score_samples(rows), rel=1e-12)
    assert score["mean_log_density"] == pytest.approx(model.score(rows), rel=1e-12)
    clusters = found("explain", "m.npz")["clusters"]
    assert [each["rows"] for each in clusters] == model.counts_.tolist()
    assert found("explain", "m.npz", "--cluster", "1")["clusters"] == clusters[1:]
    columns = [column["column"] for column in clusters[1]["columns"]]
    assert columns == [row[0] for row in model.explain(1).rows]


def test_numbers_that_json_lacks_are_null(capsys):
    print_facts({"a": np.array([1.0, -np.inf]), "b": np.nan, "c": np.float64(0.5), "d": np.True_})
    assert json.loads(capsys.readouterr().out) == {"a": [1.0, None], "b": None, "c": 0.5, "d": True}


def test_explain_prints_the_reports_of_all_clusters_or_of_one(run, model):
    code, out, _ = run("explain", "m.npz")
    assert code == 0
    assert out == f"{model.summary()}\n\n{model.explain(0)}\n\n{model.explain(1)}".split("\n")
    assert run("explain", "m.npz", "--cluster", "1")[1] == str(model.explain(1)).split("\n")
    code, _, (line,) = run("explain", "m.npz", "--cluster", "2")
    assert (code, line) == (2, "dpmlite: error: --cluster must be from 0 to 1, got 2")


def test_plot_draws_new_rows_to_either_path(run, csv, model, tmp_path):
    pytest.importorskip("matplotlib")
    assert run("plot", "m.npz", csv(NEW), "--plot", "a.png")[:2] == (0, ["drew a.png"])
    assert run("plot", "m.npz", csv(NEW), "--out", "b.png")[:2] == (0, ["drew b.png"])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", ["predict", "score", "plot"])
def test_bad_data_ends_in_one_line(run, csv, model, command):
    for text, message in (
        ("x,z\n1,2\n", "the model needs column 'y'; the columns are x, z"),
        (
            "x,y\n1,2\n2,?\n",
            "missing value in column 'y', row 3: '?'; the model was fitted without",
        ),
        ("x,y\n1,2\na,2\n", "text in column 'x', row 3: 'a' is not a number: mend it, "),
        ("x,y\n", "there is no row below the header"),
    ):
        path = csv(text)
        code, out, (line,) = run(command, "m.npz", path)
        assert (code, out) == (2, [])
        assert line.startswith(f"dpmlite: error: {path}: {message}")


def test_bad_models_end_in_one_line(run, csv, model):
    assert run("predict", "no.npz", csv(NEW))[2] == [
        "dpmlite: error: no.npz: No such file or directory"
    ]
    code, _, (line,) = run("score", csv(NEW), csv(NEW))
    assert (code, line.endswith("is no zip file")) == (2, True)


def test_outputs_are_checked_before_the_work(run, csv):
    path = csv(NEW)
    assert run("predict", "no.npz", path, "--out", path)[2] == [
        f"dpmlite: error: {path}: would overwrite the data"
    ]
    assert run("convert", path, "--out", "no/a.csv")[2] == [
        "dpmlite: error: no/a.csv: there is no folder no"
    ]


def test_models_without_names_take_columns_by_place(run, csv):
    X = np.array([[0.0, 1.0], [0.5, 1.5], [50.0, 51.0], [50.5, 50.5]])
    MAPDPM(prior="paper", random_state=0).fit(X).save("m.npz")
    code, out, _ = run("score", "m.npz", csv("a,b\n0,1\n"))
    assert (code, len(out)) == (0, 1)
    code, _, (line,) = run("score", "m.npz", csv("a\n0\n"))
    assert code == 2
    assert line.endswith("the model has 2 columns without names, the file 1: a")


def test_models_of_categories_and_dates(run, csv):
    days = [f"2024-0{1 + i % 2}-{1 + i // 2:02}" for i in range(40)]
    rows = [f"{'ab'[i % 2]},{day},{100 * (i % 2) + i / 10}" for i, day in enumerate(days)]
    path = csv("\n".join(["zone,when,n", *rows]))
    options = ["--as", "zone=categorical", "--as", "when=number"]
    assert run("fit", path, *options, "--save", "m.npz", "--out", "out.csv")[0] == 0
    code, out, _ = run("predict", "m.npz", path)
    with open("out.csv") as file:
        assert out == file.read().splitlines()
    code, _, err = run("score", "m.npz", csv("n,zone,when\n3,c,2024-01-05\n"))
    assert code == 0
    assert err == [
        "dpmlite: warning: levels must be among those of the fit, got 'c' in column 'zone', row 2 "
        "of the data: it counts as missing"
    ]


def test_dates_of_a_column_all_have_a_time_or_none_has(run, csv):
    path = csv("when,n\n2024-01-05 00:00,1\n,2\n2024-01-05 06:30,3\n")
    expected = ["when,n", "2024-01-05T00:00:00,1", ",2", "2024-01-05T06:30:00,3"]
    assert run("convert", path) == (0, expected, [])


def test_convert_writes_plain_csv(run, csv):
    path = csv("when;spend;note\r\n05.01.2024;1.234,50;a, b\r\n;?;\r\n")
    expected = ["when,spend,note", '2024-01-05,1234.5,"a, b"', ",,"]
    assert run("convert", path) == (0, expected, [])
    assert run("convert", path, "--out", "plain.csv")[1] == ["wrote plain.csv"]
    with open("plain.csv") as file:
        assert file.read().splitlines() == expected


def test_forms_are_told(run, csv):
    path = csv("1;2,345\n3;4,567\n")
    options = ["--header", "yes", "--separator", ";", "--decimal", "."]
    assert run("convert", path, *options)[1] == ['1,"2,345"', "3,4567"]
    tab = csv("a b\tc\n1\t2\n")
    assert run("convert", tab, "--separator", "tab", "--header", "no")[0] == 0


def test_standard_input_and_gz(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(ROWS.encode()))
    command = [sys.executable, "-m", "dpmlite", "fit"]
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 120}
    piped = subprocess.run([*command, "-"], input=ROWS, **options)
    packed = subprocess.run([*command, "x.csv.gz"], **options)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert "18 rows x 3 columns; clusters found: 2" in piped.stdout
    assert piped.stdout.splitlines()[:-1] == packed.stdout.splitlines()[:-1]
    bad = subprocess.run([*command, "-"], input="a\nx\ny\n", **options)
    assert bad.stderr.startswith("dpmlite: error: standard input: there is no column to cluster")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no broken pipes")
def test_files_are_written_whoever_reads_the_report(tmp_path, csv):
    csv(ROWS)
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "dpmlite", "fit", "data.csv", "--out", "out.csv"]
    with os.fdopen(writer, "w") as nobody_reads:
        done = subprocess.run(command, cwd=tmp_path, stdout=nobody_reads, timeout=120)
    assert done.returncode == 130
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 19
