"""Pico: states of whatever an analog sensor watches, told apart once they are.

Wiring: a sensor of light, current or pressure, say, between 3V3 and GND, its output to GP26. Copy
mapdpm_int.py, mapdpm_viper.py, mapdpm_batch.py and mapdpm_split.py beside it (`mpremote mip
install`), and this file as main.py. It reads fifty times a second. States that are one at first,
and move apart as what is watched warms up or wears, become two. Then a line for each state on the
serial port says where it is, and how many readings it weighs: `mpremote` shows it.
"""

import time

from machine import ADC
from mapdpm_split import Ring

try:
    from mapdpm_viper import MAPDPM
except (ImportError, SyntaxError):  # firmware without viper: the same results, slower
    from mapdpm_int import MAPDPM


def report(learner):
    print(learner.k, "states")
    for k in range(len(learner.counts)):
        if learner.counts[k]:
            print(k, learner.counts[k], "near", (learner.mean(k)[0] + 2048) * 3300 // 4096, "mV")


def main():
    sensor = ADC(26)
    # Readings of a state spread by about 50 units, 40 mV.
    learner = MAPDPM(1, 8, (0,), (20000,), a0=(8, 1))
    # 64 readings, one of eight: those of the last ten seconds.
    ring = Ring(learner, 64, 8)
    x = [0]
    while True:
        x[0] = (sensor.read_u16() >> 4) - 2048
        learner.learn(x)
        if ring.add(x) and ring.split():
            report(learner)
        time.sleep_ms(20)


if __name__ == "__main__":
    main()
