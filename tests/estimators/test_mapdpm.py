"""The estimator: what it finds, promises and refuses."""

import functools
import pickle
import subprocess
import sys
import time

import naive
import numpy as np
import pytest
from cases import PURE, blobs, empirical_prior, needs_kernels
from hypothesis import given, settings
from hypothesis import strategies as st

import dpmlite
from dpmlite import MAPDPM, NotFittedError
from dpmlite.datasets import crp_mixture, load_sensors


@pytest.fixture(scope="module")
def fitted():
    X, _ = blobs(n_rows=90, seed=3)
    return MAPDPM(prior="paper", random_state=0).fit(X), X


def test_it_finds_the_clusters(estimator):
    X, truth = blobs(n_rows=90, seed=3)
    model = estimator(random_state=0).fit(X)
    assert naive.canonical(model.labels_) == naive.canonical(truth)
    assert model.n_clusters_ == 3
    assert model.converged_


def test_fitted_attributes_are_consistent(estimator):
    X, _ = blobs(n_rows=60, n_columns=3, seed=5)
    model = estimator(alpha=2.0, random_state=0).fit(X)
    prior = empirical_prior(X)
    labels, k = model.labels_, model.n_clusters_
    assert labels.dtype == np.intp
    assert sorted(set(labels)) == list(range(k))
    assert (np.diff(model.counts_) <= 0).all()
    np.testing.assert_array_equal(model.counts_, np.bincount(labels))
    np.testing.assert_allclose(model.weights_, model.counts_ / 60, rtol=1e-15)
    for j in range(k):
        m, _, _, _ = naive.posterior(X[labels == j], prior)
        np.testing.assert_allclose(model.means_[j], m, rtol=1e-9)
    for key in prior:
        np.testing.assert_allclose(model.prior_[key], prior[key], rtol=1e-12)
    joint = naive.neg_log_joint(X, labels, 2.0, prior)
    assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-9)
    assert model.neg_log_joint_trace_[-1] == pytest.approx(joint, rel=1e-9)
    assert (np.diff(model.neg_log_joint_trace_) <= 0.0).all()
    assert model.neg_log_joint_ == dpmlite.neg_log_joint(X, labels, alpha=2.0)
    assert model.neg_log_loo_ == dpmlite.neg_log_loo(X, labels, alpha=2.0)
    assert model.alpha_ == 2.0
    assert model.n_features_in_ == 3
    assert 0 < model.n_sweeps_ < 1000


def test_the_paper_s_algorithm_to_the_letter(estimator):
    """From one cluster it does not even leave it where three are plain to see."""
    X, _ = blobs(n_rows=60, seed=1)
    prior = empirical_prior(X)
    model = estimator(init="single", split_merge=False).fit(X)
    labels = [0] * 60
    while naive.sweep(X, labels, 1.0, prior):
        pass
    assert naive.canonical(model.labels_) == naive.canonical(labels)
    assert model.n_clusters_ == 1
    assert estimator(random_state=0).fit(X).n_clusters_ == 3


def test_the_model_counts_clusters_that_lose_their_last_row(estimator):
    X, _ = blobs(n_rows=60, seed=1)
    single = estimator(init="single", split_merge=False).fit(X)
    assert single.n_empty_clusters_ == 0
    singletons = estimator(init="singletons", split_merge=False).fit(X)
    assert singletons.n_empty_clusters_ == 60 - singletons.n_clusters_


INITS = ["auto", "single", "unreinforced", "singletons", "random", "sequential", "search"]


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("split_merge", [True, False])
def test_every_start_descends(estimator, init, split_merge):
    X, _ = blobs(n_rows=40, seed=7)
    model = estimator(init=init, split_merge=split_merge, n_init=2, random_state=0).fit(X)
    assert (np.diff(model.neg_log_joint_trace_) <= 0.0).all()
    assert model.neg_log_joint_ == pytest.approx(model.neg_log_joint_trace_[-1], rel=1e-9)
    assert model.converged_


