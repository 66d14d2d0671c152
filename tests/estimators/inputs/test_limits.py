"""Fits that tell their steps, and that a limit or a callback ends early."""

import logging
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from cases import blobs

import dpmlite
from dpmlite import (
    MAPDPM,
    CollapsedGibbs,
    ConvergenceWarning,
    DPMeans,
    DPSearch,
    VariationalDPM,
)
from dpmlite.core import stop

PLANTED = blobs(n_rows=90, n_clusters=3, seed=1)[0]
WITH_CALLBACK = (MAPDPM, CollapsedGibbs, VariationalDPM)


class Counter:
    """A callback that keeps its calls, and ends the fit with the last of so many."""

    def __init__(self, until=None):
        self.calls, self.until = [], until

    def __call__(self, step, objective, n_clusters):
        self.calls.append((step, objective, n_clusters))
        return len(self.calls) == self.until


@pytest.fixture
def clock(monkeypatch):
    """A clock that each look moves on by a second."""

    class Clock:
        now = 0.0

        def __call__(self):
            self.now += 1.0
            return self.now

    monkeypatch.setattr(stop, "monotonic", Clock())


def quick(estimator, **parameters):
    if estimator is CollapsedGibbs:
        parameters = {"n_samples": 30, **parameters}
    return estimator(random_state=0, **parameters)


def neg_log_joint(model, X):
    """The objective of a model's labels, from scratch."""
    return dpmlite.neg_log_joint(
        X, model.labels_, alpha=model.alpha_, component=model.component_, prior=model.prior_
    )


@pytest.mark.parametrize("estimator", WITH_CALLBACK)
def test_a_callback_is_told_every_step_and_changes_nothing(estimator):
    calls = Counter()
    told = quick(estimator, callback=calls).fit(PLANTED)
    alone = quick(estimator).fit(PLANTED)
    np.testing.assert_array_equal(told.labels_, alone.labels_)
    assert told.stopped_ is alone.stopped_ is None
    assert all(isinstance(step, str) and np.isfinite(joint) for step, joint, _ in calls.calls)
    n_components = {
        MAPDPM: lambda: len(told.component_counts_),
        CollapsedGibbs: lambda: told.n_clusters_samples_[-1],
        VariationalDPM: lambda: told.n_clusters_,
    }
    assert calls.calls[-1][2] == n_components[estimator]()


def test_the_last_joint_that_is_told_is_the_result():
    calls = Counter()
    model = MAPDPM(prior="paper", random_state=0, callback=calls).fit(PLANTED)
    assert calls.calls[-1][1] == pytest.approx(model.neg_log_joint_, rel=1e-12)
    assert calls.calls[0][0] == "start 1 descent"


