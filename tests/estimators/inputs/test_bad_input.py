"""Bad input: one line that states the rule and the value. Odd but good input: works."""

import warnings

import naive
import numpy as np
import pytest
from cases import PURE, blobs, empirical_prior

import dpmlite
from dpmlite import MAPDPM

BAD_ROWS = {
    "None": (None, TypeError, "X must be a table, with rows and columns, got None"),
    "a number": (3.0, ValueError, r"X must be 2-D, got shape \(\)$"),
    "1-D": ([1.0, 2.0], ValueError, r"X must be 2-D, got shape \(2,\)"),
    "3-D": (np.zeros((2, 2, 2)), ValueError, r"X must be 2-D, got shape \(2, 2, 2\)$"),
    "no row": (np.zeros((0, 2)), ValueError, r"X must have at least one row, got shape \(0, 2\)"),
    "no column": (np.zeros((2, 0)), ValueError, "X must have at least one column"),
    "NaN": ([[0.0, 1.0], [2.0, np.nan]], ValueError, "got NaN in row 1, column 1"),
    "infinity": ([[0.0, 1.0], [-np.inf, 0.0]], ValueError, "got -inf in row 1, column 0"),
    "complex": ([[1j]], ValueError, "Complex data not supported"),
    "masked": (
        np.ma.masked_less([[1.0, -1.0]], 0),
        ValueError,
        "X must be finite, got NaN in row 0, column 1: allow_missing=True leaves missing cells out",
    ),
    "dates": (np.array([["2020-01-01"]], dtype="M8[D]"), TypeError, "X must be numbers"),
    "text": ([["1", "a"]], ValueError, "X must be numbers, got 'a' in row 0, column 1: could not"),
    "objects": ([[{}]], TypeError, r"X must be numbers, got {} in row 0, column 0: float\(\)"),
    "a large int": (
        [[10**400]],
        ValueError,
        r"X must be numbers, got 10+\.\.\.0+ in row 0, column 0",
    ),
    "ragged": ([[1.0, 2.0], [3.0]], ValueError, "X must have rows of the same length"),
    "long doubles": (
        np.array([["1e4000"], ["3"]]).astype(np.longdouble),
        ValueError,
        "X must be finite, got inf in row 0, column 0",
    ),
    "huge": (
        [[1e200], [-1e200]],
        ValueError,
        "X must have variances of 1e-320 at least, .* got more in column 0",
    ),
    "hugest": (
        [[1.7e308], [-1.7e308]],
        ValueError,
        "X must have variances of 1e-320 at least, .* got more in column 0",
    ),
    "minute": (
        [[0.0, 1e-200], [0.0, -1e-200]],
        ValueError,
        "X must have variances of 1e-320 at least, .* got less in column 1",
    ),
}

