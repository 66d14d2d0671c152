"""Threads: results in order, and an end to all of them when one fails."""

import os
import signal
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from cases import needs_kernels
from families import CASES, FAMILY_NAMES
from twin_modules import load_twin

import dpmlite
from dpmlite import MAPDPM, algorithms, core, families, sweeps
from dpmlite.core.threads import (
    MAX_THREADS_PER_PROCESSOR,
    iterate_on_threads,
    on_threads,
    thread_limit,
    thread_pool,
    threads_for,
    use_threads,
)
from dpmlite.datasets import planted_gaussians
from dpmlite.estimators.priors import COMPONENTS
from dpmlite.partition import Partition

if dpmlite.implementation == "cython":
    from dpmlite.moves._seeds import nearest_seed_labels


@pytest.mark.parametrize(
    ("n_jobs", "expected"),
    [
        (None, 1),
        (1, 1),
        (3, 3),
        (-1, 4),
        (-2, 3),
        (-4, 1),
        (-9, 1),
        (2**70, 4 * MAX_THREADS_PER_PROCESSOR),
    ],
)
def test_jobs_are_counted_as_joblib_does(n_jobs, expected, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    assert threads_for(n_jobs) == expected


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_items", [0, 1, 7])
def test_results_come_in_the_order_of_the_items(n_threads, n_items):
    def late(i):
        time.sleep(0.01 * (n_items - i))
        return i**2

    with use_threads(n_threads):
        assert on_threads(late, range(n_items)) == [i**2 for i in range(n_items)]


def test_who_has_not_begun_when_all_is_done_is_not_waited_for():
    free = threading.Event()
    with use_threads(2), thread_pool(1) as pool:
        busy = pool.submit(free.wait, 10.0)
        assert on_threads(str, [0, 1]) == ["0", "1"]
        assert not busy.done()
        free.set()


@pytest.mark.parametrize("error", [KeyError, IndexError])
def test_an_error_stops_the_others(error):
    stop, begun = threading.Event(), []

    def work(i):
        begun.append(i)
        if i == 0:
            raise error(i)
        assert stop.wait(10.0)

    with use_threads(2), pytest.raises(error):
        on_threads(work, range(50), stop)
    assert len(begun) < 50


def test_the_others_go_on_while_a_result_is_used():
    begun = [threading.Event() for _ in range(5)]
    with use_threads(2):
        results = iterate_on_threads(lambda i: begun[i].set(), range(5))
        next(results)
        assert all(each.wait(10.0) for each in begun)
        assert len(list(results)) == 4


def test_nothing_begins_after_the_last_result_that_is_asked_for():
    stop, begun, before = threading.Event(), [], threading.active_count()

    def work(i):
        begun.append(i)
        time.sleep(0.01)
        return i

    with use_threads(3):
        results = iterate_on_threads(work, range(1000), stop)
        assert [next(results), next(results)] == [0, 1]
        results.close()
    assert len(begun) < 1000
    assert threading.active_count() == before
    assert not stop.is_set()


def test_an_interrupt_stops_the_others(interrupt_after):
    """Whichever thread waits, and whatever the other does meanwhile."""
    stop = threading.Event()
    interrupt_after(0.2)
    start = time.perf_counter()
    with use_threads(2), pytest.raises(KeyboardInterrupt):
        on_threads(lambda i: i == 0 or stop.wait(60.0), range(2), stop)
    assert stop.is_set()
    assert time.perf_counter() - start < 30.0


@pytest.mark.parametrize(
    ("component", "missing"), [*((name, 0.0) for name in COMPONENTS), ("normal-gamma", 0.2)]
)
def test_a_fit_does_not_depend_on_threads(component, missing):
    """They share descents of the start, splits, exchanges and freed rows."""
    X, _ = planted_gaussians(
        12_000 if dpmlite.implementation == "cython" else 30, 4, 6, random_state=2
    )
    X = {"dirichlet-multinomial": np.floor(np.abs(X)), "beta-bernoulli": X > 0.0}.get(component, X)
    if missing:
        X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    one, three = (
        MAPDPM(
            prior="paper",
            component=component,
            allow_missing=missing > 0.0,
            random_state=0,
            n_jobs=n_jobs,
        ).fit(X)
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(three.labels_, one.labels_)
    np.testing.assert_array_equal(three.neg_log_joint_trace_, one.neg_log_joint_trace_)
    assert (three.n_sweeps_, three.n_empty_clusters_) == (one.n_sweeps_, one.n_empty_clusters_)


@pytest.mark.slow
@needs_kernels
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FAMILY_NAMES)
def test_threads_that_share_clusters_do_not_disturb_each_other(name, weighted):
    """Some families score a row in memory of their own."""
    case, rng, n_rows = CASES[name], np.random.default_rng(0), 190_000
    X, prior = case.draw(rng, n_rows, 5), case.prior(rng, 5)
    rows = core.Rows(X, rng.random(n_rows) + 0.5 if weighted else None)
    component = case.component(load_twin("cython"), prior)
    labels = rng.integers(8, size=n_rows).astype(np.intp)
    partition = Partition(rows, labels, component, 1.0)

    backwards = np.arange(n_rows, dtype=np.intp)[::-1].copy()

    def assigned(n_threads, some=None):
        labels = np.empty(n_rows, dtype=np.intp)
        with use_threads(n_threads):
            sweeps.assign(rows, component, 1.0, labels, some)
        return labels.tolist()

    def between(k):
        members = np.flatnonzero((labels == k) | (labels == k + 1)).astype(np.intp)
        return list(nearest_seed_labels(partition, members, 0.3, 0.6))

    assert assigned(3) == assigned(3, backwards)[::-1] == assigned(1)
    alone = algorithms.neg_log_loo(partition), [between(k) for k in range(7)]
    with use_threads(3):
        assert (algorithms.neg_log_loo(partition), on_threads(between, range(7))) == alone


@needs_kernels
def test_no_thread_is_left_where_one_cannot_be_started(monkeypatch):
    start, before = threading.Thread.start, threading.active_count()

    def reluctant(thread):
        if threading.active_count() > before + 1:
            raise RuntimeError("can't start new thread")
        start(thread)

    X, labels = planted_gaussians(100_000, 8, 20, random_state=0)
    family = families.NormalGamma(X.mean(axis=0), 0.1, 1.0, X.var(axis=0))
    partition = Partition(X, labels.astype(np.intp), family, 1.0)
    sweeps.converge(partition, 5)  # where many rows move, threads are of no use
    partition = Partition(X, np.array(partition.labels), family.like(), 1.0)
    monkeypatch.setattr(threading.Thread, "start", reluctant)
    with pytest.raises(RuntimeError, match="can't start new thread"), use_threads(4):
        sweeps.sweep(partition)
    assert threading.active_count() == before
    with use_threads(2):
        assert sweeps.sweep(partition) >= 0
    assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), rel=1e-12)


