"""Tables whose columns have families of their own."""

import naive
import numpy as np
import pandas as pd
import pytest
from cases import needs_kernels
from mixed_tables import (
    log_categorical,
    log_crp,
    log_normal_gamma,
    log_poisson_gamma,
    planted,
)
from sklearn.metrics import adjusted_mutual_info_score

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPSearch,
    VariationalDPM,
    exact_posterior,
    log_evidence_exact,
    merge_models,
    neg_log_joint,
    neg_log_loo,
)
from dpmlite.estimators.fitted.partitions import fitted_family
from dpmlite.estimators.inputs import columns

pytestmark = needs_kernels

FAMILIES = {
    "number 0": "normal-gamma",
    "money 0": "log-normal",
    "city 0": "categorical",
    "visits 0": "poisson-gamma",
}


def table(n_rows=300, n_clusters=3, seed=0, gaps=0.0):
    X, labels, _ = planted(n_rows, n_clusters, seed, gaps)
    return X[list(FAMILIES)], labels


def fit(X, **parameters):
    return MAPDPM(random_state=0, **parameters).fit(X)


def agreement(labels, model):
    return adjusted_mutual_info_score(labels, model.labels_)


def naive_joint(X, labels, prior, levels):
    """The joint of a table with the columns of `FAMILIES`, from independent formulas."""
    sizes = np.bincount(labels)
    total = log_crp(sizes, 1.0)
    real, beta0 = prior["normal-gamma"], prior["categorical"]["beta0"]
    numbers = {"number 0": X["number 0"].to_numpy(), "money 0": np.log(X["money 0"].to_numpy())}
    for k in range(len(sizes)):
        inside = labels == k
        for d, x in enumerate(numbers.values()):
            total += log_normal_gamma(
                x[inside], real["m0"][d], real["c0"], real["a0"], real["b0"][d]
            )
        city = X["city 0"][inside].dropna()
        total += log_categorical([np.sum(city == level) for level in levels], beta0)
        events = prior["poisson-gamma"]
        x = X["visits 0"].to_numpy()[inside]
        total += log_poisson_gamma(x, events["a0"][0], events["b0"][0])
    return total - np.nansum(numbers["money 0"])  # densities of money, not of its logarithm


def test_levels_that_are_numbers_are_found_as_those_of_text():
    rng = np.random.default_rng(0)
    cells = np.append(rng.integers(-3, 6, size=200) / 2.0, [np.nan, np.inf, -np.inf])
    levels = np.array([0.5, -1.0, 2.0, 1.5])
    expected = [levels.tolist().index(each) if each in levels else np.nan for each in cells]
    np.testing.assert_array_equal(columns._places_of(cells, levels), expected)
    as_text = columns._places_of(cells.astype(object), levels.astype(object))
    np.testing.assert_array_equal(as_text, expected)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_the_joint_is_the_sum_of_independent_formulas(gaps):
    X, _ = table(gaps=gaps)
    model = fit(X, component=FAMILIES, prior="paper", allow_missing=gaps > 0.0)
    expected = -naive_joint(X, model.labels_, model.prior_, model.levels_["city 0"])
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)
    assert model.neg_log_joint_trace_[-1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_functions_agree_with_the_fit_of_the_same_table(gaps):
    X, _ = table(gaps=gaps)
    allow_missing = gaps > 0.0
    model = fit(X, component=FAMILIES, prior="paper", allow_missing=allow_missing)
    given = {"alpha": 1.0, "component": FAMILIES, "prior": model.prior_}
    given["allow_missing"] = allow_missing
    joint = neg_log_joint(X, model.labels_, **given)
    assert joint == pytest.approx(model.neg_log_joint_, rel=1e-12)
    loo = neg_log_loo(X, model.labels_, **given)
    assert loo == pytest.approx(model.neg_log_loo_, rel=1e-12)


def test_the_exact_posterior_is_the_sum_over_all_partitions():
    X, _ = table(n_rows=6, seed=3)
    model = fit(X, component=FAMILIES, prior="paper")
    prior, levels = model.prior_, model.levels_["city 0"]
    labels = np.array(list(naive.partitions(6)))
    log_p = np.array([naive_joint(X, each, prior, levels) for each in labels])
    found = exact_posterior(X, alpha=1.0, component=FAMILIES)
    assert found.log_evidence == pytest.approx(np.logaddexp.reduce(log_p), rel=1e-9)
    assert found.neg_log_joint == pytest.approx(-log_p.max(), rel=1e-9)
    assert log_evidence_exact(X, alpha=1.0, component=FAMILIES) == found.log_evidence
    p = np.exp(log_p - found.log_evidence)
    together = np.einsum("s,sij->ij", p, labels[:, :, None] == labels[:, None])
    np.testing.assert_allclose(found.co_clustering, together, atol=1e-9)


def test_one_family_of_columns_may_be_that_of_all_in_functions():
    counts = [[0], [1], [30], [31]]
    prior = {"poisson-gamma": {"a0": [1.0], "b0": [0.1]}}
    given = {"alpha": 1.0, "component": "poisson-gamma", "prior": prior}
    expected = -sum(log_poisson_gamma(np.array(x), 1.0, 0.1) for x in ([0, 1], [30, 31]))
    expected -= log_crp([2, 2], 1.0)
    assert neg_log_joint(counts, [0, 0, 1, 1], **given) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="component must be"):
        neg_log_joint(counts, [0, 0, 1, 1], alpha=1.0, component="poisson")


