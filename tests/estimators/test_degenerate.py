"""Tables that tell little, and arrays that lie strangely in memory: an answer, or an error."""

import numpy as np
import pytest
from cases import blobs, needs_kernels
from drawn_tables import table

from dpmlite import MAPDPM, BayesianHierarchicalClustering, CollapsedGibbs, DPSearch, VariationalDPM
from dpmlite.estimators.priors import COMPONENTS

ESTIMATORS = {
    "MAPDPM": MAPDPM(random_state=0),
    "paper": MAPDPM(prior="paper", random_state=0),
    "DPSearch": DPSearch(random_state=0),
    "trees": BayesianHierarchicalClustering(random_state=0),
    "samples": CollapsedGibbs(n_samples=5, random_state=0),
    "variational": VariationalDPM(component="normal-gamma", n_components=5, random_state=0),
}


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return ESTIMATORS[request.param]


def unaligned(X):
    """A copy of an array at an address that is no multiple of its items' size."""
    room = np.empty(X.nbytes + 1, dtype=np.uint8)[1:]
    copy = room[: X.nbytes].view(X.dtype).reshape(X.shape)
    copy[...] = X
    assert not copy.flags.aligned
    return copy


@pytest.mark.filterwarnings("ignore:.*constant")
@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_every_estimator_labels_one_to_three_rows(estimator, n_rows):
    X = np.array([[0.0, 1.0], [0.5, -1.0], [9.0, 4.0]])[:n_rows]
    labels = estimator.fit(X).labels_
    assert labels.shape == (n_rows,)
    assert labels.min() == 0


@pytest.mark.filterwarnings("ignore:.*constant")
def test_equal_rows_are_one_cluster(estimator):
    assert set(estimator.fit(np.full((30, 2), 3.7)).labels_) == {0}


@needs_kernels
@pytest.mark.filterwarnings("ignore:.*constant")
def test_copies_of_one_row_stay_together():
    X = np.full((200_000, 1), 0.1)
    assert MAPDPM(random_state=0).fit(X).n_clusters_ == 1
    X[::2] = 9.0
    labels = MAPDPM(prior="paper", random_state=0).fit(X).labels_
    assert len(set(labels[::2])) == len(set(labels[1::2])) == 1


@pytest.mark.filterwarnings("ignore:.*constant")
def test_a_column_of_two_values(estimator):
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    labels = estimator.fit(X).labels_
    assert labels.shape == (40,)


@pytest.mark.parametrize(("shape", "message"), [((0, 2), "one row"), ((5, 0), "one column")])
def test_no_rows_and_no_columns(estimator, shape, message):
    with pytest.raises(ValueError, match=f"X must have at least {message}"):
        estimator.fit(np.empty(shape))


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_unaligned_arrays_are_copied(component, dtype):
    X, _ = table(component, n_rows=30)
    X = X.astype(dtype)
    one, other = (
        MAPDPM(component=component, prior="paper", random_state=0).fit(rows, sample_weight=weights)
        for rows, weights in ((X, np.full(30, 1.5)), (unaligned(X), unaligned(np.full(30, 1.5))))
    )
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.predict(X), other.predict(unaligned(X)))
    assert one.neg_log_joint_ == other.neg_log_joint_


def test_unaligned_sparse_arrays_are_copied():
    sparse = pytest.importorskip("scipy.sparse")
    X, _ = table("dirichlet-multinomial", n_rows=30)
    X = sparse.csr_array(X)
    strange = X.copy()
    strange.data, strange.indices = unaligned(X.data), unaligned(X.indices)
    strange.indptr = unaligned(X.indptr)
    model = MAPDPM(component="dirichlet-multinomial", prior="paper", random_state=0)
    np.testing.assert_array_equal(model.fit(X).labels_, model.fit(strange).labels_)


VIEWS = {
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 3),
    "broadcast": lambda x: np.broadcast_to(x[:, None], (len(x), 3)),
    "backwards": lambda x: x.reshape(-1, 2)[::-1, ::-1],
    "every other": lambda x: x.reshape(-1, 2)[::2],
    "big-endian": lambda x: x.reshape(-1, 2).astype(">f8"),
    "long doubles": lambda x: x.reshape(-1, 2).astype(np.longdouble),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_that_overlap_are_as_their_copies(view):
    X = VIEWS[view](blobs(n_rows=40)[0].ravel())
    model = MAPDPM(prior="paper", random_state=0)
    labels, joint = model.fit(X).labels_, model.neg_log_joint_
    copy = np.array(X, dtype=np.float64, order="C")
    np.testing.assert_array_equal(model.fit(copy).labels_, labels)
    assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-12)


@needs_kernels
def test_outliers_of_a_million_million_deviations():
    X = np.concatenate([np.random.default_rng(0).normal(size=(200, 2)), [[1e12, 0.0]]])
    with pytest.warns(UserWarning, match="variance"):
        model = MAPDPM(random_state=0).fit(X)
    assert (model.labels_ == model.labels_[-1]).sum() == 1


@needs_kernels
def test_thousands_of_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5000)) + 3.0 * np.repeat([[0.0], [1.0]], 20, axis=0)
    assert MAPDPM(prior="paper", random_state=0).fit(X).n_clusters_ == 2


@needs_kernels
def test_thousands_of_clusters():
    X = np.random.default_rng(0).normal(size=(1200, 2))
    assert MAPDPM(prior="paper", alpha=1e12, random_state=0).fit(X).n_clusters_ == 1200
