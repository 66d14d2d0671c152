"""Zero-inflated columns: 0, or a normal or log-normal number."""

import numpy as np
import pandas as pd
import pytest
from cases import needs_kernels
from mixed_tables import log_categorical, log_crp, log_normal_gamma
from sklearn.metrics import adjusted_mutual_info_score

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPSearch,
    VariationalDPM,
    merge_models,
)

pytestmark = needs_kernels

FAMILIES = {"age": "normal-gamma", "spend": "zero-inflated-log-normal"}
P_ZERO = np.array([0.8, 0.3, 0.1])


def customers(n_rows=600, seed=1):
    """Three kinds of customers: their age, and what they spend, if anything."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n_rows)
    spend = np.exp(rng.normal(np.array([2.0, 3.0, 5.0])[kind], 0.5))
    spend[rng.random(n_rows) < P_ZERO[kind]] = 0.0
    age = rng.normal(np.array([30.0, 45.0, 60.0])[kind], 5.0)
    return pd.DataFrame({"age": age, "spend": spend}), kind


def fit(X, **parameters):
    return MAPDPM(random_state=0, **parameters).fit(X)


def naive_joint(X, labels, prior):
    """The joint of `customers`, from independent formulas."""
    age, spend = X["age"].to_numpy(), X["spend"].to_numpy()
    log_spend = np.full(len(spend), np.nan)
    log_spend[spend > 0.0] = np.log(spend[spend > 0.0])
    total = log_crp(np.bincount(labels), 1.0) - np.nansum(log_spend)
    for name, x in (("normal-gamma", age), ("zero-inflated", log_spend)):
        own = prior[name]
        for k in range(labels.max() + 1):
            parameters = own["m0"][0], own["c0"], own["a0"], own["b0"][0]
            total += log_normal_gamma(x[labels == k], *parameters)
    for k in range(labels.max() + 1):
        n_zeros = np.sum(spend[labels == k] == 0.0)
        counts = [np.sum(labels == k) - n_zeros - np.isnan(spend[labels == k]).sum(), n_zeros]
        total += log_categorical(counts, prior["categorical"]["beta0"])
    return total


@pytest.mark.parametrize("gaps", [False, True])
def test_the_joint_is_the_sum_of_independent_formulas(gaps):
    X, _ = customers()
    if gaps:
        X.loc[::7, "spend"] = np.nan
    model = fit(X, component=FAMILIES, prior="paper", allow_missing=gaps)
    expected = -naive_joint(X, model.labels_, model.prior_)
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)


def test_clusters_and_their_shares_of_zeros_are_found():
    X, kind = customers()
    model = fit(X)
    assert model.component_ == FAMILIES
    assert adjusted_mutual_info_score(kind, model.labels_) > 0.8
    by_age = np.argsort(model.cluster_centers_[:, 0])
    zeros = model.level_probabilities_["spend"][by_age]
    np.testing.assert_allclose(zeros.sum(axis=1), 1.0)
    np.testing.assert_allclose(zeros[:, 1], P_ZERO, atol=0.08)
    medians = model.cluster_centers_[by_age, 1]  # of those who spend
    np.testing.assert_allclose(np.log(medians), [2.0, 3.0, 5.0], atol=0.2)


@pytest.mark.parametrize("seed", range(3))
def test_zeros_that_tell_nothing_make_no_clusters(seed):
    rng = np.random.default_rng(seed)
    rain = np.where(rng.random(800) < 0.4, 0.0, rng.normal(5.0, 1.0, 800))
    model = fit(np.c_[rng.normal(size=(800, 2)), rain])
    assert model.n_clusters_ == 1
    assert "zero-inflated-normal" in model.component_.values()


def column(kind, n_rows=500):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=n_rows)
    return {
        "few zeros": np.where(rng.random(n_rows) < 0.05, 0.0, numbers),
        "another value as frequent": np.where(rng.random(n_rows) < 0.5, numbers.round(), numbers),
        "all zeros": np.zeros(n_rows),
        "levels": rng.integers(0, 4, n_rows).astype(float),
        "events": rng.poisson(6.0, n_rows).astype(float),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["few zeros", "another value as frequent", "all zeros", "levels", "events"]
)
@pytest.mark.filterwarnings("ignore:1 column")
def test_other_columns_are_not_zero_inflated(kind):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"x": rng.normal(size=500), "text": rng.choice(["a", "b"], 500)})
    families = fit(X.assign(y=column(kind))).component_
    assert not any(name.startswith("zero-inflated") for name in families.values())


def test_events_of_clusters_with_few_and_many_are_counts():
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=600)
    X = np.c_[rng.poisson(np.array([0.1, 20.0])[kind]), rng.normal(4.0 * kind)]
    assert fit(X).component_[0] == "poisson-gamma"


def test_a_report_has_the_share_of_zeros():
    X, _ = customers()
    model = fit(X)
    report = str(model.explain(int(np.argmin(model.cluster_centers_[:, 0]))))
    assert "0 7" in report or "0 8" in report
    assert "×÷" in report
    assert (model.column_information()[:, 1] > 0.5).any()


def test_missing_cells_are_filled_in():
    X, _ = customers()
    gaps = X.copy()
    gaps.loc[::7, "spend"] = np.nan
    model = fit(gaps, allow_missing=True)
    filled = model.impute(gaps)
    assert not filled.isna().any(axis=None)
    known = gaps["spend"].notna()
    np.testing.assert_allclose(filled["spend"][known], X["spend"][known])
    young = ~known & (X["age"] < 33.0)
    assert (filled["spend"][young] == 0.0).all()
    drawn = model.impute(gaps, n_samples=200, random_state=0)[:, young, 1]
    assert np.mean(drawn == 0.0) == pytest.approx(P_ZERO[0], abs=0.05)


def test_drawn_rows_have_zeros():
    model = fit(customers()[0])
    X, labels = model.sample(4000, random_state=0)
    for k in range(model.n_clusters_):
        share = np.mean(X[labels == k, 1] == 0.0)
        assert share == pytest.approx(model.level_probabilities_["spend"][k, 1], abs=0.06)
    assert (X[:, 1] >= 0.0).all()


def test_saved_models_predict_the_same(tmp_path):
    X, _ = customers()
    model = fit(X)
    model.save(tmp_path / "model.npz")
    loaded = MAPDPM.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))


def test_streams_and_merged_models():
    X, kind = customers(900)
    model = MAPDPM(component=FAMILIES, random_state=0)
    for piece in np.array_split(np.arange(900), 3):
        model.partial_fit(X.iloc[piece])
    assert adjusted_mutual_info_score(kind, model.predict(X)) > 0.8
    prior = fit(X.iloc[::2], component=FAMILIES, prior="paper").prior_
    halves = [fit(X.iloc[i::2], component=FAMILIES, prior=prior) for i in range(2)]
    merged = merge_models(*halves)
    assert adjusted_mutual_info_score(kind, merged.predict(X)) > 0.8


@pytest.mark.parametrize(
    "estimator",
    [CollapsedGibbs(random_state=0), DPSearch(), BayesianHierarchicalClustering()],
    ids=lambda each: type(each).__name__,
)
def test_all_estimators_take_zero_inflated_columns(estimator):
    X, kind = customers(200)
    model = estimator.set_params(component=FAMILIES).fit(X)
    assert model.component_ == FAMILIES
    assert adjusted_mutual_info_score(kind, model.labels_) > 0.55


def test_variational_inference_refuses_zero_inflated_columns():
    X, _ = customers(200)
    assert VariationalDPM(random_state=0).fit(X).component_ == "normal-gamma"
    with pytest.raises(ValueError, match="got 'zero-inflated-log-normal'"):
        VariationalDPM(component=FAMILIES).fit(X)


def test_negative_values_are_not_log_normal():
    X, _ = customers()
    with pytest.raises(ValueError, match=r"'spend' must be positive to be log-normal, got -1"):
        fit(X.assign(spend=np.where(X["age"] > 60.0, -1.0, X["spend"])), component=FAMILIES)
