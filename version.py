#!/usr/bin/env python3
"""Print the version of the package, which `dpmlite/__init__.py` states, for `meson.build`."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parent / "dpmlite" / "__init__.py"

found = re.search(r'^__version__ = "([^"]+)"$', PACKAGE.read_text(encoding="utf-8"), re.M)
if found is None:
    raise SystemExit(f"{PACKAGE} states no __version__")
print(found[1])
