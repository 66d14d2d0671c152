"""`outlier_score` is a tail probability of the cells that are known."""

import numpy as np
import pandas as pd
import pytest
from cases import needs_kernels

from dpmlite import MAPDPM
from dpmlite.estimators.fitted.outlier_scores import MIN_DRAWN, N_DRAWN, by_missing_cells, n_drawn

pytestmark = needs_kernels


def two_groups(rng, n, n_columns=4):
    return rng.normal(size=(n, n_columns)) + 6.0 * rng.integers(2, size=(n, 1))


def correlated(rng, n):
    a = rng.normal(size=n)
    return np.column_stack([a, 2.0 * a + 0.3 * rng.normal(size=n), rng.normal(size=n)])


def with_gaps(X, fraction=0.3):
    return np.where(np.random.default_rng(1).random(X.shape) < fraction, np.nan, X)


def require_calibrated(scores):
    """Of n scores of rows from the model's source, a share p is below p, within four deviations."""
    for p in (0.05, 0.2, 0.5, 0.8):
        assert np.mean(scores < p) == pytest.approx(
            p, abs=4.0 * np.sqrt(p * (1.0 - p) / len(scores))
        )


@pytest.mark.parametrize("table", [two_groups, correlated])
def test_rows_with_missing_cells_are_compared_with_rows_that_lack_them_too(table):
    rng = np.random.default_rng(0)
    model = MAPDPM(allow_missing=True, random_state=0).fit(with_gaps(table(rng, 2000), 0.05))
    X = with_gaps(table(rng, 2000))
    scores, n_missing = model.outlier_score(X), np.isnan(X).sum(axis=1)
    for n in (0, 1, 2):
        require_calibrated(scores[n_missing == n])


def test_what_is_known_can_be_unusual():
    rng = np.random.default_rng(0)
    model = MAPDPM(allow_missing=True, random_state=0).fit(with_gaps(correlated(rng, 500), 0.05))
    unusual = [[2.0, -4.0, np.nan], [np.nan, np.nan, 9.0], [8.0, np.nan, 0.0]]
    usual = [[2.0, 4.0, np.nan], [np.nan, np.nan, 0.5], [1.0, np.nan, 0.0]]
    assert model.outlier_score(unusual).max() < 0.001
    assert model.outlier_score(usual).min() > 0.05
    assert model.outlier_score([[np.nan] * 3]) == [1.0]


def test_gaps_do_not_hide_outliers_from_labels():
    rng = np.random.default_rng(0)
    X = with_gaps(two_groups(rng, 500), 0.1)
    X[0] = [60.0, np.nan, 0.0, 0.0]
    model = MAPDPM(allow_missing=True, outlier_level=0.001, random_state=0).fit(X)
    assert model.labels_[0] == -1
    assert np.mean(model.labels_ < 0) < 0.01


def test_mixed_tables_with_zeros_and_levels():
    rng = np.random.default_rng(0)

    def frame(n):
        kind = rng.integers(2, size=n)
        X = pd.DataFrame(
            {
                "spend": np.where(rng.random(n) < 0.5, 0.0, np.exp(rng.normal(2.0, 0.4, n))),
                "size": rng.normal(8.0 * kind, 1.0),
                "plan": rng.choice(np.array(["monthly", "yearly"], dtype=object), n),
            }
        )
        return X.mask(rng.random(X.shape) < 0.15)

    model = MAPDPM(
        component={"spend": "zero-inflated-log-normal", "plan": "categorical"},
        allow_missing=True,
        random_state=0,
    ).fit(frame(1500))
    X = frame(2000)
    scores = model.outlier_score(X)
    known = X["size"].notna()  # continuous, so that few scores are equal
    require_calibrated(scores[known & X["spend"].isna()])
    require_calibrated(scores[known & X["plan"].isna()])


def test_bits_too():
    rng = np.random.default_rng(0)
    X = (rng.random((300, 12)) < np.where(rng.random((300, 1)) < 0.5, 0.1, 0.9)).astype(float)
    model = MAPDPM(component="beta-bernoulli", allow_missing=True, random_state=0)
    model.fit(with_gaps(X, 0.1))
    odd = np.array([[1.0, 0.0] * 6])
    odd[0, :2] = np.nan
    assert model.outlier_score(odd)[0] < 0.01
    assert np.mean(model.outlier_score(with_gaps(X, 0.1)) < 0.01) < 0.03


def test_rows_are_grouped_by_what_they_lack():
    missing = np.array([[0, 1], [0, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)
    groups = {tuple(lacking): rows.tolist() for rows, lacking in by_missing_cells(missing)}
    assert groups == {(False, False): [1, 4], (False, True): [0, 2], (True, True): [3]}
    ((rows, lacking),) = by_missing_cells(missing[[1, 4]])
    assert (rows.tolist(), lacking.tolist()) == ([0, 1], [False, False])


def test_many_patterns_have_fewer_draws():
    assert [n_drawn(n) for n in (1, 100, 200, 10**6)] == [N_DRAWN, N_DRAWN, N_DRAWN // 2, MIN_DRAWN]