@pytest.mark.parametrize("split_merge", [True, False])
def test_rows_are_visited_in_random_orders(estimators, split_merge):
    """The orders follow from the seed: both implementations draw the same."""
    X, _ = blobs(n_rows=60, n_clusters=6, seed=4)
    fits = [
        estimator(init="unreinforced", order="random", split_merge=split_merge, random_state=1).fit(
            X
        )
        for estimator in estimators
    ]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    assert fits[0].n_sweeps_ == fits[1].n_sweeps_
    assert (np.diff(fits[0].neg_log_joint_trace_) <= 0.0).all()
    assert fits[0].converged_


def test_orders_differ_from_sweep_to_sweep(monkeypatch):
    X, _ = blobs(n_rows=60, n_clusters=6, seed=4)
    orders, sweep = [], dpmlite.sweeps.sweep
    monkeypatch.setattr(
        dpmlite.sweeps, "sweep", lambda p, order=None: orders.append(order) or sweep(p, order)
    )
    for order in ("random", "fixed"):
        orders.clear()
        MAPDPM(prior="paper", init="random", order=order, split_merge=False, random_state=0).fit(X)
        assert len(orders) > 1
        for visited in orders:
            assert (visited is None) == (order == "fixed")
            assert visited is None or sorted(visited) == list(range(60))
        assert order == "fixed" or (orders[0] != orders[1]).any()


def test_an_unreinforced_start_leaves_the_single_cluster(estimator):
    X, _ = crp_mixture(120, alpha=3.0, random_state=5)
    prior = {"m0": [1.0, 1.0], "c0": 0.1, "a0": 1.0, "b0": [10.0, 10.0]}
    one, model = (
        estimator(init=init, prior=prior, alpha=3.0, split_merge=False).fit(X)
        for init in ("single", "unreinforced")
    )
    assert model.neg_log_joint_ < one.neg_log_joint_ - 10.0
    assert model.n_sweeps_ == len(model.neg_log_joint_trace_)  # that of the start is one of them


def test_the_trace_begins_with_the_joint_of_the_labels_given(estimator):
    X, truth = blobs(n_rows=40, seed=7)
    names = np.array(["a", "b", "c"])[truth]
    model = estimator(init=names, split_merge=False).fit(X)
    joint = naive.neg_log_joint(X, truth, 1.0, empirical_prior(X))
    assert model.neg_log_joint_trace_[0] == pytest.approx(joint, rel=1e-9)


def test_results_depend_on_the_seed_alone():
    X, _ = crp_mixture(40 if PURE else 80, random_state=1)
    one = MAPDPM(prior="paper", n_init=4, random_state=3).fit(X)
    for n_jobs in (2, None) if PURE else (1, 2, -1, None, 2**70):
        again = MAPDPM(prior="paper", n_init=4, random_state=3, n_jobs=n_jobs).fit(X)
        np.testing.assert_array_equal(one.labels_, again.labels_)
        assert one.neg_log_joint_ == again.neg_log_joint_
        np.testing.assert_array_equal(one.neg_log_joint_trace_, again.neg_log_joint_trace_)


