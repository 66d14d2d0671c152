"""Tables of any layout and of single precision are read where they are."""

import functools
import tracemalloc

import numpy as np
import pytest
from cases import PURE, needs_kernels

from dpmlite import MAPDPM
from dpmlite.datasets import planted_gaussians

LAYOUTS = {
    "fortran": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
}
N_ROWS = 30 if PURE else 300
X = planted_gaussians(N_ROWS, 3, 4, random_state=0)[0]

COMPONENTS = ("normal-gamma", "normal-inverse-wishart", "normal-known-variance")


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("single", [False, True])
def test_rows_are_the_same(twin, layout, single):
    table = X.astype(np.float32) if single else X
    rows, expected = twin.rows.Rows(layout(table)), twin.rows.Rows(table.astype(np.float64))
    assert (rows.n_columns, len(rows)) == (3, N_ROWS)
    for i in (0, 7, N_ROWS - 1):
        assert list(rows.values(i)) == list(expected.values(i))
        assert rows.weight(i) == 1.0


@functools.cache
def expected_fit(component):
    return MAPDPM(prior="paper", component=component, random_state=0).fit(X)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("component", COMPONENTS)
def test_fits_are_the_same(component, layout):
    expected = expected_fit(component)
    for n_jobs in (1, 2):
        model = MAPDPM(prior="paper", component=component, random_state=0, n_jobs=n_jobs).fit(
            layout(X)
        )
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.neg_log_joint_ == pytest.approx(expected.neg_log_joint_, rel=1e-12)
    np.testing.assert_array_equal(model.predict(layout(X)), expected.predict(X))
    np.testing.assert_allclose(model.score_samples(layout(X)), expected.score_samples(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_may_lie_at_odd_addresses(dtype):
    records = np.zeros(len(X), dtype=[("kind", "u1"), ("values", dtype, 3)])
    records["values"] = X
    assert not records["values"].flags.aligned
    model = MAPDPM(prior="paper", random_state=0).fit(records["values"])
    expected = MAPDPM(prior="paper", random_state=0).fit(X.astype(dtype))
    np.testing.assert_array_equal(model.labels_, expected.labels_)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_clusters_that_lose_an_outlier_are_built_anew(layout):
    """Other rows are read then, while one is on its way."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[::8] *= 1e6
    labels = np.arange(40) % 3
    models = [
        MAPDPM(init=labels, split_merge=False, prior={"b0": 1.0}).fit(table)
        for table in (X, layout(X))
    ]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    assert models[0].neg_log_joint_ == pytest.approx(models[1].neg_log_joint_, rel=1e-12)


@pytest.mark.parametrize("component", COMPONENTS)
def test_single_precision_is_that_table_in_double(component):
    single = X.astype(np.float32)
    model, expected = (
        MAPDPM(prior="paper", component=component, random_state=0).fit(Y)
        for Y in (single, single.astype(float))
    )
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.neg_log_joint_ == pytest.approx(expected.neg_log_joint_, rel=1e-12)
    np.testing.assert_allclose(model.means_, expected.means_)


@needs_kernels
@pytest.mark.parametrize("kind", ["fortran", "single", "memory-mapped"])
def test_the_table_is_not_copied(kind, tmp_path):
    table = planted_gaussians(50_000, 100, 3, separation=20.0, random_state=0)[0]
    table = np.asfortranarray(table) if kind == "fortran" else table.astype(np.float32)
    if kind == "memory-mapped":
        np.save(tmp_path / "table.npy", table)
        table = np.load(tmp_path / "table.npy", mmap_mode="r")
    model = MAPDPM(prior="paper", random_state=0)
    model.fit(table[:100])
    tracemalloc.start()
    model.fit(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.n_clusters_ == 3
    assert peak < 0.5 * table.nbytes


@needs_kernels
def test_a_table_of_amounts_is_copied_twice_at_most():
    """Once to take logarithms, and once while they are judged."""
    table = np.exp(np.random.default_rng(0).normal(size=(20_000, 30)))
    model = MAPDPM(random_state=0)
    model.fit(table[:100])
    tracemalloc.start()
    model.fit(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert set(model.component_.values()) == {"log-normal"}
    assert peak < 2.2 * table.nbytes