BAD_PARAMETERS = {
    "alpha zero": ({"alpha": 0.0}, r"alpha must be positive, got 0\.0"),
    "alpha negative": ({"alpha": -1.0}, r"alpha must be positive, got -1\.0"),
    "alpha text": ({"alpha": "one"}, "alpha must be a positive number or one of 'map'"),
    "alpha bool": ({"alpha": True}, "alpha must be positive, got True"),
    "alpha tiny": ({"alpha": 1e-300}, r"alpha must be from 1e-12 to 1e\+12, got 1e-300"),
    "split_merge": ({"split_merge": "no"}, "split_merge must be True or False, got 'no'"),
    "verbose": ({"verbose": "yes"}, "verbose must be True or False, or a level .*, got 'yes'"),
    "alpha of many digits": (
        {"alpha": 10**400},
        r"alpha must be from 1e-12 to 1e\+12, got 10+\.\.\.",
    ),
    "init with NaN": (
        {"init": np.array([1, np.nan, 1, np.nan], dtype=object)},
        "init must not be missing, got nan in row 1",
    ),
    "init with NaT": (
        {"init": np.array(["2020", "2020", "NaT", "2021"], dtype="M8[Y]")},
        "init must not be missing, got NaT in row 2",
    ),
    "init masked": (
        {"init": np.ma.masked_equal([0, 1, 1, 2], 2)},
        "init must have no masked values",
    ),
    "init with None": (
        {"init": ["a", None, "b", "b"]},
        "init must not be missing, got None in row 1",
    ),
    "init with NaN among strings": (
        {"init": ["a", "b", float("nan"), "b"]},
        "init must not be missing, got nan in row 2",
    ),
    "init of two kinds": (
        {"init": np.array(["a", 1, "b", 2], dtype=object)},
        "init must be of one kind",
    ),
    "prior no dict": (
        {"prior": [1, 2]},
        r"prior must be a dict of its keys, or None, got \[1, 2\]",
    ),
    "alpha infinite": ({"alpha": np.inf}, "alpha must be positive, got inf"),
    "component": (
        {"component": "gamma"},
        "component must be one of .*, got 'gamma'",
    ),
    "init": ({"init": "kmeans"}, "init must be one of 'auto', 'single', .*, got 'kmeans'"),
    "init shape": ({"init": [0, 1]}, r"init must have shape \(4,\), got \(2,\)"),
    "init NaN": ({"init": [0, 1, 0, np.nan]}, "init must be finite, got nan"),
    "n_init": ({"n_init": 0}, "n_init must be a whole number of at least 1, got 0"),
    "n_init text": ({"n_init": 1.5}, r"n_init must be a whole number of at least 1, got 1\.5"),
    "max_sweeps": ({"max_sweeps": -3}, "max_sweeps must be a whole number of at least 1, got -3"),
    "n_jobs": ({"n_jobs": 0}, "n_jobs must be a whole number other than 0, or None, got 0"),
    "n_jobs half": ({"n_jobs": 0.5}, r"n_jobs must be a whole number .* None, got 0\.5"),
    "random_state": ({"random_state": -1}, "random_state must be a whole number of at least 0"),
    "random_state text": ({"random_state": "x"}, "random_state must be None, a whole .*, got 'x'"),
    "prior key": ({"prior": {"mu": 0}}, "prior must have keys among m0, c0, a0, b0, got 'mu'"),
    "m0 shape": ({"prior": {"m0": [0, 0, 0]}}, r"prior m0 must have shape \(2,\), got \(3,\)"),
    "m0 text": ({"prior": {"m0": [0.0, "a"]}}, "prior m0 must be numbers, got 'a' in column 1"),
    "m0 NaN": ({"prior": {"m0": np.nan}}, "prior m0 must be finite, got nan"),
    "b0": ({"prior": {"b0": [1.0, -2.0]}}, r"prior b0 must be positive .*, got -2\.0 in column 1"),
    "c0": ({"prior": {"c0": 0.0}}, r"prior c0 must be positive, got 0\.0"),
    "a0": ({"prior": {"a0": -1}}, "prior a0 must be positive, got -1"),
    "m0 complex": ({"prior": {"m0": 1j}}, "prior m0 must be real, got dtype complex128"),
    "b0 too small": ({"prior": {"b0": 1e-30}}, r"X must lie within 5\.4e\+08 prior scales"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_an_error_names_the_bad_cell_or_shape(name):
    X, error, message = BAD_ROWS[name]
    with pytest.raises(error, match=message):
        MAPDPM(prior="paper").fit(X)


NO_TABLES = {
    "path": ("x.csv", "got a str: dpmlite.read_table reads a table from a file"),
    "dict": ({"a": [1, 2]}, r"got a dict: pandas.DataFrame\(X\) makes a table of its columns"),
    "dicts": ([{"a": 1}, {"a": 2}], r"got a list of dicts: pandas.DataFrame\(X\) makes a table"),
    "zip": (zip([1.0], [2.0], strict=True), r"got a zip: pass list\(X\)"),
    "set": ({1.0, 2.0}, "got a set: its rows have no order, pass a list"),
    "records": (
        np.array([(1.0, 2.0)], dtype=[("a", "f8"), ("b", "f8")]),
        r"got a structured array: pandas.DataFrame\(X\) makes a table of its fields",
    ),
    "texts": (["my dog barks", "rain"], "got a list of texts: make numbers of each, such as"),
    "array of texts": (np.array(["a", "b"]), "got a ndarray of texts: make numbers of each"),
}


@pytest.mark.parametrize("name", NO_TABLES)
@pytest.mark.parametrize("component", ["auto", "beta-bernoulli", {0: "categorical"}])
def test_things_that_are_no_tables(name, component):
    X, message = NO_TABLES[name]
    with pytest.raises(TypeError, match=f"^X must be a table, with rows and columns, {message}"):
        MAPDPM(component=component).fit(X)


def frames_of(columns):
    """A data frame of each library that is installed."""
    for name, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            module = __import__(name)
        except ImportError:
            continue
        yield getattr(module, make)(columns)
    yield dpmlite.Table(columns)


@pytest.mark.parametrize(
    ("cells", "error", "message"),
    [
        (
            np.array([1.0, np.nan, 2.0]),
            ValueError,
            "X must be finite, got NaN in row 1, column 'b': allow_missing=True leaves missing",
        ),
        (
            np.array([1.0, 2.0, np.inf]),
            ValueError,
            "X must be finite, got inf in row 2, column 'b'$",
        ),
        (
            ["1", "Rome", "2"],
            ValueError,
            "X must be numbers, got 'Rome' in row 1, column 'b': could not convert string to "
            "float: 'Rome'; drop the column, encode it as numbers, or give a data frame",
        ),
        (
            np.array(["2024-01-05", "2024-01-06", "2024-01-07"], dtype="M8[us]"),
            TypeError,
            "X must be numbers, got .* column 'b'.* leave it out, or make a number of it",
        ),
    ],
)
def test_errors_name_the_columns_of_data_frames(cells, error, message):
    for frame in frames_of({"a": np.array([1.0, 5.0, 2.0]), "b": cells}):
        with pytest.raises(error, match=message):
            MAPDPM(component="normal-gamma").fit(frame)


def test_counts_name_the_columns_of_data_frames():
    for frame in frames_of({"a": [0, 1, 1], "b": [0, 2, 1]}):
        with pytest.raises(ValueError, match=r"X must be 0 or 1, got 2\.0 in row 1, column 'b'$"):
            MAPDPM(component="beta-bernoulli").fit(frame)


def test_families_without_missing_cells_do_not_advise_them():
    X = [[0.0, 1.0], [2.0, np.nan], [1.0, 5.0]]
    with pytest.raises(ValueError, match=r"X must be finite, got NaN in row 1, column 1$"):
        MAPDPM(component="normal-known-variance", prior="paper").fit(X)


@pytest.mark.parametrize("cell", ["", " ", "NA", "n/a", "?", "null", "-"])
def test_blank_text_is_missing_in_columns_of_numbers(cell):
    numbers = np.array([np.nan, *np.linspace(0.0, 40.0, 20)])
    expected = MAPDPM(allow_missing=True, prior="paper", random_state=0).fit(
        np.column_stack([numbers, np.arange(21.0)])
    )
    texts = [cell, *map(str, numbers[1:].tolist())]
    rows = np.column_stack([texts, list(map(str, range(21)))])
    for X in (rows, *frames_of({"a": texts, "b": np.arange(21.0)})):
        model = MAPDPM(allow_missing=True, prior="paper", random_state=0).fit(X)
        assert model.component_ == "normal-gamma"
        assert model.neg_log_joint_ == expected.neg_log_joint_
        with pytest.raises(ValueError, match="X must be finite, got NaN in row 0, column"):
            MAPDPM(prior="paper").fit(X)


@pytest.mark.parametrize("kind", [float, int])
def test_masked_cells_are_missing(kind):
    X = np.round(10.0 * blobs()[0]).astype(kind)
    masked = np.ma.masked_greater(X, np.quantile(X, 0.9))
    found, expected = (
        MAPDPM(allow_missing=True, prior="paper", random_state=0).fit(x)
        for x in (masked, np.where(masked.mask, np.nan, X))
    )
    assert found.neg_log_joint_ == expected.neg_log_joint_
    assert found.labels_.tolist() == expected.labels_.tolist()


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_an_error_names_the_parameter_and_nothing_is_fitted(name):
    parameters, message = BAD_PARAMETERS[name]
    X = [[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [5.0, 6.0]]
    model = MAPDPM(**{"prior": "paper", **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert not hasattr(model, "labels_")


def test_a_seed_may_have_any_number_of_bits():
    X, seed = blobs()[0], 2**127 + 1
    models = [MAPDPM(random_state=given).fit(X) for given in (seed, np.random.default_rng(seed))]
    np.testing.assert_array_equal(*(model.labels_ for model in models))


def test_a_family_of_real_numbers_refuses_sparse_rows():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"got a sparse matrix: .* or take .*'beta-bernoulli'"):
        MAPDPM(prior="paper").fit(sparse.csr_matrix(np.eye(3)))


def test_a_lazy_frame_is_refused_without_being_asked_for_its_columns():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"got a LazyFrame: pass X\.collect\(\)"):
        MAPDPM().fit(pl.DataFrame({"a": [1.0, 2.0]}).lazy())


def test_names_of_pyarrow_are_kept():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"length": [0.0, 1.0, 9.0], "width": [0.0, 2.0, 8.0]})
    model = MAPDPM(prior="paper", random_state=0).fit(table)
    assert model.feature_names_in_.tolist() == ["length", "width"]
    model.predict(table)
    with pytest.raises(ValueError, match="The feature names should match"):
        model.predict(table.select(["width", "length"]))


def test_an_unknown_parameter_is_an_error_that_lists_those_there_are():
    with pytest.raises(
        ValueError, match=r"MAPDPM has no parameter 'k'; it has allow_missing, alpha, .*, component"
    ):
        MAPDPM(prior="paper").set_params(k=3)


def test_methods_of_a_fitted_model_check_their_arguments():
    model = MAPDPM(prior="paper").fit(blobs()[0])
    with pytest.raises(ValueError, match="X has 3 features, but MAPDPM is expecting 2 features"):
        model.predict(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="got NaN in row 0, column 0"):
        model.score_samples([[np.nan, 0.0]])
    with pytest.raises(ValueError, match="n_samples must be a whole number of at least 1, got 0"):
        model.sample(0)


def test_functions_check_their_arguments_by_the_same_rules():
    with pytest.raises(ValueError, match="alpha must be positive, got 0"):
        dpmlite.crp_log_prob([0], alpha=0)
    with pytest.raises(ValueError, match=r"labels must be 1-D, got shape \(1, 1\)"):
        dpmlite.crp_log_prob([[0]], alpha=1.0)
    with pytest.raises(ValueError, match="labels must be finite, got nan"):
        dpmlite.crp_log_prob([np.nan, np.nan, 1.0], alpha=1.0)
    with pytest.raises(ValueError, match="labels must have rows of the same length"):
        dpmlite.crp_log_prob([[1], [1, 2]], alpha=1.0)
    with pytest.raises(ValueError, match="n must be a whole number of at least 0, got -1"):
        dpmlite.crp_sample(-1, alpha=1.0)
    with pytest.raises(ValueError, match=r"labels must have shape \(2,\), got \(1,\)"):
        dpmlite.neg_log_joint([[0.0], [1.0]], [0], alpha=1.0)
    assert dpmlite.crp_sample(0, alpha=1.0).tolist() == []


def test_arguments_are_checked_before_any_work():
    X = np.ones((4, 2))  # of constant columns, which warn as soon as there is a prior
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="alpha must be positive"):
            dpmlite.neg_log_joint(X, [0] * 4, alpha=-1.0)
        with pytest.raises(ValueError, match="labels must have shape"):
            dpmlite.neg_log_loo(X, [0], alpha=1.0)
        for parameters in ({"init": [0]}, {"random_state": "x"}):
            with pytest.raises(ValueError, match="must"):
                MAPDPM(**parameters).fit(X)


