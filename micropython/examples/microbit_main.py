# micro:bit: learns how it is held and moved, and shows what is unusual.
# Copy mapdpm_int.py and mapdpm_int.txt of ../microbit and this file as main.py.
# A digit is the label of what the accelerometer reads; a bar of lights on the
# right grows with surprise. Hold the board still in one pose for a while, then
# in another: each gets a digit of its own. Shake it: the bar is full.
from mapdpm_int import MAPDPM
from microbit import accelerometer, display, sleep

# 3 columns in mg, 8 clusters; readings of one pose spread by about 100 mg.
m = MAPDPM(3, 8, (0, 0, 0), (10000, 10000, 10000))
x = [0, 0, 0]
while True:
    x[0] = max(-2047, min(2047, accelerometer.get_x()))
    x[1] = max(-2047, min(2047, accelerometer.get_y()))
    x[2] = max(-2047, min(2047, accelerometer.get_z()))
    bits = m.surprise(x) // 256
    display.show(str(m.learn(x, False) % 10))  # without another look at all clusters
    # 26 bits are usual where three columns spread by 100 each; 2 more a light.
    for y in range(5):
        display.set_pixel(4, 4 - y, 9 if bits > 26 + 2 * y else 0)
    sleep(100)
