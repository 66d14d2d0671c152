"""The package as installed: its version, its twins, what it imports, what it says when misused."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from cases import needs_kernels
from twin_modules import PAIRS

import dpmlite

PACKAGE = Path(dpmlite.__file__).parent
SOURCE = Path(__file__).parent.parent / "dpmlite"


def run(code, cwd, **environment):
    environment = {**os.environ, **environment}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def test_the_version_is_that_of_the_build():
    assert dpmlite.__version__ == version("dpmlite")


@needs_kernels
def test_the_smoke_test_of_wheels(tmp_path):
    path = Path(__file__).with_name("smoke.py")
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"dpmlite {dpmlite.__version__} works: ")


def test_numpy_is_the_only_dependency():
    assert [r for r in requires("dpmlite") if "extra ==" not in r] == ["numpy>=1.26"]


def test_types_are_marked():
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize(("value", "expected"), [("1", "python"), ("0", "cython"), ("", "cython")])
def test_the_switch_chooses_the_twin(tmp_path, value, expected):
    if expected == "cython" and dpmlite.implementation == "python":
        pytest.skip("DPMLITE_PURE=1: the kernels may not be there")
    code = "import dpmlite; print(dpmlite.implementation, dpmlite.partition.Partition.__module__)"
    done = run(code, tmp_path, DPMLITE_PURE=value)
    module = f"dpmlite.partition.{'' if expected == 'python' else '_'}partition"
    assert done.stdout.split() == [expected, module], done.stderr


def test_the_source_folder_says_what_to_do(tmp_path):
    shutil.copytree(SOURCE, tmp_path / "dpmlite")
    code = (
        "import sys\n"
        "from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder\n"
        # An editable install has a finder of its own, which would find the checkout first.
        "sys.meta_path[:] = [BuiltinImporter, FrozenImporter, PathFinder]\n"
        "import dpmlite\n"
        "print(dpmlite.implementation)\n"
    )
    done = run(code, tmp_path, DPMLITE_PURE="0")
    assert done.returncode != 0
    assert "ImportError: dpmlite was imported from" in done.stderr
    assert "python3 -m pip install ." in done.stderr
    pure = run(code, tmp_path, DPMLITE_PURE="1")
    assert pure.stdout == "python\n", pure.stderr


def test_the_public_names_are_documented():
    for name in dpmlite.__all__:
        thing = getattr(dpmlite, name)
        assert isinstance(thing, str) or thing.__doc__, name


def test_import_is_quick(tmp_path):
    """Processor time above numpy's own import; the limit is ten times what a laptop needs."""
    code = (
        "import time, numpy\n"
        "start = time.process_time()\n"
        "import dpmlite\n"
        "print(time.process_time() - start)\n"
    )
    assert min(float(run(code, tmp_path).stdout) for _ in range(3)) < 0.2


def test_import_leaves_out_what_few_need(tmp_path):
    """Each of these takes milliseconds, and most programs never use it."""
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "import dpmlite\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    slow = {"concurrent.futures", "dpmlite.boards", "fractions", "json", "logging", "numpy.random"}
    slow |= {"importlib.resources", "pathlib", "sklearn", "matplotlib", "threading", "zipfile"}
    slow |= {
        "dpmlite.estimators.bhc",
        "dpmlite.estimators.dpsearch",
        "dpmlite.estimators.variational",
    }
    loaded = set(run(code, tmp_path).stdout.split())
    assert "dpmlite.estimators.mapdpm" in loaded
    assert not loaded & slow


@needs_kernels
def test_kernels_are_imported_without_their_twins(tmp_path):
    """Plain Python that is not run is not read: 2 ms."""
    loaded = set(run("import sys, dpmlite; print(*sys.modules)", tmp_path).stdout.split())
    assert "dpmlite.core._rows" in loaded
    twins = {f"dpmlite.{room}.{name}" for room, names in PAIRS.items() for name in names}
    assert not loaded & twins


def test_a_first_fit_imports_little(tmp_path):
    """numpy.random, for its seed, and nothing that few need."""
    code = (
        "import sys, numpy, dpmlite\n"
        "numpy.random.default_rng(0)\n"
        "before = set(sys.modules)\n"
        "dpmlite.MAPDPM(prior='paper', random_state=0).fit([[0.0], [1.0], [5.0]])\n"
        "print(*sorted(set(sys.modules) - before), sep=',')\n"
    )
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.strip().split(","))
    assert all(name.startswith("dpmlite.") for name in loaded - {""}), loaded


def test_what_is_left_out_is_there_when_asked_for(tmp_path):
    code = (
        "import dpmlite\n"
        "print(dpmlite.quantize.__module__, set(dpmlite.__all__) <= set(dir(dpmlite)))\n"
        "print(*(getattr(dpmlite, name).__name__ for name in dpmlite.MODULES))\n"
        "print(set(dpmlite.MODULES) <= set(dir(dpmlite)))\n"
    )
    assert run(code, tmp_path).stdout.splitlines() == [
        "dpmlite.boards.quantized True",
        "dpmlite.datasets dpmlite.diagnostics dpmlite.plotting dpmlite.teaching",
        "True",
    ]
    assert not {"Any", "HOMES", "TYPE_CHECKING", "import_module"} & set(dir(dpmlite))
    assert {name for names in dpmlite.HOMES.values() for name in names} < set(dpmlite.__all__)
    with pytest.raises(AttributeError, match="module 'dpmlite' has no attribute 'nothing'"):
        dpmlite.nothing  # noqa: B018
