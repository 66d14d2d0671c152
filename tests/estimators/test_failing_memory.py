"""Memory that runs out in the middle of a fit, at allocations of the kernels from first to last."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cases import needs_kernels
from starved_fits import ESTIMATORS as KINDS

HELPERS = Path(__file__).parents[1] / "helpers"

pytestmark = [
    needs_kernels,
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the library is one of glibc"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]


@pytest.fixture(scope="module")
def failing_memory(tmp_path_factory):
    """The library whose allocations fail."""
    library = tmp_path_factory.mktemp("library") / "failing_memory.so"
    source = HELPERS / "failing_memory.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def test_a_fit_ends_clean_wherever_memory_runs_out(failing_memory):
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            "-X",
            "faulthandler",
            HELPERS / "starved_fits.py",
            failing_memory,
            "12",
        ],
        env={**os.environ, "LD_PRELOAD": str(failing_memory), "PYTHONPATH": str(HELPERS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    ends = {kind: (int(n), int(of)) for kind, n, of in map(str.split, done.stdout.splitlines())}
    assert ends.keys() == KINDS.keys()
    for kind, (n_failed, n_fits) in ends.items():
        assert n_fits / 2 < n_failed <= n_fits, kind
