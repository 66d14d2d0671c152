"""Stand-ins of a board's hardware, for examples: on CPython and on every MicroPython.

An example sleeps once a row. Its sleep counts rows, and ends it by an exception after the last.
"""

import sys


class EnoughError(Exception):
    """Ends an endless loop."""


class Things:
    """A module, or anything else that has attributes."""

    def __init__(self, **things):
        for name in things:
            setattr(self, name, things[name])


class Rows:
    """`value(row)` for every row; `ends` are the numbers of rows after which an example ends."""

    def __init__(self, value, *ends):
        self.value = value
        self.ends = ends
        self.row = 0

    def now(self, *_):
        return self.value(self.row)

    def sleep(self, _):
        self.row += 1
        if self.row in self.ends:
            raise EnoughError


class Bus:
    """An MPU-6050 on I2C: it sleeps, and reads zeros, until it is woken."""

    def __init__(self, rows):
        self.rows = rows
        self.awake = False

    def writeto_mem(self, address, register, data):
        self.awake = (address, register, data) == (0x68, 0x6B, b"\0")

    def readfrom_mem_into(self, address, register, raw):
        if (address, register, self.awake) == (0x68, 0x3B, True):
            for d, value in enumerate(self.rows.now()):
                raw[2 * d] = value >> 8 & 255
                raw[2 * d + 1] = value & 255


class Pin:
    """Remembers all that it is set to, in `values`."""

    OUT = 1
    values = []  # noqa: RUF012  (of all pins)

    def __init__(self, *_):
        pass

    def value(self, on):
        self.values.append(on)


class Display:
    """A micro:bit's: `shown` is the text and the lights of the last column, from the bottom."""

    def __init__(self):
        self.shown = None

    def show(self, text):
        self.shown = [text] + [None] * 5

    def set_pixel(self, x, y, light):
        assert x == 4
        self.shown[5 - y] = light


def pico(rows):
    """Modules of a Pico; sensors read `rows.value(row)`."""
    sys.modules["time"] = Things(sleep=rows.sleep, sleep_ms=rows.sleep)
    sys.modules["machine"] = Things(
        I2C=lambda _, **__: Bus(rows), Pin=Pin, ADC=lambda _: Things(read_u16=rows.now)
    )


def microbit(rows, display):
    """Modules of a micro:bit; the accelerometer reads `rows.value(row)`."""
    sys.modules["microbit"] = Things(
        accelerometer=Things(
            get_x=lambda: rows.now()[0],
            get_y=lambda: rows.now()[1],
            get_z=lambda: rows.now()[2],
        ),
        display=display,
        sleep=rows.sleep,
    )
