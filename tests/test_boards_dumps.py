"""Dumps of boards as fitted models, and what is no dump."""

import math
import struct
import zlib

import numpy as np
import pytest

import dpmlite
from dpmlite import MAPDPM, from_micropython, quantize, to_micropython
from dpmlite.datasets import load_sensors

mapdpm_batch = pytest.importorskip("mapdpm_batch", reason="there is no folder micropython")
mapdpm_int = pytest.importorskip("mapdpm_int", reason="there is no folder micropython")

PRIOR = {"c0": 0.1, "a0": 8.0, "b0": [30000.0, 29000.0], "m0": [10.0, -20.0]}


def places(n_rows=300, seed=0, shares=(0.6, 0.3, 0.1)):
    """Rows of ints around three places, and the place of each."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, n_rows, p=shares)
    centres = np.array([[-600, 300], [500, 500], [200, -900]])
    return np.rint(centres[labels] + rng.normal(0, 60, (n_rows, 2))).astype(int), labels


def learner_of(rows, memory=16384, slots=8):
    learner = mapdpm_int.MAPDPM(
        2, slots, (10, -20), (30000, 29000), (1, 10), (8, 1), (3, 2), memory
    )
    labels = [learner.learn(x) for x in rows.tolist()]
    return learner, np.array(labels)


def written(path, model, **arguments):
    to_micropython(model, path, **arguments)
    return path.read_bytes()


def signed(body):
    return body + zlib.adler32(body).to_bytes(4, "big")


def numbers_of(dump):
    return list(struct.unpack(f"<{len(dump) // 4 - 1}i", dump[:-4]))


def dumped(numbers):
    return signed(struct.pack(f"<{len(numbers)}i", *numbers))


# --- round trips


def test_a_model_comes_back_as_it_went(tmp_path):
    rows, _ = places()
    model = MAPDPM(prior=PRIOR, alpha=1.5, random_state=0).fit(rows)
    back = from_micropython(written(tmp_path / "model.bin", model))
    np.testing.assert_array_equal(back.counts_, model.counts_)
    np.testing.assert_array_equal(back.predict(rows), model.labels_)
    for name in ("means_", "variances_", "weights_", "statistics_", "cluster_centers_"):
        np.testing.assert_allclose(getattr(back, name), getattr(model, name), rtol=1e-9)
    assert back.neg_log_joint_ == pytest.approx(model.neg_log_joint_, rel=1e-12)
    np.testing.assert_allclose(back.score_samples(rows), model.score_samples(rows), rtol=1e-9)
    assert (back.alpha_, back.component_, back.power_) == (1.5, "normal-gamma", 1.0)
    for key in ("mean", "variance", "cells", "weight", "n_rows"):
        np.testing.assert_allclose(back.moments_[key], model.moments_[key], rtol=1e-9)


def test_a_dump_comes_back_byte_by_byte(tmp_path):
    dump = written(tmp_path / "model.bin", MAPDPM(prior=PRIOR).fit(places()[0]), clusters=17)
    assert written(tmp_path / "back.bin", from_micropython(dump), clusters=17) == dump


@pytest.mark.parametrize("memory", [64, 300, 16384])
def test_the_memory_goes_to_the_board_and_back(tmp_path, memory):
    model = MAPDPM(prior=PRIOR, memory=memory).fit(places()[0])
    dump = written(tmp_path / "model.bin", model)
    assert mapdpm_batch.load(dump)._memory == memory
    back = from_micropython(dump)
    assert back.memory == memory
    assert written(tmp_path / "back.bin", back) == dump


@pytest.mark.parametrize("memory", [63, 16385])
def test_a_board_has_a_memory_of_its_range(tmp_path, memory):
    model = MAPDPM(prior=PRIOR, memory=memory).fit(places()[0])
    with pytest.raises(
        ValueError, match=f"memory must be from 64 to 16384 on a board, got {memory}"
    ):
        to_micropython(model, tmp_path / "model.bin")


def line_of(dump):
    """As the guide prints a dump on a board, and a serial port ends it."""
    return "".join("%02x" % n for n in dump) + "\r\n"  # noqa: UP031


@pytest.mark.parametrize("of", [bytes, bytearray, memoryview, line_of])
def test_a_dump_may_be_any_bytes_or_a_line_of_text(of):
    learner, _ = learner_of(places()[0])
    assert from_micropython(of(mapdpm_batch.dump(learner))).n_samples_seen_ == 300


# --- what a board has learned


def test_what_a_board_has_learned_is_exact():
    """Counts, means, variances and the joint of its rows, by its labels; scores within its own."""
    rows, _ = places()
    learner, labels = learner_of(rows)
    model = from_micropython(mapdpm_batch.dump(learner))
    order = np.argsort([-count for count in learner.counts], kind="stable")[: learner.k]
    np.testing.assert_array_equal(model.counts_, np.array(learner.counts)[order])
    ranks = np.full(8, -1)
    ranks[order] = np.arange(learner.k)
    members = [rows[labels == k] for k in order]
    centres = [x.mean(axis=0) for x in members]
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-9)
    joint = dpmlite.neg_log_joint(rows.astype(float), ranks[labels], alpha=1.5, prior=PRIOR)
    assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-9)
    said = np.array([learner.predict(x) for x in rows.tolist()])
    assert np.mean(model.predict(rows) == ranks[said]) >= 0.99
    bits = np.array([learner.surprise(x) for x in rows.tolist()]) / 256.0
    np.testing.assert_allclose(-model.score_samples(rows) / math.log(2.0), bits, atol=0.1)


@pytest.mark.parametrize("memory", [64, 256])
def test_of_what_a_board_has_forgotten_shares_means_and_variances_stay(memory):
    rows, labels = places(2000)
    learner, _ = learner_of(rows, memory)
    assert learner.counts != list(learner._slots[2 : 8 * 10 : 10])  # rows and weights differ
    model = from_micropython(mapdpm_batch.dump(learner))
    assert model.n_clusters_ == learner.k == 3
    assert sorted(model.counts_) == sorted(count for count in learner.counts if count)
    np.testing.assert_allclose(model.weights_, np.array(model.counts_) / sum(learner.counts))
    slots = np.reshape(learner._slots, (-1, 10))[np.argsort(-np.array(learner.counts))[:3]]
    n, sums, squares = slots[:, 2:3], slots[:, 3:9:3], slots[:, 4:9:3]
    np.testing.assert_allclose(model.cluster_centers_ - [10, -20], sums / n, atol=0.5)
    scatter = squares / n - (sums / n) ** 2
    posterior = [model.prior_["b0"]] + scatter * model.counts_[:, None] / 2
    lever = 0.1 * model.counts_ / (0.1 + model.counts_)
    posterior += lever[:, None] * (sums / n) ** 2 / 2
    a = 8 + model.counts_[:, None] / 2
    np.testing.assert_allclose(model.variances_, posterior / a, rtol=1e-2)
    assert np.mean(model.predict(rows) == labels) > 0.98  # places, too, are the largest first


def test_a_read_dump_learns_the_rows_that_follow(tmp_path):
    """The joint, after all, is that of all rows."""
    rows, _ = places(400)
    learner, labels = learner_of(rows[:300])
    model = from_micropython(mapdpm_batch.dump(learner))
    before = model.n_clusters_
    model.partial_fit(rows[300:])
    assert (model.n_samples_seen_, model.n_clusters_) == (400, before)
    order = np.argsort([-count for count in learner.counts], kind="stable")
    everyone = np.concatenate([np.argsort(order)[labels], model.predict(rows[300:])])
    joint = dpmlite.neg_log_joint(rows.astype(float), everyone, alpha=1.5, prior=PRIOR)
    assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-9)
    # To the board, and on a board on.
    back = mapdpm_batch.load(written(tmp_path / "more.bin", model))
    assert sum(back.counts) == 400
    assert back.learn([-600, 300]) == 0


def test_all_that_needs_no_rows_works(tmp_path):
    rows, _ = places()
    model = from_micropython(mapdpm_batch.dump(learner_of(rows)[0]))
    model.save(tmp_path / "model.npz")
    other = MAPDPM.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(other.predict(rows), model.predict(rows))
    assert model.sample(9, random_state=0)[0].shape == (9, 2)
    both = dpmlite.merge_models(model, other)
    assert (both.n_samples_seen_, both.n_clusters_) == (600, 3)
    assert not hasattr(both, "labels_")
    assert model.outlier_score([[2000, 2000]])[0] == 0.0
    assert not hasattr(model, "labels_")


def test_a_read_dump_is_plotted(tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    rows, _ = places()
    model = from_micropython(mapdpm_batch.dump(learner_of(rows)[0]))
    axes = dpmlite.plotting.plot_clusters(model, rows)
    axes.figure.savefig(tmp_path / "clusters.png")
    assert (tmp_path / "clusters.png").stat().st_size > 1000


def test_shipped_sensors_make_the_round_trip(tmp_path):
    q = quantize(load_sensors()[0])
    model = MAPDPM(prior={"c0": 1.0}, random_state=0).fit(q.rows)
    back = from_micropython(written(tmp_path / "sensors.bin", model))
    np.testing.assert_array_equal(back.predict(q.rows), model.labels_)


# --- what is refused


def test_only_bytes_and_their_digits_are_dumps():
    with pytest.raises(TypeError, match="dump must be bytes or a str, got a list"):
        from_micropython([68, 80, 77])
    with pytest.raises(ValueError, match="dump must be hexadecimal digits, got 'DPM'"):
        from_micropython("DPM")


DUMP = numbers_of(mapdpm_batch.dump(learner_of(places(60)[0], slots=3)[0]))
FIRST = 12  # the place of the first slot's weight, after the head, 7 numbers, m0 and b0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({0: 0x024D5044}, r"dump must begin with b'DPM\\x03', got b'DPM\\x02'"),
        ({1: 0}, "dump must have a column or more and 1 to 127 slots, got 0 and 3"),
        ({2: 128}, "dump must have a column or more and 1 to 127 slots, got 2 and 128"),
        ({2: 4}, "dump of 2 columns and 4 slots must have 35 numbers, got 29"),
        ({3: 33}, "dump must have both parts of c0 from 1 to 32, got 33"),
        ({5: 129}, "dump must have 2 a0 from 1 to 128, got 129"),
        ({6: 0}, "dump must have 1024 alpha from 1 to 1048575, got 0"),
        ({7: 63}, "dump must have memory from 64 to 16384, got 63"),
        ({8: 2048}, "dump must have m0 from -2047 to 2047, got 2048"),
        ({11: 0}, "dump must have b0 from 1 to 4194304, got 0"),
        ({FIRST: -1}, "dump must have weights of 0 or more, got -1 in slot 0"),
        ({FIRST: 0}, "dump must have 0 to 0 rows in slot 0, which weighs 0, got"),
        ({FIRST + 1: 0}, "dump must have 1 to .* rows in slot 0, which weighs .*, got 0"),
        ({FIRST + 3: 0}, r"dump must have sums that .* got .* and 0 in slot 0, column 0"),
        ({FIRST + 4: 10**6}, r"dump must have sums that .* in slot 0, column 1"),
        ({FIRST: 16384}, "dump must have clusters that weigh 16384 at most, got"),
        (
            {**dict.fromkeys(range(FIRST, FIRST + 18), 0)},
            "dump must be of a learner that has learned rows, got none",
        ),
    ],
)
def test_what_is_not_a_dump_is_refused_by_its_rule(changes, message):
    numbers = list(DUMP)
    for i, value in changes.items():
        numbers[i] = value
    with pytest.raises(ValueError, match=message) as error:
        from_micropython(dumped(numbers))
    assert "\n" not in str(error.value)


def test_spoilt_bytes_are_refused():
    whole = dumped(DUMP)
    with pytest.raises(ValueError, match=r"at least 36, got 0"):
        from_micropython(b"")
    with pytest.raises(ValueError, match="dump must have a multiple of 4 bytes"):
        from_micropython(whole[:-1])
    spoilt = bytearray(whole)
    spoilt[50] ^= 1
    with pytest.raises(ValueError, match="damaged: its checksum"):
        from_micropython(spoilt)


def mutant(rng):
    """Numbers of a dump, a few of them changed, most often those of slots."""
    numbers = list(DUMP)
    for i in rng.integers(FIRST if rng.random() < 0.8 else 1, len(numbers), rng.integers(1, 4)):
        near = numbers[i] + int(rng.integers(-40, 41))
        other = int(rng.choice([0, 1, -1, 2047, 16000, 499999999, 2**31 - 1, -(2**31)]))
        numbers[i] = min(max(near if rng.random() < 0.6 else other, -(2**31)), 2**31 - 1)
    return numbers


@pytest.mark.parametrize("seed", range(3))
def test_computer_and_board_refuse_the_same_mutants(seed):
    rng = np.random.default_rng(seed)
    accepted = 0
    for _ in range(150):
        dump = dumped(mutant(rng))
        try:
            learner = mapdpm_batch.load(dump)
        except ValueError:
            with pytest.raises(ValueError, match=r"^dump "):
                from_micropython(dump)
        else:
            accepted += 1
            model = from_micropython(dump)
            assert sorted(model.counts_) == sorted(count for count in learner.counts if count)
            assert np.isfinite(model.neg_log_joint_)
    assert 10 <= accepted <= 130