@pytest.mark.parametrize(
    "source", [np.random.RandomState, np.random.default_rng, np.random.SeedSequence, int]
)
def test_every_source_of_chance_repeats_itself(source):
    X, _ = crp_mixture(60, random_state=1)
    one, other = (MAPDPM(prior="paper", n_init=2, random_state=source(5)).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    draws = [one.sample(5, random_state=source(6))[0] for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    partitions = [dpmlite.crp_sample(9, 1.0, random_state=source(7)) for _ in range(2)]
    np.testing.assert_array_equal(*partitions)


def test_a_failed_fit_leaves_the_fitted_model(fitted):
    model, X = fitted
    before = model.predict(X)
    with pytest.raises(ValueError, match="finite"):
        model.fit(np.full((4, 5), np.nan))
    model.set_params(prior={"b0": [1.0] * 9})
    with pytest.raises(ValueError, match="prior b0 must have shape"):
        model.fit(np.eye(5))
    model.set_params(prior=None)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("n_rows", [1, 5, 50])
def test_the_density_of_the_default_prior_is_one(n_rows):
    X = np.random.default_rng(n_rows).normal(2.0, 3.0, size=(n_rows, 1))
    model = MAPDPM(prior="paper", random_state=0).fit(X)
    v = (np.arange(20_000) + 0.5) * np.pi / 20_000 - np.pi / 2.0
    density = np.exp(model.score_samples(2.0 + 3.0 * np.tan(v)[:, None]))
    assert np.sum(density * 3.0 / np.cos(v) ** 2) * np.pi / 20_000 == pytest.approx(1.0, rel=1e-3)


@needs_kernels
@pytest.mark.parametrize(
    ("shape", "n_columns", "n_each"), [((2, 8), 2, 500), ((1, 8), 5, 2000), ((1, 12), 3, 1500)]
)
def test_clusters_in_a_row_are_found(shape, n_columns, n_each):
    """To halve a row of clusters gains nothing, and in a part of the rows nothing else does."""
    corners = np.zeros((shape[0] * shape[1], n_columns))
    corners[:, :2] = np.indices(shape).reshape(2, -1).T * 30.0
    labels = np.repeat(np.arange(len(corners)), n_each)
    for seed in range(3):
        noise = np.random.default_rng(seed).normal(size=(len(labels), n_columns))
        model = MAPDPM(prior="paper", random_state=seed).fit(corners[labels] + noise)
        np.testing.assert_array_equal(model.labels_, labels)


def test_more_restarts_are_no_worse():
    X, _ = crp_mixture(30 if PURE else 60, random_state=2)
    models = [MAPDPM(prior="paper", n_init=n, random_state=0).fit(X) for n in (1, 3, 9)]
    joints = [model.neg_log_joint_ for model in models]
    assert joints[0] >= joints[1] >= joints[2]


def test_a_fit_that_reaches_max_sweeps_has_not_converged():
    X, _ = crp_mixture(80, random_state=1)
    model = MAPDPM(prior="paper", max_sweeps=1, init="singletons", random_state=0).fit(X)
    assert model.n_sweeps_ == 1
    assert not model.converged_


TABLES = {
    "blobs": lambda: blobs(n_rows=60, n_columns=4, seed=3)[0],
    "sensors": lambda: load_sensors()[0][:80],
    "section 4.1": lambda: crp_mixture(80, random_state=5)[0],
}


@functools.cache
def table_and_labels(name):
    X = TABLES[name]()
    return X, MAPDPM(prior="paper", random_state=0).fit(X).labels_


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("shift", [0.0, 1e3, -1e8])
@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12, -0.3])
def test_labels_do_not_depend_on_units_or_origin(name, scale, shift):
    """Shifts are in the units of the columns: more digits than doubles have cannot be kept."""
    X, expected = table_and_labels(name)
    columns = np.linspace(0.5, 2.0, X.shape[1])
    moved = scale * (X * columns + shift * X.std(axis=0))
    of_moved = MAPDPM(prior="paper", random_state=0).fit(moved)
    np.testing.assert_array_equal(of_moved.labels_, expected)


@needs_kernels
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), power=st.integers(-40, 40))
def test_powers_of_two_change_nothing_at_all(seed, power):
    X, _ = blobs(n_rows=40, seed=seed)
    one, other = (MAPDPM(prior="paper", random_state=0).fit(x) for x in (X, X * 2.0**power))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    shift = X.size * power * np.log(2.0)
    assert other.neg_log_joint_ == pytest.approx(one.neg_log_joint_ + shift, rel=1e-9, abs=1e-6)


