"""How kernels are loaded: all are in one file, a fifth smaller than a file for each would be.

A file has any number of modules, which Python finds by the name of their initialiser: that of
`dpmlite.models._rows` is `PyInit__rows`. So the last part of a kernel's name is unique.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import find_spec
from types import ModuleType

KERNELS = ("dpmlite.inference._", "dpmlite.models._")


class KernelFinder:
    """Finds `dpmlite.<room>._<name>` in the file of `dpmlite._kernels`."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None where that is not a kernel, or there is no such file, as in a source folder."""
        file = find_spec("dpmlite._kernels") if name.startswith(KERNELS) else None
        if file is None or file.origin is None:
            return None
        spec = ModuleSpec(name, ExtensionFileLoader(name, file.origin), origin=file.origin)
        spec.has_location = True
        return spec


def find_kernels() -> None:
    """From now on, kernels can be imported."""
    if KernelFinder not in sys.meta_path:
        sys.meta_path.append(KernelFinder)
