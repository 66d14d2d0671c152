"""Which columns the command takes, as what, and what it says of the others."""

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import MAPDPM
from dpmlite.estimators.fitted.wording import counted
from dpmlite.estimators.inputs.row_numbers import numbers_rows
from dpmlite.tables import Table, read_table

pytestmark = needs_kernels  # fits of the default model

N = 60


@pytest.fixture
def customers(csv):
    """A file with an id, text, dates, money and counts of two kinds of customer."""
    rng = np.random.default_rng(0)
    lines = ["id;name;city;since;spend;visits;kind"]
    for i in range(N):
        k = i % 2
        spend = f"{rng.normal([1200.0, 2500.0][k], 50.0):.2f}".replace(".", ",")
        city = ["Rome", "Paris"][k if i > 5 else 1 - k]
        day = f"{i % 28 + 1:02}.03.2024"
        visits = rng.poisson([3.0, 30.0][k])
        lines.append(f"{i + 1};N{i};{city};{day};{spend};{visits};{'AB'[k]}")
    return csv("\n".join([*lines, ""]))


def notes(out):
    return [line for line in out if line.startswith("left out: ")]


def shown(out):
    """The columns in the printed table."""
    return next(line for line in out if line.startswith("cluster ")).split()[3:]


def test_what_tells_nothing_is_left_out_with_a_note(run, customers):
    code, out, err = run("fit", customers)
    assert (code, err) == (0, [])
    assert (
        out[0] == "cells are separated by ';' with decimal commas; the first row names the columns"
    )
    assert f"{N} rows x 4 columns; clusters found: 2" in out
    assert shown(out) == ["city", "spend", "visits", "kind"]
    assert notes(out) == [
        "left out: id, which numbers the rows (--as id=number keeps it)",
        f"left out: name, text, {N} different in {N} rows",
        "left out: since, dates (--as since=number makes days of them)",
    ]
    assert any(line.startswith("cluster 0: ") for line in out)


def test_text_needs_a_word_where_a_family_is_given(run, customers):
    _, out, _ = run("fit", customers, "--component", "normal-gamma")
    assert shown(out) == ["spend", "visits"]
    assert (
        "left out: city, text such as 'Paris', 2 different "
        "(--as city=categorical takes it as categories)"
    ) in notes(out)


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (["--columns", "spend,visits"], ["spend", "visits"]),
        (["--columns", "visits", "--columns", "spend"], ["visits", "spend"]),
        (["--columns", "5, 6"], ["spend", "visits"]),
        (["--columns", "spend"], ["spend"]),
        (["--columns", "id,spend"], ["id", "spend"]),
        (["--drop", "id,name,city,since,kind"], ["spend", "visits"]),
        (["--drop", "id", "--drop", "visits,name"], ["city", "spend", "kind"]),
        (["--as", "id=number"], ["id", "city", "spend", "visits", "kind"]),
        (["--as", "since=number", "--drop", "visits,city,kind"], ["since", "spend"]),
        (["--as", "visits=text"], ["city", "spend", "kind"]),
        (["--columns", "spend,visits", "--drop", "visits"], ["spend"]),
    ],
)
def test_options_choose_the_columns_of_a_fit(run, customers, tmp_path, options, columns):
    code, out, _ = run("fit", customers, *options, "--prior", "paper", "--save", "m.npz")
    assert code == 0
    assert f"{N} rows x {counted(len(columns), 'column')}; " in "\n".join(out)
    assert MAPDPM.load("m.npz").feature_names_in_.tolist() == columns


def test_several_label_columns_are_compared(run, customers):
    code, out, _ = run("fit", customers, "--label-column", "kind,name", "--label-column", "city")
    assert code == 0
    header = next(line for line in out if line.startswith("cluster "))
    assert [part.strip() for part in header.split("mostly")[1:]] == ["kind", "name", "city"]
    first = next(line for line in out if line.split()[:1] == ["0"])
    assert "(100.0%)" in first
    assert "(90.0%)" in first


def test_categories_and_counts(run, customers):
    options = ["--as", "city=categorical", "--as", "visits=poisson-gamma", "--save", "m.npz"]
    code, out, _ = run("fit", customers, "--drop", "kind", *options)
    assert code == 0
    model = MAPDPM.load("m.npz")
    assert model.component_["city"] == "categorical"
    assert model.component_["visits"] == "poisson-gamma"
    assert model.feature_names_in_.tolist() == ["city", "spend", "visits"]
    first = next(line for line in out if line.split()[:1] == ["0"])
    share = model.level_probabilities_["city"][0].max()  # 27 of 30, and the prior
    assert 0.8 < share < 0.9
    assert first.split()[3:5] in (["Rome", f"{share:.0%}"], ["Paris", f"{share:.0%}"])