def test_gibbs_samples_the_posterior_of_all_partitions():
    X, _ = table(n_rows=6, seed=3)
    model = CollapsedGibbs(
        component=FAMILIES, prior="paper", init="single", n_samples=20_000, random_state=0
    ).fit(X)
    prior, levels = model.prior_, model.levels_["city 0"]
    labels = np.array(list(naive.partitions(6)))
    log_p = np.array([naive_joint(X, each, prior, levels) for each in labels])
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    together = np.einsum("s,sij->ij", p, labels[:, :, None] == labels[:, None])
    np.testing.assert_allclose(model.co_clustering(), together, atol=0.02)


def test_densities_are_of_the_values_and_not_of_their_logarithms():
    X, _ = table()
    model = fit(X[["money 0"]], component="log-normal", prior="paper")
    logs = fit(np.log(X[["money 0"]]), component="normal-gamma", prior="paper")
    np.testing.assert_array_equal(model.labels_, logs.labels_)
    expected = logs.score_samples(np.log(X[["money 0"]])) - np.log(X["money 0"])
    np.testing.assert_allclose(model.score_samples(X[["money 0"]]), expected, rtol=1e-9)


@pytest.mark.parametrize("gaps", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(2))
def test_planted_clusters_are_found_among_columns_that_tell_nothing(seed, gaps):
    found = []
    for n_noise in (0, 10):
        X, labels, by_truth = planted(1000, 4, seed, gaps, n_noise)
        model = fit(X, allow_missing=gaps > 0.0)
        found.append(agreement(labels, model))
        best = adjusted_mutual_info_score(labels, by_truth)
        assert found[-1] > best - 0.03
    assert found[1] == pytest.approx(found[0], abs=0.02)


def test_the_families_of_columns_are_read_off_the_table():
    X, _, _ = planted(1000, 4, 0)
    families = fit(X, allow_missing=True).component_  # without full covariance
    assert families["number 0"] == "normal-gamma"
    assert families["money 0"] == "log-normal"
    assert families["city 0"] == "categorical"
    assert families["visits 0"] in ("poisson-gamma", "categorical")


def test_kinds_of_columns_of_data_frames():
    X, labels = table()
    other = X.copy()
    other["city 0"] = pd.Categorical(X["city 0"])
    np.testing.assert_array_equal(fit(other).labels_, fit(X).labels_)
    other["city 0"] = X["city 0"].map({"Oslo": 1, "Paris": 2, "Rome": 3, "Wien": 4})
    coded = fit(other, component={"city 0": "categorical"})
    assert coded.levels_["city 0"].tolist() == [1.0, 2.0, 3.0, 4.0]
    other["member"] = np.random.default_rng(0).random(len(X)) < 0.2 + 0.3 * labels
    assert fit(other).levels_["member"].tolist() == [False, True]


