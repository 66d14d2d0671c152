"""Streams that forget: statistics of rows that count a part, and the rule of the boards."""

import numpy as np
import pytest
from cases import needs_kernels
from families import CASES, FAMILY_NAMES
from three_groups import joint_of

from dpmlite import MAPDPM
from dpmlite.estimators.map_dpm import first_rows
from dpmlite.estimators.map_dpm.forgetting import remembered
from dpmlite.estimators.map_dpm.streaming import FittedClusters
from dpmlite.estimators.priors import FAMILIES

FAMILY = FAMILIES["normal-gamma"]
PRIOR = {"m0": [0.0, 0.0], "c0": 0.1, "a0": 8.0, "b0": [32000.0, 32000.0]}


@pytest.fixture(autouse=True)
def few_first_rows(monkeypatch):
    """So that most rows of small tables are settled."""
    monkeypatch.setattr(first_rows, "FIRST_ROWS", 30)


def places(n_rows, seed=0, regimes=2):
    """Rows around three places, which are other ones in every regime, and the number of each."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0], [700, 0], [0, 700], [-700, 0], [0, -700], [700, 700]])
    labels = rng.choice(3, n_rows, p=[0.5, 0.3, 0.2]) + 3 * (np.arange(n_rows) * regimes // n_rows)
    return np.rint(centres[labels] + rng.normal(0, 30, (n_rows, 2))), labels


@pytest.mark.parametrize("name", [n for n in FAMILY_NAMES if n.split()[-1] in FAMILIES])
def test_statistics_are_those_of_rows_that_count_a_part(name):
    case, rng = CASES[name], np.random.default_rng(4)
    X, prior = case.draw(rng, 15, 3), case.prior(rng, 3)
    family = FAMILIES[name.removeprefix("incomplete ")]
    missing = name.startswith("incomplete")
    if missing:
        X[:3, 0] = np.nan  # a cluster that has no value there
    prior = family.check_prior(prior, 3)
    parts = np.array([[0.5], [0.25]])

    def statistics(weights):
        component = family.component(prior, missing)
        component.resize(2)
        for i, row in enumerate(X):
            component.add(row, int(i >= 3), weights[int(i >= 3)])
        return np.array([component.statistics(k) for k in range(2)])

    found = family.scale_statistics(statistics([1.0, 1.0]), prior, parts)
    np.testing.assert_allclose(found, statistics(parts[:, 0].tolist()), rtol=1e-10, atol=1e-10)


@needs_kernels
def test_statistics_of_mixed_tables_are_scaled_block_by_block():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 40)
    X = np.column_stack([rng.normal(20 * labels, 1.0), rng.poisson(3 + 30 * labels), labels])
    component = {0: "normal-gamma", 1: "poisson-gamma", 2: "categorical"}
    parameters = {"component": component, "prior": "paper", "random_state": 0}
    model = MAPDPM(init=labels, split_merge=False, **parameters).fit(X)
    half = remembered(FittedClusters.of(model), 80)
    weights = np.full(80, 0.5)
    other = MAPDPM(init=labels, split_merge=False, **{**parameters, "prior": model.prior_})
    other.fit(X, sample_weight=weights)
    np.testing.assert_allclose(half.statistics, other.statistics_, rtol=1e-10)
    np.testing.assert_array_equal(half.counts, [20, 20])


@pytest.mark.parametrize(
    ("counts", "memory", "expected"),
    [
        ([5, 3, 1], None, [5, 3, 1]),
        ([5, 3, 1], 10, [5, 3, 1]),
        ([5, 3, 1], 9, [2, 1]),
        ([5, 3, 1], 3, [1]),
        ([5, 3, 1], 2, [1]),
        ([1, 1, 1], 3, []),
    ],
)
def test_rows_are_halved_until_they_are_fewer_than_the_memory(counts, memory, expected):
    """And what each row counts is the part that is left of its cluster's."""
    X = np.repeat([[0.0], [500.0], [900.0]], counts, axis=0) + np.arange(sum(counts))[:, None]
    labels = np.repeat([0, 1, 2], counts)
    prior = {"m0": 500.0, "c0": 0.01, "b0": 1.0}
    model = MAPDPM(prior=prior, init=labels, split_merge=False).fit(X)
    assert model.counts_.tolist() == counts
    clusters = FittedClusters.of(model)
    left = remembered(clusters, memory)
    assert (left is clusters) == (expected == counts)
    np.testing.assert_array_equal(left.counts, expected)
    assert left.moments.n_rows == sum(expected)
    assert left.moments.weight == pytest.approx(sum(expected))
    for k, count in enumerate(expected):
        component = clusters.family.component(model.prior_, False)
        component.resize(1)
        for row in X[labels == k]:
            component.add(row, 0, count / counts[k])
        np.testing.assert_allclose(left.statistics[k], component.statistics(0), rtol=1e-10)


