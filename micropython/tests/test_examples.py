"""The examples run: on the micro:bit's own firmware, and with stand-ins of a board's hardware."""

import pytest
from learners import BOARDS, HERE, sources
from needs import needs_runtime
from runtimes import run

EXAMPLES = BOARDS / "examples"

everywhere = pytest.mark.parametrize("runtime", ["cpython", "wasm", "micropython"])


def run_example(runtime, name, main, modules=BOARDS):
    """What `main`, which starts the example of that name, prints with stand-ins at hand."""
    needs_runtime(runtime)
    files = {path.name: path.read_text() for path in modules.glob("*_*.*")}
    files |= {path.name: path.read_text() for path in EXAMPLES.glob(f"{name.split('_')[0]}_*.py")}
    files |= sources(EXAMPLES, "pico_anomaly.py")  # which reads the sensor for others, too
    files |= sources(HERE, "stand_ins.py")
    return run(runtime, {"main.py": main, **files}, timeout=60)


def test_the_microbit_example_on_its_firmware():
    """A few rounds of its loop, in QEMU, where the accelerometer reads always the same."""
    needs_runtime("microbit")
    main = (EXAMPLES / "microbit_main.py").read_text()
    assert main.count("while True:") == 1
    main = main.replace("while True:", "for _ in range(5):")
    main += "import gc\ngc.collect()\nprint(m.counts, gc.mem_free() > 4096)\n"
    copies = sources(BOARDS / "microbit", "mapdpm_int.py", "mapdpm_int.txt")
    printed = run("microbit", {"main.py": main, **copies}, timeout=60)
    assert printed == "[5, 0, 0, 0, 0, 0, 0, 0] True\n"


POSES = """
from stand_ins import Display, EnoughError, Rows, microbit

poses = (0, 0, -1024), (0, 1024, 0), (0, 0, -1024), (-2500, 0, 0)

def value(row):
    noise = row * 7919 % 101 - 50
    return [g + noise for g in poses[row // 50 % 4]]

def sleep(_):
    if rows.row % 50 in (0, 49):
        print(rows.row, *display.shown)
    Rows.sleep(rows, _)

display = Display()
rows = Rows(value, 200)
rows.sleep = sleep
microbit(rows, display)
try:
    import microbit_main
except EnoughError:
    pass
"""


@everywhere
def test_every_pose_has_a_digit_and_a_new_one_fills_the_bar(runtime):
    printed = run_example(runtime, "microbit_main", POSES, modules=BOARDS / "microbit")
    dark, full = " 0 0 0 0 0", " 9 9 9 9 9"
    first, *rest = printed.splitlines()
    assert first.startswith("0 0 ")
    assert rest == [
        f"49 0{dark}",
        f"50 1{full}",
        f"99 1{dark}",
        f"100 0{dark}",
        f"149 0{dark}",
        f"150 2{full}",
        f"199 2{dark}",
    ]


# Still, shaken, turned and still again, moved gently; 40 seconds of 20 samples each.
ACTIVITIES = """
from stand_ins import Display, EnoughError, Rows, microbit

def value(row):
    noise = row * 7919 % 21 - 10
    kind = row // 800
    if kind == 0:
        return noise, noise, -1000
    if kind == 2:
        return 1000, noise, noise
    half, swing = (2, 800) if kind == 1 else (8, 150)
    return noise, noise, 1000 + (swing if row // half % 2 else -swing)

class Label(Display):
    def show(self, text):
        if self.shown != text:
            print(rows.row // 800, text)
        self.shown = text

rows = Rows(value, 3200)
microbit(rows, Label())
try:
    import microbit_activity
except EnoughError:
    pass
"""


@everywhere
def test_every_activity_has_a_digit_whichever_way_up(runtime):
    printed = run_example(runtime, "microbit_activity", ACTIVITIES, modules=BOARDS / "microbit")
    assert printed.splitlines() == ["0 0", "1 1", "2 0", "3 2"]


PROGRAMMES = """
from stand_ins import EnoughError, Rows, pico

def value(row):
    hum = row * 7919 % 401 - 200
    swing = (0, 9000, 2000)[row // 3000]
    return hum, hum, 16384 + (swing if row // (5 + row // 3000) % 2 else -swing)

pico(Rows(value, 9000))
import pico_activity
try:
    pico_activity.main()
except EnoughError:
    pass
"""


@everywhere
def test_a_machines_programmes_are_told_apart(runtime):
    """A line a second; the first second of a programme is half of another."""
    lines = run_example(runtime, "pico_activity", PROGRAMMES).splitlines()
    labels = [int(line.split()[0]) for line in lines]
    assert {len(line.split()) for line in lines} == {7}
    assert [len(set(labels[start : start + 57])) for start in (2, 62, 122)] == [1, 1, 1]
    assert len({labels[30], labels[90], labels[150]}) == 3
    assert len(labels) == 180


