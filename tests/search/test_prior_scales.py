"""prior="nll" of MAPDPM: scales chosen by the joint."""

import numpy as np
import pytest
from cases import PURE, needs_kernels

from dpmlite import MAPDPM
from dpmlite.datasets import dpm_sample, planted_gaussians
from dpmlite.estimators.priors import COMPONENTS, FAMILIES
from dpmlite.search.prior_scales import MAX_FACTOR, MIN_FACTOR

PRIORS = {
    "normal-gamma": {"m0": 0.0, "c0": 0.05, "a0": 2.0, "b0": 1.0},
    "normal-inverse-wishart": {"m0": 0.0, "kappa0": 0.05, "nu0": 6.0, "psi0": np.eye(2)},
    "normal-known-variance": {"m0": 0.0, "sigma2": 1.0, "tau2": 50.0},
    "dirichlet-multinomial": {"beta0": 0.2},
    "beta-bernoulli": {"a0": 0.3, "b0": 0.3},
}


@pytest.mark.parametrize("component", COMPONENTS)
def test_no_factor_is_worse_than_the_default(component):
    n_columns = 2 if component.startswith("normal") else 8
    X, _ = dpm_sample(
        20 if PURE else 120,
        n_columns,
        component=component,
        prior=PRIORS[component],
        random_state=1,
    )
    chosen = MAPDPM(component=component, prior="nll", random_state=0).fit(X)
    default = MAPDPM(prior="paper", component=component, random_state=0).fit(X)
    assert chosen.neg_log_joint_ <= default.neg_log_joint_ + 1e-6
    for keys in FAMILIES[component].scales:
        for key in keys:
            factor = np.asarray(chosen.prior_[key]) / np.where(
                np.asarray(default.prior_[key]) == 0.0, np.nan, default.prior_[key]
            )
            first = np.nanmax(factor)
            np.testing.assert_allclose(factor[~np.isnan(factor)], first, rtol=1e-12)
            assert MIN_FACTOR <= first <= MAX_FACTOR
            assert np.log2(first) == pytest.approx(round(np.log2(first)), abs=1e-9)


@needs_kernels
def test_tight_neighbours_are_told_apart():
    """The guide's advice for tables with dozens of tight clusters, found by itself."""
    X, _ = planted_gaussians(3000, 2, 30, separation=12.0, random_state=0)
    default = MAPDPM(prior="paper", random_state=0).fit(X)
    chosen = MAPDPM(prior="nll", random_state=0).fit(X)
    assert default.n_clusters_ < chosen.n_clusters_ <= 30
    assert (chosen.prior_["b0"] < 0.1 * X.var(axis=0)).all()
    np.testing.assert_allclose(chosen.prior_["m0"], X.mean(axis=0), rtol=1e-12)


def test_scaled_priors_go_with_every_choice_of_alpha_and_weights():
    X, _ = dpm_sample(30, 2, prior=PRIORS["normal-gamma"], random_state=2)
    weights = np.r_[np.zeros(3), np.ones(27)]
    for alpha in ("map", "nll", "cv"):
        model = MAPDPM(alpha=alpha, alphas=[0.5, 2.0], cv=2, prior="nll", random_state=0)
        model.fit(X, sample_weight=weights)
        assert model.n_clusters_ >= 1
        assert model.alpha_ > 0.0


def test_equal_values_do_not_make_it_endless():
    X = np.repeat([[0.0], [1.0], [5.0]], 8, axis=0)
    with pytest.warns(UserWarning, match=r"^prior 'nll' ended at the least b0 .* rather give") as w:
        model = MAPDPM(prior="nll", random_state=0).fit(X)
    assert [warning.filename for warning in w] == [__file__]
    assert model.n_clusters_ == 3
    assert model.prior_["b0"][0] >= MIN_FACTOR * X.var() * 0.999


@pytest.mark.filterwarnings("ignore:1 column")
@pytest.mark.parametrize("component", COMPONENTS[:3])
def test_constant_columns_keep_the_default(component):
    """They would gain from any narrower prior, and the others' widths would follow."""
    X, _ = dpm_sample(40, 2, component=component, prior=PRIORS[component], random_state=3)
    wider = np.insert(X, 1, 7.0, axis=1)
    (width,) = FAMILIES[component].width
    chosen, default = (
        MAPDPM(component=component, prior=prior, random_state=0).fit(wider).prior_[width]
        for prior in ("nll", None)
    )
    np.testing.assert_array_equal(chosen[1], default[1])
    assert np.ravel(chosen)[0] > 64.0 * MIN_FACTOR * np.ravel(default)[0]


@needs_kernels
@pytest.mark.filterwarnings("ignore:prior 'nll' ended")
@pytest.mark.parametrize("component", COMPONENTS[:3])
def test_rows_far_out_bound_the_factors(component):
    """A width that a row is too far out for is no candidate, rather than an error."""
    X = np.repeat(np.random.default_rng(0).integers(0, 4, size=(12, 2)), 40, axis=0).astype(float)
    X = np.append(X, [[300.0, 300.0]], axis=0)
    model = MAPDPM(component=component, prior="nll", random_state=0).fit(X)
    assert (
        model.neg_log_joint_
        < MAPDPM(prior="paper", component=component, random_state=0).fit(X).neg_log_joint_
    )
    FAMILIES[component].prior(model.prior_, FAMILIES[component].read(X, allow_missing=False))


def test_the_name_must_be_known():
    with pytest.raises(
        ValueError,
        match=r"^prior must be a dict, None or one of 'auto', 'paper', 'nll', got 'flat'$",
    ):
        MAPDPM(prior="flat").fit(np.arange(6.0)[:, None])
