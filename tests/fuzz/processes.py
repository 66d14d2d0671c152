"""Fuzzing in processes of their own, which are started again behind a seed that ended one."""

import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
# Thousands of files are written, read once and removed: in memory, where there is such a folder.
TEMPORARY = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
HELPERS = (FOLDER, FOLDER.parent / "helpers", FOLDER.parent, FOLDER.parents[1] / "micropython")


@dataclass
class Outcome:
    """What a run found: how many seeds, how they ended, what they did, failures with seeds."""

    n_seeds: int = 0
    ends: Counter = field(default_factory=Counter)
    counts: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)


def run(script, first, last, seconds):
    """Run a script of this folder on seeds; a seed that ends the process is a failure."""
    outcome, end = Outcome(), time.monotonic() + seconds
    seed = first
    while seed < last and time.monotonic() < end:
        left = max(end - time.monotonic(), 1.0)
        done = _process(script, seed, last, left)
        lines = [line.split(" ", 1) for line in done.stdout.splitlines() if line]
        seeds = [int(rest[0]) for kind, *rest in lines if kind == "seed"]
        outcome.ends.update(rest[0] for kind, *rest in lines if kind == "done")
        for counted, n in (rest[0].split() for kind, *rest in lines if kind == "count"):
            outcome.counts[counted] += int(n)
        outcome.failures += [rest[0] for kind, *rest in lines if kind == "failure"]
        outcome.n_seeds += len(seeds)
        if any(kind == "end" for kind, *_ in lines):
            break
        stopped = seeds[-1] if seeds else seed
        outcome.failures.append(f"{stopped} ended with {done.returncode}: {done.stderr[-3000:]}")
        seed = stopped + 1
    return outcome


def _process(script, first, last, seconds):
    code = f"import sys; sys.path[:0] = {list(map(str, HELPERS))}; "
    code += "import counting; counting.count_calls(); "
    code += f"import {script}; {script}.run({first}, {last}, {seconds})"
    environment = {**os.environ, **TEMPORARY}
    command = [sys.executable, "-P", "-X", "faulthandler", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
