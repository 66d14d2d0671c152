"""Both twins of every algorithm: their modules, their public names, and MAPDPM on one of them."""

import importlib
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import dpmlite

PACKAGES = ("core", "families", "partition", "sweeps", "moves", "algorithms")
ROOT = Path(dpmlite.__file__).parent

# Modules of a package that have no kernel: twins share them, or choose between them.
SHARED = {
    "listener",  # its kernel has C methods alone
    "checks",
    "constants",
    "constants_header",
    "implementation",
    "threads",
    "protocols",
    "leaves",
    "stop",
    "statistics_checks",
    "__init__",
}


def plain_twins(package):
    """Names of the modules of a package that have a kernel."""
    return sorted({path.stem for path in (ROOT / package).glob("*.py")} - SHARED)


PAIRS = {package: plain_twins(package) for package in PACKAGES}
TWINS = ["python"] if os.environ.get("DPMLITE_PURE", "0") == "1" else ["python", "cython"]


def load_twin(implementation):
    """Every module of one implementation, by its plain name."""
    prefix = "" if implementation == "python" else "_"
    return SimpleNamespace(
        implementation=implementation,
        **{
            name: importlib.import_module(f"dpmlite.{package}.{prefix}{name}")
            for package, names in PAIRS.items()
            for name in names
        },
    )


def estimator_on(twin, monkeypatch):
    """MAPDPM; from now on it, and all that it uses, runs on this implementation."""
    both = [load_twin(name) for name in TWINS]
    replacement = {
        id(thing): getattr(getattr(twin, name), key)
        for modules in both
        for name in vars(modules).keys() - {"implementation"}
        for key, thing in public(getattr(modules, name)).items()
        if hasattr(getattr(twin, name), key)
    }
    twins = {id(module) for modules in both for module in vars(modules).values()}
    for name, module in list(sys.modules.items()):
        if name.startswith("dpmlite") and id(module) not in twins:
            for key, thing in list(vars(module).items()):
                if id(thing) in replacement:
                    monkeypatch.setattr(module, key, replacement[id(thing)])
    return dpmlite.MAPDPM


def public(module):
    """What a module of twins offers."""
    return {
        name: thing
        for name, thing in vars(module).items()
        if not name.startswith("_") and callable(thing) and thing.__module__ == module.__name__
    }