def test_one_hot_columns_and_their_category_beside_clear_clusters():
    rng = np.random.default_rng(0)
    labels, code = rng.integers(0, 2, 400), rng.integers(0, 4, 400)
    numbers = np.c_[rng.normal(5 * labels, 1), rng.normal(-5 * labels, 1)]
    for coded in (np.eye(4)[code], code[:, None]):
        assert agreement(labels, fit(np.c_[numbers, coded])) > 0.95
    X = pd.DataFrame(numbers).assign(city=np.array(["a", "b", "c", "d"])[code])
    X.columns = ["x", "y", "city"]
    assert agreement(labels, fit(X)) > 0.95


def test_columns_with_one_covariance_matrix():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 600)
    cloud = rng.normal(size=(600, 2)) @ [[3.0, 3.0], [-0.2, 0.2]] + labels[:, None] * [2.0, -2.0]
    X = pd.DataFrame(cloud, columns=["x", "y"]).assign(city=np.where(labels, "a", "b"))
    model = fit(X, component={("x", "y"): "normal-inverse-wishart", "city": "categorical"})
    assert agreement(labels, model) > 0.95
    assert model.component_ == {("x", "y"): "normal-inverse-wishart", "city": "categorical"}


@pytest.mark.parametrize("family", ["beta-bernoulli", "normal-known-variance"])
def test_families_whose_prior_is_not_fitted_beside_others(family):
    X, labels = table()
    other = {"beta-bernoulli": labels % 2.0, "normal-known-variance": 3.0 * labels}[family]
    noisy = np.where(np.random.default_rng(0).random(len(X)) < 0.1, other[::-1], other)
    model = fit(X.assign(other=noisy), component={"other": family})
    assert agreement(labels, model) > 0.8
    assert model.component_["other"] == family


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
def test_all_estimators_take_mixed_tables(estimator):
    X, labels = table(150)
    estimator.fit(X)
    assert agreement(labels, estimator) > agreement(labels, fit(X)) - 0.2


def test_streams_and_merged_models():
    X, labels = table(900)
    stream = MAPDPM(component=FAMILIES, random_state=0)
    for start in range(0, 900, 150):
        stream.partial_fit(X[start : start + 150])
    assert adjusted_mutual_info_score(labels, stream.predict(X)) > agreement(labels, fit(X)) - 0.05
    pieces = [fit(X[i::2], component=FAMILIES) for i in range(2)]
    merged = merge_models(*pieces)
    assert adjusted_mutual_info_score(labels, merged.predict(X)) > agreement(labels, fit(X)) - 0.05


def test_saved_models_predict_the_same(tmp_path):
    X, _ = table(gaps=0.1)
    model = fit(X, allow_missing=True)
    model.save(tmp_path / "model.npz")
    loaded = MAPDPM.load(tmp_path / "model.npz")
    assert loaded.component_ == model.component_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))


def test_drawn_rows_are_cells_of_the_table():
    X, _ = table()
    model = fit(X)
    drawn = pd.DataFrame(model.sample(500, random_state=0)[0], columns=X.columns)
    assert set(drawn["city 0"]) <= set(X["city 0"])
    assert (drawn["money 0"] > 0.0).all()
    for name in ("number 0", "visits 0"):
        gap = abs(drawn[name].astype(float).mean() - X[name].mean())
        assert gap < 5.0 * X[name].std() / np.sqrt(len(X))


def test_levels_that_the_fit_has_not_seen_count_as_missing():
    X, _ = table()
    model = fit(X)
    new = X[:2].assign(**{"city 0": ["Bern", X["city 0"][1]]})
    with pytest.warns(UserWarning, match="levels must be among those of the fit, got 'Bern'"):
        found = model.predict_proba(new)
    gap = MAPDPM(component=model.component_, random_state=0, allow_missing=True).fit(X)
    expected = gap.predict_proba(new.assign(**{"city 0": [None, X["city 0"][1]]}))
    assert found.argmax(axis=1).tolist() == expected.argmax(axis=1).tolist()