@pytest.mark.parametrize("prior", ["auto", "paper"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_ends_a_fit_at_any_step(prior, n_jobs):
    """Whatever the step, the labels are a partition of all rows, whose joint is the objective."""
    X, n_steps = blobs(n_rows=90, n_clusters=3, seed=1)[0], Counter()
    parameters = {"prior": prior, "robustness": None, "join": False, "random_state": 0}
    MAPDPM(callback=n_steps, **parameters).fit(X)
    assert len(n_steps.calls) > 5
    for until in range(1, len(n_steps.calls), 3):
        calls = Counter(until)
        model = MAPDPM(n_jobs=n_jobs, callback=calls, **parameters).fit(X)
        assert model.stopped_ == "callback"
        assert not model.converged_
        assert len(calls.calls) == until
        assert sorted(set(model.labels_)) == list(range(model.n_clusters_))
        if prior == "paper":
            assert neg_log_joint(model, X) == pytest.approx(model.neg_log_joint_, rel=1e-9)


@pytest.mark.parametrize("init", ["single", "sequential", "random", "search", "auto"])
def test_a_fit_that_ends_at_once_has_a_label_for_every_row(init):
    model = MAPDPM(prior="paper", init=init, random_state=0, callback=Counter(1)).fit(PLANTED)
    assert model.labels_.min() == 0
    assert neg_log_joint(model, PLANTED) == pytest.approx(model.neg_log_joint_, rel=1e-9)


def test_a_fit_that_ends_at_once_compares_no_families_of_columns():
    """That takes seconds for thousands of columns: they keep the family that their cells show."""
    rng = np.random.default_rng(0)
    table = {"city": rng.choice(["Ulm", "Bonn"], size=90).tolist(), "visits": rng.poisson(40, 90)}
    whole = MAPDPM(random_state=0).fit(pd.DataFrame(table))
    ended = MAPDPM(random_state=0, callback=Counter(1)).fit(pd.DataFrame(table))
    assert whole.component_["visits"] == "poisson-gamma"
    assert ended.component_["visits"] == "normal-gamma"
    assert ended.labels_.shape == (90,)


@pytest.mark.parametrize("alpha", ["map", "nll", "loo", "cv"])
def test_a_stop_in_the_choice_of_alpha(alpha):
    model = MAPDPM(prior="paper", alpha=alpha, random_state=0, callback=Counter(2)).fit(PLANTED)
    assert model.stopped_ == "callback"
    assert neg_log_joint(model, PLANTED) == pytest.approx(model.neg_log_joint_, rel=1e-9)


def test_a_longer_fit_finds_no_worse():
    X = np.random.default_rng(0).normal(size=(300, 2)) ** 3
    joints = [
        MAPDPM(prior="paper", init="single", random_state=0, callback=Counter(until))
        .fit(X)
        .neg_log_joint_
        for until in (1, 4, 8, 16, None)
    ]
    assert joints == sorted(joints, reverse=True)
    assert joints[-1] < joints[0]


@pytest.mark.parametrize("estimator", [*WITH_CALLBACK, DPSearch])
def test_a_time_limit_ends_a_fit_with_a_warning(estimator, clock):
    rule = re.escape("fit was stopped after max_seconds=0.5 and kept the best so far")
    with pytest.warns(ConvergenceWarning, match=rule) as caught:
        model = quick(estimator, prior="paper", max_seconds=0.5).fit(PLANTED)
    assert caught[0].filename == __file__
    assert model.stopped_ == "max_seconds"
    assert not getattr(model, "converged_", False)
    assert sorted(set(model.labels_)) == list(range(model.n_clusters_))
    if estimator is not VariationalDPM:
        assert neg_log_joint(model, PLANTED) == pytest.approx(model.neg_log_joint_, rel=1e-9)


def test_passes_of_dp_means_end_by_a_callback_or_a_time_limit(clock):
    full = DPMeans(lam=3.0, n_init=3, random_state=0).fit(PLANTED)
    assert full.stopped_ is None
    calls = Counter(2)
    model = DPMeans(lam=3.0, n_init=3, random_state=0, callback=calls).fit(PLANTED)
    assert (model.stopped_, model.converged_, model.n_iter_) == ("callback", False, 2)
    assert [step for step, *_ in calls.calls] == ["start 1", "start 1"]
    assert [objective for _, objective, _ in calls.calls] == model.objective_trace_[1:].tolist()
    with pytest.warns(ConvergenceWarning, match="stopped after max_seconds=0.5") as caught:
        model.set_params(callback=None, max_seconds=0.5).fit(PLANTED)
    assert caught[0].filename == __file__
    assert (model.stopped_, model.converged_, model.n_iter_) == ("max_seconds", False, 1)
    rest = ((PLANTED - model.cluster_centers_[model.labels_]) ** 2).sum()
    assert model.objective_ == pytest.approx(rest + 3.0 * model.n_clusters_, rel=1e-9)


@pytest.mark.parametrize("estimator", [*WITH_CALLBACK, DPSearch])
def test_a_limit_that_is_not_reached_changes_nothing(estimator):
    limited = quick(estimator, max_seconds=1e6).fit(PLANTED)
    np.testing.assert_array_equal(limited.labels_, quick(estimator).fit(PLANTED).labels_)
    assert limited.stopped_ is None


def test_a_search_that_is_stopped_still_bounds_its_gap(clock):
    X = np.random.default_rng(3).normal(size=(14, 1))
    prior = {"m0": 0.0, "sigma2": 0.1, "tau2": 1.0}
    parameters = {"component": "normal-known-variance", "prior": prior, "beam": None}
    full = DPSearch(scoring="tight", **parameters).fit(X)
    with pytest.warns(ConvergenceWarning):
        stopped = DPSearch(scoring="trivial", max_seconds=0.5, **parameters).fit(X)
    gap = stopped.neg_log_joint_ - full.neg_log_joint_
    assert full.certified_
    assert -1e-9 <= gap <= stopped.optimality_gap_ + 1e-9


def test_samples_end_with_the_sweep_that_the_callback_ends():
    calls = Counter(20)
    model = CollapsedGibbs(
        prior="paper", init="single", n_samples=50, burn_in=10, random_state=0, callback=calls
    ).fit(PLANTED)
    assert calls.calls[-1][0] == "sweep 20 of 60"
    assert len(model.labels_samples_) == 10
    assert model.neg_log_joint_samples_[-1] == calls.calls[-1][1]


def test_a_stop_in_the_burn_in_keeps_the_last_state():
    calls = Counter(5)
    model = CollapsedGibbs(
        prior="paper", init="single", burn_in=10, random_state=0, callback=calls
    ).fit(PLANTED)
    assert model.neg_log_joint_samples_.tolist() == [calls.calls[-1][1]]
    assert model.n_clusters_proba_.sum() == 1.0


@pytest.mark.parametrize("estimator", WITH_CALLBACK)
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_error_in_a_callback_leaves_the_estimator_as_it_was(estimator, error):
    model = quick(estimator).fit(PLANTED)
    before = pickle.dumps(vars(model))

    def fail(step, objective, n_clusters):
        raise error

    model.callback = fail
    with pytest.raises(error):
        model.fit(PLANTED[:50])
    model.callback = None
    assert pickle.dumps(vars(model)) == before


def test_an_error_in_a_callback_of_a_thread_is_raised():
    def fail(step, objective, n_clusters):
        raise ZeroDivisionError(step)

    with pytest.raises(ZeroDivisionError):
        MAPDPM(prior="paper", n_init=4, n_jobs=2, callback=fail).fit(PLANTED)


def test_partial_fit_ends_early_too():
    model = MAPDPM(prior="paper", random_state=0).fit(PLANTED)
    model.callback = Counter(1)
    model.partial_fit(PLANTED + 0.1)
    assert model.stopped_ == "callback"
    assert model.n_samples_seen_ == 180
    model.set_params(callback=None).partial_fit(PLANTED)
    assert model.stopped_ is None


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"max_seconds": 0}, "max_seconds must be positive, got 0"),
        ({"max_seconds": "1 h"}, "max_seconds must be positive, got '1 h'"),
        ({"callback": 3}, "callback must be callable or None, got 3"),
    ],
)
def test_an_error_names_the_parameter_that_breaks_its_rule(parameters, rule):
    with pytest.raises(ValueError, match=rule):
        MAPDPM(**parameters).fit(PLANTED)


@pytest.mark.parametrize(("verbose", "level"), [(True, logging.INFO), (False, logging.DEBUG)])
def test_lines_go_to_the_logger_that_takes_them(verbose, level, caplog, capsys):
    with caplog.at_level(level, logger="dpmlite"):
        MAPDPM(prior="paper", random_state=0, verbose=verbose).fit(PLANTED)
    assert capsys.readouterr().out == ""
    assert {(each.name, each.levelno) for each in caplog.records} == {("dpmlite", level)}
    assert caplog.messages[0].startswith("start 1      descent")


def test_lines_are_printed_where_logging_does_not_take_them(caplog, capsys):
    MAPDPM(prior="paper", random_state=0).fit(PLANTED)
    assert capsys.readouterr().out == ""
    MAPDPM(prior="paper", random_state=0, verbose=True).fit(PLANTED)
    assert capsys.readouterr().out.startswith("start 1      descent")
    assert caplog.messages == []
