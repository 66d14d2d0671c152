"""`MAPDPM()` with nothing told: the clusters that a person sees, whatever the units are."""

import pickle
import warnings

import numpy as np
import pytest
from cases import needs_kernels
from sklearn.metrics import adjusted_mutual_info_score

from dpmlite import MAPDPM
from dpmlite.estimators.default_model import automatic
from dpmlite.estimators.inputs.data import Data

# The default search takes minutes on the plain twins; its parts are tested on both.
pytestmark = needs_kernels

NORMAL_FAMILIES = ("normal-gamma", "normal-inverse-wishart")


def balls(n_rows=30, n_columns=3, n_balls=7, gap=8.0, seed=0):
    """Rows of balls of variance 1, whose centres are a gap apart at least, and their labels."""
    rng = np.random.default_rng(seed)
    centres = np.zeros((1, n_columns))
    while len(centres) < n_balls:
        centre = rng.uniform(-1.5 * gap, 1.5 * gap, size=n_columns)
        if np.linalg.norm(centres - centre, axis=1).min() > gap:
            centres = np.vstack([centres, centre])
    labels = np.repeat(np.arange(n_balls), n_rows)
    return centres[labels] + rng.normal(size=(len(labels), n_columns)), labels


def ring_and_ball(n_rows=3000, seed=0):
    """Rows on a ring, half as many in a ball inside, and their labels."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, size=n_rows)
    ring = 8.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.vstack([ring, np.zeros((n_rows // 2, 2))])
    return X + 0.6 * rng.normal(size=X.shape), np.repeat([0, 1], [n_rows, n_rows // 2])


def fit(X, **parameters):
    return MAPDPM(random_state=0, **parameters).fit(X)


def same_clusters(one, other):
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


def assert_same_clusters_of_components(other, ring_model, X):
    assert other.labels_.tolist() == ring_model.labels_.tolist()
    assert other.component_labels_.tolist() == ring_model.component_labels_.tolist()
    assert other.cluster_of_component_.tolist() == ring_model.cluster_of_component_.tolist()
    assert other.cluster_tree_.tolist() == ring_model.cluster_tree_.tolist()
    assert other.predict(X).tolist() == ring_model.predict(X).tolist()
    assert other.predict_proba(X).tolist() == ring_model.predict_proba(X).tolist()


NOISE = {
    "uniform": lambda rng, n: rng.uniform(size=(n, 2)),
    "normal": lambda rng, n: rng.normal(size=(n, 2)),
    "one column": lambda rng, n: rng.normal(size=(n, 1)),
    "correlated": lambda rng, n: rng.normal(size=(n, 10)) + rng.normal(size=(n, 1)),
    "one-hot": lambda rng, n: np.eye(6)[rng.integers(0, 6, n)],
    "rare bits": lambda rng, n: (rng.random((n, 20)) < 0.02).astype(float),
    "unlike widths": lambda rng, n: rng.normal(size=(n, 3)) * [1e-6, 1.0, 1e6],
    "bits": lambda rng, n: rng.integers(0, 2, size=(n, 8)),
    "unlike bits": lambda rng, n: rng.random((n, 4)) < [0.1, 0.2, 0.3, 0.5],
    "integers": lambda rng, n: rng.integers(0, 6, size=(n, 2)),
    "one column of integers": lambda rng, n: rng.integers(0, 6, size=(n, 1)),
    "heavy tails": lambda rng, n: rng.standard_t(3, size=(n, 10)),
    "heavy tails in many columns": lambda rng, n: rng.laplace(size=(n, 30)),
    "rounded": lambda rng, n: np.round(rng.normal(size=(n, 2)), 1),
    "rounded much": lambda rng, n: np.round(rng.normal(size=(n, 2))),
}


@pytest.mark.parametrize("kind", NOISE)
def test_noise_is_one_cluster(kind):
    X = NOISE[kind](np.random.default_rng(0), 500).astype(float)
    assert fit(X).n_clusters_ == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", NOISE)
def test_much_noise_is_one_cluster(kind):
    X = NOISE[kind](np.random.default_rng(1), 3000).astype(float)
    assert fit(X).n_clusters_ == 1


@pytest.mark.slow
def test_many_columns_of_bits_are_one_cluster():
    X = np.random.default_rng(2).integers(0, 2, size=(3000, 20)).astype(float)
    assert fit(X).n_clusters_ == 1


def wide(n_rows, n_columns, shift, seed=1):
    """Rows of three groups, each of which differs in a tenth of the columns, and labels."""
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(n_rows, n_columns)), rng.integers(3, size=n_rows)
    for k in range(3):
        X[np.ix_(labels == k, rng.choice(n_columns, n_columns // 10, replace=False))] += shift
    return X, labels


@pytest.mark.parametrize(("n_rows", "n_columns"), [(30, 300), (50, 500), (100, 1000)])
def test_few_rows_of_many_columns_of_noise_are_one_cluster(n_rows, n_columns):
    X, _ = wide(n_rows, n_columns, 0.0)
    assert fit(X).n_clusters_ == 1


def test_few_rows_of_many_heavy_tails_are_no_cluster_each():
    X = np.random.default_rng(1).standard_t(5, size=(30, 1000))
    assert fit(X).n_clusters_ == 1


@pytest.mark.parametrize(("n_rows", "n_columns"), [(50, 500), (50, 2000), (30, 1000)])
def test_few_rows_of_many_columns_are_the_groups_that_some_columns_show(n_rows, n_columns):
    X, labels = wide(n_rows, n_columns, 2.0)
    assert same_clusters(fit(X).labels_, labels)


@pytest.mark.parametrize("seed", range(3))
def test_seven_balls_are_seven_clusters(seed):
    X, labels = balls(seed=seed)
    assert same_clusters(fit(X).labels_, labels)


@pytest.mark.parametrize("decimals", [0, 1])
def test_rounded_balls_are_their_clusters(decimals):
    X, labels = balls()
    assert same_clusters(fit(np.round(X, decimals)).labels_, labels)


def test_balls_and_a_column_of_bits_are_the_balls():
    X, labels = balls()
    X = np.column_stack([X, np.random.default_rng(3).integers(0, 2, size=len(X))])
    assert same_clusters(fit(X).labels_, labels)


@pytest.mark.parametrize("component", ["auto", *NORMAL_FAMILIES])
def test_constant_columns_change_no_cluster(component):
    X, labels = balls()
    X = np.column_stack([np.full(len(X), 0.1), X, np.full(len(X), -1e6)])
    with pytest.warns(UserWarning, match="constant"):
        model = fit(X, component=component)
    assert same_clusters(model.labels_, labels)


def test_a_ring_and_a_ball_inside_are_two():
    X, labels = ring_and_ball()
    assert same_clusters(fit(X).labels_, labels)


@pytest.mark.parametrize("component", NORMAL_FAMILIES)
def test_units_origin_and_order_of_columns_change_no_label(component):
    X, _ = ring_and_ball(400)
    X = np.round(np.column_stack([X, X[:, 0] + np.random.default_rng(4).normal(size=len(X))]), 1)
    expected = fit(X, component=component)
    for other in (X + 1024.0, 2.0**20 * X, X * [2.0**-40, 1.0, 2.0**40], 0.37 * X):
        found = fit(other, component=component)
        assert found.labels_.tolist() == expected.labels_.tolist()
        assert found.component_labels_.tolist() == expected.component_labels_.tolist()
    found = fit(np.ascontiguousarray(X[:, [2, 0, 1]]), component=component)
    assert found.labels_.tolist() == expected.labels_.tolist()


@pytest.mark.parametrize("exponent", [-12, 12])
def test_extreme_units_change_no_cluster(exponent):
    X, labels = balls()
    assert same_clusters(fit(X * 10.0**exponent).labels_, labels)
    assert same_clusters(fit(X * 10.0 ** np.array([exponent, 0, -exponent])).labels_, labels)


@pytest.mark.parametrize("component", NORMAL_FAMILIES)
def test_a_far_origin_changes_no_cluster(component):
    X, labels = balls()
    assert same_clusters(fit(X + 1e8, component=component).labels_, labels)


@pytest.mark.slow
def test_ten_times_the_rows_leave_the_number_of_clusters():
    def skewed(n_rows):
        rng = np.random.default_rng(n_rows)
        shift = 6.0 * rng.integers(0, 4, size=(n_rows, 1))
        return np.hstack(
            [rng.exponential(size=(n_rows, 1)) + shift, rng.gamma(3, size=(n_rows, 1))]
        )

    counts = [fit(skewed(n_rows)).n_clusters_ for n_rows in (1000, 10_000)]
    assert abs(counts[1] - counts[0]) <= 0.2 * counts[0]


@pytest.mark.parametrize("weight", [0.1, 10.0])
def test_equal_weights_change_no_cluster_of_balls(weight):
    X, labels = balls()
    model = MAPDPM(random_state=0).fit(X, sample_weight=np.full(len(X), weight))
    assert len(model.statistics_) < 14
    assert same_clusters(model.labels_, labels)


def test_an_outlier_does_not_hide_three_states():
    """A reading of -9999 in every column, as some loggers write for none."""
    rng = np.random.default_rng(5)
    states = np.repeat([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], 100, axis=0)
    X = np.vstack([states + 0.05 * rng.normal(size=states.shape), np.full((1, 2), -9999.0)])
    with pytest.warns(UserWarning, match="of the variance"):
        found = fit(X).labels_
    assert same_clusters(found[:-1], np.repeat([0, 1, 2], 100))
    assert (found[:-1] != found[-1]).all()


@pytest.mark.slow
def test_an_outlier_outside_the_sample_is_no_error():
    """Beyond the reach of full covariance matrices, if the sample's rows set it."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(6000, 2)) + 12.0 * rng.integers(0, 2, size=(6000, 1))
    X[::2500] = -1e6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fit(X).n_clusters_ == 3