READINGS = """
from stand_ins import Rows, Bus, pico

rows = Rows(lambda _: (32767, -32768, -1))
pico(rows)
from pico_anomaly import read, wake

x = [0, 0, 0]
bus = Bus(rows)
wake(bus)
read(bus, bytearray(6), x)
print(x)
"""


@everywhere
def test_an_accelerometers_readings_have_signs(runtime):
    assert run_example(runtime, "pico_anomaly", READINGS) == "[2047, -2047, -1]\n"


FAULT = """
from stand_ins import EnoughError, Pin, Rows, pico

# What happens while it learns is learned: a knock every 100 rows lights nothing, then or later.
# There is another knock, a fault of 400 rows, and, all the time, a slow tilt.
def value(row):
    hum = row * 7919 % 401 - 200
    known = 24000 if row % 100 == 50 else 0
    knock = 12000 if row == 1500 else 0
    fault = row % 2 * 12000 - 6000 if 2000 <= row < 2400 else 0
    return hum + known + row, fault - hum, 16384 + hum // 2 - knock

pico(Rows(value, 3000))
import pico_anomaly
try:
    pico_anomaly.main()
except EnoughError:
    pass
lit = [row for row in range(3000) if Pin.values[row]]
print([row for row in lit if row - 1 not in lit], [row for row in lit if row + 1 not in lit])
"""


@everywhere
def test_the_light_is_on_while_there_is_a_fault(runtime):
    """And for a second, 50 rows, after it."""
    printed = run_example(runtime, "pico_anomaly", FAULT)
    assert printed == "[1500, 2000] [1549, 2448]\n"


@everywhere
def test_an_esp32_says_when_there_is_a_fault(runtime):
    main = FAULT.replace("import pico_anomaly", "import esp32_anomaly")
    printed = run_example(runtime, "esp32_anomaly", main.replace("pico_anomaly.", "esp32_anomaly."))
    lit = "[1500, 2000] [1549, 2448]\n"
    assert printed == "unusual\nusual again\n" * 2 + lit


POWER_CUTS = """
import os
from stand_ins import EnoughError, Rows, pico

rows = Rows(lambda row: 14000 + row % 7, 150, 300)
pico(rows)
import pico_log

for _ in range(2):
    try:
        pico_log.main()
    except EnoughError:
        print("learned", sum(pico_log.restore().counts))

def cut(_):
    raise EnoughError

pico_log.dump, dump = cut, pico_log.dump
try:
    pico_log.save(None)
except EnoughError:
    pico_log.dump = dump
    print("kept", sum(pico_log.restore().counts))

with open(pico_log.FILE, "rb") as file:
    saved = file.read()
print(saved == dump(pico_log.restore()))
with open(pico_log.FILE, "wb") as file:
    file.write(saved[:-1])
print("damaged", sum(pico_log.restore().counts))
with open(pico_log.FILE + ".new", "wb") as file:
    file.write(saved)
print("new", sum(pico_log.restore().counts))
pico_log.save(pico_log.MAPDPM(2, 8, (0, 0), (2500, 2500)))
print("of two columns", pico_log.restore().learn([0]))
learner = pico_log.MAPDPM(1, 8, (0,), (9,))
learner.learn([5])
pico_log.save(learner)
print("of another b0", sum(pico_log.restore().counts))
"""


@everywhere
def test_the_log_goes_on_after_a_power_cut(runtime):
    """Rows after the last minute are lost; what was saved is not, by a cut while saving either."""
    printed = run_example(runtime, "pico_log", POWER_CUTS).splitlines()
    said = [line for line in printed if "rows near" not in line]
    expected = ["learned 120", "learned 240", "kept 240", "True", "damaged 0", "new 240"]
    assert said == [*expected, "of two columns 0", "of another b0 0"]
    # 14003 / 65535 * 3.3 V are 27.5 degrees.
    assert [line for line in printed if "rows near 27.5" in line]


APART = """
from stand_ins import EnoughError, Rows, pico

# Two states in turn, fifty readings each; in 6000 rows they are 480 mV apart.
def value(row):
    noise = row * 7919 % 2401 - 1200
    return 30000 + noise + (row if row // 50 % 2 else -row) * 8 // 10

pico(Rows(value, 6000))
import pico_states
try:
    pico_states.main()
except EnoughError:
    pass
"""


@everywhere
def test_states_that_move_apart_are_told_apart(runtime):
    printed = run_example(runtime, "pico_states", APART).splitlines()
    assert printed[0] == "2 states"
    millivolts = sorted(int(line.split()[-2]) for line in printed[1:])
    assert len(millivolts) == 2
    assert millivolts[0] < 1510 < millivolts[1]
