"""``dpmlite board``: from a table to a module that a board runs."""

import importlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite.datasets import load_sensors

pytestmark = needs_kernels

SENSORS = files("dpmlite").joinpath("data/sensors.csv")
LEARNERS = Path(__file__).parents[2] / "micropython"


@pytest.fixture
def on_a_board(monkeypatch, tmp_path):
    """Import a module as a board does, beside the learner: on CPython, where it is the same."""
    if not LEARNERS.is_dir():
        pytest.skip("the folder micropython is not beside the tests")
    monkeypatch.syspath_prepend(LEARNERS)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module


def test_a_board_predicts_what_the_table_shows(run, on_a_board):
    code, out, err = run("board", SENSORS, "--out", "machine.py", "--clusters", "20")
    assert (code, err) == (0, [])
    assert "600 rows x 3 columns; clusters found: 6" in out
    assert out[-1] == "wrote machine.py, for a board that has mapdpm_int.py beside it"
    X, states, _ = load_sensors()
    module = on_a_board("machine")
    learner = module.model()
    labels = [learner.predict(module.quantize(row)) for row in X.tolist()]
    pairs = set(zip(labels, np.asarray(states).tolist(), strict=True))
    assert len(pairs) == len(set(states)) == 6
    assert len(learner.counts) == 20


def test_options_choose_the_columns_of_a_board(run, on_a_board):
    assert run("board", SENSORS, "--columns", "2,3", "--out", "two.py")[0] == 0
    assert len(on_a_board("two").SCALE) == 2
    assert run("board", SENSORS, "--drop", "power", "--out", "dropped.py")[0] == 0
    assert len(on_a_board("dropped").SCALE) == 2


@pytest.mark.parametrize(
    ("argv", "rule"),
    [
        (["--out", "no-module.py"], "path must name a module that can be imported"),
        (["--clusters", "1"], "clusters must be"),
        (["--columns", "nothing"], "there is no column 'nothing'"),
        (["--out", "missing/learner.py"], "there is no folder missing"),
    ],
)
def test_mistakes_are_one_line(run, argv, rule, tmp_path):
    code, out, (error,) = run("board", SENSORS, *argv)
    assert (code, out) == (2, [])
    assert rule in error
    assert list(tmp_path.iterdir()) == []
