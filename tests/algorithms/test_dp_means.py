"""DP-means: the algorithm against a naive statement of it, and the estimator."""

import inspect
import time

import numpy as np
import pytest
from cases import blobs, compressed, needs_kernels
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite import DPMeans, NotFittedError


def naive_dp_means(X, lam):
    """Algorithm 1 of Kulis & Jordan (2012) as it is printed: labels and objectives."""
    labels, centres = np.zeros(len(X), dtype=int), X.mean(axis=0)[None]
    objectives = [((X - centres[0]) ** 2).sum() + lam]
    while True:
        before = labels.copy()
        for i, x in enumerate(X):
            d = ((x - centres) ** 2).sum(axis=1)
            if d.min() > lam:
                centres = np.vstack([centres, x])
                labels[i] = len(centres) - 1
            else:
                labels[i] = d.argmin()
        moved = (labels != before).any()
        used, labels = np.unique(labels, return_inverse=True)
        centres = np.array([X[labels == k].mean(axis=0) for k in range(len(used))])
        objectives.append(((X - centres[labels]) ** 2).sum() + lam * len(centres))
        if not moved:
            return labels, centres, objectives


def naive_farthest_first(X, n_clusters):
    chosen = [X.mean(axis=0)]
    for _ in range(n_clusters):
        d = np.min([((X - c) ** 2).sum(axis=1) for c in chosen], axis=0)
        chosen.append(X[d.argmax()])
    return d.max()


def run(twin, X, lam, weights=None, max_iter=100, order=None):
    labels = np.empty(len(X), dtype=np.intp)
    rows = twin.rows.Rows(X, weights)
    return labels, *twin.dp_means.fit_centres(rows, lam, labels, max_iter, order)


@st.composite
def tables(draw, max_rows=25):
    """Gridded values, so that ties and duplicates are common; weights, and a price."""
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, 3))
    cells = draw(st.lists(st.integers(-9, 9), min_size=n * d, max_size=n * d))
    step = draw(st.sampled_from([1.0, 0.1, 3.7e5]))
    X = step * np.array(cells, dtype=float).reshape(n, d)
    kinds = st.sampled_from([1.0, 2.0, 0.3, 7.5])
    weights = np.array(draw(st.lists(kinds, min_size=n, max_size=n)))
    return X, weights, step**2 * draw(st.sampled_from([0.0, 1.0, 4.0, 17.0, 500.0]))