def check(X, **parameters):
    """Fit, and judge the result by the naive joint."""
    parameters = {"prior": "paper", **parameters}
    model = MAPDPM(random_state=0, **parameters).fit(X)
    X = np.asarray(X, dtype=float)
    joint = naive.neg_log_joint(X, model.labels_, 1.0, empirical_prior(X))
    assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-9, abs=1e-9)
    assert np.isfinite(model.score_samples(X)).all()
    return model


def test_one_row_is_a_cluster_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = check([[3.0, 4.0]])
    assert model.labels_.tolist() == [0]
    assert model.predict([[3.0, 4.0], [30.0, 4.0]]).tolist() == [0, -1]
    assert model.score_samples([[3.0, 4.0]]) > model.score_samples([[30.0, 4.0]])


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_few_rows_keep_every_rule_of_a_fit(n_rows):
    check(np.random.default_rng(0).normal(size=(n_rows, 2)))


def test_a_constant_column_warns_and_works():
    X = np.column_stack([np.full(60, 0.1), blobs()[0]])
    with pytest.warns(
        UserWarning, match=r"1 column\(s\) of X are constant, column 0 first.*variance of 1"
    ):
        model = check(X)
    assert model.prior_["m0"][0] == 0.1
    assert model.prior_["b0"][0] == 1.0


