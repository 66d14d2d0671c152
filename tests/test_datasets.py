"""The generators draw what they say, the same for the same seed; the shipped file is theirs."""

from importlib.resources import files

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import MAPDPM
from dpmlite.datasets import (
    crp_mixture,
    dpm_sample,
    load_sensors,
    machine_states,
    planted_gaussians,
    unequal_gaussians,
)

GENERATORS = [
    lambda random_state: crp_mixture(50, random_state=random_state),
    lambda random_state: planted_gaussians(50, 3, 4, random_state=random_state),
    machine_states,
]


@pytest.mark.parametrize("draw", GENERATORS)
def test_a_seed_draws_the_same_table_again(draw):
    X, labels, *_ = draw(random_state=7)
    again, labels_again, *_ = draw(random_state=np.random.default_rng(7))
    other, *_ = draw(random_state=8)
    assert X.dtype == np.float64
    assert np.array_equal(X, again)
    assert np.array_equal(labels, labels_again)
    assert not np.array_equal(X, other)


@pytest.mark.parametrize("draw", GENERATORS)
def test_a_generator_moves_on_and_none_is_fresh(draw):
    rng = np.random.default_rng(0)
    assert not np.array_equal(draw(random_state=rng)[0], draw(random_state=rng)[0])
    assert not np.array_equal(draw(random_state=None)[0], draw(random_state=None)[0])


def test_crp_mixture_defaults_are_the_papers_table():
    X, labels = crp_mixture(random_state=0)
    assert X.shape == (600, 2)
    assert labels.shape == (600,)
    assert labels.dtype == np.intp
    assert sorted(set(labels)) == list(range(labels.max() + 1))


def test_crp_mixture_has_the_expected_number_of_clusters():
    alpha, n, draws = 3.0, 600, 300
    found = [crp_mixture(n, 1, random_state=seed)[1].max() + 1 for seed in range(draws)]
    new = alpha / (alpha + np.arange(n))  # probability that a row starts a cluster
    error = np.sqrt((new * (1 - new)).sum() / draws)
    assert np.mean(found) == pytest.approx(new.sum(), abs=4 * error)


def test_crp_mixture_draws_precisions_of_mean_a0_over_b0():
    precisions = []
    for seed in range(400):
        X, labels = crp_mixture(200, random_state=seed)
        largest = X[labels == np.bincount(labels).argmax()]
        precisions.extend(1.0 / largest.var(axis=0, ddof=1))
    assert np.mean(precisions) == pytest.approx(1.0 / 10.0, rel=0.15)
    # An exponential's deviation is its mean.
    assert np.std(precisions) == pytest.approx(1.0 / 10.0, rel=0.25)


