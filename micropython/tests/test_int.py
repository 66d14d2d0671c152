"""The integer learner: its range, its accuracy, and how it bears what sensors do."""

import ast
import itertools
import math
from array import array
from pathlib import Path

import numpy as np
import pytest
import streams
from accuracy import SHIPPED, TABLES, accuracy, int_costs
from hypothesis import given, settings
from hypothesis import strategies as st
from mapdpm_int import MAPDPM, _log2
from ranges import LIMIT, checked
from real_tables import MissingTableError
from reference import Reference
from streams import STREAMS

HERE = Path(__file__).parent
VECTORS = sorted((HERE / "vectors").glob("*.txt"))
CHECKED = checked("mapdpm_int")["MAPDPM"]


def stream(path):
    with path.open() as file:
        arguments = [ast.literal_eval(part) for part in file.readline().split(";")]
        file.readline()
        return arguments, [[int(word) for word in line.split()] for line in file]


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_no_intermediate_reaches_two_to_the_thirty(path):
    arguments, rows = stream(path)
    learner = CHECKED(*arguments)
    for i, x in enumerate(rows):
        learner.surprise(x)
        learner.learn(x)
        if i % 64 == 63:
            learner.merge()


@pytest.mark.parametrize("make", STREAMS, ids=lambda make: make.__name__)
def test_the_range_holds_on_streams_that_boards_meet(make):
    """And places keep their labels: those of the second half of the stream."""
    rows, z = streams.stream(make, 3000)
    learner = streams.learner(len(rows[0]), CHECKED)
    labels = np.array([learner.learn(x) for x in rows])
    learner.merge()
    assert streams.nmi(z[1500:], labels[1500:]) > 0.8


def test_the_check_of_the_range_sees_large_numbers():
    """Else the test above could not fail."""
    learner = CHECKED(1, 1, [0], [1])
    with pytest.raises(AssertionError):
        learner.update([2**16], 0, 1)


EXTREMES = st.sampled_from([-2048, -2047, -1, 0, 1, 2046, 2047]) | st.integers(-2048, 2047)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_range_holds_at_the_limits(data):
    """Any prior, values at the ends of their range, repeated for long, merged again and again."""
    dim = data.draw(st.integers(1, 4))
    clusters = data.draw(st.integers(1, 6))
    part = st.integers(1, 32)
    learner = CHECKED(
        dim,
        clusters,
        data.draw(st.lists(EXTREMES.filter(lambda m: m > -2048), min_size=dim, max_size=dim)),
        data.draw(st.lists(st.sampled_from([1, 5, 10**4, 2**22]), min_size=dim, max_size=dim)),
        (data.draw(part), data.draw(part)),
        (data.draw(st.integers(1, 128)), 2),
        data.draw(st.sampled_from([(1, 1), (1, 1024), (1023, 1), (32767, 33)])),
        data.draw(st.integers(64, 16384)),
    )
    row = st.lists(EXTREMES, min_size=dim, max_size=dim)
    for x, times in data.draw(st.lists(st.tuples(row, st.integers(1, 150)), max_size=12)):
        for _ in range(times):
            learner.learn(x)
        learner.surprise(x)
        learner.merge(data.draw(st.sampled_from([0, 1 << 25])))