def test_warnings_name_the_line_of_the_caller():
    X = np.column_stack([np.ones(6), np.arange(6.0)])
    for call in (
        lambda: MAPDPM(prior="paper").fit(X),
        lambda: MAPDPM(prior="paper").fit_predict(X),
        lambda: dpmlite.neg_log_joint(X, [0] * 6, alpha=1.0),
        lambda: dpmlite.exact_posterior(X, alpha=1.0),
    ):
        with pytest.warns(UserWarning, match="constant") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


def test_equal_rows_share_a_cluster():
    X = np.repeat(blobs(n_rows=10)[0], 6, axis=0)
    labels = check(X).labels_.reshape(10, 6)
    assert (labels == labels[:, :1]).all()


def test_a_table_of_equal_rows_is_one_cluster():
    with pytest.warns(UserWarning, match="constant"):
        assert check(np.ones((20, 2))).n_clusters_ == 1


def test_one_column_and_thousands_keep_every_rule_of_a_fit():
    check(blobs(n_columns=1)[0])
    n_columns = 200 if PURE else 5000
    X = np.random.default_rng(0).normal(size=(12, n_columns)) + np.repeat([0.0, 3.0], 6)[:, None]
    assert check(X).labels_.tolist() == [0] * 6 + [1] * 6


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: X.astype(np.float32),
        lambda X: np.round(X * 100.0).astype(np.int16),
        lambda X: X[::-1],
        lambda X: X.tolist(),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    ],
    ids=["Fortran order", "float32", "integers", "reversed view", "lists", "strided view"],
)
def test_labels_do_not_depend_on_the_type_of_the_array(convert):
    X = convert(blobs()[0])
    model = check(X)
    expected = MAPDPM(prior="paper", random_state=0).fit(np.array(X, dtype=float))
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_na_of_pandas_is_nan():
    pd = pytest.importorskip("pandas")
    X = np.where(np.arange(40).reshape(20, 2) % 7 == 0, np.nan, np.arange(40.0).reshape(20, 2))
    frame = pd.DataFrame(X, columns=["a", "b"]).convert_dtypes()
    assert frame.iloc[0, 0] is pd.NA
    found, expected = (
        MAPDPM(prior="paper", allow_missing=True, random_state=0).fit(x) for x in (frame, X)
    )
    assert found.neg_log_joint_ == expected.neg_log_joint_
    with pytest.raises(ValueError, match="X must be finite, got NaN in row 0, column 'a'"):
        MAPDPM(prior="paper").fit(frame)
    with pytest.raises(ValueError, match="finite and not negative, got nan in row 0"):
        MAPDPM(prior="paper").fit(X[1:3], sample_weight=pd.Series([pd.NA, 1], dtype="Int64"))


