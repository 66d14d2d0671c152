"""What tests need: they are skipped without it, or fail where it must be there."""

import os
import shutil
from importlib.util import find_spec

import native
import pytest
from runtimes import RUNTIMES, npm_file, sources

# Continuous integration has all that package registries offer, and says so.
REQUIRED = os.environ.get("DPMLITE_REQUIRE_RUNTIMES") == "1"


def needs_runtime(name):
    """A runtime of `runtimes.py`."""
    if reason := RUNTIMES[name].missing():
        (_missing if RUNTIMES[name].packaged else pytest.skip)(f"{name}: {reason}")


def needs_native(architecture):
    """What builds the native module."""
    if reason := native.missing(architecture):
        required = sources() is not None and architecture in native.PACKAGED
        (_missing if required else pytest.skip)(f"{architecture}: {reason}")


def needs_package(name):
    """A Python package."""
    if find_spec(name) is None:
        _missing(f"no Python package {name}")


def needs_program(name):
    """A program on the path."""
    if shutil.which(name) is None:
        _missing(f"no program {name}")


def needs_npm_file(variable, name):
    """Path of a file of an npm package."""
    found = npm_file(variable, name)
    if found is None:
        _missing(f"no npm file {name}")
    return found


def _missing(reason):
    (pytest.fail if REQUIRED else pytest.skip)(reason)