@pytest.mark.parametrize("seed", range(8))
def test_labels_and_trace_are_those_of_algorithm_1(twin, seed):
    """Continuous data: no ties."""
    X, _ = blobs(n_rows=120, n_columns=(1, 2, 9, 40)[seed % 4], n_clusters=5, seed=seed)
    lam = (3.0, 60.0)[seed % 2] * X.shape[1]
    labels, centres, inertia, trace, converged = run(twin, X, lam)
    expected, expected_centres, objectives = naive_dp_means(X, lam)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_allclose(centres, expected_centres, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(trace, objectives, rtol=1e-10)
    assert inertia == pytest.approx(objectives[-1] - lam * len(centres), rel=1e-9)
    assert converged


def test_passes_are_told_and_may_be_ended(twin):
    X, lam = blobs(n_rows=200, n_clusters=5, seed=1)[0], 9.0
    labels, _, _, full, _ = run(twin, X, lam)
    told = []
    for until in range(1, len(full)):
        calls = []

        def after_pass(objective, n_clusters, until=until, calls=calls):
            calls.append((objective, n_clusters))
            return len(calls) == until

        found = np.empty(len(X), dtype=np.intp)
        rows = twin.rows.Rows(X)
        centres, _, trace, converged = twin.dp_means.fit_centres(
            rows, lam, found, 100, None, after_pass
        )
        assert trace == full[: until + 1]
        assert calls[-1] == (trace[-1], len(centres))
        assert converged == (until == len(full) - 1)
        told.append(calls)
    np.testing.assert_array_equal(found, labels)
    assert len(told) > 2


@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_the_objective_never_rises_and_ends_where_no_row_can_do_better(twin, table):
    X, weights, lam = table
    labels, centres, inertia, trace, converged = run(twin, X, lam, weights)
    assert converged
    assert (np.diff(trace) <= 1e-9 * trace[0]).all()
    assert sorted(set(labels)) == list(range(len(centres)))
    d = ((X[:, None] - np.array(centres)) ** 2).sum(axis=2)
    slack = 1e-9 * d.max() + 1e-12 * (X**2).sum()
    own = d[np.arange(len(X)), labels]
    assert inertia == pytest.approx(weights @ own, rel=1e-9, abs=slack * weights.sum())
    assert (own <= d.min(axis=1) + slack).all()
    assert (np.minimum(weights, 1.0) * own <= lam + slack).all()
    for k, centre in enumerate(centres):
        mean = np.average(X[labels == k], axis=0, weights=weights[labels == k])
        np.testing.assert_allclose(centre, mean, rtol=1e-9, atol=1e-9 * np.abs(X).max())


@settings(max_examples=100, deadline=None)
@given(table=tables(), seed=st.integers(0, 3), n=st.integers(1, 25))
def test_twins_agree(twins, table, seed, n):
    X, weights, lam = table
    order = np.random.default_rng(seed).permutation(len(X)).astype(np.intp) if seed else None
    plain, kernel = (run(twin, X, lam, weights, order=order) for twin in twins)
    assert plain[0].tolist() == kernel[0].tolist()
    assert (plain[4], len(plain[3])) == (kernel[4], len(kernel[3]))
    for ours, theirs in zip(plain[1:4], kernel[1:4], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12 * (1.0 + (X**2).sum()))
    n = min(n, len(X))
    prices = [twin.dp_means.farthest_first(twin.rows.Rows(X, weights), n) for twin in twins]
    assert prices[0] == pytest.approx(prices[1], rel=1e-9, abs=1e-20 * (X**2).sum())


def test_a_weight_is_so_many_rows(twin):
    X, _ = blobs(n_rows=40, n_clusters=4, seed=1)
    copies = np.random.default_rng(0).integers(1, 4, size=40)
    light = run(twin, X, 9.0, copies.astype(float))
    repeated = run(twin, X.repeat(copies, axis=0), 9.0)
    np.testing.assert_array_equal(light[0].repeat(copies), repeated[0])
    for ours, theirs in zip(light[1:4], repeated[1:4], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_sparse_rows_are_rows(twin):
    X = np.random.default_rng(0).normal(size=(50, 6)) * 3.0
    X[np.abs(X) < 2.0] = 0.0
    sparse = compressed(twin, X)
    labels = np.empty(50, dtype=np.intp)
    found = twin.dp_means.fit_centres(sparse, 30.0, labels, 100)
    expected, *dense = run(twin, X, 30.0)
    np.testing.assert_array_equal(labels, expected)
    for ours, theirs in zip(found[:3], dense[:3], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    prices = [twin.dp_means.farthest_first(rows, 4) for rows in (sparse, twin.rows.Rows(X))]
    assert prices[0] == pytest.approx(prices[1], rel=1e-12)


def test_an_order_of_visits_is_as_rows_in_that_order(twin):
    X, _ = blobs(n_rows=50, n_clusters=5, seed=4)
    order = np.random.default_rng(1).permutation(50).astype(np.intp)
    labels, centres, *_ = run(twin, X, 12.0, order=order)
    permuted, others, *_ = run(twin, X[order], 12.0)
    np.testing.assert_array_equal(labels[order], permuted)
    np.testing.assert_allclose(centres, others, rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_neither_offset_nor_scale_matter(twin, offset, scale):
    X = np.round(blobs(n_rows=60, seed=2)[0] * 256) / 256  # exact at any offset
    expected, centres, _, trace, _ = run(twin, X, 9.0)
    labels, moved, _, others, _ = run(twin, (X + offset) * scale, 9.0 * scale**2)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_allclose(others, np.array(trace) * scale**2, rtol=1e-6)
    np.testing.assert_allclose(np.array(moved) / scale - offset, centres, atol=1e-7)


def test_duplicates_share_a_cluster_even_if_it_is_free(twin):
    X = np.array([[0.1], [0.7], [0.1], [0.3], [0.7], [0.1]])
    labels, centres, inertia, _, converged = run(twin, X, 0.0)
    assert len(centres) == 3
    assert (np.equal.outer(labels, labels) == np.equal.outer(X[:, 0], X[:, 0])).all()
    assert inertia == pytest.approx(0.0, abs=1e-25)
    assert converged


def test_passes_end_at_max_iter(twin):
    X, _ = blobs(n_rows=200, n_clusters=6, seed=5)
    _, _, _, trace, converged = run(twin, X, 4.0, max_iter=2)
    assert (len(trace), converged) == (3, False)
    assert trace == run(twin, X, 4.0)[3][:3]


def test_of_equals_a_row_stays_where_it_is(twin):
    """The row at 0 is as far from both others' centres, which its own pass opened."""
    X = np.array([[0.0], [-2.0], [2.0]])
    labels, centres, *_ = run(twin, X, 3.0)
    assert labels.tolist() == [0, 1, 2]
    assert np.ravel(centres).tolist() == [0.0, -2.0, 2.0]


@pytest.mark.parametrize("seed", range(5))
def test_farthest_first(twin, seed):
    X, _ = blobs(n_rows=80, n_columns=1 + 5 * seed, seed=seed)
    for n in (1, 2, 5, 80):
        price = twin.dp_means.farthest_first(X, n)
        assert price == pytest.approx(naive_farthest_first(X, n), rel=1e-9)
    _, centres, *_ = run(twin, X, twin.dp_means.farthest_first(X, 1))
    assert len(centres) == 1  # no row is farther from the mean


def test_farthest_first_of_fewer_different_rows(twin):
    X = np.array([[0.1], [0.7], [0.1], [0.7]])
    assert twin.dp_means.farthest_first(X, 3) == pytest.approx(0.0, abs=1e-25)


def test_squared_distances(twin):
    rng = np.random.default_rng(0)
    X, centres = rng.normal(size=(7, 3)) + 1e8, rng.normal(size=(40, 3)) + 1e8
    out = np.empty((7, 40))
    twin.dp_means.squared_distances(X, centres, out)
    np.testing.assert_allclose(out, ((X[:, None] - centres) ** 2).sum(axis=2), rtol=1e-12)


def labels_of(n):
    return np.zeros(n, dtype=np.intp)


ERRORS = {
    "no row": (
        lambda m: m.fit_centres(np.zeros((0, 2)), 1.0, labels_of(0), 9),
        "X must have rows and columns, got shape (0, 0)",
    ),
    "no column": (
        lambda m: m.farthest_first(np.zeros((3, 0)), 1),
        "X must have rows and columns, got shape (3, 0)",
    ),
    "lam": (
        lambda m: m.fit_centres(np.zeros((2, 2)), -1.0, labels_of(2), 9),
        "lam must not be negative, got -1.0",
    ),
    "lam NaN": (
        lambda m: m.fit_centres(np.zeros((2, 2)), np.nan, labels_of(2), 9),
        "lam must not be negative, got nan",
    ),
    "labels": (
        lambda m: m.fit_centres(np.zeros((2, 2)), 1.0, labels_of(3), 9),
        "labels must have 2 values, got 3",
    ),
    "order": (
        lambda m: m.fit_centres(np.zeros((2, 2)), 1.0, labels_of(2), 9, labels_of(2)),
        "order must hold each of 2 rows once",
    ),
    "n_clusters": (
        lambda m: m.farthest_first(np.zeros((2, 2)), 3),
        "n_clusters must be from 1 to 2, got 3",
    ),
    "centres": (
        lambda m: m.squared_distances(np.zeros((2, 2)), np.zeros((1, 3)), np.zeros((2, 1))),
        "row must have 3 values, got 2",
    ),
    "out": (
        lambda m: m.squared_distances(np.zeros((2, 2)), np.zeros((1, 2)), np.zeros((2, 2))),
        "out must have shape (2, 1), got (2, 2)",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_state_the_rule_that_is_broken(twin, case):
    call, message = ERRORS[case]
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        call(twin.dp_means)
    assert str(caught.value) == message


# The estimator, on both implementations.


@pytest.fixture
def model(estimator):
    assert estimator is not DPMeans  # it is asked for because it chooses the implementation
    return DPMeans


@pytest.mark.parametrize("seed", range(6))
def test_the_number_of_separated_clusters_is_found(model, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(5, size=150)
    means = 30.0 * np.array([[0, 0], [1, 0], [0, 1], [-1, 0.3], [0.2, -1]])
    X = means[truth] + rng.normal(size=(150, 2))
    fitted = model(n_clusters=5).fit(X)
    assert 4 <= fitted.n_clusters_ <= 6
    assert fitted.lam_ == pytest.approx(naive_farthest_first(X, 5))
    fitted = model(lam=100.0).fit(X)
    pairs = np.equal.outer(fitted.labels_, fitted.labels_)
    np.testing.assert_array_equal(pairs, np.equal.outer(truth, truth))


def test_fitted_attributes(model):
    X, _ = blobs(n_rows=90, n_columns=3, n_clusters=4, seed=6)
    fitted = model(lam=30.0).fit(X)
    labels, centres, objectives = naive_dp_means(X, 30.0)
    assert fitted.n_clusters_ == len(centres) > 2
    assert (np.diff(np.bincount(fitted.labels_)) <= 0).all()  # largest first
    np.testing.assert_array_equal(
        np.equal.outer(fitted.labels_, fitted.labels_), np.equal.outer(labels, labels)
    )
    np.testing.assert_allclose(fitted.cluster_centers_[fitted.labels_], centres[labels])
    np.testing.assert_allclose(fitted.objective_trace_, objectives)
    assert fitted.objective_ == fitted.objective_trace_[-1]
    assert fitted.objective_ == pytest.approx(fitted.inertia_ + 30.0 * fitted.n_clusters_)
    assert (fitted.n_iter_, fitted.converged_) == (len(objectives) - 1, True)
    assert (fitted.lam_, fitted.n_features_in_) == (30.0, 3)


def test_rows_are_predicted_by_the_nearest_centre(model):
    X, _ = blobs(n_rows=90, seed=7)
    fitted = model(lam=40.0).fit(X)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    np.testing.assert_array_equal(model(lam=40.0).fit_predict(X), fitted.labels_)
    distances = np.linalg.norm(X[:, None] - fitted.cluster_centers_, axis=2)
    np.testing.assert_allclose(fitted.transform(X), distances, rtol=1e-12)
    np.testing.assert_allclose(model(lam=40.0).fit_transform(X), distances, rtol=1e-12)
    names = [f"dpmeans{k}" for k in range(fitted.n_clusters_)]
    assert fitted.get_feature_names_out().tolist() == names
    with pytest.raises(NotFittedError):
        model(lam=40.0).get_feature_names_out()
    assert fitted.score(X) == pytest.approx(-fitted.objective_)
    weights = np.arange(90.0)
    expected = -(weights @ distances.min(axis=1) ** 2) - 40.0 * fitted.n_clusters_
    assert fitted.score(X, sample_weight=weights) == pytest.approx(expected)
    far = np.vstack([X, np.full((1, X.shape[1]), 1e200)])
    assert fitted.score(far, sample_weight=np.r_[weights, 0.0]) == pytest.approx(expected)


def test_many_rows_are_predicted_in_chunks(model, monkeypatch):
    X, _ = blobs(n_rows=90, seed=7)
    fitted = model(lam=40.0).fit(X)
    expected, score = fitted.predict(X), fitted.score(X)
    monkeypatch.setitem(inspect.unwrap(DPMeans.predict).__globals__, "CHUNK", 7)
    np.testing.assert_array_equal(fitted.predict(X), expected)
    assert fitted.score(X) == pytest.approx(score)


def test_sample_weights(model):
    X, _ = blobs(n_rows=60, seed=8)
    copies = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = model(lam=20.0).fit(X, sample_weight=copies)
    repeated = model(lam=20.0).fit(X.repeat(copies, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_)
    np.testing.assert_array_equal(weighted.predict(X), weighted.labels_)
    order = np.lexsort(weighted.cluster_centers_.T), np.lexsort(repeated.cluster_centers_.T)
    np.testing.assert_allclose(
        weighted.cluster_centers_[order[0]], repeated.cluster_centers_[order[1]]
    )


def test_restarts_keep_the_best(model, capsys):
    X, _ = blobs(n_rows=100, n_clusters=8, seed=9)
    once = model(lam=6.0).fit(X)
    best = model(lam=6.0, n_init=8, random_state=0, verbose=True).fit(X)
    assert best.objective_ < once.objective_
    again = model(lam=6.0, n_init=8, random_state=0).fit(X)
    np.testing.assert_array_equal(best.labels_, again.labels_)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert lines[0].startswith(f"start 1: {once.n_clusters_} clusters after {once.n_iter_} passes")


def test_a_failed_fit_leaves_the_fitted_model(model):
    fitted = model(n_clusters=2).fit([[0.0], [1.0], [9.0]])
    before = {name: np.copy(value) for name, value in vars(fitted).items() if name.endswith("_")}
    with pytest.raises(ValueError, match="random_state must be"):
        fitted.set_params(n_clusters=1, random_state="x").fit([[5.0], [7.0], [8.0]])
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(fitted, name), value)


def test_one_row_equal_rows_and_wide_rows_are_clustered(model):
    assert model(n_clusters=1).fit([[5.0]]).labels_.tolist() == [0]
    constant = model(n_clusters=2).fit(np.full((6, 2), 0.1))
    assert (constant.n_clusters_, constant.lam_) == (1, 0.0)
    wide = np.zeros((4, 3000), order="F", dtype=np.float32)
    wide[2:] = 1.0
    assert model(lam=100.0).fit(wide).labels_.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "exactly one of lam and n_clusters must be given, got lam=None and n_clusters=None"),
        ({"lam": 1.0, "n_clusters": 2}, "exactly one .* got lam=1.0 and n_clusters=2"),
        ({"lam": 0.0}, r"lam must be positive, got 0\.0"),
        ({"n_clusters": 2.5}, r"n_clusters must be a whole number of at least 1, got 2\.5"),
        ({"n_clusters": 9}, r"n_clusters must not exceed the rows \(n_samples=4\), got 9"),
        ({"lam": 1.0, "max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"lam": 1.0, "n_init": 0}, "n_init must be a whole number of at least 1, got 0"),
        ({"lam": 1.0, "verbose": 0.5}, "verbose must be True or False, or .*, got 0.5"),
        ({"lam": 1.0, "random_state": -1}, "random_state must be a whole number of at least 0"),
    ],
)
def test_bad_parameters(given, message):
    with pytest.raises(ValueError, match=message):
        DPMeans(**given).fit(np.arange(8.0).reshape(4, 2))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"sample_weight must have shape \(4,\), got \(1,\)"),
        ([1, 1, -2, 1], r"sample_weight must be finite and not negative, got -2\.0 in row 2"),
        ([1, np.nan, 1, 1], "sample_weight must be finite and not negative, got nan in row 1"),
        ([0, 0, 0, 0], "sample_weight must not be zero for every row"),
    ],
)
def test_an_error_names_the_rule_that_weights_break(weights, message):
    with pytest.raises(ValueError, match=message):
        DPMeans(lam=1.0).fit(np.arange(8.0).reshape(4, 2), sample_weight=weights)


def test_too_narrow_tables():
    with pytest.raises(ValueError, match=r"X must have a column 1e-140 wide, .*, got 2e-200"):
        DPMeans(lam=1.0).fit([[0.0], [1e-200], [2e-200]])
    assert DPMeans(lam=1.0, max_iter=2**62).fit([[1.0], [1.0]]).n_clusters_ == 1


def test_too_wide_tables():
    with pytest.raises(
        ValueError, match=r"X must have columns less than 1e\+140 wide, got 2e\+200"
    ):
        DPMeans(lam=1.0).fit([[1e200], [-1e200]])


@needs_kernels
@pytest.mark.parametrize("parameters", [{"n_clusters": 3000}, {"lam": 1.0}])
def test_an_interrupt_stops_it_within_a_pass(interrupt_after, parameters):
    """Passes over so many rows and centres take seconds."""
    X = np.random.default_rng(0).normal(size=(200_000, 8))
    interrupt_after(0.5)
    start = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        DPMeans(**parameters).fit(X)
    assert time.process_time() - start < 2.0
