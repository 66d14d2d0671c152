"""Fixtures that every test shares: above all, both twins of every algorithm."""

import gc
import os
import signal
import threading
from functools import partial

import pytest
from real_tables import MissingTableError
from twin_modules import TWINS, estimator_on, load_twin

pytest.register_assert_rewrite("chains", "screening_checks", "slots")


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
    """MAPDPM with the paper's prior on one implementation; a test that takes it runs on both."""
    return partial(estimator_on(twin, monkeypatch), prior="paper")


@pytest.fixture
def estimators(twins, monkeypatch):
    """MAPDPM with the paper's prior on both implementations, in turn, to be compared."""
    return (partial(estimator_on(twin, monkeypatch), prior="paper") for twin in twins)


@pytest.fixture
def interrupt_after():
    """A function that lets Ctrl-C come after some seconds.

    Even in a process that ignores it, as those do that scripts start in the background. And not in
    a callback of the garbage collector, which Python does not let it leave; hypothesis has one.
    """
    gc.disable()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def interrupt_after(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield interrupt_after
    for timer in timers:
        timer.join()
    signal.signal(signal.SIGINT, before)
    gc.enable()
