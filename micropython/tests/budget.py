"""What the learner takes on a micro:bit V1: heap, time, allocation. Prints a table.

    python3 micropython/tests/budget.py

The firmware runs in QEMU at 64 ns an instruction (`-icount shift=6`), which is the same on every
machine. Heap is what `gc.mem_free()` lost, in bytes.
"""

from pathlib import Path

from runtimes import RUNTIMES

BOARDS = Path(__file__).parents[1] / "microbit"

HEAP = """
import gc
gc.collect()
a = gc.mem_free()
from mapdpm_int import MAPDPM
gc.collect()
b = gc.mem_free()
m = MAPDPM(3, 8, (0, 0, 0), (20000, 20000, 20000))
gc.collect()
c = gc.mem_free()
print(a, a - b, b - c, c)
"""

# A learner of any size, after the module; nothing where it does not fit.
SIZE = """
import gc
from mapdpm_int import MAPDPM
m = None
gc.collect()
a = gc.mem_free()
try:
    m = MAPDPM(%d, %d, %r, %r)
    gc.collect()
    print(a - gc.mem_free())
except MemoryError:
    pass
"""
COLUMNS = 1, 3, 6
SLOTS = 8, 16, 24

BATCH = """
import gc
from mapdpm_int import MAPDPM
import mapdpm_batch
m = MAPDPM(3, 8, (0, 0, 0), (20000, 20000, 20000))
gc.collect()
print(gc.mem_free())
"""

# A learner of the four features of a window, and the time of a sample, its magnitude included.
FEATURES = """
import gc
from time import ticks_us
from mapdpm_int import MAPDPM
from features_int import Window, magnitude
m = MAPDPM(4, 8, (256, 640, 640, 512), (12800, 131072, 131072, 131072))
w = Window(26, 0, 8)
gc.collect()
a = gc.mem_free()
t = -ticks_us()
for i in range(25):
    w.add(magnitude(300, 400, i * 40) >> 2)
t += ticks_us()
print(a, t // 25)
"""

# Eight places, eight rows from each in turn: the table of clusters is full after 64 rows.
SPEED = """
import gc, micropython
from time import ticks_us
from mapdpm_int import MAPDPM
m = MAPDPM(3, 8, (0, 0, 0), (20000, 20000, 20000))
x = [0, 0, 0]
s = 1
a = k = v = w = u = worst = total = 0
for i in range(264):
    for d in range(3):
        s = s * 75 % 65537
        x[d] = s % 200 + (i >> 3 + d & 1) * 2600 - 1400
    if i == 64:
        gc.collect()
        a = gc.mem_free()
        micropython.heap_lock()
    t = -ticks_us()
    m.learn(x)
    t += ticks_us()
    if i >= 64:
        total += t
        worst = max(worst, t)
a -= gc.mem_free()
micropython.heap_unlock()
t = -ticks_us()
m.surprise(x)
u = ticks_us()
m.predict(x)
v = ticks_us()
k = m.k
m.merge()
w = ticks_us()
print(k, total // 200, worst, t + u, v - u, w - v, a)
"""


def measured(main, *modules):
    """Numbers that a main.py prints on a micro:bit with these modules."""
    files = {path.name: path.read_text() for path in BOARDS.glob("*_*.*")}
    return [
        int(word)
        for word in RUNTIMES["microbit"].run({"main.py": main, **files}, timeout=120).split()
    ]


def budget():
    """Name and value of everything that is measured."""
    start, code, state, left = measured(HEAP)
    clusters, mean, worst, surprise, predict, merge, allocated = measured(SPEED)
    left_of_features, sample = measured(FEATURES)
    return {
        "heap at the start of main.py": start,
        "heap of mapdpm_int": code,
        "heap of a learner, 8 clusters, 3 columns": state,
        "heap left": left,
        "heap left with mapdpm_batch too": measured(BATCH)[0],
        "clusters while times are taken": clusters,
        "microseconds of learn, mean": mean,
        "microseconds of learn, worst": worst,
        "microseconds of surprise": surprise,
        "microseconds of predict": predict,
        "microseconds of merge": merge,
        "bytes that 200 calls of learn allocate": allocated,
        "heap left with features_int, 4 columns": left_of_features,
        "microseconds of a sample of features_int": sample,
    }


def sizes():
    """A line for each number of columns: the heap of learners of so many slots."""
    for dim in COLUMNS:
        yield [measured(SIZE % (dim, slots, (0,) * dim, (9,) * dim)) for slots in SLOTS]


if __name__ == "__main__":
    for name, value in budget().items():
        print(f"{name:<42} {value:>7,}")
    print("\nheap of a learner     " + "".join(f"{slots:>5} slots" for slots in SLOTS))
    for dim, found in zip(COLUMNS, sizes(), strict=True):
        cells = (f"{size[0]:>11,}" if size else f"{'no room':>11}" for size in found)
        print(f"{dim} columns{'':<13}" + "".join(cells))
