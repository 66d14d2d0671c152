"""The default start: descents on samples, from which the other rows and larger samples follow."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from cases import PURE, blobs, needs_kernels
from contexts import context_of

from dpmlite import MAPDPM, core, exact_posterior, families, moves, sweeps
from dpmlite.datasets import crp_mixture, planted_gaussians
from dpmlite.partition import Partition
from dpmlite.search import sampled_start, samples
from dpmlite.search.context import Problem
from dpmlite.search.result import first_of_best
from dpmlite.search.sampled_start import SampledStart
from dpmlite.search.search import Search
from dpmlite.search.sweeps import sweep_and_merge


def test_rounding_does_not_choose_the_best():
    assert first_of_best([2.0, 1.0 + 1e-12, 1.0, 1.0 + 2e-8], 1e-8) == 1
    assert first_of_best([1.0 + 2e-8, 1.0], 1e-8) == 1


def test_sweeps_and_merges_end_where_neither_helps():
    X, _ = blobs(n_rows=50, seed=2)
    context = context_of(X)
    partition = context.partition(np.arange(50))
    assert sweep_and_merge(context, partition).n_sweeps >= 1
    assert sweeps.sweep(partition) == 0
    assert moves.merge(partition) == 0
    again = context.partition(np.arange(50))
    assert sweep_and_merge(context, again, max_sweeps=1).n_sweeps == 1


def run(X, seed=0, stop=None):
    start = SampledStart(context_of(X, seed, stop))
    return start.run(), start


@needs_kernels
@pytest.mark.parametrize("power", [0.3, 0.005])
def test_rows_that_count_little_end_in_the_clusters_of_all(power):
    """60,000 rows that count as 18,000, or as 300: each sample has a power of its own."""
    X, truth = planted_gaussians(60_000, 4, 6, separation=8.0, random_state=0)
    family = families.NormalGamma(X.mean(axis=0), 0.1, 1.0, 0.1 * X.var(axis=0), power)
    problem = Problem(core.Rows(X), family, 1.0)
    sample = problem.of_rows(np.arange(0, 60_000, 40))
    assert sample.component.power == min(40 * power, 1.0)
    assert problem.of_every(10).component.power == min(10 * power, 1.0)
    found = [Search().best(problem, np.array([seed])) for seed in range(2)]
    for result in found:
        assert result.partition.n_clusters == 6
        assert len(set(zip(result.labels().tolist(), truth.tolist(), strict=True))) < 12
        exact = result.partition.exact_neg_log_joint()
        assert result.neg_log_joint == pytest.approx(exact, rel=1e-11)


def test_a_start_is_an_optimum_of_its_sample_which_the_others_join(monkeypatch):
    X, _ = blobs(n_rows=60, seed=3)
    monkeypatch.setattr(samples, "SAMPLE_ROWS", 25)
    labels, start = run(X)
    assert len(start.sample) == 25
    assert set(labels) <= {-1, *labels[start.sample]}
    assert (labels >= 0).sum() > 50
    partition = context_of(X).partition(labels[start.sample], start.sample)
    assert sweeps.sweep(partition) == 0
    assert moves.merge(partition) == 0
    again, _ = run(X)
    np.testing.assert_array_equal(labels, again)


def test_a_stop_ends_it_after_the_first_descent():
    X, _ = blobs(n_rows=60, seed=3)
    stop = threading.Event()
    stop.set()
    labels, start = run(X, stop=stop)
    assert (labels >= 0).all()
    assert start.n_sweeps < run(X)[1].n_sweeps


@pytest.mark.parametrize(("quick", "is_short"), [(True, True), (False, False)])
def test_a_quick_start_of_scattered_rows_ends_early(monkeypatch, quick, is_short):
    """Where sweeps over their many clusters take long: two descents are made at once."""
    X, _ = blobs(n_rows=200, seed=3)
    made, descents = [], SampledStart._descents
    monkeypatch.setattr(
        SampledStart, "_descents", lambda self, which: made.extend(which) or descents(self, which)
    )
    monkeypatch.setattr("dpmlite.search.context.MAX_QUICK_TERMS", X.size)
    SampledStart(replace(context_of(X), quick=quick)).run()
    assert (len(made) == 2) == is_short


def test_tables_larger_than_the_sample(monkeypatch):
    X, truth = planted_gaussians(400, 3, 4, separation=20.0, random_state=0)
    monkeypatch.setattr(samples, "SAMPLE_ROWS", 50)
    model = MAPDPM(prior="paper", random_state=0).fit(X)
    assert model.n_clusters_ == 4
    assert len(set(zip(model.labels_.tolist(), truth.tolist(), strict=True))) == 4
    assert (np.diff(model.neg_log_joint_trace_) <= 0.0).all()


def test_verbose_names_the_steps_of_the_start(capsys):
    X, _ = blobs(n_rows=40, seed=4)
    MAPDPM(prior="paper", random_state=0, verbose=True, n_init=2).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("start 1      descent")
    names = {line.split()[0] for line in lines}
    assert names == {"start", "best", "joined"}


@pytest.mark.parametrize("n_columns", [1, 2])
def test_the_start_finds_the_most_probable_of_all_partitions(n_columns):
    n_problems, least_hits = (10, 9) if PURE else (100, 97)
    hits = 0
    for seed in range(n_problems):
        alpha = (0.5, 1.0, 3.0)[seed % 3]
        X, _ = crp_mixture(8, n_columns, alpha=alpha, random_state=seed)
        found = MAPDPM(prior="paper", alpha=alpha, random_state=seed).fit(X).neg_log_joint_
        least = exact_posterior(X, alpha=alpha).neg_log_joint
        assert found >= least - 1e-9
        hits += found <= least + 1e-9
    assert hits >= least_hits


@needs_kernels
def test_the_start_is_no_worse_than_2000_gibbs_sweeps():
    """The paper's section 4.1, eight draws; asv_benchmarks/benchmarks/search.py has a hundred."""
    prior = {"m0": np.full(2, 1.0), "c0": 0.1, "a0": 1.0, "b0": np.full(2, 10.0)}
    gains = []
    for seed in range(8):
        X, _ = crp_mixture(random_state=seed)
        rng = np.random.default_rng(seed)
        family = families.NormalGamma(**prior)
        chain = Partition(core.Rows(X), np.zeros(600, dtype=np.intp), family, 3.0)
        best, labels = np.inf, None
        for _ in range(2000):
            sweeps.gibbs_sweep(chain, rng.random(600))
            if chain.neg_log_joint < best:
                best, labels = chain.neg_log_joint, np.array(chain.labels)
        mode = Partition(core.Rows(X), labels, families.NormalGamma(**prior), 3.0)
        sweeps.converge(mode, 1000)
        found = MAPDPM(alpha=3.0, prior=prior, random_state=0).fit(X).neg_log_joint_
        gains.append(mode.neg_log_joint - found)
    assert sum(gain > -1e-6 for gain in gains) >= 7
    assert np.mean(gains) > 0.0