def test_read_only_and_memory_mapped(tmp_path):
    X, _ = blobs()
    expected = MAPDPM(prior="paper", random_state=0).fit(X).labels_
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        MAPDPM(prior="paper", random_state=0).fit(mapped).labels_, expected
    )
    X.flags.writeable = False
    before = X.copy()
    np.testing.assert_array_equal(MAPDPM(prior="paper", random_state=0).fit(X).labels_, expected)
    np.testing.assert_array_equal(X, before)


def test_offsets_of_a_hundred_million():
    X, _ = blobs(n_rows=150, seed=3)
    X = np.round(X * 1024.0) / 1024.0  # so that the shifted values are exact
    one, other = (MAPDPM(prior="paper", random_state=0).fit(x) for x in (X, X + 1e8))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert other.neg_log_joint_ == pytest.approx(one.neg_log_joint_, rel=1e-9)


def test_far_outliers_are_clusters_of_their_own():
    X = np.concatenate([np.random.default_rng(0).normal(size=(40, 2)), [[1e6, 0.0], [0.0, -1e7]]])
    prior = {"m0": np.zeros(2), "c0": 0.1, "a0": 1.0, "b0": np.ones(2)}
    for init in ("single", "singletons", "sequential"):
        model = MAPDPM(prior=prior, init=init, random_state=0).fit(X)
        joint = naive.neg_log_joint(X, model.labels_, 1.0, prior)
        assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-9)
        assert len(set(model.labels_[-2:])) == 2


@pytest.mark.parametrize("alpha", [1e-12, 1e12])
def test_extreme_concentrations(alpha):
    X, _ = blobs(n_rows=30)
    model = MAPDPM(prior="paper", alpha=alpha, random_state=0).fit(X)
    assert model.n_clusters_ == (30 if alpha > 1 else 1)
    prior = {k: np.asarray(v) for k, v in model.prior_.items()}
    data = sum(naive.log_marginal(X[model.labels_ == k], prior) for k in set(model.labels_))
    expected = -data - dpmlite.crp_log_prob(model.labels_, alpha)
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)
