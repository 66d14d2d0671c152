"""The examples run: on the micro:bit's own firmware, and against stand-ins of a Pico's hardware."""

import importlib.util
import sys
import time
from types import ModuleType, SimpleNamespace

import pytest
from mapdpm_batch import dump
from runtimes import run
from test_learners import BOARDS, available, sources

EXAMPLES = BOARDS / "examples"


def test_the_microbit_example():
    """A few rounds of its loop, in QEMU, where the accelerometer reads nothing."""
    available("microbit")
    main = (EXAMPLES / "microbit_main.py").read_text()
    assert main.count("while True:") == 1
    main = main.replace("while True:", "for _ in range(5):") + "print(m.counts, x)\n"
    copies = sources(BOARDS / "microbit", "mapdpm_int.py", "mapdpm_int.txt")
    printed = run("microbit", {"main.py": main, **copies}, timeout=60)
    assert printed.startswith("[5, 0, 0, 0, 0, 0, 0, 0]")


class EnoughError(Exception):
    """Ends an endless loop."""


@pytest.fixture
def pico(monkeypatch):
    """Load an example with stand-ins of `machine` and of MicroPython's `time`."""

    def load(name, **hardware):
        machine = ModuleType("machine")
        vars(machine).update(hardware)
        monkeypatch.setitem(sys.modules, "machine", machine)
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_the_anomaly_light(pico, monkeypatch):
    """A hum for half a minute, then a knock: the light answers to the knock alone."""
    clock, lit = [0], []

    class Bus:
        def __init__(self, *_, **__):
            self.reads = 0

        def writeto_mem(self, *_):
            pass

        def readfrom_mem_into(self, address, register, raw):
            self.reads += 1
            hum = self.reads * 7919 % 401 - 200
            knock = 24000 * (clock[0] // 20 == 1500)
            for d, value in enumerate((hum + knock, -hum, 16384 + hum // 2)):
                raw[2 * d : 2 * d + 2] = value.to_bytes(2, "big", signed=True)

    class Pin:
        OUT = 1

        def __init__(self, *_):
            pass

        def value(self, on):
            lit.append((clock[0] // 20, bool(on)))

    def sleep_ms(milliseconds):
        clock[0] += milliseconds
        if clock[0] > 32000:
            raise EnoughError

    module = pico("pico_anomaly", I2C=Bus, Pin=Pin)
    ticks = SimpleNamespace(
        ticks_ms=lambda: clock[0], ticks_diff=lambda a, b: a - b, sleep_ms=sleep_ms
    )
    monkeypatch.setattr(module, "time", ticks)
    with pytest.raises(EnoughError):
        module.main()
    assert [tick for tick, on in lit if on] == [1500]


def test_the_log_goes_on_after_a_power_cut(pico, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    seconds = [0]

    def sleep(_):
        seconds[0] += 1
        if seconds[0] % 150 == 0:
            raise EnoughError

    adc = SimpleNamespace(read_u16=lambda: 14000 + seconds[0] % 7)
    module = pico("pico_log", ADC=lambda _: adc)
    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=sleep, time=time.time))
    for rows in (120, 240):
        with pytest.raises(EnoughError):
            module.main()
        # Rows after the last save are lost.
        assert sum(module.restore().counts) == rows
    saved = tmp_path / module.FILE
    assert saved.read_bytes() == dump(module.restore())
    saved.write_bytes(saved.read_bytes()[:-1])
    assert sum(module.restore().counts) == 0