@pytest.mark.parametrize(
    ("component", "change", "error", "message"),
    [
        ({"town": "categorical"}, {}, ValueError, "component has column 'town', X has "),
        ({"city 0": "gaussian"}, {}, ValueError, "component of column 'city 0' must be one of "),
        ({"city 0": "normal-gamma"}, {}, TypeError, "'city 0' must be numbers for 'normal-gamma'"),
        ({("city 0",): "poisson-gamma"}, {}, ValueError, r"component of columns \('city 0',\)"),
        ({("city 0", "number 0"): "categorical"}, {}, TypeError, "'city 0' must be numbers"),
        (
            {("number 0", "money 0"): "log-normal", "money 0": "auto"},
            {},
            ValueError,
            "component must have each column once, got 'money 0' twice",
        ),
        (
            "auto",
            {"since": pd.date_range("2024", periods=300)},
            TypeError,
            "column 'since' has dates or times",
        ),
        (
            "auto",
            {"month": pd.period_range("2000-01", periods=300, freq="M")},
            TypeError,
            "column 'month' has dates or times",
        ),
        ("auto", {"tags": [["a", "b"]] * 300}, TypeError, "column 'tags' must have a single value"),
        ("auto", {"z": [1j] * 300}, TypeError, r"column 'z' must be numbers, got 1j in row 0"),
        (
            "auto",
            {"name": [f"row {i % 151}" for i in range(300)]},
            ValueError,
            "column 'name' has 151 different values in 300 rows, such as 'row 0': leave it out",
        ),
        (
            "auto",
            {"number 0": pd.Series([np.ones((3, 1))] * 300)},
            TypeError,
            "column 'number 0' must have a single value in each cell",
        ),
        ("auto", {"number 0": np.nan}, ValueError, "column 'number 0': allow_missing=True"),
        ({"number 0": "log-normal"}, {}, ValueError, "positive to be log-normal, got -"),
        ({"number 0": "poisson-gamma"}, {}, ValueError, "whole numbers of at least 0"),
    ],
)
def test_an_error_names_the_column(component, change, error, message):
    with pytest.raises(error, match=message):
        MAPDPM(component=component).fit(table()[0].assign(**change))


def test_errors_of_new_rows_name_the_column():
    X = table()[0]
    model = fit(X)
    with pytest.raises(ValueError, match="column 'number 0' must be numbers, got 'many' in row 0"):
        model.predict(X.head(3).assign(**{"number 0": "many"}))


def test_text_that_mostly_differs_is_categories_if_that_is_said():
    X = table()[0].assign(name=[f"row {i % 151}" for i in range(300)])
    component = {"name": "categorical"}
    assert MAPDPM(component=component, random_state=0).fit(X).component_["name"] == "categorical"
    codes = pd.Series([i if i < 100 else np.nan for i in range(300)], dtype="category")
    with pytest.raises(ValueError, match="has 100 different values in 100 rows, such as 0"):
        MAPDPM(allow_missing=True).fit(X.assign(name=codes))
    half = X.assign(name=[f"row {i % 150}" for i in range(300)])
    assert MAPDPM(random_state=0).fit(half).component_["name"] == "categorical"


