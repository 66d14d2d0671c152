"""Benchmarks that change what is inside the search still find it there."""

import importlib.util
from pathlib import Path

import pytest
from cases import needs_kernels

BENCHMARKS = Path(__file__).parent.parent / "asv_benchmarks" / "benchmarks"


@pytest.fixture(scope="module")
def search():
    spec = importlib.util.spec_from_file_location("search", BENCHMARKS / "search.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_kernels
def test_every_choice_of_the_search_can_be_made(search):
    """Of 10,000 rows, so that a sample of them is searched too."""
    X, _ = search.unequal(0)
    joint, _ = search.fit(X)
    for name, (parameters, names) in search.CHOICES.items():
        with search.changed(names):
            found, _ = search.fit(X, **parameters)
        assert found == pytest.approx(joint, rel=0.2), name
    assert search.fit(X)[0] == joint
