"""Writes constants.py as a header of C: `python constants_header.py constants.py constants.h`."""

import runpy
import sys


def header(constants: dict[str, object]) -> str:
    """Text of the header: `DPM_X` for each number X, with all digits of a double."""
    numbers = {
        name: x for name, x in constants.items() if name.isupper() and isinstance(x, int | float)
    }
    return "".join(f"#define DPM_{name} ({x!r})\n" for name, x in numbers.items())


if __name__ == "__main__":
    source, target = sys.argv[1:]
    with open(target, "w", encoding="utf-8") as file:
        file.write(header(runpy.run_path(source)))
