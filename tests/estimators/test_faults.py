"""Faults in the middle, with real processes: kills, full disks, forks, and fits that fail."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from cases import blobs, needs_kernels

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPMeans,
    DPSearch,
    VariationalDPM,
)

HELPERS = Path(__file__).parents[1] / "helpers"

ESTIMATORS = {
    "MAPDPM": MAPDPM(prior="paper", random_state=0),
    "default": MAPDPM(random_state=0),
    "DPSearch": DPSearch(prior="paper", random_state=0),
    "trees": BayesianHierarchicalClustering(prior="paper", random_state=0),
    "samples": CollapsedGibbs(prior="paper", n_samples=5, random_state=0),
    "variational": VariationalDPM(prior="paper", n_components=4, random_state=0),
    "means": DPMeans(n_clusters=2, random_state=0),
}

SAVING = """
import sys
from dpmlite import MAPDPM
model = MAPDPM.load(sys.argv[1])
print("ready", flush=True)
while True:
    model.save(sys.argv[1])
"""

LIMITED = """
import resource, signal, sys
from dpmlite import MAPDPM, to_micropython
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit is then an error
model = MAPDPM.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
for save in (model.save, lambda path: to_micropython(model, path)):
    try:
        save(sys.argv[1])
    except OSError as error:
        print(type(error).__name__, error.errno)
"""

EXITING = """
import sys, threading, time
from cases import blobs
from dpmlite import MAPDPM
X = blobs(n_rows=20_000, n_columns=5)[0]
model = MAPDPM(prior="paper", init="search", n_jobs=2, random_state=0)
threading.Thread(target=model.fit, args=(X,), daemon=sys.argv[1] == "daemon").start()
time.sleep(0.2)
"""

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits are those of POSIX")


@pytest.fixture
def saved(tmp_path):
    """A fitted model, and its file."""
    X = np.round(20.0 * blobs(n_rows=2000, n_columns=4)[0])
    model = MAPDPM(prior="paper", random_state=0).fit(X)
    model.save(tmp_path / "model")
    return model, tmp_path / "model"


@posix
def test_a_kill_while_saving_leaves_a_whole_file(saved):
    model, path = saved
    rng = np.random.default_rng(0)
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-P", "-c", SAVING, path], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.05 * rng.random())
            process.send_signal(signal.SIGKILL)
        np.testing.assert_array_equal(MAPDPM.load(path).statistics_, model.statistics_)


@posix
@pytest.mark.parametrize("limit", [0, 1000, 20_000])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(saved, limit):
    model, path = saved
    before = path.read_bytes()
    assert len(before) > 20_000
    command = [sys.executable, "-P", "-c", LIMITED, path, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("OSError 27\n")  # EFBIG
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    if limit < 1000:
        assert path.read_bytes() == before
        np.testing.assert_array_equal(MAPDPM.load(path).labels_, model.labels_)


@posix
def test_an_interrupt_while_saving_leaves_the_old_file(saved, monkeypatch):
    model, path = saved
    before = path.read_bytes()

    def interrupted(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_child_fits_what_its_parent_fits(method):
    X, _ = blobs(n_rows=3000)
    model = MAPDPM(prior="paper", n_jobs=2, random_state=0)
    labels = model.fit(X).labels_
    with multiprocessing.get_context(method).Pool(1) as pool:
        theirs = pool.apply_async(model.fit, (X,)).get(60.0)
    np.testing.assert_array_equal(theirs.labels_, labels)


def state_of(estimator):
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in vars(estimator).items()
    }


def assert_unchanged(estimator, before):
    assert vars(estimator).keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(vars(estimator)[name], value, err_msg=name)


BAD_TABLES = {
    "another width": np.zeros((3, 5)),
    "infinite": np.array([[np.inf, 0.0]]),
    "text": np.array([["a", "b"]]),
    "nothing": np.zeros((0, 2)),
    "too far apart": np.array([[1e200, 0.0], [-1e200, 1.0]]),
}


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("table", BAD_TABLES)
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(kind, table):
    estimator = ESTIMATORS[kind].fit(blobs()[0])
    before = state_of(estimator)
    if table == "another width":
        with pytest.raises(ValueError, match="features"):
            estimator.predict(BAD_TABLES[table])
    else:
        with pytest.raises((ValueError, TypeError)):
            estimator.fit(BAD_TABLES[table])
    assert_unchanged(estimator, before)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_fit_that_runs_out_of_memory_at_its_end_leaves_nothing_behind(kind, monkeypatch):
    estimator = ESTIMATORS[kind].fit(blobs()[0])
    before = state_of(estimator)

    def without_memory(*args):
        raise MemoryError

    monkeypatch.setattr(type(estimator), "_remember_columns", without_memory)
    with pytest.raises(MemoryError):
        estimator.fit(blobs(n_columns=3, seed=1)[0])
    assert_unchanged(estimator, before)


@posix
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_interrupt_leaves_the_estimator_as_it_was(kind, interrupt_after):
    """Wherever it comes: every time a little later, until the fit is done before it."""
    X, other = blobs(n_rows=300)[0], blobs(n_rows=600, n_columns=3, seed=1)[0]
    estimator = ESTIMATORS[kind].fit(X)
    before = state_of(estimator)
    for seconds in (0.005, 0.02, 0.05):
        try:
            interrupt_after(seconds)
            estimator.fit(other)
            time.sleep(2.0)  # it must not come later
        except KeyboardInterrupt:
            if estimator.n_features_in_ == 3:
                return
            assert_unchanged(estimator, before)


@needs_kernels
@pytest.mark.parametrize("kind", ["daemon", "waited for"])
def test_the_interpreter_may_end_while_threads_fit(kind):
    """It does not wait for daemons; of the others it closes the pools, which may be an error."""
    done = subprocess.run(
        [sys.executable, "-P", "-X", "faulthandler", "-c", EXITING, kind],
        env={**os.environ, "PYTHONPATH": str(HELPERS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Fatal Python error" not in done.stderr


@needs_kernels
def test_fits_in_many_threads_at_once_are_those_of_one():
    tables = [blobs(n_rows=400, seed=seed)[0] for seed in range(8)]

    def labels(X):
        return MAPDPM(prior="paper", n_jobs=2, random_state=0).fit(X).labels_

    with ThreadPoolExecutor(len(tables)) as pool:
        together = list(pool.map(labels, tables))
    for X, found in zip(tables, together, strict=True):
        np.testing.assert_array_equal(found, labels(X))


@pytest.fixture
def changing_rows():
    """Rows that another thread changes all the time."""
    X, done = blobs(n_rows=500)[0], threading.Event()

    def change():
        rng = np.random.default_rng(0)
        while not done.wait(1e-4):
            X[rng.integers(len(X), size=9)] = rng.normal(0.0, 9.0, size=X.shape[1])

    thread = threading.Thread(target=change)
    thread.start()
    yield X
    done.set()
    thread.join()


@needs_kernels
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_rows_that_change_meanwhile_are_clustered_or_an_error(kind, changing_rows):
    for _ in range(3):
        with suppress(ValueError, ArithmeticError):
            estimator = ESTIMATORS[kind].fit(changing_rows)
            assert estimator.labels_.min() >= 0
            assert estimator.labels_.max() < estimator.n_clusters_
