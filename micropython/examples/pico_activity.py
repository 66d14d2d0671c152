"""Pico: tells apart how a thing moves, unasked: a machine's programmes, or what its bearer does.

Wiring as of pico_anomaly.py. Copy that file beside it, for it reads the sensor; features_int.py,
mapdpm_int.py and mapdpm_viper.py (`mpremote mip install`); and this file as main.py. It prints a
line a second: the label, and the features of that second in the order of `Window.values`. A serial
plotter draws them.
"""

import time

from features_int import Window, magnitude
from machine import I2C, Pin
from pico_anomaly import MAPDPM, read, wake

SAMPLES = 50  # in a second; the sensor's own unit here is 1/1024 g, a sample's 1/256 g
NOISE = 8

# The first guess is 1 g. Inside a cluster, standard deviations are about 0.16 g of means, an octave
# of spreads, and four crossings.
M0 = 256, 640, 640, 512, 640, 640
B0 = 12800, 131072, 131072, 131072, 131072, 131072


def main():
    bus = I2C(0, sda=Pin(4), scl=Pin(5), freq=400000)
    wake(bus)
    window = Window(SAMPLES, 2, NOISE)
    learner = MAPDPM(6, 12, M0, B0, a0=(8, 1))
    raw, x = bytearray(6), [0, 0, 0]
    while True:
        read(bus, raw, x)
        if window.add(magnitude(*x) >> 2):
            print(learner.learn(window.values), *window.values)
        time.sleep_ms(1000 // SAMPLES)


if __name__ == "__main__":
    main()