def one_hot_customers(n_rows=600):
    """Two kinds of customers, a city that tells them apart, and one that does not."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n_rows)
    home = np.where(rng.random(n_rows) < 0.9, labels, 2)
    X = pd.DataFrame({"age": rng.normal(30.0 + 30.0 * labels, 5.0)})
    X["home"] = np.array(["Oslo", "Paris", "Rome"], dtype=object)[home]
    X["born"] = rng.choice(["Bern", "Graz", "Wien", "Ulm"], n_rows)
    return X, labels


def test_one_hot_columns_are_one_category():
    X, _ = one_hot_customers()
    model = fit(X)
    one_hot = pd.get_dummies(X, columns=["home", "born"], dtype=float)
    coded = fit(one_hot)
    np.testing.assert_array_equal(coded.labels_, model.labels_)
    assert coded.neg_log_joint_ == pytest.approx(model.neg_log_joint_, rel=1e-9)
    assert coded.component_["home_Oslo", "home_Paris", "home_Rome"] == "categorical"
    assert coded.n_features_in_ == one_hot.shape[1]
    names = [row[0] for row in coded.explain(0).rows]
    assert sorted(names) == ["age", "born", "home"]
    shares = one_hot[coded.labels_ == 0].mean()
    np.testing.assert_allclose(coded.cluster_centers_[0], shares, rtol=1e-9)
    assert coded.sample(5)[0].shape == (5, one_hot.shape[1])
    np.testing.assert_array_equal(coded.sample(50)[0][:, 1:4].sum(axis=1), 1.0)


def test_one_hot_noise_is_one_cluster():
    X = np.eye(6)[np.random.default_rng(0).integers(0, 6, 2000)]
    assert fit(X).n_clusters_ == 1


def test_rows_without_any_of_the_one_hot_levels_miss_the_category():
    X, _ = one_hot_customers()
    one_hot = pd.get_dummies(X, columns=["home", "born"], dtype=float)
    model = fit(one_hot)
    new = one_hot[:1].assign(home_Oslo=0.0, home_Paris=0.0, home_Rome=0.0)
    with pytest.warns(UserWarning, match="one of the one-hot columns"):
        assert model.predict(new)[0] == model.labels_[0]


def clusters_and_a_column(column, n_rows=20_000):
    """Two clear clusters, bits, and a column in which few rows are unlike all others."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n_rows)
    columns = rng.normal(8.0 * labels), rng.integers(0, 2, n_rows), column(rng, labels)
    return np.column_stack(columns), labels


def rare_level(rng, labels):
    cells = rng.integers(0, 3, len(labels)).astype(float)
    cells[11] = 7.0
    return cells


def counts_but_for_a_half(rng, labels):
    cells = rng.poisson(30.0 + 10.0 * labels).astype(float)
    cells[11] = 12.5
    return cells


def rare_half(rng, labels):
    return np.where(np.arange(len(labels)) == 11, 1.5, 0.5)


def test_bits_are_levels_however_rare():
    """The joint as counts is lower for many such columns, by about a nat, and tells nothing."""
    X = (np.random.default_rng(0).random((200, 40)) < 0.02).astype(float)
    X = X[:, X.sum(axis=0) > 0.0]
    assert set(fit(X).component_.values()) == {"categorical"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("column", [rare_level, counts_but_for_a_half, rare_half])
def test_cells_that_the_sample_lacks_are_described_too(column):
    X, labels = clusters_and_a_column(column)
    model = fit(X)
    assert agreement(labels, model) > 0.95
    if column is rare_level:
        assert model.levels_[2].tolist() == [0.0, 1.0, 2.0, 7.0]


@pytest.mark.parametrize("seed", range(8))
def test_the_first_rows_of_a_stream_are_coded_as_those_that_follow(seed):
    """The joint chooses other families than cells suggest: that mixed up columns of first rows."""
    rng = np.random.default_rng(seed + 40)
    n_rows = 60
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.exponential(size=n_rows) ** rng.choice([1, 2]),
            "c": np.array(["x", "y"], dtype=object)[rng.integers(2, size=n_rows)],
            "d": rng.poisson(3, size=n_rows).astype(float),
        }
    )
    model = MAPDPM(random_state=0).partial_fit(frame)
    kept = model.first_rows_["rows"]["values"]
    read = fitted_family(model).read(frame, False).values
    np.testing.assert_allclose(kept, read, rtol=1e-12, atol=1e-12)


def test_a_warning_of_a_new_level_has_the_number_as_people_write_it():
    X = np.random.default_rng(0).integers(0, 3, size=(60, 2)).astype(float)
    model = MAPDPM(component={0: "categorical", 1: "categorical"}, random_state=0).fit(X)
    with pytest.warns(UserWarning, match=r"got 7\.0 in column 0, row 1: it counts as missing"):
        model.predict([[1.0, 1.0], [7.0, 1.0]])
