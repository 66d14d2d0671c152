"""`DaskMAPDPM` on Dask's own scheduler, with workers that are processes."""

import os
import signal
import threading

import numpy as np
import pytest
from cases import needs_kernels
from three_groups import table

import dpmlite
from dpmlite import MAPDPM
from dpmlite.datasets import unequal_gaussians

da = pytest.importorskip("dask.array", reason="needs the extra dpmlite[dask]")
distributed = pytest.importorskip("distributed", reason="needs the extra dpmlite[dask]")

from dpmlite.dask import DaskMAPDPM  # noqa: E402

pytestmark = [needs_kernels, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def started(n_workers, **options):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", **options
    )


@pytest.fixture(scope="module")
def client():
    """Two workers, which are processes."""
    with started(2) as cluster, distributed.Client(cluster) as client:
        yield client


def rows(n_rows=2500, seed=0):
    return unequal_gaussians(4, 8, random_state=seed).sample(n_rows, random_state=seed)[0]


def local_labels(X, sizes, **parameters):
    """Labels of the same chunks in this process."""
    chunks = np.split(X, np.cumsum(sizes)[:-1])
    return MAPDPM(random_state=0, **parameters).fit_chunks(chunks).labels_


def test_labels_are_those_of_one_process_in_the_chunks_of_the_table(client):
    X = rows()
    model = DaskMAPDPM(random_state=0).fit(da.from_array(X, chunks=(700, 4)))
    assert model.labels_.chunks == ((700, 700, 700, 400),)
    expected = local_labels(X, [700, 700, 700, 400])
    np.testing.assert_array_equal(model.labels_.compute(), expected)
    np.testing.assert_array_equal(model.counts_, np.bincount(expected))
    assert model.client_ is client


def test_columns_in_several_chunks_are_put_together(client):
    X = rows(900)
    model = DaskMAPDPM(random_state=0, client=client).fit(da.from_array(X, chunks=(300, 3)))
    np.testing.assert_array_equal(model.labels_.compute(), local_labels(X, [300, 300, 300]))


def test_lengths_of_chunks_may_be_unknown_and_zero(client):
    X = rows(1000)
    lazy = da.from_array(X, chunks=(250, 4))
    lazy = lazy[(lazy[:, 0] < np.sort(X[:, 0])[-200]) & (da.arange(1000, chunks=250) // 250 != 2)]
    kept = (X[:, 0] < np.sort(X[:, 0])[-200]) & (np.arange(1000) // 250 != 2)
    assert np.isnan(lazy.shape[0])
    model = DaskMAPDPM(random_state=0).fit(lazy)
    sizes = [int(part.sum()) for part in np.split(kept, 4)]
    assert sizes.pop(2) == 0
    assert model.labels_.chunks == (tuple(sizes),)
    expected = local_labels(X[kept], sizes)
    np.testing.assert_array_equal(model.labels_.compute(), expected)


def test_frames_are_fitted_and_predicted(client):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(rows(900), columns=list("abcd"))
    lazy = dd.from_pandas(frame, npartitions=3)
    model = DaskMAPDPM(random_state=0).fit(lazy)
    assert model.feature_names_in_.tolist() == list("abcd")
    local = model.to_local()
    np.testing.assert_array_equal(model.predict(lazy).compute(), local.predict(frame))
    assert len(model.labels_) == 900


def test_new_rows_are_predicted_where_they_are(client):
    X, new = rows(), rows(800, seed=1)
    model = DaskMAPDPM(random_state=0).fit(da.from_array(X, chunks=(1000, 4)))
    lazy, local = da.from_array(new, chunks=(300, 4)), model.to_local()
    for method in ("predict", "score_samples", "predict_proba", "outlier_score"):
        found, expected = getattr(model, method)(lazy), getattr(local, method)(new)
        assert isinstance(found, da.Array)
        assert found.chunks[0] == (300, 300, 200)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.compute(), expected)
        np.testing.assert_array_equal(getattr(model, method)(new), expected)


def test_the_local_model_goes_on_and_is_saved(client, tmp_path):
    X = rows()
    model = DaskMAPDPM(prior="paper", random_state=0).fit(da.from_array(X, chunks=(1000, 4)))
    local = model.to_local()
    assert type(local) is MAPDPM
    assert not hasattr(local, "labels_")
    local.save(tmp_path / "model.npz")
    loaded = MAPDPM.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(X), local.predict(X))
    loaded.partial_fit(rows(500, seed=1))
    assert loaded.n_samples_seen_ == 3000
    joint = dpmlite.neg_log_joint(X, model.labels_.compute(), alpha=1.0)
    assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-10)


