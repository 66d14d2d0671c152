"""Pico: an anomaly light for an accelerometer (MPU-6050) on whatever moves or hums.

Wiring: MPU-6050 VCC to 3V3, GND to GND, SDA to GP4, SCL to GP5; the light is the board's own.
Copy mapdpm_int.py, mapdpm_viper.py and mapdpm_alarm.py beside it (`mpremote mip install`), and
this file as main.py. For 20 seconds it learns whatever happens. From then on the light is on for a
second whenever a reading is more surprising than all but one usual reading in 2,048. Such readings
are not learned: a fault stays a fault, for 20 seconds. What goes on for longer is usual from then
on.
"""

import time

from machine import I2C, Pin
from mapdpm_alarm import Alarm

try:
    from mapdpm_viper import MAPDPM
except (ImportError, SyntaxError):  # firmware without viper: the same results, slower
    from mapdpm_int import MAPDPM

ADDRESS = 0x68
QUIET_ROWS = 1000
LIGHT_ROWS = 50
USUAL_ROWS = 2048  # one of so many may raise an alarm


def wake(bus):
    """Switch the sensor on; +-2 g is its range then."""
    bus.writeto_mem(ADDRESS, 0x6B, b"\0")


def read(bus, raw, x):
    """Acceleration in units of 1/1024 g, -2047..2047, into `x`."""
    bus.readfrom_mem_into(ADDRESS, 0x3B, raw)
    for d in range(3):
        value = (raw[2 * d] << 8 | raw[2 * d + 1]) ^ 0x8000
        x[d] = max(-2047, (value - 0x8000) >> 4)


def watch(bus, light):
    """Go on for ever, with the sensor on `bus`."""
    wake(bus)
    learner = MAPDPM(3, 12, (0, 0, 0), (20000, 20000, 20000), a0=(8, 1))
    alarm = Alarm(learner, USUAL_ROWS, QUIET_ROWS, QUIET_ROWS)
    raw, x = bytearray(6), [0, 0, 0]
    lit = 0
    while True:
        read(bus, raw, x)
        alarm.step(x)
        lit = LIGHT_ROWS if alarm.on else max(0, lit - 1)
        light.value(lit > 0)
        time.sleep_ms(20)


def main():
    watch(I2C(0, sda=Pin(4), scl=Pin(5), freq=400000), Pin("LED", Pin.OUT))


if __name__ == "__main__":
    main()
