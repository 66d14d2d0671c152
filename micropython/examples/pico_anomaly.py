"""Pico: an anomaly light for an accelerometer (MPU-6050) on whatever moves or hums.

Wiring: MPU-6050 VCC to 3V3, GND to GND, SDA to GP4, SCL to GP5; the light is the board's own.
Copy mapdpm_int.py and mapdpm_viper.py beside it (`mpremote mip install`), and this file as main.py.
For 20 seconds it learns whatever happens. From then on the light is on for a second whenever a
reading is 20 bits, a factor of a million, less probable than usual. Such readings are not learned:
a fault stays a fault. What is usual may change slowly; reset the board to learn anew.
"""

import time

from machine import I2C, Pin

try:
    from mapdpm_viper import MAPDPM
except (ImportError, SyntaxError):  # firmware without viper: the same results, slower
    from mapdpm_int import MAPDPM

ADDRESS = 0x68
QUIET_ROWS = 1000
LIGHT_ROWS = 50
MARGIN = 20 * 256  # surprise is in 1/256 bit


def wake(bus):
    """Switch the sensor on; +-2 g is its range then."""
    bus.writeto_mem(ADDRESS, 0x6B, b"\0")


def read(bus, raw, x):
    """Acceleration in units of 1/1024 g, -2047..2047, into `x`."""
    bus.readfrom_mem_into(ADDRESS, 0x3B, raw)
    for d in range(3):
        value = (raw[2 * d] << 8 | raw[2 * d + 1]) ^ 0x8000
        x[d] = max(-2047, (value - 0x8000) >> 4)


def main():
    bus = I2C(0, sda=Pin(4), scl=Pin(5), freq=400000)
    light = Pin("LED", Pin.OUT)
    wake(bus)
    learner = MAPDPM(3, 12, (0, 0, 0), (2500, 2500, 2500))
    raw, x = bytearray(6), [0, 0, 0]
    # 256 times the mean surprise of learned rows; each counts less than the next by a 256th.
    usual = 0
    quiet = QUIET_ROWS
    lit = 0
    while True:
        read(bus, raw, x)
        surprise = learner.surprise(x)
        if quiet or surprise <= (usual >> 8) + MARGIN:
            quiet = max(0, quiet - 1)
            usual += surprise - (usual >> 8)
            learner.learn(x)
            lit = max(0, lit - 1)
        else:
            lit = LIGHT_ROWS
        light.value(lit > 0)
        time.sleep_ms(20)


if __name__ == "__main__":
    main()
