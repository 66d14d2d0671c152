"""Counts that were taken in unlike exposures: times, areas or populations."""

import naive
import numpy as np
import pandas as pd
import pytest
from cases import needs_kernels
from mixed_tables import log_categorical, log_crp, log_poisson_gamma
from scipy import stats
from sklearn.metrics import adjusted_mutual_info_score

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPSearch,
    VariationalDPM,
    exact_posterior,
    merge_models,
    neg_log_joint,
)
from dpmlite.core.stop import Stop
from dpmlite.estimators.column_families.by_joint import columns_by_joint, recoded
from dpmlite.estimators.column_families.given import mixed_table
from dpmlite.estimators.inputs.reading import read_columns
from dpmlite.estimators.priors import mixed_family

pytestmark = needs_kernels

RATES = np.array([[0.02, 0.3, 0.1], [0.2, 0.03, 0.1], [0.2, 0.3, 1.0]])
COUNTS = ["claims", "visits", "calls"]
FAMILIES = {**dict.fromkeys(COUNTS, "poisson-gamma"), "city": "categorical", "days": "exposure"}


def table(n_rows=600, seed=0, gaps=0.0):
    """Policies of three kinds, observed for a week or for two years, and what kind each is."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n_rows)
    days = np.exp(rng.uniform(np.log(7.0), np.log(730.0), n_rows)).round()
    counts = rng.poisson(RATES[kind] * days[:, None]).astype(float)
    counts[rng.random(counts.shape) < gaps] = np.nan
    X = pd.DataFrame(counts, columns=COUNTS)
    X["city"] = np.array(["Oslo", "Paris", "Rome"])[rng.integers(3, size=n_rows)]
    X["days"] = days
    return X, kind


def fit(X, **parameters):
    return MAPDPM(random_state=0, **{"component": FAMILIES, **parameters}).fit(X)


def agreement(labels, found):
    return adjusted_mutual_info_score(labels, found)


def naive_joint(X, labels, prior, levels):
    """The joint from independent formulas."""
    events, beta0 = prior["poisson-gamma"], prior["categorical"]["beta0"]
    total = log_crp(np.bincount(labels), 1.0)
    for k in np.unique(labels):
        inside = X[labels == k]
        total += log_categorical([(inside["city"] == level).sum() for level in levels], beta0)
        for d, name in enumerate(COUNTS):
            x, e = inside[name].to_numpy(), inside["days"].to_numpy()
            total += log_poisson_gamma(x, events["a0"][d], events["b0"][d], e)
    return total


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_the_joint_is_the_sum_of_independent_formulas(gaps):
    X, _ = table(300, gaps=gaps)
    allow_missing = gaps > 0.0
    model = fit(X, prior="paper", allow_missing=allow_missing)
    expected = -naive_joint(X, model.labels_, model.prior_, model.levels_["city"])
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)
    given = {"component": FAMILIES, "prior": model.prior_, "allow_missing": allow_missing}
    joint = neg_log_joint(X, model.labels_, alpha=1.0, **given)
    assert joint == pytest.approx(expected, rel=1e-9)


def test_the_exact_posterior_is_the_sum_over_all_partitions():
    X, _ = table(5, seed=3)
    model = fit(X, prior="paper")
    prior, levels = model.prior_, model.levels_["city"]
    labels = np.array(list(naive.partitions(5)))
    log_p = np.array([naive_joint(X, each, prior, levels) for each in labels])
    found = exact_posterior(X, alpha=1.0, component=FAMILIES)
    assert found.log_evidence == pytest.approx(np.logaddexp.reduce(log_p), rel=1e-9)
    assert found.neg_log_joint == pytest.approx(-log_p.max(), rel=1e-9)


def test_raw_counts_mislead_and_rates_find_the_groups():
    X, kind = table(1500)
    by_rates = stats.poisson.logpmf(
        X[COUNTS].to_numpy()[:, None], RATES * X["days"].to_numpy()[:, None, None]
    )
    best = agreement(kind, by_rates.sum(axis=2).argmax(axis=1))
    model = fit(X)
    assert model.n_clusters_ == 3
    assert agreement(kind, model.labels_) > best - 0.02
    without = fit(X[COUNTS], component=dict.fromkeys(COUNTS, "poisson-gamma"))
    assert agreement(kind, without.labels_) < 0.6
    beside = fit(X.drop(columns="city"), component="auto")
    assert agreement(kind, beside.labels_) < 0.8
    order = np.argsort(model.means_[:, 2] + 2.0 * model.means_[:, 1])
    np.testing.assert_allclose(model.means_[order][:, :3], RATES[[1, 0, 2]], rtol=0.15)
    assert (model.means_[:, 4] == 1.0).all()


def test_the_unit_of_exposures_does_not_matter():
    X, _ = table(300)
    days, hours = fit(X), fit(X.assign(days=24.0 * X["days"]))
    np.testing.assert_array_equal(hours.labels_, days.labels_)
    assert hours.neg_log_joint_ == pytest.approx(days.neg_log_joint_, rel=1e-6)
    np.testing.assert_allclose(24.0 * hours.means_[:, :3], days.means_[:, :3], rtol=1e-3)


def test_auto_takes_whole_numbers_for_counts_where_that_is_better():
    X, kind = table()
    rng = np.random.default_rng(1)
    X["age"] = rng.normal(45.0, 12.0, len(X)).round().clip(18)
    X["deaths"] = rng.poisson(0.0005 * X["days"]).astype(float)  # few values, as codes have
    X["weight"] = rng.normal(70.0, 9.0, len(X))
    model = fit(X, component={"days": "exposure"})
    found = {name: model.component_[name] for name in (*COUNTS, "deaths", "age", "weight", "days")}
    assert found == {
        **dict.fromkeys((*COUNTS, "deaths"), "poisson-gamma"),
        "age": "normal-gamma",
        "weight": "normal-gamma",
        "days": "exposure",
    }
    assert agreement(kind, model.labels_) > 0.9


def test_a_row_of_whole_weight_is_that_many_rows():
    X, kind = table(150, gaps=0.1)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    model = MAPDPM(component=FAMILIES, prior="paper", allow_missing=True, random_state=0)
    model.fit(X, sample_weight=weights)
    copies = X.loc[np.repeat(X.index, weights)].reset_index(drop=True)
    labels = np.repeat(model.labels_, weights)
    expected = -naive_joint(copies, labels, model.prior_, model.levels_["city"])
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)
    fitted = fit(X, allow_missing=True).fit(X, sample_weight=weights)
    assert agreement(kind, fitted.labels_) > 0.7


def test_streams_and_merged_models():
    X, kind = table(900)
    given = {"prior": {"poisson-gamma": {"a0": 1.0, "b0": 5.0}, "categorical": {"beta0": 1.0}}}
    whole = fit(X, **given)
    stream = MAPDPM(component=FAMILIES, random_state=0, **given)
    for start in range(0, 900, 150):
        stream.partial_fit(X[start : start + 150])
    assert stream.neg_log_joint_ == pytest.approx(whole.neg_log_joint_, rel=1e-3)
    merged = merge_models(*(fit(X[i::2], **given) for i in range(2)))
    assert agreement(kind, merged.predict(X)) > agreement(kind, whole.labels_) - 0.05
    known = merged.statistics_[:, 2:5].sum(axis=0), merged.statistics_[:, 5:8].sum(axis=0)
    np.testing.assert_allclose(known[0], X[COUNTS].sum())
    np.testing.assert_allclose(known[1], X["days"].sum())


def test_chunks_are_clustered_as_well_as_a_table():
    X, kind = table(2000)
    model = MAPDPM(component=FAMILIES, random_state=0).fit_chunks([X[:1200], X[1200:]])
    assert agreement(kind, model.labels_) > agreement(kind, fit(X).labels_) - 0.05


@pytest.mark.parametrize(
    "estimator",
    [
        CollapsedGibbs(n_samples=30, random_state=0),
        DPSearch(random_state=0),
        BayesianHierarchicalClustering(),
        VariationalDPM(random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_all_estimators_take_exposures(estimator):
    X, kind = table(200)
    estimator.set_params(component=FAMILIES).fit(X)
    assert agreement(kind, estimator.labels_) > agreement(kind, fit(X).labels_) - 0.2


def test_saved_models_are_the_same(tmp_path):
    X, _ = table(gaps=0.1)
    model = fit(X, allow_missing=True)
    model.save(tmp_path / "model.npz")
    loaded = MAPDPM.load(tmp_path / "model.npz")
    assert loaded.component_ == model.component_
    for method in ("predict", "predict_proba", "score_samples"):
        np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    for name in ("means_", "variances_", "cluster_centers_", "statistics_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    loaded.partial_fit(X)


def test_files_whose_exposures_are_of_no_rows_are_refused(tmp_path):
    X, _ = table(100)
    model = fit(X)
    model.statistics_[0, 5] = -1.0
    with pytest.raises(ValueError, match="statistics must have exposures from 0 to"):
        model.save(tmp_path / "negative.npz")
    model.statistics_[0, 5] = 0.0
    model.save(tmp_path / "none.npz")
    with pytest.raises(ValueError, match="statistics_ must have the exposures of each cluster"):
        MAPDPM.load(tmp_path / "none.npz")


def test_scores_are_log_probabilities_of_counts_given_the_exposure():
    X, _ = table(300)
    component = {name: family for name, family in FAMILIES.items() if name != "city"}
    model = fit(X[[*COUNTS, "days"]], component=component)
    row = pd.DataFrame({"claims": 3.0, "visits": 1.0, "calls": 0.0, "days": [40.0]})
    sizes, prior = model.statistics_[:, 0], model.prior_["poisson-gamma"]
    n, alpha = sizes.sum(), model.alpha_
    terms = []
    for statistics in [*model.statistics_, np.zeros(8)]:
        a, b = prior["a0"] + statistics[1:4], prior["b0"] + statistics[4:7]
        logs = stats.nbinom.logpmf(row[COUNTS].to_numpy()[0], a, b / (b + 40.0)).sum()
        size = statistics[0] if statistics[0] > 0.0 else alpha
        terms.append(np.log(size / (n + alpha)) + logs)
    assert model.score_samples(row)[0] == pytest.approx(np.logaddexp.reduce(terms), rel=1e-9)


def test_drawn_rows_have_the_mean_exposure_of_their_cluster():
    X, _ = table()
    model = fit(X)
    drawn, labels = model.sample(3000, random_state=0)
    counts, days = drawn[:, :3].astype(float), drawn[:, 4].astype(float)
    for k in range(model.n_clusters_):
        mean = X["days"][model.labels_ == k].mean()
        np.testing.assert_allclose(days[labels == k], mean, rtol=1e-9)
        rates = counts[labels == k].mean(axis=0) / mean
        np.testing.assert_allclose(rates, model.means_[k, :3].astype(float), rtol=0.1)


def test_missing_counts_are_imputed_at_the_exposure_of_the_row():
    X, _ = table()
    model = fit(X, allow_missing=True)
    row = pd.DataFrame({"claims": [np.nan], "visits": 290.0, "calls": 1010.0, "city": "Oslo"})
    row["days"] = 1000.0
    (k,) = model.predict(row)
    imputed = model.impute(row)
    assert imputed["claims"][0] == pytest.approx(1000.0 * model.means_[k, 0], rel=1e-3)
    draws = model.impute(row, n_samples=200, random_state=0)[:, 0, 0].astype(float)
    assert draws.mean() == pytest.approx(imputed["claims"][0], rel=0.05)
    row[[*COUNTS, "days"]] = np.nan
    imputed = model.impute(row)
    assert imputed["days"][0] == 1.0
    assert imputed["claims"][0] == pytest.approx(model.weights_ @ model.means_[:, 0], rel=0.05)


def test_outlier_scores_compare_rows_of_like_exposure():
    X, _ = table(1500)
    model = fit(X)
    scores = model.outlier_score(X)
    for low, high in ((0, 30), (30, 200), (200, 1000)):
        some = scores[(X["days"] >= low) & (X["days"] < high)]
        assert 0.06 < (some < 0.1).mean() < 0.15
    row = X[:1].assign(claims=60.0, visits=60.0, calls=60.0)
    assert model.outlier_score(row.assign(days=30.0))[0] < 0.001
    alone = model.outlier_score(X[5:6])[0]
    assert alone == scores[5]


def test_explanations_are_of_rates():
    X, _ = table()
    model = fit(X)
    text = str(model.explain(0))
    lines = {line.rsplit("  ", 3)[0].split("  ")[0] for line in text.splitlines()[3:]}
    assert lines == {"claims / days", "visits / days", "calls / days", "city"}
    assert "calls / days" in str(model.summary())
    information = model.column_information()
    np.testing.assert_allclose(information[:, 4], 0.0, atol=1e-12)
    assert information[:, :3].max() > 1.0


@pytest.mark.parametrize("days", [0.0, -1.0, np.inf])
def test_exposures_must_be_positive_and_finite(days):
    X, _ = table(50)
    X.loc[7, "days"] = days
    message = "values of column 'days' must be positive, from 1e-12 to .* in row 7"
    for allow_missing in (False, True):
        with pytest.raises(ValueError, match=message):
            fit(X, allow_missing=allow_missing)


def test_exposures_may_be_missing_only_where_all_counts_are():
    X, _ = table(50)
    X.loc[7, [*COUNTS, "days"]] = np.nan
    assert len(fit(X, allow_missing=True).labels_) == 50
    X.loc[7, "calls"] = 2.0
    with pytest.raises(ValueError, match="none in row 7, which has a count in column 'calls'"):
        fit(X, allow_missing=True)


@pytest.mark.parametrize(
    ("component", "error", "message"),
    [
        ({"nix": "exposure"}, ValueError, "component has column 'nix', X has 'claims'"),
        ({"city": "exposure"}, TypeError, "column 'city' must be numbers for 'exposure'"),
        (
            {"days": "exposure", "calls": "exposure"},
            ValueError,
            "component must have one exposure at most, got 'days' and 'calls'",
        ),
        (
            {**dict.fromkeys(COUNTS, "normal-gamma"), "days": "exposure"},
            ValueError,
            "exposure 'days' must have a column of counts to use it, got none",
        ),
        ({("calls", "days"): "exposure"}, ValueError, "component of columns"),
        ("exposure", ValueError, "component must be one of 'auto'"),
    ],
)
def test_an_error_says_what_an_exposure_must_be(component, error, message):
    with pytest.raises(error, match=message):
        MAPDPM(component=component).fit(table(50)[0])


def test_dates_are_no_exposures():
    X, _ = table(50)
    with pytest.raises(
        TypeError, match="column 'days' must be numbers for 'exposure', got dates or times"
    ):
        MAPDPM(component={"days": "exposure"}).fit(X.assign(days=pd.Timestamp("2026-01-01")))


def test_a_warning_if_no_column_is_better_as_counts():
    rng = np.random.default_rng(0)
    days = rng.integers(300, 400, 200).astype(float)
    X = pd.DataFrame({"money": (rng.normal(50.0, 9.0, 200) * days).round(), "days": days})
    data = mixed_table(read_columns(X), {"days": "exposure"}, False)
    assert data.columns.component["money"] == "poisson-gamma"
    with pytest.warns(UserWarning, match="no column is better as counts: the exposure 'days'"):
        columns = columns_by_joint(data, data, np.zeros(200, dtype=int), Stop(), ["days"])
    assert columns.component == {"money": "normal-gamma", "days": "exposure"}
    family, table = mixed_family(columns), recoded(data, columns)
    prior = family.prior(None, table)
    assert list(prior["poisson-gamma"]["a0"]) == []
    assert family.means(prior).shape == (2,)
    scales = family.column_scales(table, table)
    fitted, _ = family.fit_prior(family.sums(table, np.zeros(200, dtype=int), 1.0), scales, None)
    assert list(fitted["poisson-gamma"]["b0"]) == []


def test_new_rows_need_the_exposure():
    X, _ = table(100)
    model = fit(X)
    with pytest.raises(ValueError, match="days"):
        model.predict(X.drop(columns="days"))


def test_columns_without_names():
    X, _ = table(200)
    named = fit(X.drop(columns="city"), component={"days": "exposure"})
    plain = fit(X.drop(columns="city").to_numpy(), component={3: "exposure"})
    np.testing.assert_array_equal(plain.labels_, named.labels_)
