"""DPSearch: what it promises, against exact sums; and searches as starts of other estimators."""

import warnings
from math import lgamma

import naive
import numpy as np
import pytest
from cases import blobs, needs_kernels
from families import CASES
from twin_modules import estimator_on

from dpmlite import MAPDPM, CollapsedGibbs, DPSearch, exact_posterior, neg_log_joint

COMPONENTS = (
    "normal-gamma",
    "normal-inverse-wishart",
    "normal-known-variance",
    "dirichlet-multinomial",
    "beta-bernoulli",
)
TIGHT = COMPONENTS[2:]


@pytest.fixture
def on_twin(twin, monkeypatch):
    """The estimators run on this implementation."""
    estimator_on(twin, monkeypatch)
    return twin


def table(component, n_rows=8, seed=0):
    rng = np.random.default_rng(seed)
    return np.ascontiguousarray(CASES[component].draw(rng, n_rows, 3))


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("scoring", ["trivial", "tight"])
def test_full_searches_are_certified_and_right(on_twin, component, scoring):
    if scoring == "tight" and component not in TIGHT:
        pytest.skip("there is no bound")
    X = table(component, n_rows=7)
    model = DPSearch(component=component, prior="paper", scoring=scoring, beam=None, alpha=0.7).fit(
        X
    )
    exact = exact_posterior(X, component=component, alpha=0.7)
    assert model.certified_
    assert model.converged_
    assert model.optimality_gap_ == 0.0
    assert model.neg_log_joint_ == pytest.approx(exact.neg_log_joint, abs=1e-8)
    assert model.n_sweeps_ == 0
    joint = neg_log_joint(X, model.labels_, alpha=0.7, component=component)
    assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-10)


def sizes_score(X, labels, alpha):
    """Minus the log of Daumé's eq. (2) and (5), from the joint and the clusters' sizes."""
    counts = np.bincount(labels)
    m = np.unique(counts, return_counts=True)[1]
    # A partition is one of N! / prod(n_k!) / prod(m_i!) with its sizes.
    with_these = lgamma(len(X) + 1) - sum(lgamma(n + 1) for n in counts)
    with_these -= sum(lgamma(k + 1) for k in m)
    joint = neg_log_joint(X, labels, alpha=alpha, component="normal-known-variance")
    return joint - with_these


@pytest.mark.parametrize("scoring", ["trivial", "tight"])
@pytest.mark.parametrize("alpha", [0.3, 2.0])
def test_certificates_are_of_the_score_of_sizes(on_twin, scoring, alpha):
    for seed in range(5):
        X = table("normal-known-variance", n_rows=6, seed=seed)
        model, partition = (
            DPSearch(
                component="normal-known-variance",
                prior="paper",
                scoring=scoring,
                prior_score=prior_score,
                beam=None,
                alpha=alpha,
            ).fit(X)
            for prior_score in ("sizes", "partition")
        )
        scores = [sizes_score(X, np.array(each), alpha) for each in naive.partitions(6)]
        assert model.certified_
        assert model.neg_log_score_ == pytest.approx(min(scores), abs=1e-8)
        assert model.neg_log_score_ == pytest.approx(sizes_score(X, model.labels_, alpha), abs=1e-8)
        assert partition.neg_log_score_ == partition.neg_log_joint_
        assert partition.neg_log_joint_ <= model.neg_log_joint_ + 1e-8


def test_gaps_of_scores_of_sizes_hold(on_twin):
    for seed in range(6):
        X = table("normal-known-variance", n_rows=6, seed=seed)
        for refine in (True, False):
            model = DPSearch(
                component="normal-known-variance",
                prior="paper",
                scoring="tight",
                prior_score="sizes",
                beam=1,
                refine=refine,
                random_state=0,
            ).fit(X)
            least = min(sizes_score(X, np.array(each), 1.0) for each in naive.partitions(6))
            assert model.neg_log_score_ - model.optimality_gap_ <= least + 1e-8


def test_scores_of_sizes_need_whole_rows():
    X = table("normal-known-variance")
    model = DPSearch(prior="paper", prior_score="sizes")
    with pytest.raises(ValueError, match=r"prior_score 'sizes' needs rows of weight 1, got 2\.0"):
        model.fit(X, sample_weight=[1.0, 2.0, *[1.0] * 6])
    assert (model.fit(X).labels_ == model.fit(X, sample_weight=np.ones(8)).labels_).all()


