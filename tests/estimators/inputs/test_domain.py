"""The domain: at its borders joints are right to 1e-9, and beyond them there is an error."""

from pathlib import Path

import exact_joints
import numpy as np
import pytest

from dpmlite import (
    MAPDPM,
    DPSearch,
    VariationalDPM,
    merge_models,
    quantize,
    to_micropython,
)
from dpmlite.boards.learner import Cluster, learner_of
from dpmlite.estimators.inputs.domain import (
    ALPHA,
    EXACT_WEIGHT,
    EXPOSURE,
    MAX_COUNT,
    MAX_STARTS,
    MAX_TOTAL_WEIGHT,
    MAX_WEIGHT_RATIO,
    MAX_WHOLE,
    MIN_WEIGHT,
    PSEUDO_COUNT,
    ROBUSTNESS,
    SCALE,
    SHAPE,
    WORTH,
)

COMPONENTS = tuple(exact_joints.MARGINALS)


def table(component, seed=0, n_rows=12):
    rng = np.random.default_rng(seed)
    if component in ("dirichlet-multinomial", "poisson-gamma"):
        return rng.poisson(3.0, size=(n_rows, 3)).astype(float)
    if component == "beta-bernoulli":
        return (rng.random((n_rows, 3)) < 0.4).astype(float)
    return rng.normal(size=(n_rows, 2)) + 5.0 * rng.integers(2, size=(n_rows, 1))


def fitted(component, X, estimator=MAPDPM, prior="paper", weights=None, rounding=0.0, **parameters):
    """A model, after a check of its joint."""
    if component == "poisson-gamma":  # a family of single columns
        parameters["component"] = dict.fromkeys(range(X.shape[1]), component)
        prior = {component: prior} if isinstance(prior, dict) else prior
    else:
        parameters["component"] = component
    model = estimator(prior=prior, random_state=0, **parameters).fit(X, sample_weight=weights)
    require_joint(model, component, X, weights, rounding)
    return model


def require_joint(model, component, X, weights=None, rounding=0.0):
    used = model.prior_.get(component, model.prior_)
    weights = np.ones(len(X)) if weights is None else weights
    expected = exact_joints.neg_log_joint(X, model.labels_, weights, model.alpha_, component, used)
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9, abs=rounding)


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("alpha", ALPHA)
@pytest.mark.parametrize("estimator", [MAPDPM, DPSearch])
def test_joints_at_the_borders_of_alpha(estimator, alpha, component):
    fitted(component, table(component), estimator, alpha=alpha)


#: Priors at the borders. Scales go with shapes: b0 / a0 is the variance that is expected.
BORDERS = {
    "normal-gamma": [
        *({"a0": a0, "b0": max(a0, 1.0)} for a0 in SHAPE),
        *({"c0": c0} for c0 in WORTH),
        *({"a0": a0, "b0": a0, "c0": c0} for a0 in (1.0, SHAPE.most) for c0 in WORTH),
    ],
    "normal-known-variance": [{"sigma2": 1.0, "tau2": ratio} for ratio in WORTH],
    "normal-inverse-wishart": [
        *({"nu0": 1.0 + nu, "psi0": max(nu, 1.0) * np.eye(2)} for nu in (1e-9, *SHAPE)),
        *({"kappa0": kappa0} for kappa0 in WORTH),
    ],
    "dirichlet-multinomial": [{"beta0": beta0} for beta0 in PSEUDO_COUNT],
    "beta-bernoulli": [{"a0": a0, "b0": b0} for a0 in PSEUDO_COUNT for b0 in PSEUDO_COUNT],
    "poisson-gamma": [{"a0": a0, "b0": b0} for a0 in PSEUDO_COUNT for b0 in PSEUDO_COUNT],
}


@pytest.mark.parametrize(
    ("component", "prior"), [(name, prior) for name, priors in BORDERS.items() for prior in priors]
)
@pytest.mark.parametrize("estimator", [MAPDPM, DPSearch])
def test_joints_at_the_borders_of_priors(estimator, component, prior):
    fitted(component, table(component), estimator, prior)


@pytest.mark.parametrize(
    ("component", "prior"),
    [(name, prior) for name, priors in BORDERS.items() for prior in priors],
)
def test_joints_of_merged_models_at_the_borders_of_priors(component, prior):
    X = table(component)
    model = merge_models(*(fitted(component, half, prior=prior) for half in np.split(X, 2)))
    require_joint(model, component, X)


