"""VariationalDPM: what it finds, what its numbers mean, and what it refuses."""

from itertools import pairwise

import naive
import naive_variational
import numpy as np
import pytest
from cases import PURE, blobs, empirical_prior, needs_kernels
from families import CASES

from dpmlite import VariationalDPM, exact_posterior
from dpmlite.estimators.priors import COMPONENTS
from dpmlite.estimators.variational import METHODS

# Small enough for the plain twins.
QUICK = {
    "prior": "paper",
    "n_components": 4,
    "init": "random",
    "max_iter": 30,
    "random_state": 0,
}


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def quick(method="vb", **parameters):
    return VariationalDPM(**{"method": method, **QUICK, **parameters})


@needs_kernels
def test_labels_are_the_planted_clusters(method):
    X, truth = blobs(n_rows=300, n_clusters=4, seed=2)
    model = VariationalDPM(prior="paper", method=method, random_state=0).fit(X)
    assert model.converged_
    assert model.n_clusters_ == 4
    together = truth[:, None] == truth
    assert ((model.labels_[:, None] == model.labels_) == together).mean() > 0.99
    assert model.labels_.max() == 3  # the largest components come first
    assert (np.diff(model.counts_) <= 0.0).all()
    assert (model.predict(X) == model.labels_).mean() > 0.99


def test_its_numbers_are_those_of_its_responsibilities(estimator, method):
    X, _ = blobs(n_rows=25)
    prior = empirical_prior(X)
    model = quick(method, prior=prior).fit(X)
    r = model.responsibilities_
    np.testing.assert_allclose(r.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(model.counts_, r.sum(axis=0), rtol=1e-10)
    np.testing.assert_array_equal(model.labels_, r.argmax(axis=1))
    assert model.weights_.sum() == pytest.approx(1.0, rel=1e-12)
    c = prior["c0"] + model.counts_[:, None]
    np.testing.assert_allclose(model.means_, (prior["c0"] * prior["m0"] + r.T @ X) / c, atol=1e-9)
    assert model.lower_bound_ == model.lower_bound_trace_[-1]
    assert model.n_iter_ == len(model.lower_bound_trace_) - 1
    if method == "vb":
        expected = naive_variational.lower_bound("normal-gamma", X, r, prior, 1.0)
        assert model.lower_bound_ == pytest.approx(expected, rel=1e-9)
        assert (np.diff(model.lower_bound_trace_) >= -1e-9).all()


def test_the_density_is_a_mixture_of_predictive_densities(estimator, method):
    X, _ = blobs(n_rows=20, n_columns=1)
    z = np.arange(20) % 3
    prior = empirical_prior(X)
    model = quick(method, prior=prior, init=z, n_components=3, max_iter=1).fit(X)
    new = X[:5] + 0.3
    log_density = model.score_samples(new)
    proba = model.predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(new), proba.argmax(axis=1))
    for i, x in enumerate(new):
        terms = []
        for k in range(3):
            c, a = prior["c0"] + model.counts_[k], prior["a0"] + 0.5 * model.counts_[k]
            b = model.statistics_[k, 2] * prior["b0"]
            as_prior = {"m0": model.means_[k], "c0": c, "a0": a, "b0": b}
            terms.append(model.weights_[k] * np.exp(naive.log_student(x, X[:0], as_prior)))
        assert log_density[i] == pytest.approx(np.log(sum(terms)), rel=1e-10)
        np.testing.assert_allclose(proba[i], np.array(terms) / sum(terms), rtol=1e-9)
    assert model.score(new) == pytest.approx(log_density.mean())


@needs_kernels
def test_the_density_integrates_to_1(method):
    X, _ = blobs(n_rows=60, n_columns=1)
    model = VariationalDPM(prior="paper", method=method, random_state=0).fit(X)
    grid = np.linspace(-2000.0, 2000.0, 400_001)
    density = np.exp(model.score_samples(grid[:, None]))
    assert density.sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("component", COMPONENTS)