@pytest.mark.parametrize("refine", [True, "quick", False])
@pytest.mark.parametrize(("beam", "max_queue"), [(1, None), (2, None), (None, 2)])
@pytest.mark.parametrize("scoring", ["trivial", "tight", "inadmissible"])
def test_the_optimum_lies_within_the_gap(on_twin, scoring, beam, max_queue, refine):
    for seed in range(6):
        X = table("normal-known-variance", seed=seed)
        model = DPSearch(
            component="normal-known-variance",
            prior="paper",
            scoring=scoring,
            beam=beam,
            max_queue=max_queue,
            refine=refine,
            random_state=seed,
        ).fit(X)
        least = exact_posterior(X, component="normal-known-variance", alpha=1.0).neg_log_joint
        assert (np.diff(model.neg_log_joint_trace_) <= 0.0).all()
        assert model.neg_log_joint_trace_[0] == model.search_neg_log_joint_
        assert model.neg_log_joint_trace_[-1] == pytest.approx(model.neg_log_joint_, abs=1e-8)
        if scoring == "inadmissible":
            assert np.isnan(model.optimality_gap_)
            assert not model.certified_
        else:
            assert model.neg_log_joint_ - model.optimality_gap_ <= least + 1e-7
            assert model.certified_ == (model.optimality_gap_ == 0.0)
            if model.certified_:
                assert model.neg_log_joint_ == pytest.approx(least, abs=1e-7)


@pytest.mark.parametrize("order", ["ascending", "descending", "random", "given"])
def test_every_order_finds_clusters_that_are_apart(on_twin, order):
    X, labels = blobs(n_rows=40)
    model = DPSearch(prior="paper", order=order, random_state=0, refine=False).fit(X)
    for k in range(3):
        assert len(set(model.labels_[labels == k])) == 1
    assert model.n_expanded_ <= 1 + 10 * 39


def test_orders_are_by_the_density_of_rows_on_their_own(on_twin):
    from dpmlite.search.context import Problem
    from dpmlite.search.prefix_starts import row_order

    X = np.array([[3.0], [0.0], [-7.0], [1.0], [0.0]])
    component = on_twin.normal_gamma.NormalGamma([0.0], 1.0, 1.0, [1.0])
    problem, rng = Problem(on_twin.rows.Rows(X), component, 1.0), np.random.default_rng(0)
    assert row_order(problem, "ascending", rng).tolist() == [2, 0, 3, 1, 4]
    assert row_order(problem, "descending", rng).tolist() == [1, 4, 3, 0, 2]
    assert row_order(problem, "given", rng).tolist() == [0, 1, 2, 3, 4]
    assert sorted(row_order(problem, "random", rng).tolist()) == [0, 1, 2, 3, 4]


def test_weights_stand_for_equal_rows(on_twin):
    X, weights = table("normal-gamma", n_rows=6), np.array([1.0, 2.0, 1.0, 0.0, 3.0, 1.0])
    given = {"prior": {"m0": 0.0, "c0": 0.1, "a0": 1.0, "b0": 1.0}}
    model = DPSearch(scoring="trivial", beam=None, **given).fit(X, sample_weight=weights)
    used = weights > 0.0
    exact = exact_posterior(X[used], alpha=1.0, sample_weight=weights[used], **given)
    assert model.certified_
    assert model.neg_log_joint_ == pytest.approx(exact.neg_log_joint, abs=1e-8)
    assert model.labels_.shape == (6,)


def test_the_optimum_beside_missing_values_is_found(on_twin):
    X = table("normal-gamma", n_rows=7)
    X[2, 1] = X[5, 0] = np.nan
    model = DPSearch(prior="paper", allow_missing=True, scoring="trivial", beam=None).fit(X)
    least = exact_posterior(X, alpha=1.0, allow_missing=True).neg_log_joint
    assert model.neg_log_joint_ == pytest.approx(least, abs=1e-8)


def test_sparse_counts_are_dense_counts(on_twin):
    sparse = pytest.importorskip("scipy.sparse")
    X = np.random.default_rng(0).poisson(0.4, size=(30, 12)).astype(float)
    dense, other = (
        DPSearch(component="dirichlet-multinomial", random_state=0).fit(table)
        for table in (X, sparse.csr_matrix(X))
    )
    np.testing.assert_array_equal(dense.labels_, other.labels_)


def test_predictions_and_a_file(on_twin, tmp_path):
    X, _ = blobs()
    model = DPSearch(prior="paper", random_state=0).fit(X)
    assert (model.predict(X) == model.labels_).mean() > 0.95
    assert model.predict_proba(X).shape == (60, model.n_clusters_)
    model.save(tmp_path / "model")
    loaded = DPSearch.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.n_expanded_ == model.n_expanded_


def test_verbose_tells_of_the_search(on_twin, capsys):
    X, _ = blobs(n_rows=30)
    DPSearch(prior="paper", verbose=True, random_state=0).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("search       expanded")
    assert any("sweep" in line for line in lines[1:])


