"""package.json and manifest.py: what mpremote installs, and what is frozen into firmware."""

import functools
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from learners import BOARDS, HERE
from needs import needs_package, needs_runtime
from runtimes import RUNTIMES

NAMES = ("int", "batch", "viper", "float", "alarm", "setup", "split")
README = (BOARDS / "README.md").read_text()
MODULES = [*(f"mapdpm_{name}.py" for name in NAMES), "features_int.py"]


def version():
    """The library's, from its package."""
    text = (BOARDS.parent / "dpmlite" / "__init__.py").read_text()
    return re.search(r'__version__ = "([^"]+)"', text)[1]


def test_the_package_lists_every_module():
    package = json.loads((BOARDS / "package.json").read_text())
    assert package["version"] == version()
    assert package["urls"] == [[name, name] for name in MODULES]
    assert sorted(MODULES) == sorted(path.name for path in BOARDS.glob("*_*.py"))


@pytest.mark.parametrize("viper", [True, False])
def test_the_manifest_freezes_every_module(viper):
    """A manifest is Python that calls functions of MicroPython's build."""
    frozen, about, defaults = [], {}, {}
    names = {
        "module": lambda name, opt: frozen.append(name),
        "metadata": about.update,
        "options": SimpleNamespace(defaults=defaults.update, viper=viper),
    }
    exec((BOARDS / "manifest.py").read_text(), names)
    left_out = [] if viper else ["mapdpm_viper.py"]
    assert sorted(frozen + left_out) == sorted(MODULES)
    assert about["version"] == version()
    assert defaults == {"viper": True}


@pytest.fixture
def board():
    """A serial line that has MicroPython's prompt at its other end."""
    tty = pytest.importorskip("tty", reason="serial lines are made where there are ttys")
    needs_runtime("wasm")
    needs_package("mpremote")
    *_, module = RUNTIMES["wasm"].command(BOARDS)
    theirs, ours = os.openpty()
    tty.setraw(ours)
    with subprocess.Popen(["node", HERE / "repl.mjs", module], stdin=theirs, stdout=theirs) as repl:
        yield os.ttyname(ours)
        repl.kill()
    os.close(theirs)
    os.close(ours)


def mpremote(board, *command):
    """What `mpremote COMMAND`, in the folder of package.json, prints."""
    done = subprocess.run(
        [sys.executable, "-m", "mpremote", "connect", board, *command],
        cwd=BOARDS,
        env={**os.environ, "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def site():
    """The URL of a server that has the folder of package.json."""
    handler = functools.partial(QuietHandler, directory=BOARDS)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


USE = """
from mapdpm_int import MAPDPM
from mapdpm_batch import dump, load
m = MAPDPM(1, 2, [0], [900])
print(m.learn([3]), load(dump(m)).counts)
"""


@pytest.mark.parametrize("source", ["./package.json", "{site}/package.json", "{site}"])
def test_mpremote_installs_the_package(board, site, source):
    """By path and by URL; what is installed is whole, and can be imported without more ado."""
    mpremote(board, "mip", "install", source.format(site=site))
    for name in MODULES:
        installed = mpremote(board, "resume", "cat", f":/lib/{name}")
        assert installed == (BOARDS / name).read_text()
    assert mpremote(board, "resume", "exec", USE) == "0 [1, 0]\n"


def test_mpremote_installs_a_single_module(board, site):
    mpremote(board, "mip", "install", f"{site}/mapdpm_alarm.py")
    installed = mpremote(board, "resume", "cat", ":/lib/mapdpm_alarm.py")
    assert installed == (BOARDS / "mapdpm_alarm.py").read_text()


@pytest.fixture
def microbit(tmp_path):
    """A serial line to the firmware of a micro:bit V1 in QEMU."""
    needs_runtime("microbit")
    needs_package("microfs")
    import micropython_microbit_fs
    import serial

    firmware = tmp_path / "firmware.hex"
    firmware.write_text(micropython_microbit_fs.get_bundled_hex(1).content)
    command = ["qemu-system-arm", "-M", "microbit", "-display", "none", "-monitor", "none"]
    command += ["-serial", "pty", "-device", f"loader,file={firmware}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as qemu:
        tty = re.search(r"/dev/\S+", qemu.stdout.readline())[0]
        with serial.Serial(tty, 115200, timeout=2) as line:
            assert ">>> " in typed(line, b"\x03")
            yield line
        qemu.kill()


def typed(line, keys):
    """All that is printed before the line's time is up."""
    line.write(keys)
    return line.read(1 << 16).decode(errors="replace")


def test_ufs_does_what_the_readme_says(microbit):
    """A reset starts the program that they copy, which learns."""
    import microfs

    for line in re.findall(r"^ufs put (.*)$", README, re.M):
        name, *target = line.split()
        microfs.put(str(BOARDS / name), *target, serial=microbit)
    assert sorted(microfs.ls(microbit)) == ["main.py", "mapdpm_int.py", "mapdpm_int.txt"]
    assert any(learned(microbit, seconds) for seconds in (3, 10, 30))


def learned(line, seconds):
    """Whether the learner of main.py has rows, so long after a reset; QEMU may be slow."""
    line.write(b"\x04")
    time.sleep(seconds)
    typed(line, b"\x03")
    return bool(re.search(r"\[[1-9]\d*, 0, 0, 0, 0, 0, 0, 0\]", typed(line, b"print(m.counts)\r")))