def test_bounds_stay_below_the_evidence_of_the_dirichlet_process(method, component):
    """`log_evidence_bound_`, whatever the method, on random problems."""
    case = CASES[component]
    for seed in range(2 if PURE else 40):
        rng = np.random.default_rng(seed)
        n_rows = int(rng.integers(1, 8))
        prior, X = case.prior(rng, 2), case.draw(rng, n_rows, 2)
        alpha = float(rng.choice([0.2, 1.0, 5.0]))
        given = {"component": component, "alpha": alpha, "prior": prior}
        evidence = exact_posterior(X, **given).log_evidence
        model = quick(method, **given, n_components=int(rng.integers(1, 8))).fit(X)
        assert model.log_evidence_bound_ <= evidence + 1e-9
        if method == "vb":
            assert (np.diff(model.lower_bound_trace_) >= -1e-9).all()


@needs_kernels
def test_only_vb_has_a_bound_of_its_own_model():
    """The expansions of the collapsed methods can lie above its evidence: here are cases."""
    case = CASES["dirichlet-multinomial"]
    above = dict.fromkeys(METHODS, 0)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        prior, X = case.prior(rng, 2), case.draw(rng, 4, 2)
        for kind in METHODS:
            log_prior = naive_variational.log_prior_sticks
            if kind == "collapsed-dirichlet":
                log_prior = naive_variational.log_prior_dirichlet
            evidence = naive_variational.log_evidence(case, X, prior, 0.2, 3, log_prior)
            given = {"component": case.name, "alpha": 0.2, "prior": prior}
            model = quick(kind, n_components=3, **given).fit(X)
            above[kind] += model.lower_bound_ > evidence + 1e-9
    assert above["vb"] == 0
    assert above["collapsed-stick"] > 0
    assert above["collapsed-dirichlet"] > 0


def test_start_labels_are_taken(estimator):
    X, truth = blobs(n_rows=30)
    model = quick(init=truth + 7, max_iter=1).fit(X)
    assert (model.labels_[:, None] == model.labels_).tolist() == (truth[:, None] == truth).tolist()
    few = quick(init=np.arange(30), n_components=2, max_iter=1).fit(X)
    assert few.responsibilities_.shape == (30, 2)


@needs_kernels
def test_the_best_start_wins():
    X, _ = blobs(n_rows=80, n_clusters=5, seed=2)
    singles = [quick(n_components=8, random_state=s).fit(X).lower_bound_ for s in range(8)]
    assert max(singles) - min(singles) > 1.0  # local optima
    rng = np.random.default_rng(0)
    many = quick(n_components=8, n_init=8, random_state=rng).fit(X)
    rng = np.random.default_rng(0)
    one_by_one = [quick(n_components=8, random_state=rng).fit(X).lower_bound_ for _ in range(8)]
    assert many.lower_bound_ == max(one_by_one)


def test_odd_tables_have_finite_bounds(estimator, method):
    rng = np.random.default_rng(0)
    for X in (
        np.array([[3.0, 4.0]]),
        np.zeros((7, 1)),
        np.repeat(rng.normal(size=(2, 3)), 6, axis=0),
        rng.normal(size=(3, 40)),
        rng.normal(size=(5, 2)) * 1e-12 + 5.0,
        np.asfortranarray(rng.normal(size=(6, 2)).astype(np.float32)),
    ):
        prior = {"b0": np.where(X.var(axis=0) > 0.0, X.var(axis=0), 1.0)}
        model = quick(method, prior=prior, n_components=9).fit(X)
        assert np.isfinite(model.lower_bound_trace_).all()
        assert np.isfinite(model.score_samples(X)).all()
        np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(("offset", "scale"), [(1e8, 1.0), (0.0, 1e12), (-3e-12, 1e-12)])
def test_units_and_origin_do_not_matter(estimator, method, offset, scale):
    X = np.round(blobs(n_rows=30)[0] * 64.0) / 64.0
    start = np.arange(30) % 4
    here = quick(method, init=start).fit(X)
    there = quick(method, init=start).fit(X * scale + offset)
    np.testing.assert_allclose(there.responsibilities_, here.responsibilities_, atol=1e-6)
    expected = here.lower_bound_ - X.size * np.log(scale)
    assert there.lower_bound_ == pytest.approx(expected, rel=1e-9)