@pytest.mark.parametrize("component", ["normal-gamma", "normal-inverse-wishart"])
def test_tight_is_refused_where_it_is_not_proven(component):
    with pytest.raises(ValueError, match=f"scoring 'tight' is proven for .* got '{component}'"):
        DPSearch(component=component, scoring="tight").fit([[0.0]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": "map"}, "alpha must be a positive number|alpha must be"),
        ({"scoring": "tighter"}, "scoring must be one of 'trivial', .*, got 'tighter'"),
        ({"order": "up"}, "order must be one of 'ascending', .*, got 'up'"),
        ({"refine": "fast"}, "refine must be True, False or one of 'quick', got 'fast'"),
        ({"refine": 1}, "refine must be True or False, got 1"),
        ({"beam": 0}, "beam must be a whole number of at least 1, got 0"),
        ({"max_queue": 0.5}, r"max_queue must be a whole number of at least 1, got 0\.5"),
        ({"component": "gamma"}, "component must be one of"),
    ],
)
def test_an_error_names_the_parameter_that_breaks_its_rule(given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        DPSearch(**given).fit([[0.0], [1.0]])


@pytest.mark.parametrize("n_rows", [1, 2])
def test_the_optimum_of_one_or_two_rows_is_certified(on_twin, n_rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one row: its columns are constant
        model = DPSearch(prior="paper", scoring="trivial", beam=None).fit(
            np.arange(n_rows)[:, None]
        )
    assert model.certified_
    assert model.labels_[0] == 0


def test_starts_of_other_estimators(on_twin):
    X, labels = blobs(n_rows=45)
    found = DPSearch(prior="paper", refine=False).fit(X).neg_log_joint_
    climb = MAPDPM(prior="paper", init="search", n_init=2, random_state=0).fit(X)
    assert climb.neg_log_joint_ <= found + 1e-9
    only = MAPDPM(prior="paper", init="search", split_merge=False, max_sweeps=1).fit(X)
    assert only.neg_log_joint_trace_[0] == pytest.approx(found, rel=1e-12)
    chain = CollapsedGibbs(
        prior="paper", init="search", n_samples=2, burn_in=0, random_state=0
    ).fit(X)
    assert chain.neg_log_joint_ <= found + 1e-9
    for model in (climb, only, chain):
        assert len(set(zip(labels.tolist(), model.labels_.tolist(), strict=True))) == 3


@needs_kernels
def test_ctrl_c_stops_a_long_search(interrupt_after):
    X = np.random.default_rng(0).normal(size=(60, 2))
    interrupt_after(1.0)
    with pytest.raises(KeyboardInterrupt):
        DPSearch(prior="paper", scoring="trivial", beam=None).fit(X)


@pytest.mark.parametrize("prior_score", ["partition", "sizes"])
def test_alpha_is_chosen_with_the_labels(tmp_path, prior_score):
    """By a full search, it is the best of all labels and candidates."""
    X, alphas = table("normal-known-variance", n_rows=6, seed=3), [30.0, 0.1, 1.0]
    given = {"component": "normal-known-variance", "prior": "paper", "prior_score": prior_score}
    model = DPSearch(**given, alpha="nll", alphas=alphas, scoring="trivial", beam=None).fit(X)
    best = []
    for alpha in sorted(alphas):
        joints = []
        for z in naive.partitions(6):
            if prior_score == "sizes":
                joints.append(sizes_score(X, np.array(z), alpha))
            else:
                joints.append(neg_log_joint(X, z, alpha=alpha, component=given["component"]))
        best.append(min(joints))
    assert model.alphas_.tolist() == [0.1, 1.0, 30.0]
    np.testing.assert_allclose(model.alpha_scores_, best, rtol=1e-9)
    assert model.alpha_ == model.alphas_[np.argmin(best)]
    assert model.neg_log_score_ == pytest.approx(min(best), rel=1e-9)
    assert model.certified_
    model.save(tmp_path / "model")
    again = DPSearch.load(tmp_path / "model")
    np.testing.assert_array_equal(again.alpha_scores_, model.alpha_scores_)
    assert not hasattr(again.set_params(alpha=1.0).fit(X), "alphas_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": "map"}, "alpha must be a positive number or 'nll', got 'map'"),
        ({"alpha": "nll", "alphas": []}, r"alphas must be a list of numbers, got \[\]"),
        ({"alpha": "nll", "alphas": [0.0]}, "alphas must be"),
    ],
)
def test_candidates_for_alpha_must_be_positive(parameters, message):
    with pytest.raises(ValueError, match=message):
        DPSearch(**parameters).fit(table("normal-gamma"))
