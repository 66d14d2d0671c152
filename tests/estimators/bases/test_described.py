"""What a fitted model says of its clusters, and what it expects in missing cells."""

import numpy as np
import pandas as pd
import pytest
from cases import needs_kernels
from mixed_tables import planted
from scipy import stats

from dpmlite import MAPDPM

pytestmark = needs_kernels


def customers(n_rows=600, seed=0):
    """Three kinds of customers, told apart by income and city, hardly by age, not by shoes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n_rows)
    city = np.where(rng.random(n_rows) < 0.9, labels, rng.integers(0, 3, n_rows))
    X = pd.DataFrame(
        {
            "age": rng.normal(40.0 + labels, 10.0),
            "income": np.exp(rng.normal(7.0 + 2.0 * labels, 0.5)),
            "city": np.array(["Oslo", "Paris", "Rome"], dtype=object)[city],
            "shoes": rng.normal(42.0, 2.0, n_rows),
        }
    )
    return X, labels


@pytest.fixture(scope="module")
def model():
    return MAPDPM(random_state=0).fit(customers()[0])


def test_columns_that_tell_most_come_first(model):
    for k in range(3):
        report = model.explain(k)
        assert [row[0] for row in report.rows[:2]] in (["income", "city"], ["city", "income"])
        assert report.rows[-1][0] in ("shoes", "age")
        assert str(report).startswith(f"cluster {k}: {model.counts_[k]} rows")
        assert "<table>" in report._repr_html_()


def test_columns_without_names_have_numbers_as_in_pictures():
    model = MAPDPM(random_state=0, prior="paper").fit(np.repeat([[0.0], [9.0]], 20, axis=0))
    assert model.summary().title == "2 clusters of 40 rows"
    assert model.summary().rows[0][-1].startswith("column 0 ")
    one = MAPDPM(random_state=0, prior="paper").fit([[1.0, 2.0]])
    assert one.summary().title == "1 cluster of 1 row"
    assert one.explain(0).title == "cluster 0: 1 row, 100.0%"


def test_information_is_the_divergence_of_two_normals():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0.0, 1.0, (500, 1)), rng.normal(6.0, 2.0, (500, 1))])
    model = MAPDPM(random_state=0, component="normal-gamma").fit(X)
    found = model.column_information()[:, 0]
    (m, n), (v, w) = model.means_[:, 0], model.variances_[:, 0]
    one = 0.5 * (np.log(w / v) + (v + (m - n) ** 2) / w - 1.0)
    other = 0.5 * (np.log(v / w) + (w + (m - n) ** 2) / v - 1.0)
    np.testing.assert_allclose(found, [one, other], rtol=0.1)


def test_a_summary_has_a_line_for_each_cluster(model):
    report = model.summary()
    assert [row[1] for row in report.rows] == [str(n) for n in model.counts_]
    assert all("income" in row[-1] for row in report.rows)
    assert model._repr_html_() == report._repr_html_()
    assert "MAPDPM()" in MAPDPM()._repr_html_()


def test_centres_and_variances_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(10, 3, (100, 2)), [[60.0, 50.0]]])
    for component in ("normal-gamma", "normal-inverse-wishart"):
        model = MAPDPM(random_state=0, component=component).fit(X)
        for k in range(model.n_clusters_):
            inside = X[model.labels_ == k]
            np.testing.assert_allclose(model.cluster_centers_[k], inside.mean(axis=0), rtol=1e-9)
            if len(inside) > 50:
                np.testing.assert_allclose(model.variances_[k], inside.var(axis=0), rtol=0.2)


def test_joined_clusters_have_the_centres_and_variances_of_their_rows():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0.0, 2.0 * np.pi, 3000)
    ring = np.c_[np.cos(angle), np.sin(angle)] * 8.0 + 0.6 * rng.normal(size=(3000, 2))
    model = MAPDPM(random_state=0).fit(ring)
    assert model.n_clusters_ == 1 < len(model.statistics_)
    np.testing.assert_allclose(model.cluster_centers_[0], ring.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(model.variances_[0], ring.var(axis=0), rtol=0.05)


def test_levels_have_probabilities(model):
    X, _ = customers()
    probabilities = model.level_probabilities_["city"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    for k in range(3):
        shares = X["city"][model.labels_ == k].value_counts(normalize=True)
        expected = [shares.get(level, 0.0) for level in model.levels_["city"]]
        np.testing.assert_allclose(probabilities[k], expected, atol=0.05)


def test_missing_cells_are_what_the_clusters_of_the_row_expect():
    X, _ = customers()
    gaps = X.copy()
    gaps.loc[::5, "city"] = None
    gaps.loc[1::5, "age"] = np.nan
    model = MAPDPM(random_state=0, allow_missing=True).fit(gaps)
    filled = model.impute(gaps)
    assert list(filled.columns) == list(X.columns)
    assert (filled.index == X.index).all()
    pd.testing.assert_frame_equal(filled[gaps.notna()].dropna(), gaps.dropna(), check_dtype=False)
    assert (filled["city"][::5] == X["city"][::5]).mean() > 0.8
    of_new = model.new_cluster_proba(gaps) * model.prior_["normal-gamma"]["m0"][0]
    expected = (model.predict_proba(gaps) @ model.means_[:, 0] + of_new)[1::5]
    np.testing.assert_allclose(filled["age"][1::5].astype(float), expected, rtol=1e-9)


def test_drawn_cells_have_the_distribution_of_the_cluster():
    X, _ = customers()
    model = MAPDPM(random_state=0, allow_missing=True).fit(X)
    row = X[:1].assign(shoes=np.nan)
    drawn = model.impute(row, n_samples=2000, random_state=0)[:, 0, 3].astype(float)
    assert stats.kstest(drawn, stats.norm(42.0, 2.0).cdf).statistic < 0.1


def test_reports_and_imputation_check_what_they_need(model):
    with pytest.raises(ValueError, match="k must be below n_clusters_, 3, got 3"):
        model.explain(3)
    with pytest.raises(ValueError, match=r"impute needs a model .* allow_missing=True"):
        model.impute(customers()[0])
    with pytest.raises(ValueError, match="not fitted"):
        MAPDPM().summary()


def test_a_wide_mixed_table_has_finite_information():
    X, _, _ = planted(300, 3, 0)
    information = MAPDPM(random_state=0).fit(X).column_information()
    assert information.shape[1] == X.shape[1]
    assert np.isfinite(information).all()
    assert (information > -0.2).all()
