"""The choice between the two twins of every algorithm: compiled kernel or plain Python."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

#: Set the environment variable DPMLITE_PURE=1 to run the plain twins.
PURE = os.environ.get("DPMLITE_PURE", "") not in ("", "0")

implementation = "python" if PURE else "cython"


@contextmanager
def needing_kernels() -> Iterator[None]:
    """Raise ImportError, saying what to do, if an import in the block misses a kernel."""
    try:
        yield
    except ModuleNotFoundError as error:
        package, _, module = (error.name or "").rpartition(".")
        if not (package.startswith("dpmlite") and module.startswith("_")):
            raise
        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        raise ImportError(
            f"dpmlite was imported from {folder}, which has no compiled kernels: it is the source "
            "folder, not an installed package. Install it with `python3 -m pip install .`, then "
            "start Python so that the source folder is not first on its path: from another folder, "
            "with `python3 -P`, or by the commands `dpmlite` and `pytest`. To run the slow plain "
            "Python without kernels, set DPMLITE_PURE=1."
        ) from error
