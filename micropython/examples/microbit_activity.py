# micro:bit: gives every activity a digit of its own, unasked: lying still, walking, running.
# Copy mapdpm_int and features_int, the .py and the .txt of each, of ../microbit and this file as
# main.py. Every second it looks at how the board was moved, whichever way up, and shows a label.
from features_int import Window, magnitude
from mapdpm_int import MAPDPM
from microbit import accelerometer, display, sleep

# Features of 20 samples of a quarter of the magnitude in mg; 30 mg, 8 in these units, mean nothing.
window = Window(20, 0, 8)
m = MAPDPM(4, 8, (256, 640, 640, 512), (12800, 131072, 131072, 131072), (1, 10), (8, 1))
while True:
    a = accelerometer
    if window.add(magnitude(a.get_x(), a.get_y(), a.get_z()) >> 2):
        display.show(str(m.learn(window.values) % 10))
    sleep(50)
