"""What a fit that takes long tells of its cause."""

from functools import partial
from itertools import count

import numpy as np
import pytest
from cases import blobs

from dpmlite import MAPDPM
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.map_dpm import long_fits
from dpmlite.estimators.map_dpm.long_fits import why_long
from dpmlite.search import progress

N = 400
RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(N, 3))
NOTHING = "neither skewed nor repeated values, which make many clusters"
SKEWED = np.exp(RNG.normal(size=N))


def with_column(column):
    return np.column_stack([NORMAL[:, :2], column])


CAUSES = {
    "nothing": (NORMAL, NOTHING),
    "skew": (
        with_column(SKEWED),
        "1 column(s) skewed: log-normal describes them, or their logarithms",
    ),
    "far out": (
        with_column(np.where(np.arange(N) == 7, 1e6, NORMAL[:, 2])),
        "1 column(s) with cells far out",
    ),
    "repeated": (with_column(np.round(NORMAL[:, 2])), "1 column(s) of values that come again"),
    "copies": (
        NORMAL[np.arange(N) % 40],
        "3 column(s) of values that come again; 40 different rows among 400",
    ),
    "correlation": (with_column(NORMAL[:, 0] + NORMAL[:, 1]), "3 columns correlated with another"),
    "gaps": (np.where(RNG.random((N, 3)) < 0.3, np.nan, NORMAL), NOTHING),
    "infinite moments": (1e300 * NORMAL, NOTHING),
}


@pytest.mark.parametrize("kind", CAUSES)
def test_a_cause_is_named(kind):
    X, cause = CAUSES[kind]
    line = why_long(Data(X.shape, X))
    assert line.startswith(f"400 rows x 3 columns: {cause}")
    assert ";" not in line or kind == "copies"


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (1, 3), (2, 3)])
def test_tables_of_few_rows_are_described(shape):
    assert why_long(Data(shape, np.ones(shape))).startswith(
        f"{shape[0]} rows x {shape[1]} columns: "
    )


def test_many_rows_are_judged_by_some():
    X = np.repeat(NORMAL, 100, axis=0)
    assert "different rows among 2,000" in why_long(Data(X.shape, X))


def test_not_all_pairs_of_thousands_of_columns_are_looked_at(monkeypatch):
    X = with_column(NORMAL[:, 0])
    assert "2 columns correlated" in why_long(Data(X.shape, X))
    monkeypatch.setattr(long_fits, "MAX_PAIRED", 2)
    assert "correlated" not in why_long(Data(X.shape, X))


def fit_of_seconds(seconds, monkeypatch, **parameters):
    """A fit whose clock moves on at each look."""
    monkeypatch.setattr(progress, "monotonic", partial(next, count(0.0, seconds)))
    X = blobs(n_rows=90, n_clusters=3, seed=1)[0]
    MAPDPM(prior="paper", random_state=0, **parameters).fit(X)


def test_a_long_fit_tells_its_cause_once(monkeypatch, capsys):
    fit_of_seconds(3.0, monkeypatch, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    told = [i for i, line in enumerate(lines) if line.startswith("5 s have passed, ")]
    assert told == [2]  # after the start and a step
    assert "; 90 rows x 2 columns: " in lines[2]


@pytest.mark.parametrize(("seconds", "verbose"), [(1e-3, True), (3.0, False)])
def test_short_and_quiet_fits_do_not(seconds, verbose, monkeypatch, capsys):
    fit_of_seconds(seconds, monkeypatch, verbose=verbose)
    assert "have passed" not in capsys.readouterr().out
