"""Pico: learns for months, and survives power cuts.

Reads the chip's temperature sensor (no wiring) once a second, keeps what it has learned in
clusters.bin, and takes it up again at the next start. Copy mapdpm_int.py and mapdpm_batch.py beside
it (`mpremote mip install`), and this file as main.py. A line a minute on the serial port says which
temperatures it knows: `mpremote` shows it.
"""

import os
import time

from machine import ADC
from mapdpm_batch import dump, load
from mapdpm_int import MAPDPM

FILE = "clusters.bin"
SAVE_SECONDS = 60
PARAMETERS = 40  # bytes of a dump, 32 and 8 a column, that say what the learner was made with


def save(learner, path=FILE):
    """Write a new file and give it the old one's name: one of the two is always whole."""
    with open(path + ".new", "wb") as file:
        file.write(dump(learner))
    os.rename(path + ".new", path)


def restore(path=FILE):
    """What was learned last; a new learner if there is nothing, or if it is damaged.

    Or if it has other parameters than those below, which someone has changed since. A new file that
    is whole, but has its old name yet, is the later one.
    """
    # Hundredths of a degree above 20 deg C; readings of one hour spread by about half a degree.
    learner = MAPDPM(1, 8, (0,), (2500,))
    parameters = dump(learner)[:PARAMETERS]
    for name in (path + ".new", path):
        try:
            with open(name, "rb") as file:
                saved = file.read()
            if saved[:PARAMETERS] == parameters:
                return load(saved)
        except (OSError, ValueError):
            pass
    return learner


def hundredths(reading):
    """The RP2040's data sheet: 27 deg C are 0.706 V, and a degree is -1.721 mV; 3.3 V are 65535."""
    microvolts = reading * 3300000 // 65535
    degrees = 2700 + (706000 - microvolts) * 100 // 1721
    return max(-2047, min(2047, degrees - 2000))


def main():
    sensor = ADC(4)
    learner = restore()
    x = [0]
    seconds = 0
    while True:
        x[0] = hundredths(sensor.read_u16())
        learner.learn(x)
        seconds += 1
        if seconds % SAVE_SECONDS == 0:
            learner.merge()
            save(learner)
            for k in range(len(learner.counts)):
                if learner.counts[k]:
                    print(k, learner.counts[k], "rows near", 20 + learner.mean(k)[0] / 100, "deg C")
        time.sleep(1)


if __name__ == "__main__":
    main()
