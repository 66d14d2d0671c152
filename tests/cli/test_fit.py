"""The command: its reports, its files, and one plain line for every mistake."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from cases import needs_kernels

import dpmlite
from dpmlite import MAPDPM
from dpmlite.cli import main, progress
from dpmlite.cli.arguments import EXAMPLES, parser
from dpmlite.datasets import load_sensors, planted_gaussians
from dpmlite.tables import parse_table, read_table

SENSORS = str(files("dpmlite").joinpath("data/sensors.csv"))


TWO_CLUSTERS = "x,y,kind\n" + "".join(
    f"{c + i / 10},{c - i / 7},{'left' if c == 0 else 'right'}\n" for i in range(9) for c in (0, 50)
)


def report(out):
    """The lines of the output from the summary on, without the notes on the file before it."""
    return out[next(i for i, line in enumerate(out) if "; clusters found: " in line) :]


def without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def command(tmp_path, *argv, **environment):
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "dpmlite", *argv], env={**os.environ, **environment},
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_demo_finds_the_states_and_draws_them(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, err = run("demo")
    assert (code, err) == (0, [])
    assert "600 rows x 3 columns; clusters found: 6" in out
    header = next(i for i, line in enumerate(out) if line.startswith("cluster"))
    assert out[header].split() == [
        "cluster", "rows", "share", "vibration", "temperature", "power", "mostly",
    ]  # fmt: skip
    model = MAPDPM(random_state=0).fit(load_sensors()[0])
    for k, line in enumerate(out[header + 1 : header + 7]):
        cluster, rows, share, *means = line.split()[:6]
        assert (int(cluster), int(rows)) == (k, model.counts_[k])
        assert share == f"{model.weights_[k]:.1%}"
        assert list(map(float, means)) == pytest.approx(model.means_[k], rel=1e-3)
    assert out[header + 1].endswith("milling (100.0%)")
    assert out[header + 6].endswith("worn bearing (100.0%)")
    assert f"neg_log_joint {model.neg_log_joint_:.4f} nats, {model.n_sweeps_} sweeps, " in out[-2]
    assert out[-2].endswith(" ms")
    assert out[-1] == "drew dpmlite-demo.png"
    assert (tmp_path / "dpmlite-demo.png").stat().st_size > 10_000


@needs_kernels
def test_demo_draws_where_it_is_told(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, _ = run("demo", "--plot", tmp_path / "other.svg")
    assert (code, out[-1]) == (0, f"drew {tmp_path / 'other.svg'}")
    assert os.listdir(tmp_path) == ["other.svg"]


@needs_kernels
def test_demo_without_matplotlib_says_how_to_get_pictures(run, tmp_path, monkeypatch):
    without_matplotlib(monkeypatch)
    code, out, err = run("demo")
    assert (code, err) == (0, [])
    assert out[-1] == "pictures need matplotlib: python3 -m pip install matplotlib"
    assert not os.listdir(tmp_path)


def test_fit_reports_and_compares_with_the_labels(run, csv, tmp_path):
    code, out, err = run("fit", csv(TWO_CLUSTERS), "--label-column", "kind")
    assert (code, err) == (0, [])
    assert out[0] == "cells are separated by ','; the first row names the columns"
    out = report(out)
    assert out[0] == "18 rows x 2 columns; clusters found: 2"
    assert out[2].split() == ["cluster", "rows", "share", "x", "y", "mostly"]
    assert out[3].split()[:3] == ["0", "9", "50.0%"]
    assert out[3].endswith("left (100.0%)")
    assert out[4].endswith("right (100.0%)")
    assert os.listdir(tmp_path) == ["data.csv"]


def test_a_cluster_of_several_labels_names_the_most_common(run, csv):
    text = "x,kind\n" + "1,a\n" * 3 + "1.1,b\n"
    _, out, _ = run("fit", csv(text), "--label-column", "kind", "--prior", "paper")
    assert report(out)[3].endswith("a (75.0%)")


@pytest.mark.parametrize("column", ["kind", "3"])
def test_the_label_column_is_left_out(run, csv, column):
    path = csv(TWO_CLUSTERS)
    assert run("fit", path, "--label-column", column, "--out", "labels.csv")[0] == 0
    written = read_table("labels.csv")
    rows = np.asarray(parse_table(TWO_CLUSTERS)[["x", "y"]])
    assert written.columns == ["x", "y", "kind", "cluster", "probability", "outlier_score"]
    model = MAPDPM(random_state=0).fit(rows)
    assert written["cluster"].tolist() == model.labels_.tolist()
    assert written["kind"].tolist() == ["left", "right"] * 9
    assert written["probability"] == pytest.approx(model.predict_proba(rows).max(axis=1), rel=1e-5)
    assert written["outlier_score"] == pytest.approx(model.outlier_score(rows), rel=1e-5)


def test_out_has_a_header_and_a_line_for_each_row(run, csv, tmp_path):
    out = tmp_path / "labels.csv"
    out.write_text("an older file, which is replaced\n" * 100)
    code, lines, _ = run("fit", csv("1\n90\n1\n2\n91\n"), "--out", out)
    assert (code, lines[-1]) == (0, f"wrote {out}")
    header, *rows = out.read_text().splitlines()
    assert header == "column 1,cluster,probability,outlier_score"
    assert [row.split(",")[0] for row in rows] == ["1", "90", "1", "2", "91"]
    assert rows[0] == rows[2]


def test_save_writes_a_model_that_loads(run, csv, tmp_path):
    code, out, _ = run(
        "fit", csv(TWO_CLUSTERS), "--label-column", "kind", "--save", "model.npz",
        "--alpha", "2.5", "--n-init", "2", "--random-state", "3",
    )  # fmt: skip
    assert (code, out[-1]) == (0, "wrote model.npz")
    model = MAPDPM.load(tmp_path / "model.npz")
    assert (model.alpha, model.n_init, model.random_state) == (2.5, 2, 3)
    assert model.n_clusters_ == 2


def test_plot_writes_a_picture(run, csv, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, _ = run("fit", csv(TWO_CLUSTERS), "--label-column", "kind", "--plot", "clusters.png")
    assert (code, out[-1]) == (0, "drew clusters.png")
    assert (tmp_path / "clusters.png").read_bytes().startswith(b"\x89PNG")


def test_verbose_prints_the_steps(run, csv):
    path = csv(TWO_CLUSTERS)
    quiet, errors = run("fit", path, "--label-column", "kind")[1:]
    verbose, steps = run("fit", path, "--label-column", "kind", "--verbose")[1:]
    assert quiet[:-1] == verbose[:-1]  # the last line has the time
    assert errors == []
    assert steps[0].startswith("start 1 ")
    assert run("fit", path, "--label-column", "kind")[2] == []


@pytest.mark.parametrize(
    "call", [f"{name} {example}" for name, calls in EXAMPLES.items() for example in calls]
)
def test_examples_of_the_help_are_possible(call):
    parser().parse_args(shlex.split(re.sub(r"[<>] \S+", "", call)))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_one_line_of_progress(run, csv, monkeypatch):
    terminal, path = Terminal(), csv(TWO_CLUSTERS)
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr("sys.stderr", terminal)
    out = run("fit", path, "--label-column", "kind", "--save", "model.npz")[1]
    lines = terminal.getvalue().split("\r")
    assert re.match(r"\d+ s, start 1 descent, ", lines[1])
    assert lines[-1] == lines[-2].strip() == ""
    assert "\n" not in terminal.getvalue()
    assert out[-1] == "wrote model.npz"
    assert MAPDPM.load("model.npz").callback is None


def test_short_fits_show_no_progress(run, csv, monkeypatch):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setattr(progress, "FIRST_SECONDS", 60.0)  # a slow machine may take the default
    assert run("fit", csv(TWO_CLUSTERS), "--label-column", "kind")[0] == 0
    assert terminal.getvalue() == ""


def test_a_time_limit_ends_the_search(run, csv):
    path = csv(TWO_CLUSTERS)
    code, out, (warning,) = run("fit", path, "--time-limit", "1e-9", "--out", "labels.csv")
    assert code == 0
    assert warning.startswith("dpmlite: warning: fit was stopped after max_seconds=1e-09")
    assert "stopped by the limit of 1e-09 s" in out[-2]
    assert out[-1] == "wrote labels.csv"
    code, _, (error,) = run("fit", path, "--time-limit", "-1")
    assert (code, error) == (2, "dpmlite: error: max_seconds must be positive, got -1.0")


def test_json_is_for_programs(run, csv):
    path = csv(TWO_CLUSTERS)
    given = ("fit", path, "--label-column", "kind", "--save", "model.npz", "--json")
    code, (line,), err = run(*given, "--verbose")
    assert code == 0
    assert err[0].startswith("start 1 ")
    found, model = json.loads(line), MAPDPM.load("model.npz")
    assert found["columns"] == model.feature_names_in_.tolist()
    assert [each["rows"] for each in found["clusters"]] == model.counts_.tolist()
    assert found["rows"] == sum(model.counts_)
    assert found["neg_log_joint"] == model.neg_log_joint_
    assert (found["converged"], found["stopped"]) == (True, None)
    assert found["clusters"][0]["labels"]["kind"]["share"] == 1.0
    assert found["done"] == ["wrote model.npz"]


def test_wide_tables_and_many_clusters_are_shortened(run, csv, monkeypatch):
    monkeypatch.setattr("dpmlite.cli.report.SHOWN_CLUSTERS", 2)
    rows, _ = planted_gaussians(100, 8, 5, separation=1000.0, random_state=0)
    path = csv("\n".join(",".join(map(str, row)) for row in rows.tolist()))
    code, out, _ = run("fit", path)
    assert code == 0
    assert out[0].endswith("the first row is data (--header yes if it names the columns)")
    out = report(out)
    assert out[0] == "100 rows x 8 columns; clusters found: 5"
    assert out[2].split()[-2:] == ["column", "6"]
    assert [line.split()[0] for line in out[3:5]] == ["0", "1"]
    assert out[5] == "... and 3 smaller"


def test_alpha_and_prior_can_be_chosen(run, csv):
    code, out, _ = run(
        "fit", csv(TWO_CLUSTERS), "--label-column", "kind", "--alpha", "map", "--prior", "nll"
    )
    assert code == 0
    assert ", alpha 1, " not in out[-1]


def test_a_search_that_was_stopped_says_so(run, csv, monkeypatch):
    monkeypatch.setattr(
        "dpmlite.cli.fitting.MAPDPM",
        lambda **kwargs: MAPDPM(max_sweeps=1, init="singletons", **kwargs),
    )
    _, out, _ = run("fit", csv(TWO_CLUSTERS), "--label-column", "kind")
    assert ", 1 sweeps, stopped by the limit of 1, " in out[-1]


def test_a_constant_column_warns_in_one_line(run, csv):
    code, out, err = run("fit", csv("a,b\n1,5\n2,5\n9,5\n"))
    assert code == 0
    assert report(out)[0].startswith("3 rows x 2 columns")
    (line,) = err
    assert line.startswith("dpmlite: warning: 1 column(s) of X are constant")


def test_a_byte_order_mark_is_no_part_of_a_name(run, csv):
    _, out, _ = run("fit", csv(b"\xef\xbb\xbflength\n1\n2\n"))
    assert report(out)[2].split()[-1] == "length"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n1,2\n\n3\n", "row 4 has 1 cells, row 1 has 2: cells are separated by ','"),
        (
            "a,b\n1,2\n3,high\n4,5\n",
            "text in column 'b', row 3: 'high' is not a number: mend it, leave the column out "
            "(--drop), or take it as text (--as b=text)",
        ),
    ],
)
def test_bad_tables_end_in_one_line(run, csv, text, message):
    path = csv(text)
    assert run("fit", path) == (2, [], [f"dpmlite: error: {path}: {message}"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,\n", "missing value in column 'b', row 3: ''"),
        ("1,\n3,4\n", "missing value in column 'column 2', row 1: ''"),
        ("a,b\nNaN,2\n1,2\n", "missing value in column 'a', row 2: 'NaN'"),
        ("a\n\n1\nN/A\n", "missing value in column 'a', row 4: 'N/A'"),
    ],
)
@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (["--no-allow-missing"], "--allow-missing takes it as missing"),
        (
            ["--component", "dirichlet-multinomial"],
            "--component dirichlet-multinomial takes none",
        ),
    ],
)
def test_missing_cells_can_be_refused(run, csv, text, message, options, advice):
    path = csv(text)
    assert run("fit", path, *options) == (2, [], [f"dpmlite: error: {path}: {message}; {advice}"])


def test_missing_cells_are_taken_and_counted(run, csv):
    text = "a,b,c,d\n" + "1,2,3,4\n5,6,7,8\n" * 10 + "?,1,NA,1\n,,2,1\n2,2,,\n3,1,,2\n"
    code, out, err = run("fit", csv(text), "--prior", "paper")
    assert (code, err) == (0, [])
    note = "missing cells, which tell nothing: 3 of c, 2 of a, 1 of b, 1 of other columns"
    assert out[1] == note + " (--no-allow-missing refuses them)"
    assert report(out)[0].startswith("24 rows x 4 columns")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a,b\n1,2\n", "kind", "there is no column 'kind'; the columns are a, b"),
        ("a,b\n1,2\n", "0", "there is no column '0'; the columns are a, b"),
        ("a,b\n1,2\n", "3", "there is no column '3'; the columns are a, b"),
        ("kind\nleft\n", "kind", "there is no column besides the label column"),
    ],
)
def test_bad_label_columns_end_in_one_line(run, csv, text, column, message):
    path = csv(text)
    code, out, err = run("fit", path, "--label-column", column)
    assert (code, out, err) == (2, [], [f"dpmlite: error: {path}: {message}"])


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["missing.csv"], "missing.csv: No such file or directory"),
        ([SENSORS, "--out", "no/labels.csv"], "no/labels.csv: there is no folder no"),
        ([SENSORS, "--plot", "no/a.png"], "no/a.png: there is no folder no"),
        ([SENSORS, "--save", "no/m.npz"], "no/m.npz: there is no folder no"),
        ([SENSORS, "--label-column", "state", "--alpha", "-1"], "alpha must be positive, got -1.0"),
        (
            [SENSORS, "--label-column", "state", "--n-init", "0"],
            "n_init must be a whole number of at least 1, got 0",
        ),
        (
            [SENSORS, "--label-column", "state", "--random-state", "-1"],
            "random_state must be a whole number of at least 0, got -1",
        ),
    ],
)
def test_bad_arguments_end_in_one_line(run, argv, message):
    assert run("fit", *argv) == (2, [], [f"dpmlite: error: {message}"])


def test_rows_that_miss_cells_are_not_drawn(run, csv, tmp_path):
    pytest.importorskip("matplotlib")
    holes = TWO_CLUSTERS.replace("50.1,", "?,").replace("0.2,", ",")
    options = ["--label-column", "kind", "--plot", tmp_path / "a.png"]
    options += ["--prior", "paper"]
    code, out, err = run("fit", csv(holes), *options)
    assert (code, err) == (0, [])
    assert report(out)[0] == "18 rows x 2 columns; clusters found: 2"
    assert out[-1] == f"drew {tmp_path / 'a.png'} without 2 rows that miss values"
    out = run("fit", csv("1,\n,2\n"), *options[2:])[1]
    assert out[-1] == f"did not draw {tmp_path / 'a.png'}: every row has a missing value"


def test_a_table_of_text_is_drawn_as_profiles(run, csv):
    pytest.importorskip("matplotlib")
    text = "city,plan\n" + "Oslo,free\nRome,team\n" * 30
    code, out, err = run("fit", csv(text), "--plot", "a.png", "--save", "m.npz")
    assert (code, err, out[-1]) == (0, [], "drew a.png")
    code, out, err = run("plot", "m.npz", csv(text), "--plot", "b.png")
    assert (code, err, out) == (0, [], ["drew b.png"])
    for name in ("a.png", "b.png"):
        with open(name, "rb") as file:
            assert file.read(4) == b"\x89PNG"


@pytest.mark.parametrize("name", ["a.xyz", "a"])
def test_an_unknown_picture_format_ends_in_one_line(run, csv, name):
    pytest.importorskip("matplotlib")
    code, _, (line,) = run("fit", csv(TWO_CLUSTERS), "--label-column", "3", "--plot", name)
    assert code == 2
    assert line.startswith(f"dpmlite: error: {name}: must end with one of .")


def test_two_outputs_in_one_file_end_in_one_line(run, csv):
    argv = ["--out", "a.csv", "--save", "./a.csv"]
    message = "dpmlite: error: a.csv: is given for two outputs"
    assert run("fit", csv(TWO_CLUSTERS), "--label-column", "3", *argv) == (2, [], [message])


@pytest.mark.parametrize("option", ["--out", "--plot", "--save"])
@pytest.mark.parametrize("is_there", [False, True])
def test_what_may_not_be_written_ends_before_the_work(run, monkeypatch, tmp_path, option, is_there):
    path = tmp_path / "a.png"
    if is_there:
        path.write_text("")
    asked = []
    monkeypatch.setattr("os.access", lambda *question: asked.append(question))  # root may, mostly
    message = f"dpmlite: error: {path}: Permission denied"
    assert run("fit", SENSORS, option, path) == (2, [], [message])
    assert asked == [(path if is_there else tmp_path, os.W_OK)]


def test_the_demo_finds_out_before_the_work_where_it_cannot_draw(run):
    message = "dpmlite: error: no/a.png: there is no folder no"
    assert run("demo", "--plot", "no/a.png") == (2, [], [message])
    pytest.importorskip("matplotlib")
    code, out, err = run("demo", "--plot", "a.xyz")
    assert (code, out, len(err)) == (2, [], 1)
    assert err[0].startswith("dpmlite: error: a.xyz: must end with one of ")


def test_a_wanted_picture_without_matplotlib_ends_before_the_work(run, monkeypatch):
    without_matplotlib(monkeypatch)
    code, out, (line,) = run("fit", SENSORS, "--plot", "clusters.png")
    assert (code, out) == (2, [])
    assert line.startswith("dpmlite: error: pictures need matplotlib")


@needs_kernels
def test_a_warning_of_a_column_without_a_name_has_its_number(run, csv):
    """Its number in the file is part of its name, and not to be counted once more."""
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{y:.3f},{z:.3f}" for x, y, z in rng.normal(size=(60, 3))]
    rows[:5] = [row.rsplit(",", 1)[0] + ",-9999" for row in rows[:5]]
    code, _, err = run("fit", csv("\n".join([*rows, ""])), "--header", "no")
    assert code == 0
    assert any("of the cells of column 'column 3' are -9999" in line for line in err)


def test_errors_and_warnings_of_a_fit_name_the_files_columns(run, csv):
    code, _, (line,) = run("fit", csv("x,y\n0,1\n1,2\n"), "--component", "beta-bernoulli")
    assert code == 2
    assert line == "dpmlite: error: X must be 0 or 1, got 2.0 in row 3 of the data, column 'y'"
    code, _, (line,) = run("fit", csv("k,a,b\n1,5,2\n2,5,4\n3,5,7\n"), "--label-column", "k")
    assert code == 0
    assert "column 'a' first" in line


@pytest.mark.skipif(os.name != "posix", reason="output is closed by a shell")
def test_output_may_be_closed(tmp_path):
    shell = f"{shlex.quote(sys.executable)} -P -m dpmlite demo >&-"
    done = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("argv", [["nonsense"], ["fit"], ["fit", "a.csv", "--alpha", "big"]])
def test_wrong_usage_exits_with_2(argv, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert "usage: dpmlite" in capsys.readouterr().err


def test_the_command_alone_says_what_there_is(run):
    code, out, err = run()
    assert (code, out) == (2, [])
    assert err[0].startswith("usage: dpmlite")
    assert any(line.startswith("    fit ") for line in err)


def test_ctrl_c_ends_quietly(run, csv, monkeypatch):
    def interrupted(self, X):
        raise KeyboardInterrupt

    monkeypatch.setattr(MAPDPM, "fit", interrupted)
    assert run("fit", csv("1\n2\n")) == (130, [], [])


def test_version_as_a_module(tmp_path):
    done = command(tmp_path, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"dpmlite {dpmlite.__version__}\n",
        "",
    )


def test_an_error_is_one_line_whatever_columns_are_called(run, csv):
    """The name of a column has a sign in it that ends a line."""
    path = csv("a\x85c,b\n1,2\n")
    code, _, errors = run("fit", path, "--label-column", "kind")
    message = "there is no column 'kind'; the columns are a c, b"
    assert (code, errors) == (2, [f"dpmlite: error: {path}: {message}"])


def test_an_error_has_no_traceback(tmp_path):
    done = command(tmp_path, "fit", "missing.csv")
    assert done.returncode == 2
    assert done.stderr == "dpmlite: error: missing.csv: No such file or directory\n"


def test_too_little_memory_ends_in_one_line(run, csv, monkeypatch):
    def fit(self, X):
        raise MemoryError

    monkeypatch.setattr(MAPDPM, "fit", fit)
    code, _, err = run("fit", csv("1\n2\n"))
    assert (code, err) == (2, ["dpmlite: error: there is not enough memory"])


def test_names_that_a_terminal_cannot_show_end_nothing(tmp_path, csv):
    table = csv("größe\n1\n2\n3\n")
    done = command(tmp_path, "fit", str(table), "--out", "labels.csv", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "gr??e" in done.stdout
    assert len((tmp_path / "labels.csv").read_text().split()) == 4


@pytest.mark.skipif(os.name == "nt", reason="Windows has no broken pipes")
def test_a_closed_pipe_ends_quietly(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody_reads:
        done = subprocess.run(
            [sys.executable, "-m", "dpmlite", "demo"],
            cwd=tmp_path, stdout=nobody_reads, stderr=subprocess.PIPE, timeout=120,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, b"")
