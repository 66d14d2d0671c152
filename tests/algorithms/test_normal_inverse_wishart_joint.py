"""The joint of "normal-inverse-wishart" in hyperparameters: its values and its gradient."""

import numpy as np
import pytest
from families import normal_inverse_wishart_log_marginal
from fitted_priors import by_differences, drawn_table, marginals, sums_and_scales, with_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from normal_gamma_joints import joint_on as gamma_joint_on
from normal_inverse_wishart_joints import joint_on, penalty_of, prior_at, variables

from dpmlite.estimators.inputs.data import Data
from dpmlite.families.normal_inverse_wishart import NormalInverseWishart

SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.booleans(), st.sampled_from([1.0, 0.3]))
@settings(max_examples=20)
def test_it_is_minus_the_log_marginals_but_for_a_constant(twin, seed, weighted, power):
    table, labels = drawn_table(seed, weighted=weighted)
    sums, scales = sums_and_scales(table, labels, power)
    joint = with_gradient(joint_on(twin, sums, scales).evaluate)
    rng, differences = np.random.default_rng(seed), []
    for _ in range(2):
        x = variables(rng, scales)
        prior = prior_at(x, scales)
        marginal = marginals(NormalInverseWishart(**prior), table, labels, power)
        differences.append(joint(x)[0] - penalty_of(prior, scales) + marginal)
    assert differences[0] == pytest.approx(differences[1], rel=1e-9, abs=1e-7)


@given(SEEDS)
@settings(max_examples=20)
def test_it_follows_the_ratio_of_normalising_constants(twin, seed):
    table, labels = drawn_table(seed)
    sums, scales = sums_and_scales(table, labels)
    joint = joint_on(twin, sums, scales)
    both, penalty = with_gradient(joint.evaluate), with_gradient(joint.penalty)
    rng, differences = np.random.default_rng(seed), []
    for _ in range(2):
        x = variables(rng, scales)
        prior = prior_at(x, scales)
        clusters = [table.values[labels == k] for k in range(3)]
        marginal = sum(normal_inverse_wishart_log_marginal(rows, prior) for rows in clusters)
        differences.append(both(x)[0] - penalty(x)[0] + marginal)
    assert differences[0] == pytest.approx(differences[1], rel=1e-9, abs=1e-7)


@given(SEEDS)
@settings(max_examples=20)
def test_the_gradient_is_that_of_the_joint(twin, seed):
    sums, scales = sums_and_scales(*drawn_table(seed), 0.7)
    joint, x = joint_on(twin, sums, scales), variables(np.random.default_rng(seed), scales)
    for function in (with_gradient(joint.evaluate), with_gradient(joint.penalty)):
        assert function(x)[1] == pytest.approx(by_differences(function, x), rel=1e-5, abs=1e-5)


def test_one_column_is_a_normal_gamma_one(twin):
    """IW(psi0, nu0) of one column is the gamma of a0 = nu0 / 2 and b0 = psi0 / 2."""
    table, labels = drawn_table(3)
    table = Data((len(labels), 1), np.ascontiguousarray(table.values[:, :1]))
    sums, scales = sums_and_scales(table, labels)
    of_wishart, of_gamma = joint_on(twin, sums, scales), gamma_joint_on(twin, sums, scales)
    rng, differences = np.random.default_rng(0), []
    for _ in range(3):
        x, values = rng.normal(size=3), []
        for joint, at in ((of_wishart, x), (of_gamma, x - [0.0, np.log(2.0), 0.0])):
            values.append(
                with_gradient(joint.evaluate)(at)[0] - with_gradient(joint.penalty)(at)[0]
            )
        differences.append(values[0] - values[1])
    assert differences == pytest.approx([differences[0]] * 3, abs=1e-8)


@given(SEEDS)
@settings(max_examples=10)
def test_twins_agree_in_more_columns_than_a_vector_has(twins, seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(60, 11)) @ rng.normal(size=(11, 11)), rng.integers(0, 3, size=60)
    sums, scales = sums_and_scales(Data(X.shape, X), labels)
    x = np.concatenate([[-2.0, 1.0], np.log(scales.variance) - 3.0])
    one, other = (with_gradient(joint_on(twin, sums, scales).evaluate)(x) for twin in twins)
    assert one[0] == pytest.approx(other[0], rel=1e-10)
    assert one[1] == pytest.approx(other[1], rel=1e-8, abs=1e-8)
