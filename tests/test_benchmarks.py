"""Benchmarks still find what they compare, and what they change inside the search."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import needs_kernels

FOLDER = Path(__file__).parent.parent / "asv_benchmarks"
NAMES = sorted(path.stem for path in (FOLDER / "benchmarks").glob("[!_]*.py"))


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def benchmark(name):
    return importlib.import_module(f"benchmarks.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_imported(name):
    benchmark(name)


def test_costs_of_chunks_are_those_that_explain_seconds():
    costs = benchmark("chunk_costs")
    n_chunks, n_rows = np.array([20.0, 100.0, 20.0, 24.0]), np.array([4e5, 4e5, 4e6, 5e5])
    found = costs.solved(3e-3 * n_chunks + 2e-8 * n_rows, n_chunks, n_rows)
    np.testing.assert_allclose(found, [3e-3, 2e-8], rtol=1e-9)


@pytest.mark.slow
@needs_kernels
def test_twins_are_compared_in_every_family_and_move(monkeypatch):
    twins = benchmark("twins")
    monkeypatch.setattr(twins, "N_ROWS", 40)
    for name in twins.COMPONENTS:
        for move in twins.MOVES:
            assert twins.ratio(name, move) > 0.0, (name, move)


@needs_kernels
def test_twins_of_trees_are_compared(monkeypatch):
    bhc = benchmark("bhc")
    monkeypatch.setattr(bhc, "SMALL", 10)
    monkeypatch.setattr(bhc, "LARGE", 40)
    assert bhc.times_as_fast() > 0.0


@pytest.mark.slow
@needs_kernels
def test_twins_of_variational_inference_are_compared(monkeypatch):
    variational = benchmark("variational")
    monkeypatch.setattr(variational, "FEW", 5)
    monkeypatch.setattr(variational, "MANY", 40)
    for name in variational.FAMILIES:
        for method in variational.METHODS:
            assert variational.ratio(name, method) > 0.0, (name, method)


@pytest.mark.slow
@needs_kernels
def test_every_choice_of_the_search_can_be_made():
    """Of 10,000 rows, so that a sample of them is searched too."""
    search = benchmark("search")
    X, _ = search.unequal(0)
    joint, _ = search.fit(X)
    for name, (parameters, names) in search.CHOICES.items():
        with search.changed(names):
            found, _ = search.fit(X, **parameters)
        assert found == pytest.approx(joint, rel=0.2), name
    assert search.fit(X)[0] == joint


@needs_kernels
def test_the_battery_is_compared(tmp_path, monkeypatch):
    """On a table with two labelings, of which the second has a row of noise."""
    battery = benchmark("battery")
    folder = tmp_path / "battery" / "fcps"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(mean, 1.0, (30, 2)) for mean in (0.0, 20.0)])
    np.savetxt(folder / "two.data.gz", np.append(X, [[10.0, 90.0]], axis=0))
    np.savetxt(folder / "two.labels0.gz", np.append(np.arange(60) % 3 + 1, 1))
    np.savetxt(folder / "two.labels1.gz", np.append(np.repeat([1, 2], 30), 0))
    monkeypatch.setenv("DPMLITE_DATA", str(tmp_path))
    assert battery.names_of_tables() == ["fcps/two"]
    for choice in battery.OURS:
        found = battery.measure(choice, "fcps/two")
        assert (found.ami, found.true) == (pytest.approx(1.0), 2), choice
