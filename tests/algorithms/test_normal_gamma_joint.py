"""The joint of "normal-gamma" as a function of hyperparameters: its values and its gradient."""

import numpy as np
import pytest
from fitted_priors import by_differences, drawn_table, marginals, sums_and_scales, with_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from normal_gamma_joints import joint_on, penalty_of, prior_at, variables

from dpmlite.families.incomplete_normal_gamma import IncompleteNormalGamma
from dpmlite.families.normal_gamma import NormalGamma

SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.booleans(), st.booleans(), st.sampled_from([1.0, 0.3]))
@settings(max_examples=20)
def test_it_is_minus_the_log_marginals_but_for_a_constant(twin, seed, gaps, weighted, power):
    table, labels = drawn_table(seed, gaps, weighted)
    sums, scales = sums_and_scales(table, labels, power)
    joint = with_gradient(joint_on(twin, sums, scales).evaluate)
    rng, differences = np.random.default_rng(seed), []
    family = IncompleteNormalGamma if gaps else NormalGamma
    for _ in range(2):
        x = variables(rng, scales)
        prior = prior_at(x, scales)
        marginal = marginals(family(**prior), table, labels, power)
        differences.append(joint(x)[0] - penalty_of(prior, scales) + marginal)
    assert differences[0] == pytest.approx(differences[1], rel=1e-9, abs=1e-7)


@given(SEEDS, st.sampled_from([0.9, 0.3]))
@settings(max_examples=10)
def test_components_with_a_power_have_this_joint_in_their_unit(twin, seed, power):
    table, labels = drawn_table(seed)
    sums, scales = sums_and_scales(table, labels, power)
    joint = joint_on(twin, sums, scales)
    both, penalty = with_gradient(joint.evaluate), with_gradient(joint.penalty)
    rng, differences = np.random.default_rng(seed), []
    for _ in range(2):
        x = variables(rng, scales)
        component = NormalGamma(**prior_at(x, scales), power=power)
        marginal = power * marginals(component, table, labels)
        differences.append(both(x)[0] - penalty(x)[0] + marginal)
    assert differences[0] == pytest.approx(differences[1], rel=1e-9, abs=1e-7)


@given(SEEDS, st.booleans())
@settings(max_examples=20)
def test_the_gradient_is_that_of_the_joint(twin, seed, gaps):
    sums, scales = sums_and_scales(*drawn_table(seed, gaps), 0.7)
    joint, x = joint_on(twin, sums, scales), variables(np.random.default_rng(seed), scales)
    for function in (with_gradient(joint.evaluate), with_gradient(joint.penalty)):
        assert function(x)[1] == pytest.approx(by_differences(function, x), rel=1e-5, abs=1e-5)


@given(SEEDS)
@settings(max_examples=10)
def test_clusters_far_apart_have_a_gradient_too(twin, seed):
    """Hyperparameters that are hardly worth a row, and variances of 1e-12 of the table's."""
    sums, scales = sums_and_scales(*drawn_table(seed))
    x = np.array([-30.0, -2.0, *np.log(scales.variance) - 27.0])
    joint = with_gradient(joint_on(twin, sums, scales).evaluate)
    value, gradient = joint(x)
    assert np.isfinite(value)
    assert gradient == pytest.approx(by_differences(joint, x), rel=1e-5, abs=1e-4)