@needs_kernels
def test_a_fit_keeps_its_threads_while_it_lasts(monkeypatch):
    """Each is started once, and none is left."""
    X, _ = planted_gaussians(40_000, 2, 5, random_state=0)
    start, started, before = threading.Thread.start, [], threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", lambda thread: started.append(start(thread)))
    labels = MAPDPM(prior="paper", n_jobs=3, random_state=0).fit_predict(X)
    assert 1 <= len(started) <= 2
    assert threading.active_count() == before
    assert np.array_equal(labels, MAPDPM(prior="paper", random_state=0).fit_predict(X))
    assert 1 <= len(started) <= 2


def test_threads_are_kept_for_calls_of_their_block_alone():
    def names():
        """Of the others that make one of two calls, which wait for each other."""
        both = threading.Barrier(2)

        def name(i):
            both.wait(10.0)
            return threading.current_thread().name

        return set(on_threads(name, range(2))) - {threading.current_thread().name}

    before = threading.active_count()
    with use_threads(2):
        kept = names()
        assert len(kept) == 1
        with use_threads(5):  # within another block there are no more than that has
            assert names() == kept
    assert threading.active_count() == before
    with use_threads(2):
        assert names() != kept


def test_calls_that_share_work_share_it_once():
    """A call on one of several threads has only that one."""
    assert thread_limit() == 1
    with use_threads(3):
        assert thread_limit() == 3
        assert on_threads(lambda _: thread_limit(), range(9)) == [1] * 9
        assert on_threads(lambda _: thread_limit(), range(1)) == [3]
    assert thread_limit() == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of threads and forks
def test_a_fork_within_the_block_has_threads_of_its_own():
    """Those of its parent are not there."""
    with use_threads(2):
        on_threads(time.sleep, [0.01] * 4)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            failed = True
            with suppress(BaseException):  # nothing of the parent's is to go on here
                failed = on_threads(abs, [-1, -2, -3]) != [1, 2, 3]
            os._exit(failed)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_survive_an_error_of_a_call(n_threads):
    def fail(i):
        raise KeyError(i)

    with use_threads(n_threads):
        for _ in range(3):
            with pytest.raises(KeyError):
                on_threads(fail, range(9))
        assert on_threads(abs, [-1, -2, -3]) == [1, 2, 3]


@needs_kernels
def test_restarts_that_copy_rows_one_by_one_do_not_share_their_room():
    """Rows in Fortran order are copied when they are read; two threads once read the same copy."""
    for seed in range(40):
        X = np.asfortranarray(np.random.default_rng(seed).normal(size=(40, 2)))
        labels = [
            MAPDPM(prior="paper", init="search", n_init=4, random_state=seed, n_jobs=n_jobs)
            .fit(X)
            .labels_
            for n_jobs in (1, 2, 2, 2)
        ]
        for others in labels[1:]:
            np.testing.assert_array_equal(others, labels[0])
