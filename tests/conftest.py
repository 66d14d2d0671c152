"""Fixtures that every test shares: above all, both twins of every algorithm."""

import importlib
import os
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings
from real_tables import MissingTableError

# `python -m pytest` puts the checkout first on the path; what is installed is to be tested.
CHECKOUT = Path(__file__).parent.parent
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != CHECKOUT]

import dpmlite  # noqa: E402

pytest.register_assert_rewrite("chains", "slots")

# On a busy machine a plain twin may take longer than the 200 ms that an example has by default.
settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")

PACKAGES = ("core", "families", "partition", "sweeps", "moves", "algorithms")
ROOT = Path(dpmlite.__file__).parent

# Modules of a package that are no twins: both implementations share them, or they choose between
# them, or, as `listener`, their kernel has C methods alone.
SHARED = {
    "listener",
    "checks",
    "constants",
    "constants_header",
    "implementation",
    "threads",
    "types",
    "leaves",
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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from skipped_without_its_table())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from skipped_without_its_table())


def skipped_without_its_table():
    """A table that cannot be shipped may not be there."""
    try:
        return (yield)
    except MissingTableError as error:
        pytest.skip(str(error))


PLAIN = pytest.param("python", marks=pytest.mark.plain)


@pytest.fixture(params=[PLAIN, *TWINS[1:]], scope="session")
def twin(request):
    """The modules of one implementation; a test that takes it runs on both."""
    modules = load_twin(request.param)
    compiled = modules.map_dpm.__file__.endswith((".so", ".pyd"))
    assert compiled == (request.param == "cython")
    return modules


@pytest.fixture(scope="session")
def twins():
    """Both implementations, to be compared."""
    if len(TWINS) == 1:
        pytest.skip("DPMLITE_PURE=1: there is only one implementation to compare")
    return [load_twin(name) for name in TWINS]


@pytest.fixture(scope="session")
def kernel(twins):
    """The compiled one of both."""
    return twins[1]


@pytest.fixture
def estimator(twin, monkeypatch):
    """MAPDPM on one implementation; a test that takes it runs on both."""
    return estimator_on(twin, monkeypatch)


@pytest.fixture
def estimators(twins, monkeypatch):
    """MAPDPM on both implementations, one after the other, to be compared."""
    return (estimator_on(twin, monkeypatch) for twin in twins)


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


@pytest.fixture
def interrupt_after():
    """A function that lets Ctrl-C come after some seconds.

    Even in a process that ignores it, as those do that scripts start in the background.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def interrupt_after(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield interrupt_after
    for timer in timers:
        timer.join()
    signal.signal(signal.SIGINT, before)
