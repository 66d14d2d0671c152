"""The gate for speed: instructions of kernels, which other programs on the machine do not change.

`python3 asv_benchmarks/instructions.py` runs a few kernels under valgrind's callgrind, counts the
instructions of the calls alone, and fails if a kernel takes more than MARGIN above its count in
`instructions.json`.

`--write` puts the counts there. Write them anew when a change is meant to take more instructions,
or takes more than MARGIN fewer, and commit them with it. The present ones are of kernels that are
a module each; those before were of one module for all.

Counts depend on the compiler and its flags: valgrind runs the AVX2 clones of a kernel on every
processor that has AVX2, for it knows no AVX-512. The file has counts for each major version of each
compiler. One that is not in it is held to the counts of the first with OTHER_MARGIN, which finds a
loop that no longer vectorises, or a kernel that does its work twice.

Needs valgrind with its headers, and a C compiler for the two calls that switch the counter.
"""

import argparse
import ctypes
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from dpmlite import algorithms, families, moves, sweeps
from dpmlite.datasets import planted_gaussians
from dpmlite.partition import Partition

BASELINE = Path(__file__).with_name("instructions.json")
MARGIN, OTHER_MARGIN = 0.05, 0.5
N_ROWS, N_COLUMNS, N_CLUSTERS = 4_000, 8, 20
SWITCH = """
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void stop(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""


def table(n_rows=N_ROWS):
    return planted_gaussians(n_rows, N_COLUMNS, N_CLUSTERS, random_state=0)


def partition(labels, X=None):
    """A partition of the rows under the default prior."""
    X = table(len(labels))[0] if X is None else X
    family = families.NormalGamma(X.mean(axis=0), 10.0 / len(X), 1.0, X.var(axis=0))
    return Partition(X, np.asarray(labels, dtype=np.intp), family, 1.0)


def shuffled(fraction, n_rows=N_ROWS):
    """The labels that drew the rows, a fraction of them replaced by random ones."""
    rng = np.random.default_rng(1)
    return np.where(
        rng.random(n_rows) < fraction, rng.integers(N_CLUSTERS, size=n_rows), table(n_rows)[1]
    )


def sweep():
    """A sweep in which a tenth of the rows moves."""
    state = partition(shuffled(0.1))
    return lambda: sweeps.sweep(state)


def large_sweep():
    """A sweep over clusters of a thousand rows, whose bounds take no logarithms."""
    state = partition(shuffled(0.02, 5 * N_ROWS))
    return lambda: sweeps.sweep(state)


def far_sweep():
    """A sweep over clusters far apart, at the labels that drew the rows."""
    X, labels = planted_gaussians(
        5 * N_ROWS, 5 * N_COLUMNS, 2 * N_CLUSTERS, separation=6.0, random_state=0
    )
    state = partition(labels, X)
    return lambda: sweeps.sweep(state)


def late_sweep():
    """A sweep after three others, which have left bounds by which rows are known to stay."""
    state = partition(shuffled(0.01))
    for _ in range(3):
        sweeps.sweep(state)
    return lambda: sweeps.sweep(state)


def gibbs_sweep():
    state, uniforms = partition(table()[1]), np.random.default_rng(2).random(N_ROWS)
    return lambda: sweeps.gibbs_sweep(state, uniforms)


def merge():
    """Merges of ten random parts of each cluster."""
    labels = table()[1] + N_CLUSTERS * np.random.default_rng(3).integers(10, size=N_ROWS)
    state = partition(labels)
    return lambda: moves.merge(state)


def log_density():
    component, out = partition(table()[1]).component, np.empty(N_ROWS)
    rows, _ = table()
    return lambda: algorithms.log_density(rows, component, 1.0, out)


def all_look_normal():
    """The test whether clusters look normal."""
    state = partition(table(5 * N_ROWS)[1])
    return lambda: moves.all_look_normal(state)


def neg_log_loo():
    state = partition(table(5 * N_ROWS)[1])
    return lambda: algorithms.neg_log_loo(state)


CALLS = {
    call.__name__: call
    for call in (
        sweep,
        large_sweep,
        far_sweep,
        late_sweep,
        gibbs_sweep,
        merge,
        log_density,
        all_look_normal,
        neg_log_loo,
    )
}


def run_all(switch):
    """What runs under valgrind. The first call of each kernel resolves its symbols, uncounted."""
    switch = ctypes.CDLL(switch)
    for name, make in CALLS.items():
        make()()
        call = make()
        switch.start()
        call()
        switch.stop(name.encode())


def count():
    """Instructions of each call."""
    with tempfile.TemporaryDirectory() as folder:
        source, switch = Path(folder, "switch.c"), Path(folder, "switch.so")
        source.write_text(SWITCH, encoding="utf-8")
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-shared", "-fPIC", "-o", switch, source], check=True)
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"]
        valgrind += [f"--callgrind-out-file={folder}/out"]
        environment = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run(
            [*valgrind, sys.executable, __file__, "--under-valgrind", switch],
            check=True,
            env={**os.environ, **environment},
        )
        dumps = [path.read_text(encoding="utf-8") for path in Path(folder).glob("out.*")]
    found = {}
    for dump in dumps:
        name = re.search(r"^desc: Trigger: Client Request: (\w+)$", dump, re.MULTILINE)
        if name:
            found[name[1]] = int(re.search(r"^(?:totals|summary): (\d+)", dump, re.MULTILINE)[1])
    return {name: found[name] for name in CALLS}


def compiler_of_kernels():
    """Such as "GCC 12 x86_64", from the line that a compiler leaves in what it makes."""
    kernel = Path(sys.modules[families.NormalGamma.__module__].__file__).read_bytes()
    for name, mark in {"clang": rb"clang version (\d+)", "GCC": rb"GCC: \([^)]*\) (\d+)"}.items():
        versions = re.findall(mark, kernel)
        if versions:
            return f"{name} {max(versions, key=int).decode()} {platform.machine()}"
    return f"unknown {platform.machine()}"


def check(found, baseline):
    """Print counts beside the baseline's; whether each is within its margin."""
    compiler = compiler_of_kernels()
    known = compiler in baseline
    name, margin = (compiler, MARGIN) if known else (next(iter(baseline)), OTHER_MARGIN)
    print(f"{compiler}, beside {name}; at most {margin:+.0%}")
    fits = True
    for call, n in found.items():
        change = n / baseline[name][call] - 1.0
        verdict = "MORE" if change > margin else "less: --write it" if change < -margin else ""
        print(f"{call:<15} {n:>13,} {change:>+8.1%} {verdict}")
        fits = fits and change <= margin
    return fits


def main():
    parser = argparse.ArgumentParser(description="Instructions of kernels, beside a baseline.")
    parser.add_argument("--write", action="store_true", help="make these counts the baseline")
    parser.add_argument("--under-valgrind", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.under_valgrind:
        return run_all(arguments.under_valgrind)
    found = count()
    baseline = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}
    if arguments.write:
        baseline[compiler_of_kernels()] = found
        BASELINE.write_text(json.dumps(baseline, indent=2) + "\n", encoding="utf-8")
    return None if check(found, baseline) else "a kernel takes more instructions than it did"


if __name__ == "__main__":
    sys.exit(main())
