"""Where figures come from: the processor and the versions, in a line for tables."""

import platform
from pathlib import Path

import numpy as np
import sklearn

import dpmlite


def cpu_name():
    """The processor's name, from Linux if that runs here."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def machine():
    """The line; the tables are made on one thread."""
    return (
        f"{cpu_name()}, one thread; Python {platform.python_version()}, numpy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}, dpmlite {dpmlite.__version__}"
    )
