"""mapdpm_native.mpy for a processor, built with MicroPython's sources."""

import functools
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from learners import BOARDS
from runtimes import sources

_ARM = "arm-none-eabi-gcc"
# Compilers of the architectures of .mpy files.
COMPILERS = {
    "x64": "x86_64-linux-gnu-gcc",
    "armv6m": _ARM,
    "armv7m": _ARM,
    "armv7emsp": _ARM,
    "rv32imc": "riscv64-unknown-elf-gcc",
    "xtensawin": "xtensa-esp32-elf-gcc",
}
# Those whose compilers continuous integration has.
PACKAGED = "x64", "armv6m", "armv7m", "armv7emsp"
# Runtimes that load the files; MicroPython for Unix is taken to be of most computers' architecture.
PROCESSORS = {
    "micropython": "x64",
    "cortex-m0": "armv6m",
    "cortex-m3": "armv7m",
    "rv32": "rv32imc",
}


def missing(architecture):
    """Why the module cannot be built here, None where it can."""
    if sources() is None:
        return "no DPMLITE_MICROPYTHON_SOURCES"
    programs = [name for name in ("make", COMPILERS[architecture]) if shutil.which(name) is None]
    packages = [name for name in ("elftools", "ar") if find_spec(name) is None]
    return ", ".join(f"no {name}" for name in programs + packages) or None


@functools.cache
def built(architecture):
    """Content of the file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "native")
        shutil.copytree(BOARDS / "native", folder)
        shutil.copy(BOARDS / "mapdpm.h", name)
        command = ["make", f"MPY_DIR={sources()}", f"ARCH={architecture}"]
        command.append(f"PYTHON={sys.executable}")
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return (folder / "mapdpm_native.mpy").read_bytes()