@needs_kernels
def test_a_large_table_is_searched_by_way_of_a_smaller(capsys):
    X, truth = planted_gaussians(520_000, 2, 20, separation=60.0, random_state=0)
    model = MAPDPM(prior="paper", random_state=0, verbose=True).fit(X)
    steps = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert steps.count(["sample", "start"]) == steps.count(["best", "start"]) == 1
    again = MAPDPM(prior="paper", random_state=0, n_jobs=2).fit(X)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    best = MAPDPM(prior="paper", init=truth).fit(X)
    assert model.n_clusters_ == best.n_clusters_ == 20
    assert model.neg_log_joint_ == pytest.approx(best.neg_log_joint_, rel=1e-12)


@needs_kernels
def test_what_one_pair_of_seeds_misses_in_a_large_cluster_others_find():
    """With one pair alone, these of 100 seeds end with two clusters that are apart as one."""
    X, _ = planted_gaussians(520_000, 2, 20, separation=60.0, random_state=0)
    for seed in (20, 35, 85, 94, 95):
        assert MAPDPM(prior="paper", random_state=seed).fit(X).n_clusters_ == 20


def n_descents(context, monkeypatch):
    """Descents that a start makes of rows among which a second one gains nothing."""
    made = []

    def counted(start, number, best):
        made.append(number)

    monkeypatch.setattr(SampledStart, "_tell", counted)
    monkeypatch.setattr(moves, "all_look_normal", lambda partition: False)
    SampledStart(context).run()
    return len(made)


def test_costly_descents_that_gain_little_end_a_start_sooner(monkeypatch):
    X, _ = planted_gaussians(60, 4, 3, separation=20.0, random_state=0)
    context = context_of(X)
    cheap = n_descents(context, monkeypatch)
    assert cheap >= sampled_start.MAX_FAILURES + sampled_start.MAX_FAILURES_PER_COLUMN * 4
    monkeypatch.setattr(sampled_start, "MAX_FUTILE_TERMS", 5 * 3 * X.size)  # of three clusters
    costly = n_descents(context_of(X), monkeypatch)
    assert 6 <= costly <= 8  # no more than the budget and the first, with one that gains
    monkeypatch.setattr(sampled_start, "MAX_FUTILE_TERMS", 0.0)
    assert n_descents(context_of(X), monkeypatch) == costly - 3


def test_costly_descents_end_alike_on_threads(monkeypatch):
    monkeypatch.setattr(sampled_start, "MAX_FUTILE_TERMS", 2000.0)
    X = np.random.default_rng(4).normal(size=(40, 6))
    one, two = (MAPDPM(prior="paper", random_state=0, n_jobs=n).fit(X) for n in (1, 2))
    assert (one.labels_ == two.labels_).all()
    assert one.n_sweeps_ == two.n_sweeps_
