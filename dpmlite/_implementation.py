"""Which twin of every algorithm runs: the compiled kernel, or the plain Python it is checked by."""

import os

#: Set the environment variable DPMLITE_PURE=1 to run the plain twins.
PURE = os.environ.get("DPMLITE_PURE", "") not in ("", "0")

implementation = "python" if PURE else "cython"


def require_kernels() -> None:
    """Raise ImportError, saying what to do, if the kernels are wanted and not there."""
    try:
        import dpmlite.models  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "dpmlite._kernels":
            raise
        folder = os.path.dirname(os.path.abspath(__file__))
        raise ImportError(
            f"dpmlite was imported from {folder}, which has no compiled kernels: it is the source "
            "folder, not an installed package. Install it with `python3 -m pip install .`, then "
            "start Python so that the source folder is not first on its path: from another folder, "
            "with `python3 -P`, or by the commands `dpmlite` and `pytest`. To run the slow plain "
            "Python without kernels, set DPMLITE_PURE=1."
        ) from error
