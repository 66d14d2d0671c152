"""Every kernel has a plain twin, and both have the same names and signatures."""

import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest
from conftest import PAIRS

import dpmlite

ROOT = Path(dpmlite.__file__).parent
SOURCE = Path(__file__).parent.parent / "dpmlite"

# Types by which kernels help each other.
HELPERS = {
    "Centres",
    "DriftingSlots",
    "Mixture",
    "OrderedSweep",
    "Pairs",
    "RisingTable",
    "Sets",
    "StayBounds",
    "Tally",
    "ZeroRows",
}


def public(module_or_class):
    return {
        name: thing
        for name, thing in vars(module_or_class).items()
        if not name.startswith("_") and callable(thing)
    }


def parameters(function):
    """Kernels take `self` by its place alone, which a caller cannot see."""
    return [
        (p.name, p.kind if p.name != "self" else None, p.default)
        for p in inspect.signature(function).parameters.values()
    ]


@pytest.mark.parametrize("room", PAIRS)
def test_every_module_has_its_twin(room):
    modules = {path.stem for path in (ROOT / room).glob("*.py")} - {"__init__"}
    assert modules == set(PAIRS[room])
    assert modules <= {path.stem for path in (SOURCE / room).glob("*.pxi")}


def test_every_kernel_is_included():
    included = re.findall(r'^include "(.*)"$', (SOURCE / "_kernels.pyx").read_text("utf-8"), re.M)
    assert len(included) == len(set(included))
    assert set(included) == {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.pxi")}


@pytest.mark.parametrize(("room", "name"), [(r, n) for r, names in PAIRS.items() for n in names])
def test_twins_offer_the_same(twins, room, name):
    plain, kernel = (getattr(modules, name) for modules in twins)
    defined = {
        key: thing for key, thing in public(plain).items() if thing.__module__ == plain.__name__
    }
    assert defined, "a module without public names"
    for key, thing in defined.items():
        other = getattr(kernel, key)
        if not inspect.isclass(thing):
            assert parameters(thing) == parameters(other), key
            continue
        for method in public(thing):
            assert parameters(getattr(thing, method)) == parameters(getattr(other, method)), (
                f"{key}.{method}"
            )


def test_the_kernels_add_no_public_function(twins):
    plain, kernel = twins
    module = kernel.partition
    ours = {key for key, thing in public(module).items() if thing.__module__ == module.__name__}
    names = [name for names in PAIRS.values() for name in names]
    assert ours - {key for name in names for key in public(getattr(plain, name))} == HELPERS


def test_a_macro_is_defined_in_one_file():
    """Defined in two, it would have the value of whichever a compiler reads last."""
    files = defaultdict(set)
    for path in SOURCE.rglob("*.pxi"):
        for name in re.findall(r"# *define (\w+)", path.read_text("utf-8")):
            files[name].add(path.name)
    assert files
    assert {name: found for name, found in files.items() if len(found) > 1} == {}
