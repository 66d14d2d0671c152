"""Every plain twin has a kernel, and both have the same names and signatures."""

import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest
from twin_modules import PAIRS, public

from dpmlite.partition.listener import PartitionListener

SOURCE = Path(__file__).parent.parent / "dpmlite"


def parameters(function):
    """Kernels take `self` by its place alone, which a caller cannot see."""
    return [
        (p.name, p.kind if p.name != "self" else None, p.default)
        for p in inspect.signature(function).parameters.values()
    ]


@pytest.mark.parametrize("package", PAIRS)
def test_every_plain_twin_has_a_kernel(package):
    kernels = {path.stem.removeprefix("_") for path in (SOURCE / package).glob("_*.pyx")}
    assert set(PAIRS[package]) <= kernels


@pytest.mark.parametrize(("package", "name"), [(p, n) for p, names in PAIRS.items() for n in names])
def test_twins_offer_the_same(twins, package, name):
    plain, kernel = (public(getattr(modules, name)) for modules in twins)
    assert plain, "a module without public names"
    for key, thing in plain.items():
        other = kernel[key]
        if not inspect.isclass(thing):
            assert parameters(thing) == parameters(other), key
            continue
        for method in methods(thing):
            assert parameters(getattr(thing, method)) == parameters(getattr(other, method)), (
                f"{key}.{method}"
            )


@pytest.mark.parametrize(("package", "name"), [(p, n) for p, names in PAIRS.items() for n in names])
def test_a_kernel_adds_no_public_function(twins, package, name):
    plain, kernel = (public(getattr(modules, name)) for modules in twins)
    functions = {key for key, thing in kernel.items() if not inspect.isclass(thing)}
    assert functions <= plain.keys()


def methods(kind):
    """Public methods of a class, but for those of listeners, which are C methods in kernels."""
    return [
        name
        for name, thing in vars(kind).items()
        if not name.startswith("_") and callable(thing) and name not in vars(PartitionListener)
    ]


def test_a_macro_is_defined_once():
    """Defined twice, it would have the value that a compiler reads last."""
    files = defaultdict(list)
    for path in (*SOURCE.rglob("*.h"), *SOURCE.rglob("*.p[yx][xd]")):
        for name in set(re.findall(r"# *define (\w+)", path.read_text("utf-8"))):
            files[name].append(path.name)
    assert files
    assert {name: found for name, found in files.items() if len(found) > 1} == {}
