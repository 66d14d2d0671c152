"""Small tables for people."""

import pytest

from dpmlite.estimators.fitted.report import MAX_SHOWN, Report


def report(n_rows):
    return Report("columns", ["column", "nats"], [[f"gene {i}", "0.5"] for i in range(n_rows)])


@pytest.mark.parametrize("n_rows", [1, MAX_SHOWN])
def test_rows_that_fit_are_all_printed(n_rows):
    lines = str(report(n_rows)).splitlines()
    assert lines[:3] == ["columns", "", f"{'column':<{len(f'gene {n_rows - 1}')}}  nats"]
    assert len(lines) == 3 + n_rows
    assert report(n_rows)._repr_html_().count("<tr>") == 1 + n_rows


def test_of_thousands_the_first_are_printed_and_the_rest_counted():
    table = report(2000)
    assert str(table).splitlines()[-1] == f"+{2000 - MAX_SHOWN} more"
    assert f"gene {MAX_SHOWN - 1} " in str(table)
    assert f"gene {MAX_SHOWN} " not in str(table)
    assert table._repr_html_().count("<tr>") == 2 + MAX_SHOWN
    assert len(table.rows) == 2000