def test_crp_mixture_follows_its_parameters():
    # Precisions are all but fixed at 1000 / 4000, so deviations are 2, and 2 / sqrt(0.04) = 10.
    X, labels = crp_mixture(
        20_000, 3, alpha=200.0, m0=5.0, c0=0.04, a0=1000.0, b0=4000.0, random_state=1
    )
    means = np.array([X[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
    assert X.shape == (20_000, 3)
    assert len(means) > 500
    assert means.mean() == pytest.approx(5.0, abs=1.0)
    assert means.std() == pytest.approx(10.0, rel=0.05)
    assert (X - means[labels]).std() == pytest.approx(2.0, rel=0.05)


def test_planted_gaussians_have_unit_variance_and_spread_means():
    X, labels = planted_gaussians(50_000, 4, 200, separation=5.0, random_state=0)
    means = np.array([X[labels == k].mean(axis=0) for k in range(200)])
    assert X.shape == (50_000, 4)
    assert labels.dtype == np.intp
    assert np.bincount(labels).min() > 150
    assert means.mean() == pytest.approx(0.0, abs=0.8)
    assert means.std() == pytest.approx(5.0, rel=0.1)
    assert (X - means[labels]).std() == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize("seed", range(40, 60))  # 47: what is left is less than rounding
def test_weights_are_not_negative_however_little_is_left(seed):
    mixture = unequal_gaussians(1, 20, alpha=0.5, random_state=seed)
    assert mixture.weights.min() >= 0.0
    assert mixture.weights.sum() == pytest.approx(1.0, abs=1e-15)
    X, _ = mixture.sample(9, random_state=0)
    assert np.isfinite(mixture.score_samples(X)).all()


def test_densities_of_far_rows_are_found_where_numpy_raises_all():
    """What the other components add to them is less than a double can hold."""
    mixture = unequal_gaussians(2, 5, random_state=0)
    X = np.linspace(-60.0, 60.0, 400)[:, np.newaxis] * np.ones(2)
    expected = mixture.score_samples(X)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(mixture.score_samples(X), expected)


@pytest.mark.parametrize(
    ("component", "prior", "key"),
    [
        ("normal-gamma", {"m0": 0, "c0": 1.0, "a0": 1e-3, "b0": 1.0}, "a0"),
        (
            "normal-inverse-wishart",
            {"m0": 0, "kappa0": 1.0, "nu0": 2.001, "psi0": np.eye(3)},
            "nu0",
        ),
    ],
)
def test_priors_may_be_too_vague_to_draw_from(component, prior, key):
    with pytest.raises(ValueError, match=rf"scales of the prior wide, got .* from {key}=.*: raise"):
        dpm_sample(100, 3, component=component, alpha=50.0, prior=prior, random_state=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: crp_mixture(0), "n_samples must be a whole number of at least 1, got 0"),
        (lambda: crp_mixture(5, 0), "n_columns must be a whole number of at least 1, got 0"),
        (lambda: crp_mixture(5, alpha=0.0), "alpha must be positive, got 0.0"),
        (lambda: crp_mixture(5, c0=-1.0), "c0 must be positive, got -1.0"),
        (lambda: crp_mixture(5, a0=0.0), "a0 must be positive, got 0.0"),
        (lambda: crp_mixture(5, b0=0.0), "prior b0 must be positive and finite, got 0.0"),
        (lambda: crp_mixture(5, random_state=-1), "random_state must be .* got -1"),
        (lambda: planted_gaussians(0, 2, 2), "n_samples must be .* got 0"),
        (lambda: planted_gaussians(5, 0, 2), "n_columns must be .* got 0"),
        (lambda: planted_gaussians(5, 2, 0), "n_clusters must be .* got 0"),
        (lambda: planted_gaussians(5, 2, 2, separation=0.0), "separation must be positive"),
        (
            lambda: dpm_sample(
                5,
                2,
                component="dirichlet-multinomial",
                alpha=1.0,
                prior={"beta0": 1.0},
                row_total=2**41,
            ),
            r"row_total must be at most 2\*\*40, got 2199023255552",
        ),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_machine_states_have_unequal_sizes_and_one_is_rare():
    X, states, columns = machine_states()
    names, counts = np.unique(states, return_counts=True)
    assert X.shape == (600, 3)
    assert columns == ["vibration", "temperature", "power"]
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        "off": 130,
        "idle": 110,
        "warm-up": 60,
        "polishing": 80,
        "milling": 208,
        "worn bearing": 12,
    }
    assert (X > 0.0).all()


@needs_kernels
@pytest.mark.parametrize("seed", range(3))
def test_mapdpm_finds_the_machine_states(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    X, states, _ = machine_states(seed)
    labels = MAPDPM(prior="paper", random_state=seed).fit_predict(X)
    assert metrics.adjusted_mutual_info_score(states, labels) > 0.95


def test_the_shipped_file_is_the_generators():
    X, states, columns = machine_states()
    lines = [",".join([*columns, "state"])]
    for row, state in zip(X.tolist(), states.tolist(), strict=True):
        lines.append(",".join([*map(repr, row), state]))
    shipped = files("dpmlite").joinpath("data/sensors.csv").read_text(encoding="utf-8")
    assert shipped.splitlines() == lines


def test_load_sensors_reads_it():
    loaded, drawn = load_sensors(), machine_states()
    assert np.array_equal(loaded[0], drawn[0])
    assert loaded[1].tolist() == drawn[1].tolist()
    assert loaded[2] == drawn[2]