def test_the_joint_is_that_of_rows_that_count_a_half(estimator):
    """Of 64 rows before it forgot, and of those that came then."""
    X, labels = places(80, regimes=1)
    model = estimator(prior=PRIOR, memory=64, random_state=0)
    even = np.concatenate([np.flatnonzero(labels == k)[: [32, 20, 12][k]] for k in range(3)])
    X = np.vstack([X[even], X[:10]])
    model.partial_fit(X[:64]).partial_fit(X[64:])
    weights = np.repeat([0.5, 1.0], [64, 10])
    found = model.predict(X)
    assert model.neg_log_joint_ == pytest.approx(
        joint_of(model, X, found, sample_weight=weights), rel=1e-9
    )
    assert model.n_samples_seen_ == 42
    assert model.moments_["weight"] == pytest.approx(42.0)
    assert not hasattr(model, "first_rows_")


def in_turn(learner, model, rows):
    """After every row: the counts of a board's learner, and those of a model, in order."""
    for x in rows:
        learner.learn([int(value) for value in x])
        model.partial_fit(x[None])
        yield sorted(n for n in learner.counts if n), sorted(model.counts_.tolist())


@needs_kernels
@pytest.mark.parametrize("name", ["mapdpm_float", "mapdpm_int"])
def test_the_rule_is_that_of_the_boards(name):
    """Row by row: three places, then three others; what comes no more is forgotten at one row."""
    board = pytest.importorskip(name, reason="there is no folder micropython")
    X, labels = places(300)
    learner = board.MAPDPM(2, 8, (0, 0), (32000, 32000), (1, 10), (8, 1), (1, 1), 64)
    model = MAPDPM(prior=PRIOR, memory=64, random_state=0)
    for i, (theirs, ours) in enumerate(in_turn(learner, model, X)):
        assert theirs == ours, i
    assert model.n_clusters_ == learner.k == 3
    slots = sorted(range(8), key=lambda k: -learner.counts[k])[:3]
    means = [learner.mean(k) for k in slots]
    # The learner in integers halves sums alone where it has more rows than the weight: it differs.
    tolerance = 0.05 if name == "mapdpm_float" else 15.0
    np.testing.assert_allclose(model.means_, means, atol=tolerance)
    assert (model.predict(X[labels >= 3]) >= 0).all()
    assert (model.predict(X[labels < 3]) == -1).mean() > 0.9


@needs_kernels
def test_a_model_of_batches_follows_what_moves():
    """Two places walk around; what they were would make a ring of clusters."""
    rng = np.random.default_rng(1)
    angle = np.linspace(0, 4, 4000)
    labels = rng.integers(2, size=4000)
    X = 1000 * np.column_stack([np.cos(angle), np.sin(angle)]) * (1 - 2 * labels)[:, None]
    X += rng.normal(0, 60, X.shape)
    found = {}
    for memory in (None, 300):
        model = MAPDPM(prior=PRIOR, memory=memory, random_state=0)
        for start in range(0, 4000, 50):
            model.partial_fit(X[start : start + 50])
        found[memory] = model
    assert found[300].n_clusters_ == 2 < found[None].n_clusters_
    order = np.argsort(found[300].means_[:, 0])
    here = np.argsort([X[-50:][labels[-50:] == k].mean(axis=0)[0] for k in (0, 1)])
    means = [X[-50:][labels[-50:] == k].mean(axis=0) for k in here]
    np.testing.assert_allclose(found[300].means_[order], means, atol=250)
    assert found[300].n_samples_seen_ < 350


@needs_kernels
def test_components_stay_joined_and_files_know_the_memory(tmp_path):
    """The default model of a ring of components and of a blob."""
    rng = np.random.default_rng(0)
    ring = np.column_stack([np.cos(np.arange(600)), np.sin(np.arange(600))]) * 9
    X = rng.permutation(np.vstack([ring, rng.normal(40, 1, (300, 2))])) + rng.normal(
        0, 0.3, (900, 2)
    )
    model = MAPDPM(memory=500, random_state=0).fit(X)
    assert len(model.component_counts_) > model.n_clusters_ == 2
    model.partial_fit(X[:40])
    assert model.n_clusters_ == 2
    assert 250 <= model.n_samples_seen_ - 40 < 500
    assert sum(model.counts_) == model.n_samples_seen_
    np.testing.assert_allclose(sorted(model.weights_), [1 / 3, 2 / 3], atol=0.05)
    model.save(tmp_path / "model.npz")
    other = MAPDPM.load(tmp_path / "model.npz")
    assert other.memory == 500
    np.testing.assert_array_equal(
        other.partial_fit(X[:9]).labels_, model.partial_fit(X[:9]).labels_
    )


def test_a_model_of_single_rows_forgets_them_all(estimator):
    single = estimator(prior=PRIOR, init="singletons", split_merge=False, max_sweeps=1, memory=2)
    single.fit(np.array([[0.0, 0.0], [5000.0, 0.0], [0.0, 5000.0]]))
    assert single.counts_.tolist() == [1, 1, 1]
    single.partial_fit([[10.0, 10.0]])
    assert (single.n_samples_seen_, single.n_clusters_) == (1, 1)


@pytest.mark.parametrize("memory", [1, 0, -5, 2.5, "2"])
def test_the_memory_is_a_number_of_rows(memory):
    with pytest.raises((ValueError, TypeError), match=r"memory must be .*, got"):
        MAPDPM(memory=memory).fit([[0.0], [1.0]])