@pytest.mark.parametrize("q", [1, 10, 32])
def test_the_range_holds_where_rows_are_halved(q):
    """A cluster's rows, because they are too many; its weight stays."""
    rng = np.random.default_rng(q)
    learner = CHECKED(2, 1, [0, 0], [900, 900], (1, q), memory=16384)
    held = []
    X = rng.normal(0, 30, (16100 // q, 2)).astype(int).tolist()
    for x in X:
        learner.learn(x)
        held.append(learner._slots[2])
    assert 16000 // q - 2 <= max(held) <= 16000 // q
    assert held[held.index(max(held)) + 1] == (max(held) + 2) // 2
    assert learner.counts == [len(X)]


@pytest.mark.parametrize(("p", "q"), [(1, 1), (32, 1), (1, 2), (1, 3), (1, 10), (1, 32)])
@pytest.mark.parametrize("a0", [(1, 2), (64, 1)])
@pytest.mark.parametrize("b0", [1, 2**22])
@pytest.mark.parametrize("square", [0, 170**2, 2**22])
def test_the_range_holds_with_the_most_columns_and_slots(p, q, a0, b0, square):
    """Clusters that are full: tight ones, ordinary ones and those whose sums are the largest."""
    dim, clusters = 5 * q, 127
    learner = CHECKED(dim, clusters, [0] * dim, [b0] * dim, (p, q), a0, (1023, 1))
    n, w = (15999 - p) // q, 3 * dim + 4
    learner._slots[4 : w - 1 : 3] = array("i", [min(n * square, 499_999_999)] * dim)
    learner.counts[0] = learner._slots[2] = n
    learner.update([0] * dim, 0, 0)
    assert learner.counts[0] == n
    learner._slots[w : w * clusters] = learner._slots[:w] * (clusters - 1)
    learner.counts[:] = [n] * clusters
    learner.k = clusters
    for x in (0, 2047, -2048):
        learner.surprise([x] * dim)
    learner.counts[2:] = [0] * (clusters - 2)  # of eight thousand pairs, the first tells
    learner.merge(1 << 29)
    assert learner.k == clusters - 1
    learner.learn([2047] * dim)


@given(st.integers(1, LIMIT - 1))
def test_log2(y):
    assert _log2(y) / 65536 == pytest.approx(math.log2(y), abs=1.9e-4)


@pytest.mark.parametrize("name", SHIPPED + TABLES)
def test_decisions_are_those_of_float64(name):
    try:
        rows, equal, mean, worst, mean_surprise, worst_surprise = accuracy(name)
    except MissingTableError as error:
        pytest.skip(str(error))
    assert rows > 140
    assert equal >= 0.995
    assert mean < 0.02
    assert worst < 0.3
    assert mean_surprise < 0.02
    assert worst_surprise < 0.25


@pytest.mark.parametrize("sd", [5, 50, 250])
def test_costs_beside_a_cluster_of_a_thousand_rows(sd):
    rng = np.random.default_rng(sd)
    prior = [0] * 3, [9000] * 3
    learner, reference = MAPDPM(3, 2, *prior), Reference(*prior)
    for x in rng.normal(100, sd, (1000, 3)).astype(int).tolist():
        learner.update(x, 0, 1)
        reference.add(x, 0)
    assert learner.counts[0] == 1000
    errors = []
    for x in rng.normal(100, 3 * sd, (300, 3)).astype(int).tolist():
        found, costs = int_costs(learner, x), reference.costs(x)
        errors += [abs(found[k] - costs[k]) for k in costs]
    assert np.mean(errors) < 0.02
    assert max(errors) < 0.25


def random_state(seed, sizes=(30, 8, 1, 120, 2)):
    """A learner and a reference that hold the same clusters of chance."""
    rng = np.random.default_rng(seed)
    prior = [0] * 3, [9000] * 3
    learner, reference = MAPDPM(3, 8, *prior), Reference(*prior)
    for k, size in enumerate(sizes):
        rows = rng.normal(rng.normal(0, 250, 3), rng.uniform(20, 200), (size, 3)).astype(int)
        for x in rows.tolist():
            learner.update(x, k, 1)
            reference.add(x, k)
        learner.k += 1
    return learner, reference


@pytest.mark.parametrize("seed", range(40))
def test_merge_takes_the_best_pair_if_it_lowers_the_joint(seed):
    learner, reference = random_state(seed)
    pairs = [(j, k) for k in range(5) for j in range(k)]
    rises = {pair: reference.rise(*pair) for pair in pairs}
    best = min(rises, key=rises.get)
    freed = learner.merge()
    assert (freed >= 0) == (rises[best] < 0)
    if freed >= 0:
        assert (learner._second, freed) == best
        assert learner.counts[freed] == 0
        assert learner.k == 4
        n, _, _, m, _ = reference.posterior(
            tuple(a + b for a, b in zip(*(reference.clusters[k] for k in best), strict=True))
        )
        assert learner.counts[best[0]] == n
        assert learner.mean(best[0]) == np.floor(m).tolist()


def test_a_merge_leaves_no_trace_if_it_is_refused():
    learner, _ = random_state(1)
    while learner.merge() >= 0:
        pass
    slots = list(learner._slots)
    assert learner.merge() == -1
    assert list(learner._slots) == slots


def test_adding_a_row_and_taking_it_away_changes_nothing():
    learner, _ = random_state(2)
    for k in range(5):
        learner.update([0] * 3, k, 0)
    slots = list(learner._slots)
    learner.update([2047, -2047, 3], 3, 1)
    assert list(learner._slots) != slots
    learner.update([2047, -2047, 3], 3, -1)
    learner.update([0] * 3, 3, 0)
    assert list(learner._slots) == slots


def test_a_full_table_goes_on_learning():
    """Twelve places for four slots: near ones are merged, every row has a label."""
    rng = np.random.default_rng(0)
    learner = MAPDPM(2, 4, [0, 0], [50000, 50000])
    centres = rng.integers(-1500, 1500, (12, 2))
    for _ in range(600):
        x = (centres[rng.integers(12)] + rng.normal(0, 10, 2)).astype(int).tolist()
        assert 0 <= learner.learn(x) < 4
    assert learner.k == 4
    assert sum(learner.counts) == 600


@pytest.mark.parametrize("distance", range(150, 700, 50))
def test_a_full_table_merges_where_that_costs_the_joint_less(distance):
    """Two clusters, and a row that would found a third: float64 says what is better."""
    rng = np.random.default_rng(distance)
    rows = np.rint(rng.normal([0, distance], 20, (20, 2))).astype(int).tolist()
    merged = []
    for x in range(-1500, -200, 50):
        learner, reference = MAPDPM(1, 2, [0], [2500]), Reference([0], [2500])
        for pair in rows:
            for k, value in enumerate(pair):
                learner.update([value], k, 1)
                reference.add([value], k)
        learner.k = 2
        costs, rise = reference.costs([x]), reference.rise(0, 1)
        saved = min(costs[0], costs[1]) - costs[-1]
        if saved > 0 and abs(saved - rise) > 0.1:
            learner.learn([x])
            assert (1 in learner.counts) == (rise < saved)
            merged.append(rise < saved)
    assert len(merged) > 10


def test_where_no_merge_is_worth_it_a_row_joins_what_there_is():
    """Two tight clusters, far apart, and one stray row between them, nearer to the second."""
    learner = MAPDPM(1, 2, [0], [20000])
    for i in range(100):
        learner.learn([-1000 + i % 5])
        learner.learn([1000 + i % 5])
    k = learner.predict([1003])
    assert learner.predict([100]) == -1
    assert learner.learn([100]) == k
    assert learner.counts[k] == 101


@pytest.mark.parametrize("seed", range(40))
def test_decisions_beyond_4096_bits_are_those_of_float64(seed):
    """Firm priors, or heavy clusters, and rows so far that a cost of 2^29 is passed."""
    rng = np.random.default_rng(seed)
    dim, clusters = int(rng.integers(3, 21)), int(rng.integers(2, 5))
    b0, a0 = int(rng.integers(200, 9000)), (int(rng.integers(1, 65)), 1)
    prior = ([0] * dim, [b0] * dim, (1, 4), a0)
    learner, reference = MAPDPM(dim, clusters, *prior), Reference(*prior)
    centres = rng.integers(-400, 400, (clusters, dim))
    for k in range(clusters):
        for x in np.rint(rng.normal(centres[k], 10, (rng.integers(100, 900), dim))).astype(int):
            learner.update(x.tolist(), k, 1)
            reference.add(x, k)
    learner.k = clusters
    compared = 0
    for x in rng.integers(-2047, 2048, (40, dim)).tolist():
        costs = reference.costs(x)
        joined = sorted((cost, k) for k, cost in costs.items() if k >= 0)
        learner.surprise(x)
        if joined[1][0] > 1.01 * joined[0][0]:
            found = learner._second if learner._best == clusters else learner._best
            assert found == joined[0][1]
            compared += joined[0][0] > 4096 * math.log(2)
        if abs(joined[0][0] - costs[-1]) > 0.01 * costs[-1]:
            assert (learner.predict(x) == -1) == (costs[-1] < joined[0][0])
    assert compared > 10 or dim < 6


def test_a_row_far_from_heavy_clusters_joins_the_nearer_one():
    learner = MAPDPM(3, 2, [0] * 3, [6500] * 3)
    for i in range(1000):
        for centre in (-300, 300):
            learner.learn([centre + (7 * i + 3 * d) % 21 - 10 for d in range(3)])
    near = learner.predict([300] * 3)
    assert learner.predict([1500] * 3) == -1
    assert learner.learn([1500] * 3) == near


def test_a_row_beyond_4096_bits_founds_a_cluster():
    learner = MAPDPM(10, 8, [0] * 10, [6400] * 10, (1, 2), (64, 1))
    for i in range(20):
        learner.learn([7 * i % 11 - 5] * 10)
    scores = [learner.surprise([x] * 10) for x in range(0, 2048, 89)]
    assert scores == sorted(set(scores))
    assert scores[-1] > 4096 * 256
    near = learner.learn([0] * 10)
    assert learner.predict([2047] * 10) == -1
    assert learner.learn([2047] * 10) != near


def test_old_rows_are_forgotten():
    """The mean of a cluster follows a drift that outlasts the window."""
    learner = MAPDPM(1, 1, [0], [1000], (1, 32))
    rng = np.random.default_rng(0)
    for centre in (-100, 100):
        for x in rng.normal(centre, 30, 2500).astype(int).tolist():
            learner.learn([x])
        assert learner.mean(0)[0] == pytest.approx(centre, abs=8)


def test_spikes_stuck_values_and_saturation_leave_it_working():
    rng = np.random.default_rng(4)
    learner = MAPDPM(3, 8, [0] * 3, [9000] * 3)
    states = np.array([[0, 0, 250], [600, -400, 100], [-700, 500, 0]])
    labels = []
    for i in range(3000):
        state = rng.integers(3)
        x = np.rint(states[state] + rng.normal(0, 20, 3)).astype(int).tolist()
        if i % 97 == 0:
            x[rng.integers(3)] = int(rng.choice([-2047, 2047]))
        elif 1000 <= i < 1100:
            state, x = -1, [-2047] * 3
        elif 2000 <= i < 2100:
            state, x = -1, [17, 17, 17]
        label = learner.learn(x)
        if i >= 2500 and state >= 0 and i % 97:
            labels.append((int(state), label))
    # Every state has one label of its own by then.
    assert len(set(labels)) == 3
    assert len({label for _, label in labels}) == 3


@pytest.mark.parametrize("raw", [0, 2048, 4095])
def test_readings_of_twelve_bits_may_be_centred(raw):
    """A sensor that is dead or grounded reads 0: -2048 is no error."""
    learner = MAPDPM(1, 8, [0], [900])
    assert learner.learn([raw - 2048]) == 0
    assert learner.mean(0)[0] == pytest.approx((raw - 2048) * 10 / 11, abs=1)


def test_the_range_holds_between_the_farthest_values():
    for m0, x in itertools.product((-2047, 2047), (-2048, 2047)):
        learner = CHECKED(1, 2, [m0], [1], (32, 1))
        for _ in range(40):
            learner.learn([x])
            learner.surprise([-1 - x])


@pytest.mark.parametrize("far", [500, 1000, 1900])
def test_shares_do_not_depend_on_the_distance_from_m0(far):
    """A place with nine rows in ten, far out; the other is at m0."""
    rng = np.random.default_rng(1)
    z = rng.random(6000) < 0.9
    rows = np.rint(z[:, None] * far + rng.normal(0, 60, (6000, 3))).clip(-2047, 2047)
    learner = MAPDPM(3, 8, [0] * 3, [4000] * 3)
    labels = [learner.learn(x) for x in rows.astype(int).tolist()]
    share = learner.counts[labels[int(np.argmax(z))]] / sum(learner.counts)
    assert share == pytest.approx(0.9, abs=0.02)


def regime(seed, n_rows):
    """Three places, 15 standard deviations apart at least: rows and places."""
    rng = np.random.default_rng(100 + seed)
    while True:
        centres = rng.uniform(-1500, 1500, (3, 3))
        if min(np.linalg.norm(centres[i] - centres[j]) for i in range(3) for j in range(i)) > 900:
            break
    z = rng.choice(3, size=n_rows, p=[0.5, 0.3, 0.2])
    rows = np.rint(centres[z] + rng.normal(0, 60, (n_rows, 3))).clip(-2047, 2047)
    return rows.astype(int).tolist(), z.tolist()


def test_places_that_are_replaced_again_and_again_keep_labels_of_their_own():
    """A slot for every place, whatever was before; eight slots are enough for ever."""
    learner = MAPDPM(3, 8, [0] * 3, [32000] * 3, a0=(8, 1), memory=512)
    for seed in range(8):
        rows, places = regime(seed, 4000)
        labels = [learner.learn(x) for x in rows]
        pairs = set(zip(places[2000:], labels[2000:], strict=True))
        assert len(pairs) == len({label for _, label in pairs}) == 3


def test_a_cluster_lives_as_long_as_documented_without_a_row():
    """One halving for every bit of its weight, and one every memory / 2 rows."""
    learner = MAPDPM(1, 8, [0], [3200], a0=(8, 1), memory=256)
    for i in range(40):
        learner.learn([1000 + i % 9])
    rare = learner.predict([1000])
    lived = 0
    while learner.predict([1000]) == rare:
        learner.learn([lived % 9])
        lived += 1
    assert 128 * 5 < lived < 128 * 7 + 256


def test_a_rare_place_that_recurs_survives():
    """One row in a hundred, for twenty times the memory."""
    rng = np.random.default_rng(3)
    learner = MAPDPM(1, 4, [0], [3200], a0=(8, 1), memory=2048)
    labels = set()
    for is_rare, noise in zip(rng.random(40000) < 0.01, rng.normal(0, 20, 40000), strict=True):
        label = learner.learn([int(1000 * is_rare + noise)])
        if is_rare:
            labels.add(label)
    assert len(labels) == 1


def test_surprise_grows_with_the_distance_from_what_is_known():
    learner, _ = random_state(3)
    scores = [learner.surprise([d, 0, 0]) for d in (0, 1000, 2047)]
    assert scores == sorted(scores)


def test_the_mean_of_a_new_cluster_is_that_of_the_prior():
    learner = MAPDPM(2, 2, [5, -7], [900, 900])
    for x in ([3, 4], [500, 9]):
        assert learner.mean(-1) == [5, -7]
        learner.learn(x)
    learner.merge(1 << 25)
    assert learner.mean(-1) == [5, -7]


def test_predict_and_surprise_change_nothing():
    learner, _ = random_state(4)
    before = list(learner._slots), list(learner.counts)
    learner.predict([5, 5, 5])
    learner.surprise([2047, 5, 5])
    assert (list(learner._slots), learner.counts) == before


@pytest.mark.parametrize("x", [[], [1, 2], [1, 2, 3, 4], [0, 0, 2048], [-2049, 0, 0], (0, 9999, 0)])
def test_wrong_rows_are_refused_and_lose_nothing(x):
    learner, _ = random_state(5)
    before = list(learner._slots), list(learner.counts)
    for method in (learner.learn, learner.predict, learner.surprise):
        with pytest.raises(ValueError, match=r"x: dim ints of -2048\.\.2047"):
            method(x)
    assert (list(learner._slots), learner.counts) == before


@pytest.mark.parametrize(
    "arguments",
    [
        (2, 8, [0], [1]),
        (1, 8, [2048], [1]),
        (1, 8, [0], [0]),
        (1, 8, [0], [2**22 + 1]),
        (1, 128, [0], [1]),
        (1, 0, [0], [1]),
        (1, 8, [0], [1], (0, 1)),
        (1, 8, [0], [1], (1, 33)),
        (1, 8, [0], [1], (1, 1), (1, 3)),
        (1, 8, [0], [1], (1, 1), (65, 1)),
        (6, 8, [0] * 6, [1] * 6, (1, 1)),
        (1, 8, [0], [1], (1, 1), (1, 1), (1, 1025)),
        (1, 8, [0], [1], (1, 1), (1, 1), (1024, 1)),
        (1, 8, [0], [1], (1, 1), (1, 1), (1, 1), 63),
        (1, 8, [0], [1], (1, 1), (1, 1), (1, 1), 16385),
    ],
)
def test_wrong_priors_are_refused(arguments):
    with pytest.raises(ValueError, match="prior out of range"):
        MAPDPM(*arguments)