def test_weights_are_those_of_one_process(client):
    X, weights = rows(900), np.random.default_rng(0).uniform(0.5, 3.0, 900)
    lazy, lazy_weights = da.from_array(X, (300, 4)), da.from_array(weights, 300)
    model = DaskMAPDPM(random_state=0).fit(lazy, sample_weight=lazy_weights)
    local = MAPDPM(random_state=0).fit_chunks(np.split(X, 3), None, np.split(weights, 3))
    np.testing.assert_array_equal(model.labels_.compute(), local.labels_)
    assert model.neg_log_joint_ == local.neg_log_joint_


def test_weights_in_other_chunks_are_refused(client):
    X = da.from_array(rows(900), (300, 4))
    with pytest.raises(ValueError, match="sample_weight must have 3 chunks, as X has, got 1"):
        DaskMAPDPM().fit(X, sample_weight=da.ones(900, chunks=900))
    with pytest.raises(ValueError, match=r"chunk 1: sample_weight must have shape \(300,\)"):
        DaskMAPDPM().fit(X, sample_weight=da.ones(800, chunks=((300, 200, 300),)))
    with pytest.raises(ValueError, match=r"sample_weight must be 1-D"):
        DaskMAPDPM().fit(X, sample_weight=da.ones((900, 1), chunks=300))
    with pytest.raises(TypeError, match="sample_weight must be a Dask array or series"):
        DaskMAPDPM().fit(X, sample_weight=np.ones(900))


def test_a_later_fit_forgets_an_earlier_one(client):
    X = da.from_array(rows(900), chunks=(300, 4))
    model = DaskMAPDPM(random_state=0, max_clusters=2).fit(X)
    assert model.n_clusters_ == 2
    model.set_params(max_clusters=None, prior="paper").fit(X)
    assert not hasattr(model, "cluster_of_component_")
    assert model.labels_.max().compute() == model.n_clusters_ - 1


def test_a_chunk_with_bad_rows_is_named(client):
    X = rows(900)
    X[650, 2] = np.nan
    with pytest.raises(ValueError, match=r"chunk 2: X must .* in row 50, column 2"):
        DaskMAPDPM().fit(da.from_array(X, chunks=(300, 4)))


def test_empty_chunks_count_in_the_number_of_a_bad_one(client):
    X = rows(900)
    X[650, 2] = np.inf
    lazy = da.from_array(X, chunks=(300, 4))
    lazy = lazy[da.arange(900, chunks=300) // 300 != 0]
    with pytest.raises(ValueError, match=r"chunk 2: X must be finite, got inf in row 50, column 2"):
        DaskMAPDPM().fit(lazy)


def test_what_is_not_of_dask_is_refused(client):
    with pytest.raises(TypeError, match="X must be a Dask array or data frame, got ndarray"):
        DaskMAPDPM().fit(rows(30))
    with pytest.raises(ValueError, match="X must be 2-D, got 1 dimension"):
        DaskMAPDPM().fit(da.zeros(3))
    with pytest.raises(ValueError, match="X must have at least one row, got 1 empty chunks"):
        DaskMAPDPM().fit(da.zeros((0, 2)))


def test_a_model_that_is_not_fitted_predicts_nothing():
    with pytest.raises(dpmlite.NotFittedError):
        DaskMAPDPM().to_local()


def test_parameters_are_those_of_the_local_model_and_a_client():
    model = DaskMAPDPM(alpha=2.0)
    assert model.get_params() == {**MAPDPM(alpha=2.0).get_params(), "client": None}
    assert repr(model) == "DaskMAPDPM(alpha=2.0)"
    with pytest.raises(TypeError, match="beta"):
        DaskMAPDPM(beta=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 4])
