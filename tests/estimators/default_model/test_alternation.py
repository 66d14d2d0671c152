"""Labels and hyperparameters in turn: the joint never rises."""

import numpy as np
import pytest
from fitted_priors import drawn_table

from dpmlite.estimators.default_model import alternation
from dpmlite.estimators.default_model.alternation import MIN_GAIN, alternate
from dpmlite.estimators.default_model.model import Model
from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
from dpmlite.estimators.empirical_bayes.column_scales import ColumnScales
from dpmlite.estimators.priors import FAMILIES
from dpmlite.search.search import Search

NAMES = ("normal-gamma", "normal-inverse-wishart")


def alternated(name, table, labels, power=1.0):
    """What alternation chooses, and the objective of each of its rounds."""
    family, scales, rounds = FAMILIES[name], ColumnScales.of(table), []

    def find(prior, labels):
        model = Model(family, False, prior, 1.0, power)
        result = Search("auto", True, 1000).go_on(model.problem(table), labels, 0, "test")
        penalty = family.fit_prior(ClusterSums.of(table, labels, power), scales, prior)[1]
        rounds.append(model.unit * result.neg_log_joint + penalty)
        return result, model.unit

    def joint_of(prior, labels):
        model = Model(family, False, prior, 1.0, power)
        return model.unit * model.problem(table).partition(labels.copy()).neg_log_joint

    return alternate(find, joint_of, family, table, scales, labels, power), rounds


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_the_joint_falls_until_a_round_gains_little(name, seed):
    table, labels = drawn_table(seed)
    best, rounds = alternated(name, table, np.zeros_like(labels))
    gains = -np.diff(rounds)
    assert len(rounds) <= alternation.MAX_ROUNDS
    assert (gains[:-1] > 0.9 * MIN_GAIN).all()
    assert best.objective == pytest.approx(min(rounds), abs=MIN_GAIN + 1e-3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_alternation_ends_where_other_hyperparameters_gain_little(name, seed):
    table, labels = drawn_table(seed)
    best, _ = alternated(name, table, np.zeros_like(labels))
    family, scales = FAMILIES[name], ColumnScales.of(table)
    sums = ClusterSums.of(table, best.labels, 1.0)
    prior, penalty = family.fit_prior(sums, scales, best.prior)
    partition = Model(family, False, prior, 1.0).problem(table).partition(best.labels.copy())
    assert best.objective - partition.neg_log_joint - penalty < MIN_GAIN + 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_labels_to_start_from_are_not_changed(name):
    table, labels = drawn_table(0)
    start = np.zeros_like(labels)
    best, _ = alternated(name, table, start)
    assert (start == 0).all()
    assert len(best.labels) == len(labels)
    assert best.family is FAMILIES[name]


@pytest.mark.parametrize("name", NAMES)
def test_the_prior_found_is_one_that_the_family_takes(name):
    table, labels = drawn_table(1)
    best, _ = alternated(name, table, labels, 0.5)
    checked = FAMILIES[name].prior(best.prior, table)
    for key, value in best.prior.items():
        np.testing.assert_array_equal(checked[key], value)
