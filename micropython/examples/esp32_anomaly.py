"""ESP32: the anomaly light of pico_anomaly.py, with the pins of an ESP32.

Wiring: MPU-6050 VCC to 3V3, GND to GND, SDA to GPIO 21, SCL to GPIO 22; the light is on GPIO 2, as
on most boards. (An ESP32-C3 or -S3 has other pins: change the three numbers.) Copy pico_anomaly.py
and the modules that it names beside it, and this file as main.py. The serial port says when an
alarm begins and ends, and its light is on for a second more.
"""

from machine import I2C, Pin
from pico_anomaly import watch

SDA, SCL, LIGHT = 21, 22, 2


class Light:
    """A light that says when it is switched."""

    def __init__(self, pin):
        self.pin = pin
        self.on = False

    def value(self, on):
        if on != self.on:
            print("unusual" if on else "usual again")
        self.on = on
        self.pin.value(on)


def main():
    bus = I2C(0, sda=Pin(SDA), scl=Pin(SCL), freq=400000)
    watch(bus, Light(Pin(LIGHT, Pin.OUT)))


if __name__ == "__main__":
    main()
