"""A million rows of each stream of streams.py, with every number checked: none may reach 2^30.

    python3 micropython/tests/million.py [ROWS]

compiles mapdpm.h, whose answers are those of mapdpm_int.py, with ints that end the program beyond
the range (ranged.h), and prints for each stream the normalised mutual information of places and
labels in every tenth of it and its mean; that of two kinds of k-means; the slots in use at the end,
and how many numbers were checked. It needs a compiler for C++.
"""

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from streams import SD, STREAMS, nmi_over_time, stream, told

HERE = Path(__file__).parent
CLUSTERS = 12

SOURCE = """
#include "ranged.h"
#define int32_t Ranged
#include "mapdpm.h"
#undef int32_t

static Ranged words[MAPDPM_WORDS(6, 12)];
static mapdpm m;

extern "C" int begin(int dim, int clusters, const Ranged *m0, const Ranged *b0) {
    return mapdpm_init(&m, words, dim, clusters, m0, b0, 1, 10, 16, 1024, 2048);
}

/* Labels of all rows; the number of clusters at the end. */
extern "C" int learn(const Ranged *rows, int n, int *labels) {
    for (int i = 0; i < n; i++) labels[i] = mapdpm_learn(&m, rows + i * m.dim, 1).v;
    return m.k;
}

extern "C" long long checked(void) { return ranged_count; }
"""


def compiled(folder):
    """The learner as a library."""
    folder = Path(folder).resolve()
    source, library = folder / "learner.cpp", folder / "learner.so"
    source.write_text(SOURCE)
    folders = [f"-I{HERE}", f"-I{HERE.parent}"]
    options = ["-O2", "-std=c++11", "-shared", "-fPIC", *folders, "-o", str(library)]
    subprocess.run(["c++", str(source), *options], check=True)
    found = ctypes.CDLL(str(library))
    found.checked.restype = ctypes.c_longlong
    return found


def pointer(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))


def learned(library, rows):
    """Labels of rows by a new learner with the README's start values, and its clusters."""
    rows = np.ascontiguousarray(rows, dtype=np.int32)
    n, dim = rows.shape
    m0, b0 = np.zeros(dim, np.int32), np.full(dim, 8 * SD * SD, np.int32)
    assert library.begin(dim, CLUSTERS, pointer(m0), pointer(b0))
    labels = np.empty(n, np.int32)
    k = library.learn(pointer(rows), n, pointer(labels))
    return labels, k


def main(n):
    print(f"{'stream':<10} {'NMI in every tenth of the stream':<49}", end="")
    print(" mean  k-means  emlearn  slots  numbers checked")
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        for make in STREAMS:
            rows, z = stream(make, n)
            before = library.checked()
            labels, k = learned(library, rows)
            parts = nmi_over_time(z, labels)
            shown = " ".join(f"{part:.2f}" for part in parts)
            print(f"{make.__name__:<10} {shown} {np.mean(parts):.2f} {told(rows, z)}{k:>7}", end="")
            print(f" {library.checked() - before:>16,}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000000)
