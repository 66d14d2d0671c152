"""What a fitted model says of its clusters."""

from math import comb, log

import numpy as np
import pytest
from cases import needs_kernels
from mixed_tables import customers, planted

from dpmlite import MAPDPM

pytestmark = needs_kernels


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


def binomial_divergence(n, p, q):
    """Sum over all counts of P(x | n, p) log (P(x | n, p) / P(x | n, q))."""
    chances = [[comb(n, x) * r**x * (1.0 - r) ** (n - x) for x in range(n + 1)] for r in (p, q)]
    return sum(here * log(here / there) for here, there in zip(*chances, strict=True))


def test_information_of_words_is_the_divergence_of_binomials():
    rates = np.repeat([[20.0, 1.0, 2.0], [1.0, 20.0, 2.0]], 50, axis=0)
    words = np.random.default_rng(0).poisson(rates)
    model = MAPDPM(component="dirichlet-multinomial", random_state=0).fit(words)
    assert model.n_clusters_ == 2
    for k, (here, there) in enumerate([model.means_, model.means_[::-1]]):
        length = round(words[model.labels_ == k].sum() / model.counts_[k])
        exact = [binomial_divergence(length, p, q) for p, q in zip(here, there, strict=True)]
        np.testing.assert_allclose(model.column_information()[k], exact, rtol=1e-9)
        share = words[model.labels_ == k].sum(axis=0) / words[model.labels_ == k].sum()
        typical = {row[0]: row[2] for row in model.explain(k).rows}
        assert typical == {f"column {j}": f"{100.0 * share[j]:.3g}%" for j in range(3)}


def test_information_of_bits_is_that_of_one_of_each_cluster():
    chances = np.repeat([[0.9, 0.1, 0.5], [0.1, 0.9, 0.5]], 60, axis=0)
    bits = (np.random.default_rng(0).random((120, 3)) < chances).astype(int)
    model = MAPDPM(component="beta-bernoulli", random_state=0).fit(bits)
    assert model.n_clusters_ == 2
    exact = [
        [binomial_divergence(1, p, q) for p, q in zip(here, there, strict=True)]
        for here, there in [model.means_, model.means_[::-1]]
    ]
    np.testing.assert_allclose(model.column_information(), exact, rtol=1e-9)


def test_information_of_the_only_word_is_nothing():
    model = MAPDPM(component="dirichlet-multinomial", random_state=0).fit([[3], [5], [400]])
    assert not model.column_information().any()


def test_a_summary_of_one_cluster_has_its_first_columns():
    X = np.random.default_rng(0).normal(size=(50, 4))
    summary = MAPDPM(prior="paper", max_clusters=1, random_state=0).fit(X).summary()
    assert summary.rows[0][-1].count("±") == 3
    assert summary.rows[0][-1].startswith("column 0 ")


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


def test_reports_check_what_they_need(model):
    with pytest.raises(ValueError, match="k must be below n_clusters_, 3, got 3"):
        model.explain(3)
    with pytest.raises(ValueError, match="not fitted"):
        MAPDPM().summary()


def test_a_wide_mixed_table_has_finite_information():
    X, _, _ = planted(300, 3, 0)
    information = MAPDPM(random_state=0).fit(X).column_information()
    assert information.shape[1] == X.shape[1]
    assert np.isfinite(information).all()
    assert (information > -0.2).all()