@pytest.mark.parametrize("scale", SCALE)
def test_joints_at_the_borders_of_scales(scale):
    X = table("normal-gamma") * np.sqrt(scale)
    fitted("normal-gamma", X, prior={"m0": 0.0, "c0": 0.1, "a0": 1.0, "b0": scale})
    fitted("normal-known-variance", X, prior={"m0": 0.0, "sigma2": scale, "tau2": scale})


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("lightest", [EXACT_WEIGHT, 1e-6, 1e-3, MAX_TOTAL_WEIGHT / 1e13])
def test_joints_at_the_borders_of_weights(component, lightest):
    """From the lightest to the heaviest rows, and all of one order of magnitude."""
    rng, most = np.random.default_rng(0), min(MAX_WEIGHT_RATIO, MAX_TOTAL_WEIGHT / 20 / lightest)
    for ratio in (2.0, most):
        weights = lightest * ratio ** np.concatenate([[0.0, 1.0], rng.random(10)])
        weights = np.maximum(weights, lightest)
        fitted(component, table(component), weights=weights)
        fitted(component, table(component), DPSearch, weights=weights)


@pytest.mark.parametrize("estimator", [MAPDPM, DPSearch])
@pytest.mark.parametrize("scale", [1e-13, 1e-30, 10.0 * MIN_WEIGHT])
def test_tiny_weights_under_a_prior_that_is_fitted(estimator, scale):
    """The joint that moves keep is then not that of the labels, if rounding is not minded."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(20, 2)), rng.random(20) + 0.1
    model = estimator(random_state=0).fit(X, sample_weight=scale * weights)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    assert np.isfinite(model.neg_log_joint_)


@pytest.mark.parametrize("component", ["dirichlet-multinomial", "poisson-gamma"])
def test_joints_of_the_greatest_counts(component):
    X = table(component)
    X[3, 1] = MAX_COUNT
    fitted(component, X, rounding=1e-15 * MAX_COUNT * np.log(MAX_COUNT))
    X[3, 1] += 1.0
    with pytest.raises(ValueError, match="must be at most 1099511627776, got 1099511627777"):
        fitted(component, X)


BEYOND = {
    "alpha": ("normal-gamma", {"alpha": 1e-13}, "alpha must be from 1e-12 to 1e\\+12, got 1e-13"),
    "large alpha": ("normal-gamma", {"alpha": 1e13}, "alpha must be from 1e-12 to 1e\\+12"),
    "alphas": ("normal-gamma", {"alphas": [1.0, 1e60]}, "alphas must be from 1e-12 to 1e\\+12"),
    "alpha_prior": ("normal-gamma", {"alpha_prior": (1e-17, 1.0)}, "shape of alpha_prior must be"),
    "robustness": ("normal-gamma", {"robustness": 1e-9}, "robustness must be from 0.001 to 1e"),
    "n_init": ("normal-gamma", {"n_init": MAX_STARTS + 1}, "n_init must be at most 1000000"),
    "a0": ("normal-gamma", {"prior": {"a0": 1e60}}, "prior a0 must be from 1e-06 to 1e"),
    "small a0": ("normal-gamma", {"prior": {"a0": 1e-7}}, "prior a0 must be from 1e-06 to 1e"),
    "c0": ("normal-gamma", {"prior": {"c0": 1e21}}, "prior c0 must be from 1e-20 to 1e"),
    "b0": ("normal-gamma", {"prior": {"b0": 1.1e308}}, "prior b0 must be from 1e-320 to 1e"),
    "nu0": (
        "normal-inverse-wishart",
        {"prior": {"nu0": 2e6}},
        "prior nu0 must be at most 1e\\+06 above D - 1 = 1, got 2000000.0",
    ),
    "kappa0": ("normal-inverse-wishart", {"prior": {"kappa0": 1e-21}}, "prior kappa0 must be from"),
    "psi0": (
        "normal-inverse-wishart",
        {"prior": {"psi0": np.diag([1.0, 1.1e308])}},
        "prior psi0 must have variances from 1e-320 to 1e",
    ),
    "tau2": (
        "normal-known-variance",
        {"prior": {"sigma2": 1.0, "tau2": 1e21}},
        "prior tau2 must be from 1e-20 to 1e\\+20 times sigma2, got 1e\\+21 in column 0",
    ),
    "beta0": ("dirichlet-multinomial", {"prior": {"beta0": 1e13}}, "prior beta0 must be from"),
    "a0 of bits": ("beta-bernoulli", {"prior": {"a0": 1e-13}}, "prior a0 must be from 1e-12 to 1e"),
}


@pytest.mark.parametrize("unit", [1e9, 1e100])
def test_whole_numbers_too_great_for_counts_are_not_taken_as_counts(unit):
    """Such as nanoseconds since 1970, beside a column of levels."""
    rng = np.random.default_rng(0)
    numbers = np.floor(unit * (1e3 + 100.0 * rng.normal(size=80)))
    model = MAPDPM(random_state=0).fit(np.column_stack([rng.integers(3, size=80), numbers]))
    assert "poisson-gamma" not in dict(model.component_).values()


@pytest.mark.parametrize("name", BEYOND)
def test_beyond_is_an_error(name):
    component, parameters, message = BEYOND[name]
    with pytest.raises(ValueError, match=message):
        MAPDPM(component=component, **parameters).fit(table(component))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1e-101], "sample_weight must be 0 or at least 1e-100, got 1e-101 in row 1"),
        ([1e3, 1e-10], r"at most 1e\+12 times the least above 0, got 1000 and 1e-10"),
    ],
)
def test_weights_beyond_are_an_error(weights, message):
    with pytest.raises(ValueError, match=message):
        MAPDPM().fit([[0.0], [1.0], [2.0]], sample_weight=[*weights, 0.0])


@pytest.mark.parametrize("method", ["vb"])
@pytest.mark.parametrize("alpha", ALPHA)
@pytest.mark.parametrize("pseudo_count", PSEUDO_COUNT)
def test_variational_bounds_do_not_fall_at_the_borders(method, alpha, pseudo_count):
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = (rng.random((int(rng.integers(1, 20)), 3)) < rng.random()).astype(float)
        prior = {"a0": pseudo_count, "b0": float(rng.choice([*PSEUDO_COUNT, 1.0]))}
        model = VariationalDPM(
            component="beta-bernoulli",
            method=method,
            alpha=alpha,
            prior=prior,
            n_components=4,
            init="random",
            max_iter=20,
            random_state=0,
        ).fit(X)
        trace = model.lower_bound_trace_
        assert (np.diff(trace) >= -1e-9 * np.abs(trace).max() - 1e-9).all()


def test_evidence_may_saturate_at_the_borders_of_robustness():
    X = table("normal-gamma")
    for robustness in ROBUSTNESS:
        assert np.isfinite(MAPDPM(robustness=robustness, random_state=0).fit(X).neg_log_joint_)


def test_the_documentation_has_these_ranges():
    text = (Path(__file__).parents[3] / "docs" / "guide" / "ranges.md").read_text("utf-8")
    rows = {name: ends for name, *ends in (line.split(" | ") for line in text.splitlines())}
    for start, ends in (
        ("| `alpha`", ALPHA),
        ("| `robustness`", ROBUSTNESS),
        ("| `c0`", WORTH),
        ('| `a0` of "normal-gamma"', SHAPE),
        ('| `a0`, `b0` of "beta', PSEUDO_COUNT),
        ('| `b0` of "normal-gamma"', SCALE),
        ("| weights of rows", (MIN_WEIGHT, MAX_WEIGHT_RATIO)),
        ("| counts", (0.0, MAX_COUNT)),
        ("| exposures", EXPOSURE),
        ("| `n_init`", (1.0, MAX_STARTS)),
    ):
        (found,) = (row for name, row in rows.items() if name.startswith(start))
        powers = [part.removesuffix(" |").removesuffix(" times the least") for part in found]
        assert [value_of(part) for part in powers] == pytest.approx(list(ends)), start
    assert "| sum of all weights | | 2^53 |" in text
    assert MAX_TOTAL_WEIGHT == 2.0**53
    assert "| any other whole number, but seeds | | 2^62 |" in text
    assert MAX_WHOLE == 2**62


def value_of(text):
    base, _, power = text.partition("^")
    return float(base) ** float(power or 1.0)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(
    "prior", [{"b0": SCALE.most}, {"c0": WORTH.most}, {"c0": WORTH.least}, {"a0": SHAPE.most}]
)
def test_boards_refuse_what_they_cannot_hold(prior, scaled, tmp_path):
    X = table("normal-gamma", n_rows=30)
    ints = quantize(X)
    model = MAPDPM(prior=prior, random_state=0).fit(X if scaled else ints.rows)
    if prior == {"c0": WORTH.least}:  # the nearest that a board has is 1 / 32
        to_micropython(model, tmp_path / "model.py", quantized=ints)
    else:
        with pytest.raises(ValueError, match="on a board"):
            to_micropython(model, tmp_path / "model.py", quantized=ints)


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e308, -np.inf])
@pytest.mark.parametrize("key", ["m0", "b0"])
def test_boards_refuse_what_is_no_number(key, value):
    """In units of small ints, an extreme prior is infinite."""
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]} | {key: [value]}
    with pytest.raises(ValueError, match=f"prior {key} must be from .* on a board, .* got"):
        learner_of(prior, 1.0, 8, [Cluster(1, (0,), (0,))])
