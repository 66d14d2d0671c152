"""`MAPDPM.fit_chunks`: rows that do not fit into memory."""

import pickle

import numpy as np
import pytest
from cases import needs_kernels
from three_groups import joint_of, table

from dpmlite import MAPDPM, ConvergenceWarning
from dpmlite.datasets import unequal_gaussians
from dpmlite.distributed import attempts, descent, proposals
from dpmlite.estimators.default_model.alternation import same_partition
from dpmlite.estimators.map_dpm import chunk_tables, chunked_fit, first_sample
from dpmlite.estimators.priors import FAMILIES
from dpmlite.search import progress

pytestmark = needs_kernels

COMPONENTS = tuple(FAMILIES)


def unequal(n_rows=3000, seed=0):
    return unequal_gaussians(4, 8, random_state=seed).sample(n_rows, random_state=seed)[0]


def fitted(X, n_chunks=4, **parameters):
    parameters = {"random_state": 0, **parameters}
    return MAPDPM(**parameters).fit_chunks(np.array_split(X, n_chunks))


@pytest.fixture
def small_samples(monkeypatch):
    """So that most rows of small tables are in no sample."""
    for module in (proposals, attempts, descent, chunked_fit, first_sample):
        monkeypatch.setattr(module, "GATHERED_ROWS", 500)


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_family_finds_separate_clusters(component):
    X = table(component, 300)
    model = fitted(X, component=component, prior="paper")
    local = MAPDPM(component=component, prior="paper", random_state=0).fit(X)
    assert same_partition(model.labels_, local.labels_)
    assert model.neg_log_joint_ == pytest.approx(local.neg_log_joint_, rel=1e-9)
    there = np.array([local.labels_[np.argmax(model.labels_ == k)] for k in range(3)])
    np.testing.assert_allclose(model.statistics_, local.statistics_[there], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.means_, local.means_[there], rtol=1e-8)


@pytest.mark.parametrize("prior", ["paper", "auto"])
@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("n_chunks", [2, 16])
def test_the_joint_is_near_that_of_one_fit(prior, in_order, n_chunks, small_samples):
    X = unequal()
    X = X[np.argsort(X[:, 0])] if in_order else X
    model = fitted(X, n_chunks, prior=prior)
    start = model.component_labels_
    same_model = {
        "component": model.component_,
        "prior": model.prior_,
        "robustness": 2000 if prior == "auto" else None,
        "join": False,
    }
    local = MAPDPM(random_state=0, **same_model).fit(X)
    assert model.neg_log_joint_ <= local.neg_log_joint_ * 1.002
    # The joint is exact: a fit that begins with these labels has it.
    again = MAPDPM(init=start, split_merge=False, max_sweeps=1, **same_model).fit(X)
    assert again.neg_log_joint_trace_[0] == pytest.approx(model.neg_log_joint_, rel=1e-9)
    assert again.power_ == model.power_


def test_the_joint_under_the_papers_prior_is_that_of_all_rows():
    X = unequal()
    model = fitted(X, prior="paper")
    assert model.neg_log_joint_ == pytest.approx(joint_of(model, X, model.labels_), rel=1e-10)


def test_attributes_describe_all_rows():
    X = unequal()
    model = fitted(X, prior="paper")
    np.testing.assert_array_equal(model.counts_, np.bincount(model.labels_))
    assert (np.diff(model.counts_) <= 0).all()
    assert model.n_samples_seen_ == len(X)
    assert model.n_features_in_ == 4
    np.testing.assert_allclose(model.moments_["mean"], X.mean(axis=0), rtol=1e-10)
    centres = [X[model.labels_ == k].mean(axis=0) for k in range(model.n_clusters_)]
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-7, atol=1e-9)
    assert model.neg_log_joint_ == model.neg_log_joint_trace_[-1]


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_results_do_not_depend_on_threads(n_jobs):
    X = unequal()
    one, other = fitted(X, n_jobs=1), fitted(X, n_jobs=n_jobs)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.neg_log_joint_ == other.neg_log_joint_


