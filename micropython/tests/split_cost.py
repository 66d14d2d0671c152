"""What a ring of `mapdpm_split` takes: heap, and the time of a split. Prints tables.

    DPMLITE_MICROPYTHON_SOURCES=... python3 micropython/tests/split_cost.py

Heap is in bytes: of a MicroPython executable, whose pointers are twice those of a board, and of
boards of MicroPython's port for QEMU, where an instruction takes 64 ns (see runtimes.py), of a
version that has `time` there, as 1.25 has not. What is missing is left out. The learner has 8
clusters in 3 columns, and the rows of the ring are in one or in all.
"""

import native
from learners import BOARDS, sources
from runtimes import RUNTIMES, run

MODULES = "mapdpm_int.py", "mapdpm_viper.py", "mapdpm_batch.py", "mapdpm_split.py"
COLUMNS = 1, 3, 6
SIZES = 32, 64, 128, 256

HEAP = """
import gc
from mapdpm_int import MAPDPM
import mapdpm_batch

def free():
    gc.collect()
    return gc.mem_free()

a = free()
from mapdpm_split import Ring
print(a - free())
for dim in %r:
    for rows in %r:
        m = MAPDPM(dim, 8, [0] * dim, [9] * dim)
        r = None
        a = free()
        r = Ring(m, rows)
        print(a - free())
"""

TIME = """
from time import ticks_diff, ticks_us
from mapdpm_split import Ring

def rows(places):
    # Of eight places, or of one of them; the same ints on every machine.
    s = 1
    for i in range(64):
        k = i * 5 if places > 1 else 0
        x = []
        for d in range(3):
            s = s * 75 %% 65537
            x.append((k >> d & 1) * 2400 - 1200 + s %% 201 - 100)
        yield x

def time(MAPDPM, places):
    m = MAPDPM(3, 9, (0, 0, 0), (12000, 12000, 12000), (1, 32), (4, 1))
    ring = Ring(m, 64)
    for x in rows(8):
        m.learn(x)
    for x in rows(places):
        ring.add(x)
    a = ticks_us()
    assert ring.split() == 0 and m.k == 8
    return ticks_diff(ticks_us(), a)

from %s import MAPDPM
print(time(MAPDPM, 1), time(MAPDPM, 8))
"""


def heap(runtime, files):
    """Bytes of the module and of rings."""
    printed = run(runtime, {**files, "main.py": HEAP % (COLUMNS, SIZES)}, timeout=60)
    module, *rings = [int(word) for word in printed.split()]
    print(f"\nheap on {runtime}: mapdpm_split, beside mapdpm_batch {module:>7,}")
    print("ring of rows".ljust(20), *(f"{size:>7}" for size in SIZES))
    for dim in COLUMNS:
        row, rings = rings[: len(SIZES)], rings[len(SIZES) :]
        print(f"{dim} columns".ljust(20), *(f"{size:>7,}" for size in row))


def times(runtime, files):
    """Milliseconds of a split by each learner, of rows in one cluster and in eight."""
    print(f"\nms of a split of 64 rows, on {runtime}   rows in one cluster  in all eight")
    for name in ("mapdpm_int", "mapdpm_viper", "mapdpm_native"):
        printed = run(runtime, {**files, "main.py": TIME % name}, timeout=600)
        one, eight = [int(word) / 1000 for word in printed.split()]
        print(f"{name:<38} {one:>19,.0f} {eight:>13,.0f}")


def main():
    files = sources(BOARDS, *MODULES)
    if not RUNTIMES["micropython"].missing():
        heap("micropython", files)
    for runtime in ("cortex-m0", "cortex-m3"):
        architecture = native.PROCESSORS[runtime]
        if not (RUNTIMES[runtime].missing() or native.missing(architecture)):
            heap(runtime, files)
            times(runtime, {**files, "mapdpm_native.mpy": native.built(architecture)})


if __name__ == "__main__":
    main()