def test_labels_do_not_depend_on_the_number_of_workers(n_workers):
    X = rows()
    with started(n_workers) as cluster, distributed.Client(cluster) as client:
        model = DaskMAPDPM(random_state=0, client=client).fit(da.from_array(X, chunks=(700, 4)))
        labels = model.labels_.compute()
    np.testing.assert_array_equal(labels, local_labels(X, [700, 700, 700, 400]))


class KillAtSweep:
    """A callback that kills a process after the first sweep over the chunks."""

    def __init__(self, process):
        self.process, self.steps = process, []

    def __call__(self, step, joint, n_clusters):
        if step == "chunks sweep" and step not in self.steps:
            os.kill(self.process, signal.SIGKILL)
        self.steps.append(step)


@pytest.mark.slow
def test_a_worker_that_is_killed_does_not_change_the_labels():
    X = rows(6000)
    with started(2) as cluster, distributed.Client(cluster) as client:
        before = client.run(os.getpid)
        kill = KillAtSweep(next(iter(before.values())))
        model = DaskMAPDPM(prior="paper", random_state=0, client=client, callback=kill)
        model.fit(da.from_array(X, chunks=(1000, 4)))
        assert "chunks round" in kill.steps[kill.steps.index("chunks sweep") :]
        labels = model.labels_.compute()
        client.wait_for_workers(2)
        assert client.run(os.getpid) != before
    np.testing.assert_array_equal(labels, local_labels(X, [1000] * 6, prior="paper"))


def test_a_callback_is_called_where_the_driver_is(client):
    calls = []

    def ends(step, joint, n_clusters):
        calls.append((step, joint, os.getpid()))
        return step == "chunks sweep"

    X, parameters = rows(900), {"prior": "paper", "join": False}
    model = DaskMAPDPM(callback=ends, random_state=0, **parameters)
    model.fit(da.from_array(X, chunks=(300, 4)))
    assert model.stopped_ == "callback"
    assert {process for *_, process in calls} == {os.getpid()}
    joint = dpmlite.neg_log_joint(X, model.labels_.compute(), alpha=1.0)
    assert calls[-1][:2] == ("chunks sweep", pytest.approx(joint, rel=1e-10))


def test_workers_predict_without_the_callback(client):
    """It may hold what cannot leave its process."""
    lock, X = threading.Lock(), rows(900)

    def show(step, joint, n_clusters):
        with lock:
            assert n_clusters

    model = DaskMAPDPM(callback=show, random_state=0).fit(da.from_array(X, chunks=(300, 4)))
    found = model.predict(da.from_array(X, chunks=(450, 4))).compute()
    np.testing.assert_array_equal(found, model.to_local().predict(X))


def test_a_time_limit_ends_a_fit_with_a_warning(client, capsys):
    model = DaskMAPDPM(max_seconds=1e-6, verbose=True, random_state=0)
    rule = "stopped after max_seconds=1e-06"
    with pytest.warns(dpmlite.ConvergenceWarning, match=rule) as caught:
        model.fit(da.from_array(rows(900), chunks=(300, 4)))
    assert caught[0].filename == __file__
    assert (model.stopped_, model.converged_) == ("max_seconds", False)
    assert len(model.labels_.compute()) == 900
    assert "\nchunks       start " in capsys.readouterr().out


@pytest.mark.parametrize("component", ["dirichlet-multinomial", "beta-bernoulli"])
def test_counts_and_bits_are_clustered(client, component):
    X = table(component, 300)
    model = DaskMAPDPM(component=component, random_state=0).fit(da.from_array(X, chunks=(100, -1)))
    assert model.n_clusters_ == 3
    np.testing.assert_array_equal(
        model.labels_.compute(), local_labels(X, [100, 100, 100], component=component)
    )