def test_weights_are_copies_under_one_label(estimator, method):
    X, _ = blobs(n_rows=12)
    weights = np.tile([1.0, 3.0, 0.0], 4)
    model = quick(method).fit(X, sample_weight=weights)
    assert model.counts_.sum() == pytest.approx(16.0)
    assert model.responsibilities_.shape == (12, 4)
    np.testing.assert_array_equal(model.labels_[weights == 0.0], model.predict(X[weights == 0.0]))
    without = quick(method).fit(X[weights > 0.0], sample_weight=weights[weights > 0.0])
    assert without.lower_bound_ == model.lower_bound_


@pytest.mark.parametrize("component", ["dirichlet-multinomial", "beta-bernoulli"])
def test_sparse_and_dense_tables_have_the_same_bound(estimator, method, component):
    sparse = pytest.importorskip("scipy.sparse")
    X = CASES[component].draw(np.random.default_rng(3), 15, 6)
    dense = quick(method, component=component).fit(X)
    same = quick(method, component=component).fit(sparse.csr_matrix(X))
    assert same.lower_bound_ == dense.lower_bound_
    np.testing.assert_array_equal(same.score_samples(sparse.csc_matrix(X)), dense.score_samples(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1, got 0"),
        ({"n_components": 2.0}, "n_components must be a whole number of at least 1, got 2.0"),
        ({"method": "gibbs"}, "method must be one of 'vb', 'collapsed-stick', .*, got 'gibbs'"),
        (
            {"component": "zero-inflated-normal"},
            "component must be one of 'auto', 'normal-gamma', ",
        ),
        ({"alpha": 0.0}, "alpha must be positive, got 0.0"),
        ({"tol": -1.0}, "tol must be positive, got -1.0"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"n_init": 0}, "n_init must be a whole number of at least 1, got 0"),
        ({"init": "best"}, "init must be one of 'map', 'random', got 'best'"),
        ({"init": [0, 1], "prior": {"m1": 0.0}}, r"init must have shape \(3,\), got \(2,\)"),
        ({"reorder": 1}, "reorder must be True or False, got 1"),
        ({"verbose": "yes"}, "verbose must be True or False, or a level .*, got 'yes'"),
        ({"prior": {"m1": 0.0}}, "prior must have keys among m0, c0, a0, b0, got 'm1'"),
    ],
)
def test_an_error_names_the_parameter_that_breaks_its_rule(parameters, message):
    with pytest.raises(ValueError, match=message):
        VariationalDPM(**{**QUICK, **parameters}).fit(np.eye(3))


def test_a_fit_leaves_nothing_of_the_columns_of_an_earlier_one():
    mixed = quick(component={0: "log-normal", 1: "categorical"})
    mixed.fit(np.array([[1.0, 0.0], [2.0, 1.0], [9.0, 1.0], [8.0, 0.0]]))
    assert mixed.log_columns_ == (0,)
    mixed.set_params(component="normal-gamma").fit(np.eye(3))
    assert not hasattr(mixed, "levels_")
    assert not hasattr(mixed, "log_columns_")


def test_methods_before_fit_are_an_error():
    for method in ("predict", "predict_proba", "score_samples"):
        with pytest.raises(
            ValueError, match="this VariationalDPM is not fitted yet: call fit first"
        ):
            getattr(VariationalDPM(), method)(np.eye(3))


def test_progress_is_printed(estimator, capsys):
    model = quick(verbose=True, n_init=2, max_iter=5).fit(blobs(n_rows=20)[0])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("start 1   iteration      1   lower bound -")
    assert any(line.startswith("start 2") for line in lines)
    shown = [float(line.split()[-1]) for line in lines if line.startswith("start 1")]
    assert all(b >= a for a, b in pairwise(shown))
    assert any(f"{model.lower_bound_:.4f}" in line for line in lines)


def test_a_gain_below_tol_ends_the_ascent(estimator):
    X, truth = blobs(n_rows=40)
    model = quick(init=truth, max_iter=500, tol=1e-3).fit(X)
    gains = np.diff(model.lower_bound_trace_)
    assert model.converged_
    assert abs(gains[-1]) <= 1e-3 * 40
    assert (np.abs(gains[:-1]) > 1e-3 * 40).all()
    assert not quick(init=truth, max_iter=1, tol=1e-12).fit(X).converged_
