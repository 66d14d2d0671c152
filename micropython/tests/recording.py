"""The recording of the page that draws a board's rows: `python3 recording.py` prints it.

It is what examples/pico_activity.py prints, with stand-ins of the hardware, of a machine that
stands still, hums, and shakes, in turn.
"""

from pathlib import Path

from runtimes import run

HERE = Path(__file__).parent
BOARDS = HERE.parent

MAIN = """
from stand_ins import EnoughError, Rows, pico

state = 1

def noise(most):
    global state
    state = state * 75 % 65537
    return state % (2 * most + 1) - most

def value(row):
    programme = row // 1000 % 3
    hum = 0, 700, 300
    swing = 0, 2500, 9000
    beat = row // (3, 2, 6)[programme] % 2 * 2 - 1
    shake = beat * (swing[programme] + noise(swing[programme] // 3))
    still = 250 + hum[programme]
    return noise(still), noise(still), 16384 + noise(still) + shake

pico(Rows(value, 9000))
import pico_activity
try:
    pico_activity.main()
except EnoughError:
    pass
"""


def recording() -> str:
    """A line a second: the label, and the features of that second."""
    paths = [*BOARDS.glob("*_int.py"), *BOARDS.glob("mapdpm_alarm.py"), HERE / "stand_ins.py"]
    paths += (BOARDS / "examples").glob("pico_a*.py")
    return run("cpython", {"main.py": MAIN} | {p.name: p.read_text() for p in paths}, timeout=60)


if __name__ == "__main__":
    print(recording(), end="")