def test_predictions_agree(fitted):
    model, X = fitted
    new = np.concatenate([X[:20], [[500.0, 500.0]]])
    proba, mass = model.predict_proba(new), model.new_cluster_proba(new)
    assert proba.shape == (21, 3)
    np.testing.assert_allclose(proba.sum(axis=1) + mass, 1.0, rtol=1e-12)
    labels = model.predict(new)
    assert labels[-1] == -1
    np.testing.assert_array_equal(labels[:20], proba[:20].argmax(axis=1))
    np.testing.assert_array_equal(labels[:20], model.labels_[:20])
    assert model.score(new) == pytest.approx(model.score_samples(new).mean())
    repeats = np.arange(21) % 3
    weighted = model.score(new, sample_weight=repeats)
    assert weighted == pytest.approx(model.score(np.repeat(new, repeats, axis=0)))
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(21,\), got \(20,\)"):
        model.score(new, sample_weight=repeats[1:])
    assert model.fit_predict(X).tolist() == model.labels_.tolist()


def test_samples_follow_the_density(fitted):
    model, _ = fitted
    X, labels = model.sample(20_000, random_state=0)
    assert X.shape == (20_000, 2)
    shares = model.counts_ / (model.alpha_ + model.counts_.sum())
    for k, share in enumerate(shares):
        assert (labels == k).mean() == pytest.approx(share, abs=0.02)
        middle = np.median(X[labels == k], axis=0)
        np.testing.assert_allclose(middle, model.means_[k], atol=0.1)
    new_share = model.alpha_ / (model.alpha_ + 90)
    assert (labels == -1).mean() == pytest.approx(new_share, abs=0.005)
    again, _ = model.sample(20_000, random_state=0)
    np.testing.assert_array_equal(X, again)


@pytest.mark.parametrize("unit", [1e-155, 1e150])
def test_samples_are_of_the_scale_of_the_rows(unit):
    X, _ = blobs(n_rows=60)
    rows, labels = MAPDPM(prior="paper", random_state=0).fit(X).sample(500, random_state=0)
    scaled, again = MAPDPM(prior="paper", random_state=0).fit(X * unit).sample(500, random_state=0)
    np.testing.assert_array_equal(again, labels)
    np.testing.assert_allclose(scaled / unit, rows, rtol=1e-5, atol=1e-5)


def test_a_pickle_predicts_alike_and_repr_has_what_is_no_default(fitted):
    model, X = fitted
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert repr(MAPDPM(alpha=2.0, n_init=3)) == "MAPDPM(alpha=2.0, n_init=3)"
    assert repr(MAPDPM()) == "MAPDPM()"


def test_methods_before_fit_are_an_error():
    model = MAPDPM(prior="paper")
    for call in (
        lambda: model.predict([[0.0]]),
        lambda: model.score_samples([[0.0]]),
        lambda: model.sample(),
        lambda: model.save("nowhere"),
    ):
        with pytest.raises(NotFittedError, match="this MAPDPM is not fitted yet: call fit first"):
            call()


def test_verbose_shows_progress(capsys):
    X, _ = blobs(n_rows=40)
    MAPDPM(prior="paper", verbose=1, random_state=0).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert any("sweep" in line for line in lines)
    assert any("split" in line for line in lines)
    assert all("neg_log_joint" in line for line in lines)


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ on Windows")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_a_long_fit(n_jobs, tmp_path):
    n_rows = 30_000 if dpmlite.implementation == "cython" else 500
    code = (
        "import signal, numpy as np\n"
        "from dpmlite import MAPDPM\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"X = np.random.default_rng(0).normal(size=({n_rows}, 8)) ** 3\n"
        "print('go', flush=True)\n"
        f"MAPDPM(prior='paper', n_init=1000, random_state=0, n_jobs={n_jobs}).fit(X)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout.readline() == "go\n"
    time.sleep(1.0)
    process.send_signal(2)
    start = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - start < 30
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors


def test_the_verification_catches_a_wrong_joint(monkeypatch):
    """If a move lied about its change, the fit must fail loudly."""
    from dpmlite import moves

    real = moves.merge

    def lying(partition):
        merges = real(partition)
        partition.move(0, partition.labels[1], -1.0)
        return merges

    X, _ = blobs(n_rows=30)
    monkeypatch.setattr(moves, "merge", lying)
    with pytest.raises(ArithmeticError, match="please report this as a bug"):
        MAPDPM(prior="paper", init="single", max_sweeps=2, random_state=0).fit(X)