def test_a_memory_mapped_file_is_read_by_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(chunk_tables, "CHUNK_ROWS", 700)
    X = unequal()
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = MAPDPM(random_state=0).fit_chunks(mapped)
    expected = MAPDPM(random_state=0).fit_chunks([X[i : i + 700] for i in range(0, 3000, 700)])
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_functions_are_called_for_their_chunks():
    X = unequal()
    parts = np.array_split(X, 3)
    model = MAPDPM(random_state=0).fit_chunks([lambda part=part: part for part in parts])
    np.testing.assert_array_equal(model.labels_, fitted(X, 3).labels_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_the_names_of_columns(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(dict(zip("abcd", unequal().T, strict=True)))
    model = MAPDPM(random_state=0).fit_chunks([frame[:1000], frame[1000:]])
    assert model.feature_names_in_.tolist() == list("abcd")
    expected = MAPDPM(random_state=0).fit_chunks([unequal()[:1000], unequal()[1000:]])
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_mixed_tables_are_read_by_the_columns_of_the_sample(small_samples):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    groups = rng.integers(3, size=1500)
    frame = pd.DataFrame(
        {
            "city": np.array(["a", "b", "c"])[groups],
            "length": rng.normal(6.0 * groups, 1.0),
            "visits": rng.poisson(2.0 + 15.0 * groups),
        }
    ).sort_values("city", kind="stable", ignore_index=True)
    chunks = [frame[i : i + 400] for i in range(0, 1500, 400)]  # some have a single city
    model = MAPDPM(random_state=0).fit_chunks(chunks)
    local = MAPDPM(random_state=0).fit(frame)
    assert model.component_ == local.component_
    assert list(model.levels_["city"]) == list(local.levels_["city"])
    assert same_partition(model.labels_, local.labels_)
    # Hyperparameters are those of a sample.
    assert model.neg_log_joint_ == pytest.approx(local.neg_log_joint_, rel=1e-2)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_sparse_counts_are_the_same_as_dense_ones():
    sparse = pytest.importorskip("scipy.sparse")
    X = table("dirichlet-multinomial", 300)
    model = fitted(X, component="dirichlet-multinomial")
    parts = [sparse.csr_matrix(part) for part in np.array_split(X, 4)]
    other = MAPDPM(component="dirichlet-multinomial", random_state=0).fit_chunks(parts)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    assert other.neg_log_joint_ == pytest.approx(model.neg_log_joint_, rel=1e-12)


def test_rounded_values_are_spread_on_the_grid_of_the_sample(small_samples):
    """A chunk may have a single value in a column: no normal is infinitely dense there."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1.0, (1500, 2)) for c in (0, 8)]).round()
    X = X[np.argsort(X[:, 0], kind="stable")]
    model = fitted(X, 16, component="normal-gamma")
    assert model.n_clusters_ == 2
    assert len(model.statistics_) <= 4


def test_missing_cells_are_left_out():
    X = table("normal-gamma", 400)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1)] = X[0]
    model = fitted(X, prior="paper", allow_missing=True)
    assert model.neg_log_joint_ == pytest.approx(joint_of(model, X, model.labels_), rel=1e-10)
    assert model.n_clusters_ == 3


def test_the_model_goes_on_and_is_saved(tmp_path):
    X = unequal()
    model = fitted(X)
    model.save(tmp_path / "model.npz")
    loaded = MAPDPM.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.partial_fit(unequal(500, seed=1))
    assert loaded.n_samples_seen_ == 3500


def test_a_fit_leaves_nothing_of_an_earlier_one():
    X = unequal()
    model = MAPDPM(prior="paper", random_state=0).partial_fit(X[:200])
    model.fit_chunks([X])
    assert not hasattr(model, "neg_log_loo_")
    assert not hasattr(model, "first_rows_")
    assert len(model.labels_) == 3000


def test_a_fit_does_not_predict_with_the_discount_of_an_earlier_one(small_samples):
    X = unequal()
    fresh = MAPDPM(prior="paper", random_state=0).fit_chunks([X])
    model = MAPDPM(prior="paper", discount=0.5, random_state=0).fit(X[:200])
    model.set_params(discount=0.0).fit_chunks([X])
    np.testing.assert_array_equal(model.score_samples(X), fresh.score_samples(X))


def test_labels_are_of_the_clusters_that_components_join():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.uniform(-1, 1, (2000, 2)), rng.uniform(9, 11, (2000, 2))])
    model = fitted(X, join=True)
    assert model.n_clusters_ == 2
    joined = model.cluster_of_component_[model.component_labels_]
    np.testing.assert_array_equal(model.labels_, joined)
    np.testing.assert_array_equal(model.counts_, np.bincount(model.labels_))


@pytest.mark.parametrize("alpha", ["map", "nll", "loo", "cv"])
def test_the_concentration_is_chosen_on_the_sample(alpha):
    X = table("normal-gamma", 300)
    model = fitted(X, prior="paper", alpha=alpha)
    local = MAPDPM(prior="paper", alpha=alpha, random_state=0).fit(X)
    assert model.alpha_ == pytest.approx(local.alpha_)
    assert same_partition(model.labels_, local.labels_)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[1.0, 2.0], [1.0, np.nan]]), "chunk 1: X must .* in row 1, column 1"),
        (np.ones((3, 5)), "chunk 1: X has 5 features, but 2 features are expected"),
        (np.empty((0, 2)), "chunk 1: X must have at least one row, got 0"),
    ],
)
@pytest.mark.parametrize("prior", ["paper", "auto"])
def test_an_error_names_the_chunk(bad, message, prior, monkeypatch):
    X = table("normal-gamma", 90)
    # The sample has no row of the bad chunk.
    monkeypatch.setattr(first_sample, "joined_rows", lambda parts: parts[0])
    with pytest.raises(ValueError, match=message):
        MAPDPM(prior=prior).fit_chunks([X, bad])


def test_an_error_names_the_chunk_of_a_bad_row_in_the_sample():
    X = table("normal-gamma", 90)
    X[70, 1] = np.inf
    with pytest.raises(ValueError, match="chunk 2: X must be finite, got inf in row 10, column 1"):
        MAPDPM().fit_chunks([X[:30], X[30:60], X[60:]])


def test_a_row_beyond_the_reach_of_a_prior_is_named(monkeypatch):
    X = table("normal-gamma", 90)
    monkeypatch.setattr(first_sample, "joined_rows", lambda parts: parts[0])
    far = np.full((1, 2), 1e30)
    prior = {"m0": 0.0, "c0": 1.0, "a0": 1.0, "b0": 1.0}
    with pytest.raises(ValueError, match="chunk 1: X must"):
        MAPDPM(prior=prior).fit_chunks([X, far])


@pytest.mark.parametrize("prior", ["paper", "auto"])
@pytest.mark.parametrize("component", ["normal-gamma", "dirichlet-multinomial"])
def test_weights_are_those_of_fit(component, prior):
    X = table(component, 300)
    weights = np.random.default_rng(0).uniform(0.5, 3.0, len(X))
    chosen = {"component": component, "prior": prior, "random_state": 0}
    model = MAPDPM(**chosen).fit_chunks(np.array_split(X, 4), None, np.array_split(weights, 4))
    local = MAPDPM(**chosen).fit(X, sample_weight=weights)
    assert same_partition(model.labels_, local.labels_)
    assert model.neg_log_joint_ == pytest.approx(local.neg_log_joint_, rel=1e-9)
    assert model.power_ == pytest.approx(local.power_, rel=1e-12)
    assert model.moments_["weight"] == pytest.approx(weights.sum(), rel=1e-12)
    assert model.counts_.tolist() == np.bincount(model.labels_).tolist()


def test_a_weight_stands_for_equal_rows(small_samples):
    X = unequal()
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    model = MAPDPM(prior="paper", random_state=0)
    model.fit_chunks(np.array_split(X, 3), sample_weight=np.array_split(weights, 3))
    rows = np.repeat(np.arange(len(X)), weights)
    expected = joint_of(model, X[rows], model.labels_[rows])
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-10)


def test_weights_of_an_array_are_cut_as_its_rows(monkeypatch):
    monkeypatch.setattr(chunk_tables, "CHUNK_ROWS", 700)
    X, weights = unequal(), np.random.default_rng(0).uniform(0.5, 3.0, 3000)
    model = MAPDPM(random_state=0).fit_chunks(X, sample_weight=weights)
    at = range(0, 3000, 700)
    expected = MAPDPM(random_state=0).fit_chunks(
        [lambda i=i: X[i : i + 700] for i in at], None, [weights[i : i + 700] for i in at]
    )
    np.testing.assert_array_equal(model.labels_, expected.labels_)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([np.ones(30)], r"an array for each of 3 chunks, got 1"),
        ([np.ones(30)] * 2 + [np.ones(29)], r"chunk 2: sample_weight must have shape \(30,\), got"),
        (np.r_[np.ones(50), 0.0, np.ones(39)].reshape(3, 30), "chunk 1: .* got 0.0 in row 20"),
        (np.r_[np.ones(50), -1.0, np.ones(39)].reshape(3, 30), "chunk 1: .* got -1.0 in row 20"),
        (np.repeat([1e-3, 1.0, 1e10], 30).reshape(3, 30), "at most 1e[+]12 times the least"),
    ],
)
def test_weights_that_break_a_rule_are_named(weights, message):
    X = table("normal-gamma", 90)
    with pytest.raises(ValueError, match=message):
        MAPDPM().fit_chunks(np.split(X, 3), sample_weight=weights)
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(90,\), got \(3,\)"):
        MAPDPM().fit_chunks(X, sample_weight=np.ones(3))


@pytest.mark.parametrize("weight", [30.0, 1e-3])
def test_weights_that_the_default_model_would_bound_are_refused(weight):
    X, weights = table("normal-gamma", 90), np.ones(90)
    weights[70] = weight
    with pytest.raises(ValueError, match=r"sample_weight must be 0\.01 to 5 times its mean"):
        MAPDPM().fit_chunks(np.split(X, 3), sample_weight=np.split(weights, 3))
    model = MAPDPM(prior="paper").fit_chunks(np.split(X, 3), None, np.split(weights, 3))
    assert model.moments_["weight"] == pytest.approx(weights.sum(), rel=1e-12)


def test_parameters_that_need_all_rows_are_refused():
    X = table("normal-gamma", 90)
    with pytest.raises(ValueError, match="init must be the name of a start"):
        MAPDPM(init=np.zeros(90, dtype=int)).fit_chunks([X])
    with pytest.raises(ValueError, match="outlier_level must be None"):
        MAPDPM(outlier_level=0.01).fit_chunks([X])
    with pytest.raises(ValueError, match="chunks must be at least one"):
        MAPDPM().fit_chunks([])


class Counter:
    """A callback that keeps its calls, and ends the fit with the last of so many."""

    def __init__(self, until=None):
        self.calls, self.until = [], until

    def __call__(self, step, joint, n_clusters):
        self.calls.append((step, joint, n_clusters))
        return len(self.calls) == self.until


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_is_told_every_step_and_changes_nothing(n_jobs, small_samples):
    X, calls = unequal(), Counter()
    told = fitted(X, prior="paper", join=False, n_jobs=n_jobs, callback=calls)
    np.testing.assert_array_equal(told.labels_, fitted(X, prior="paper", join=False).labels_)
    assert told.stopped_ is None
    of_chunks = [call for call in calls.calls if call[0].startswith("chunks ")]
    assert of_chunks[0][0] == "chunks start"
    assert {"chunks sweep", "chunks crossover"} < {step for step, *_ in of_chunks}
    rounds = [joint for step, joint, _ in of_chunks if step == "chunks round"]
    np.testing.assert_array_equal(rounds, told.neg_log_joint_trace_[1:-1])
    assert of_chunks[-1] == ("chunks sweep", told.neg_log_joint_, told.n_clusters_)
    assert calls.calls[-1] == of_chunks[-1]


def test_a_callback_ends_a_fit_at_any_step(small_samples):
    """Whatever the step, the labels are a partition of all rows, whose joint is the objective."""
    X, n_steps = unequal(1500), Counter()
    parameters = {"prior": "paper", "join": False}
    fitted(X, callback=n_steps, **parameters)
    kinds = [step for step, *_ in n_steps.calls]
    firsts = {kinds.index(kind) + 1 for kind in set(kinds)}
    for until in sorted({*firsts, *range(1, len(kinds), 40)} - {len(kinds)}):
        calls = Counter(until)
        model = fitted(X, callback=calls, **parameters)
        assert (model.stopped_, model.converged_, len(calls.calls)) == ("callback", False, until)
        joint = joint_of(model, X, model.labels_)
        assert joint == pytest.approx(model.neg_log_joint_, rel=1e-10)


def test_a_fit_that_is_ended_makes_no_further_sweep(small_samples):
    """A stop in a search among gathered rows, or after a sweep, ends the descent there."""
    X, n_steps = unequal(), Counter()
    fitted(X, prior="paper", callback=n_steps)
    kinds = [step for step, *_ in n_steps.calls]
    gathered = next(i for i, kind in enumerate(kinds) if kind.startswith("gathered"))
    model = fitted(X, prior="paper", callback=Counter(gathered + 1))
    assert model.n_sweeps_ == attempts.SWEEPS_AT_ONCE * kinds[:gathered].count("chunks sweep")


def test_a_time_limit_ends_a_fit_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="stopped after max_seconds=1e-06") as caught:
        model = fitted(unequal(), prior="paper", max_seconds=1e-6)
    assert caught[0].filename == __file__
    assert (model.stopped_, model.converged_, model.n_sweeps_) == ("max_seconds", False, 0)
    assert len(model.labels_) == 3000


def test_steps_and_what_makes_a_fit_long_are_told(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LONG", 0.0)
    fitted(unequal(), verbose=True)
    lines = capsys.readouterr().out.splitlines()
    (long,) = [line for line in lines if " have passed, " in line]
    assert "; 3,000 rows x 4 columns: " in long
    told = [line.split()[:2] for line in lines]
    assert {"start", "sweep", "crossover", "round"} == {b for a, b in told if a == "chunks"}


def test_an_error_in_a_callback_leaves_the_estimator_as_it_was():
    model = fitted(unequal())
    before = pickle.dumps(vars(model))

    def fail(step, joint, n_clusters):
        if step == "chunks sweep":
            raise ZeroDivisionError

    model.callback = fail
    with pytest.raises(ZeroDivisionError):
        model.fit_chunks([unequal(500)])
    model.callback = None
    assert pickle.dumps(vars(model)) == before