def test_an_exposure_makes_rates_of_counts(run, tmp_path):
    rng = np.random.default_rng(0)
    days = rng.integers(7, 730, N * 4)
    claims = rng.poisson(np.array([0.02, 0.5])[np.arange(N * 4) % 2] * days)
    lines = ["claims,days", *(f"{x},{e}" for x, e in zip(claims, days, strict=True))]
    (tmp_path / "policies.csv").write_text("\n".join(lines), encoding="utf-8")
    options = ["--as", "claims=poisson-gamma", "--exposure", "days", "--save", "m.npz"]
    code, out, _ = run("fit", "policies.csv", *options)
    assert code == 0
    assert "clusters found: 2" in "\n".join(out)
    header = next(line for line in out if line.startswith("cluster "))
    assert header.split("share")[1].split() == ["claims", "/", "days"]
    assert any(line.startswith("cluster 0: claims / days ") for line in out)
    component = {"claims": "poisson-gamma", "days": "exposure"}
    assert MAPDPM.load("m.npz").component_ == component
    assert run("fit", "policies.csv", "--exposure", "weeks")[0] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--columns", "age"], "there is no column 'age'; the columns are id, name, city, since, "),
        (["--drop", "spend,age"], "there is no column 'age'; the columns are id, "),
        (["--label-column", "8"], "there is no column '8'; the columns are id, "),
        (["--as", "age=number"], "there is no column 'age'; the columns are id, "),
        (["--columns", "name"], f"name, text, {N} different in {N} rows"),
        (["--columns", "since,spend"], "since, dates (--as since=number makes days of them)"),
        (
            ["--columns", "spend", "--drop", "spend"],
            "there is no column besides those to leave out",
        ),
        (
            ["--drop", "id,spend,visits,city,kind"],
            "there is no column to cluster by; left out: name, text, ",
        ),
        (["--as", "name=number"], "text in column 'name', row 2: 'N0' is not a number: mend it, "),
    ],
)
def test_bad_choices_end_in_one_line(run, customers, options, message):
    code, out, err = run("fit", customers, *options)
    assert (code, out, len(err)) == (2, [], 1)
    assert err[0].startswith(f"dpmlite: error: {customers}: {message}")


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        (
            "normal-gamma",
            {"city": "categorical", "spend": "normal-gamma", "visits": "normal-gamma"},
        ),
        (
            "normal-inverse-wishart",
            {"city": "categorical", ("spend", "visits"): "normal-inverse-wishart"},
        ),
    ],
)
def test_the_component_is_that_of_the_other_columns(run, customers, component, expected):
    options = ["--as", "city=categorical", "--component", component, "--save", "m.npz"]
    assert run("fit", customers, *options)[0] == 0
    assert MAPDPM.load("m.npz").component_ == expected


def test_levels_that_are_numbers_are_printed_as_such(run, csv):
    text = "x,n\n" + "".join(f"{50 * (i % 2) + i / 40},{i % 2 + 1}\n" for i in range(40))
    out = run("fit", csv(text), "--save", "m.npz")[1]
    assert MAPDPM.load("m.npz").component_["n"] == "categorical"
    clusters = [line.split()[4:] for line in out if line.split()[:1] in (["0"], ["1"])]
    assert sorted(clusters) == [["1", "100%"], ["2", "100%"]]


@pytest.mark.parametrize("option", ["spend", "=number", "spend=weight"])
def test_a_bad_kind_is_wrong_usage(run, customers, option, capsys):
    with pytest.raises(SystemExit) as ended:
        run("fit", customers, "--as", option)
    assert ended.value.code == 2
    assert "must be COLUMN=KIND, a kind of number, text, normal-gamma" in capsys.readouterr().err


def test_a_column_without_values_is_left_out(run, csv):
    code, out, _ = run("fit", csv("a,b,c\n1,,3\n2,,5\n9,,4\n"))
    assert code == 0
    assert "left out: b, which has no value" in out