@pytest.mark.parametrize(
    "X",
    [
        np.ones((1, 1)),
        np.ones((1, 4)),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.full((50, 3), 0.1),
        np.repeat([[0.0, 1.0], [5.0, 5.0]], 40, axis=0),
        np.arange(6.0)[:, None],
        np.vstack([np.zeros((99, 2)), np.ones((1, 2))]),
    ],
    ids=["one cell", "one row", "two rows", "equal rows", "two rows often", "line", "one differs"],
)
def test_degenerate_tables_have_labels(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = fit(X)
    assert model.labels_.shape == (len(X),)
    assert np.isfinite(model.neg_log_joint_)
    assert np.isfinite(model.predict_proba(X)).all()
    for row in np.unique(X, axis=0):
        equal = (row == X).all(axis=1)
        assert len(set(model.labels_[equal])) == 1


def test_missing_cells_leave_the_balls():
    X, labels = balls(n_rows=60)
    X[np.random.default_rng(7).random(X.shape) < 0.1] = np.nan
    model = fit(X, allow_missing=True)
    assert model.component_ == "normal-gamma"
    assert model.n_clusters_ == 7
    assert np.mean(model.labels_ == fit(X, allow_missing=True).labels_) == 1.0
    whole = ~np.isnan(X).any(axis=1)
    assert same_clusters(model.labels_[whole], labels[whole])


def test_columns_that_the_sample_does_not_see_are_no_error():
    """One value among 4,000 rows, so that a sample may have none."""
    X = np.column_stack([balls(n_rows=600)[0], np.full(4200, np.nan)])
    X[17, 3] = 5.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert fit(X, allow_missing=True).n_clusters_ == 7


@pytest.fixture(scope="module")
def ring_model():
    return fit(ring_and_ball()[0])


def test_clusters_consist_of_components(ring_model):
    model = ring_model
    n_components = len(model.statistics_)
    assert n_components > model.n_clusters_
    of_component = model.cluster_of_component_
    assert of_component.shape == (n_components,)
    assert model.labels_.tolist() == of_component[model.component_labels_].tolist()
    assert model.component_counts_.tolist() == np.bincount(model.component_labels_).tolist()
    assert model.counts_.tolist() == np.bincount(model.labels_).tolist()
    assert model.weights_ == pytest.approx(model.counts_ / len(model.labels_))
    assert (np.diff(model.weights_) <= 0.0).all()
    X, _ = ring_and_ball()
    for k in range(model.n_clusters_):
        assert model.means_[k] == pytest.approx(X[model.labels_ == k].mean(axis=0), abs=0.1)


def test_the_tree_is_a_linkage_of_components(ring_model):
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    tree = ring_model.cluster_tree_
    assert tree.shape == (len(ring_model.statistics_) - 1, 4)
    assert hierarchy.is_valid_linkage(tree)
    cut = hierarchy.fcluster(tree, 0.4 - 1e-9, criterion="distance")
    assert same_clusters(cut, ring_model.cluster_of_component_)


def test_without_joining_clusters_are_components(ring_model):
    apart = fit(ring_and_ball()[0], join=False)
    assert apart.n_clusters_ == len(ring_model.statistics_)
    assert apart.labels_.tolist() == apart.component_labels_.tolist()
    assert apart.labels_.tolist() == ring_model.component_labels_.tolist()
    assert apart.neg_log_joint_ == ring_model.neg_log_joint_
    assert not hasattr(apart, "cluster_tree_")


@pytest.mark.parametrize("max_clusters", [1, 2, 5])
@pytest.mark.parametrize("join", ["auto", False])
def test_max_clusters_limits_their_number(max_clusters, join):
    X, labels = balls()
    model = fit(X, max_clusters=max_clusters, join=join)
    assert model.n_clusters_ == max_clusters
    assert len(model.statistics_) == 7
    for k in range(7):
        assert len(set(model.labels_[labels == k])) == 1
    assert fit(X, max_clusters=100, join=join).n_clusters_ == 7


def test_predictions_are_of_joined_clusters(ring_model):
    X, _ = ring_and_ball()
    P = ring_model.predict_proba(X)
    assert P.shape == (len(X), ring_model.n_clusters_)
    assert P.sum(axis=1) + ring_model.new_cluster_proba(X) == pytest.approx(np.ones(len(X)))
    predicted = ring_model.predict(X)
    assert set(predicted) <= set(range(ring_model.n_clusters_))
    assert np.mean(predicted == ring_model.labels_) > 0.99
    sure = P.max(axis=1) > 0.9
    assert predicted[sure].tolist() == P.argmax(axis=1)[sure].tolist()


def test_rows_drawn_have_labels_of_joined_clusters(ring_model):
    X, labels = ring_model.sample(300, random_state=0)
    assert set(labels) <= set(range(ring_model.n_clusters_))
    assert np.mean(ring_model.predict(X) == labels) > 0.95


def test_files_keep_joined_clusters(ring_model, tmp_path):
    X, _ = ring_and_ball()
    ring_model.save(tmp_path / "model.npz")
    assert_same_clusters_of_components(MAPDPM.load(tmp_path / "model.npz"), ring_model, X)


def test_pickles_keep_joined_clusters(ring_model):
    X, _ = ring_and_ball()
    other = pickle.loads(pickle.dumps(ring_model))
    assert_same_clusters_of_components(other, ring_model, X)


def test_rows_learned_later_join_the_joined_clusters():
    X, labels = ring_and_ball()
    order = np.random.default_rng(8).permutation(len(X))
    X, labels = X[order], labels[order]
    model = MAPDPM(random_state=0).fit(X[:4000]).partial_fit(X[4000:])
    assert model.n_clusters_ == 2
    assert same_clusters(model.labels_, labels[4000:])
    assert model.counts_.sum() == len(X)
    assert same_clusters(model.predict(X), labels)


def test_whole_weights_and_repeated_rows_find_the_same_balls():
    X, labels = balls(n_rows=15)
    times = np.random.default_rng(9).integers(1, 4, size=len(X))
    weighted = MAPDPM(random_state=0).fit(X, sample_weight=times.astype(float))
    assert same_clusters(weighted.labels_, labels)
    repeated = fit(np.repeat(X, times, axis=0))
    assert same_clusters(repeated.labels_, np.repeat(labels, times))


def test_two_fits_are_equal():
    X, _ = ring_and_ball(400)
    assert fit(X).labels_.tolist() == fit(X).labels_.tolist()
    assert fit(X, n_jobs=2).neg_log_joint_ == fit(X).neg_log_joint_


@pytest.mark.parametrize(("n_rows", "alpha"), [(2000, "nll"), (20_000, 10.0)])
def test_large_concentrations_do_not_make_clusters_of_single_rows(n_rows, alpha):
    """What a row gains by founding a cluster has the power, like what it gains by staying."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
    X = centres[rng.integers(0, 4, n_rows)] + rng.normal(size=(n_rows, 2))
    model = MAPDPM(alpha=alpha, random_state=0).fit(X)
    assert len(model.statistics_) == 4


def test_light_rows_are_no_clusters_of_their_own():
    X, labels = balls(n_balls=3, n_rows=100)
    weights = np.random.default_rng(0).uniform(0.1, 1.1, len(X))
    assert same_clusters(fit_weighted(X, weights).labels_, labels)


def test_rows_of_hardly_any_weight_are_only_labelled():
    X, labels = balls(n_balls=3, n_rows=100)
    weights = np.where(np.arange(len(X)) % 10 == 0, 1e-6, 1.0)
    model = fit_weighted(X, weights)
    assert same_clusters(model.labels_, labels)
    heavy = weights == 1.0
    alone = fit_weighted(X[heavy], weights[heavy])
    assert model.neg_log_joint_ == pytest.approx(alone.neg_log_joint_, rel=1e-9)


def test_heavy_rows_begin_in_clusters_of_many(monkeypatch):
    """A row that counts as a hundred would be a cluster of its own: a search makes a thousand."""
    found, first_labels = [], automatic.first_labels

    def recorded(*args):
        found.append(first_labels(*args))
        return found[-1]

    monkeypatch.setattr(automatic, "first_labels", recorded)
    X, labels = balls(n_balls=4, n_rows=100)
    weights = np.random.default_rng(0).uniform(0.1, 10.0, len(X))
    assert same_clusters(fit_weighted(X, weights).labels_, labels)
    assert len(np.unique(found[0])) < len(X) / 10


def fit_weighted(X, weights):
    return MAPDPM(random_state=0).fit(X, sample_weight=weights)


UNLIKE_WEIGHTS = {
    "survey": lambda rng, n: np.exp(rng.uniform(np.log(0.5), np.log(2.0), n)),
    "hundredfold": lambda rng, n: np.exp(rng.uniform(np.log(0.1), np.log(10.0), n)),
    "one heavy row": lambda rng, n: np.where(np.arange(n) == 5, 1000.0, 1.0),
    "heavy tail": lambda rng, n: 1.0 + rng.pareto(1.0, n),
    "decay": lambda rng, n: np.exp(-5.0 * np.arange(n) / n),
}


@pytest.mark.parametrize("kind", UNLIKE_WEIGHTS)
def test_heavy_rows_are_no_clusters_of_their_own(kind):
    rng = np.random.default_rng(0)
    X, labels = wide(300, 50, 3.0)
    weights = UNLIKE_WEIGHTS[kind](rng, len(X))
    model = fit_weighted(X, weights)
    assert model.n_clusters_ == 3
    assert adjusted_mutual_info_score(labels, model.labels_) > 0.95


def test_the_scale_of_weights_changes_no_bound():
    table = Data((4, 1), values=np.zeros((4, 1)))
    weights = np.array([0.0, 1.0, 1.0, 1000.0])
    for unit in (1e-6, 1.0, 1e6):
        bounded = table.weighted(unit * weights).with_bounded_weights().weights / unit
        np.testing.assert_allclose(bounded, weights)  # 1000 is not five times 334
    many = Data((101, 1), values=np.zeros((101, 1)))
    bounded = many.weighted(np.where(np.arange(101) == 0, 1e6, 1.0)).with_bounded_weights().weights
    assert bounded.max() == pytest.approx(5.0 * bounded.mean(), rel=2e-3)
    assert (bounded[1:] == 1.0).all()


@needs_kernels
@pytest.mark.parametrize(("n_clusters", "n_rows"), [(8, 160), (15, 300), (30, 1800)])
def test_one_column_of_many_clusters(n_clusters, n_rows):
    """A prior that was fitted to the first few wide clusters found no narrow ones."""
    rng = np.random.default_rng(0)
    labels = rng.integers(n_clusters, size=n_rows)
    X = 8.0 * labels[:, np.newaxis] + rng.normal(size=(len(labels), 1))
    model = MAPDPM(random_state=0).fit(X)
    assert model.n_clusters_ == n_clusters
    assert adjusted_mutual_info_score(labels, model.labels_) > 0.99
