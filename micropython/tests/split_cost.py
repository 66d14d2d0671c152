"""What a ring of `mapdpm_split` takes: heap, and the time of a split. Prints two tables.

    python3 micropython/tests/split_cost.py

Both are those of a MicroPython executable. Heap is in bytes; the pointers of a 64-bit computer take
twice those of a board. Time is in units of `learn`: of times there, only ratios say something about
a board. The learner has 8 clusters in 3 columns, and the rows of the ring are in one or in all.
"""

from learners import BOARDS, sources
from runtimes import run

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
from time import clock
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

def ratio(MAPDPM, places):
    m = MAPDPM(3, 9, (0, 0, 0), (12000, 12000, 12000), (1, 32), (4, 1))
    ring = Ring(m, 64)
    kept = list(rows(8))
    a = clock()
    for _ in range(100):
        for x in kept:
            m.learn(x)
    b = clock()
    for x in rows(places):
        ring.add(x)
    c = clock()
    for _ in range(100):
        assert ring.split() == 0 and m.k == 8
    return (clock() - c) / (b - a) * 64

from %s import MAPDPM
print(ratio(MAPDPM, 1), ratio(MAPDPM, 8))
"""


def main():
    files = sources(BOARDS, *MODULES)
    printed = run("micropython", {**files, "main.py": HEAP % (COLUMNS, SIZES)}, timeout=60)
    module, *rings = [int(word) for word in printed.split()]
    print(f"mapdpm_split, beside mapdpm_batch {module:>7,}")
    print("ring of rows".ljust(20), *(f"{size:>7}" for size in SIZES))
    for dim in COLUMNS:
        row, rings = rings[: len(SIZES)], rings[len(SIZES) :]
        print(f"{dim} columns".ljust(20), *(f"{size:>7,}" for size in row))
    print("\na split of 64 rows, in learns   rows in one cluster  in all eight")
    for name in ("mapdpm_int", "mapdpm_viper"):
        printed = run("micropython", {**files, "main.py": TIME % name}, timeout=600)
        one, eight = [float(word) for word in printed.split()]
        print(f"{name:<31} {one:>19.0f} {eight:>13.0f}")


if __name__ == "__main__":
    main()
