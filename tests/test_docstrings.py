"""Every public name is in the reference, with an example that runs and a See Also that exists."""

import doctest
import functools
import importlib
import inspect
import re
from pathlib import Path

import pytest
from cases import needs_kernels

import dpmlite
from dpmlite import datasets, diagnostics, plotting, tables, teaching

REFERENCE = Path(__file__).parent.parent / "docs" / "reference.md"
RUNNING = "implementation"  # a word, which has no docstring of its own
HELPERS = {"COLOURS", "MARKERS", "check_picture", "require_matplotlib"}


def public_objects():
    """Public functions and classes, by their full name; each once, where it is first public."""
    found = {}
    names = [(dpmlite, name) for name in dpmlite.__all__ if name != RUNNING]
    names += [(diagnostics, "raftery_lewis"), (diagnostics, "RafteryLewis")]
    for module in (datasets, plotting, tables, teaching):
        names += [(module, name) for name in module.__all__ if name not in HELPERS]
    for module, name in names:
        value = getattr(module, name)
        if value not in found.values():
            found[f"{module.__name__}.{name}"] = value
    return found


PUBLIC = public_objects()
OBJECTS = [pytest.param(value, id=name) for name, value in PUBLIC.items()]


def section(value, title):
    """The text of a section of a numpydoc docstring; None without it."""
    text = re.split(rf"^{title}\n-+\n", inspect.getdoc(value), flags=re.M)
    return re.split(r"^[A-Z][\w ]+\n-{3,}\n", text[1], flags=re.M)[0] if len(text) == 2 else None


@needs_kernels
@pytest.mark.parametrize("value", OBJECTS)
def test_its_example_runs(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(value.__module__)
    finder = doctest.DocTestFinder(recurse=False)
    (examples,) = finder.find(value, value.__name__, module=module, globs={})
    assert examples.examples, f"{value.__name__} has no example"
    failed, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples)
    assert failed == 0


@pytest.mark.parametrize("full_name", PUBLIC)
def test_what_one_should_also_see_exists(full_name):
    text = section(PUBLIC[full_name], "See Also")
    assert text, f"{full_name} has no See Also"
    home = importlib.import_module(full_name.rpartition(".")[0])
    for name in re.findall(r"^(\S+) : ", text, flags=re.M):
        assert exists(home, name) or exists(dpmlite, name.removeprefix("dpmlite.")), name


def exists(home, name):
    """Whether a name, with dots or without, leads to something from `home`."""
    try:
        functools.reduce(getattr, name.split("."), home)
    except AttributeError:
        return False
    return True


def test_the_reference_lists_every_public_name():
    listed, text = set(), REFERENCE.read_text(encoding="utf-8")
    for module, names in re.findall(
        r"currentmodule:: (\S+)\n.*?:toctree: \S+\n\n(.*?)```", text, flags=re.S
    ):
        listed |= {f"{module}.{name}" for name in names.split()}
    assert listed == set(PUBLIC)