def test_names_with_commas_and_numbers_of_rows(run, csv):
    text = '"a, b",n\n' + "".join(f"{i % 7},{i}\n" for i in range(30))
    code, out, _ = run("fit", csv(text), "--columns", "a, b", "--prior", "paper", "--save", "m.npz")
    assert code == 0
    assert MAPDPM.load("m.npz").feature_names_in_.tolist() == ["a, b"]
    out = run("fit", csv(text), "--prior", "paper")[1]
    assert notes(out) == ["left out: n, which numbers the rows (--as n=number keeps it)"]
    shuffled = "a,n\n" + "".join(f"{i % 7},{1000 + i * 7 % 30}\n" for i in range(30))
    assert notes(run("fit", csv(shuffled), "--prior", "paper")[1]) == notes(out)
    short = "a,n\n" + "".join(f"{i % 7},{i}\n" for i in range(10))
    assert not notes(run("fit", csv(short), "--prior", "paper")[1])


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "Order ID", "orderId"])
def test_different_whole_numbers_are_ids_if_the_name_says_so(name):
    numbers = np.arange(20.0) ** 2
    assert numbers_rows(name, numbers)
    assert not numbers_rows(name, np.append(numbers, 4.0))
    assert not numbers_rows(name, numbers + 0.5)
    assert not numbers_rows(name, np.append(numbers, np.nan))
    assert not any(numbers_rows(other, numbers) for other in ("humid", "paid", "idea", "Madrid"))


def test_a_stray_cell_in_a_column_that_is_left_out_does_not_matter(run, csv):
    text = "a,b\n1,2\n2,x\n9,3\n"
    assert run("fit", csv(text))[0] == 2
    for options in (["--drop", "b"], ["--columns", "a"], ["--label-column", "b"]):
        assert run("fit", csv(text), *options)[0] == 0


def test_out_is_the_file_with_the_clusters(run, customers):
    code, *_ = run("fit", customers, "--columns", "spend", "--out", "out.csv", "--save", "m.npz")
    assert code == 0
    with open("out.csv") as file:
        lines = file.read().splitlines()
    before = customers.read_text().splitlines()
    assert [line.rsplit(";", 3)[0] for line in lines] == before
    assert lines[0].endswith(";cluster;probability;outlier_score")
    assert "," in lines[1].rsplit(";", 3)[2]
    table, model = read_table("out.csv"), MAPDPM.load("m.npz")
    assert table["cluster"].tolist() == model.labels_.tolist()
    assert table["outlier_score"] == pytest.approx(model.outlier_score(table[["spend"]]), rel=1e-5)
    # A file that has these names already.
    run("fit", "out.csv", "--columns", "spend", "--out", "again.csv")
    assert read_table("again.csv").columns[-3:] == [
        "cluster (2)", "probability (2)", "outlier_score (2)",
    ]  # fmt: skip


def test_rows_that_miss_a_cell_have_an_outlier_score(run, csv):
    text = "a,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(30)) + ",3\n"
    run("fit", csv(text), "--allow-missing", "--prior", "paper", "--out", "out.csv")
    table = read_table("out.csv")
    assert not table.missing("outlier_score").any()
    assert not table.missing("probability").any()


def test_time_grows_with_the_columns_not_their_square(run, csv, monkeypatch):
    """The kinds of all columns are asked for a few times, and not once for each column."""
    asked = []
    kinds = Table.kinds
    monkeypatch.setattr(
        Table, "kinds", property(lambda table: asked.append(1) or kinds.fget(table))
    )
    rows = np.random.default_rng(0).normal(size=(6, 40)).round(3).tolist()
    path = csv("".join(",".join(map(str, row)) + "\n" for row in rows))
    assert run("fit", path)[0] == 0
    assert 0 < len(asked) < 10


def test_a_column_that_is_mostly_0_in_a_cluster_shows_it(run, csv):
    rng = np.random.default_rng(0)
    place = np.repeat([0.0, 20.0], [90, 60]) + rng.normal(size=150)
    spend = np.where(np.arange(150) < 90, 0.0, rng.lognormal(3.0, 0.3, size=150))
    lines = "".join(f"{x:.3f},{y:.3f}\n" for x, y in zip(place, spend, strict=True))
    options = ["--as", "spend=zero-inflated-log-normal"]
    _, out, _ = run("fit", csv("place,spend\n" + lines), *options)
    first, second = out[out.index("") + 2 :][:2]
    assert first.split()[-2:] == ["0", "100%"]
    assert float(second.split()[-1]) == pytest.approx(np.exp(np.log(spend[90:]).mean()), rel=1e-3)
