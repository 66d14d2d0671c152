"""Random fits of every estimator, and what must hold of each."""

import tempfile
from pathlib import Path

import exact_joints
import numpy as np
import problems
from seeds import try_each
from use import is_clear

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPMeans,
    DPSearch,
    VariationalDPM,
    merge_models,
)

# A fit of a few dozen rows that takes longer than this, in seconds, hangs.
MAX_SECONDS = 60

# Rows of which the joint is computed to 100 digits, at most: it takes time.
EXACT_ROWS = 40


def run(first, last, seconds):
    """Fit the problems of seeds from `first` up to `last`, as long as there is time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try_each(
            first,
            last,
            seconds,
            MAX_SECONDS,
            lambda seed: (checked(np.random.default_rng(seed), folder), []),
        )


def checked(rng, folder):
    """Check one fit; returns the name of what was fitted, or "refused"."""
    kind = str(rng.choice([*CHECKS]))
    try:
        return CHECKS[kind](rng, folder) or kind
    except (ValueError, TypeError) as error:
        if not is_clear(error):
            raise
        return "refused"


def drawn_table(rng):
    """A family, rows that it takes, and their weights or None."""
    component = str(rng.choice(problems.COMPONENTS))
    X = problems.table(rng, component)
    return component, X, problems.weights(rng, len(X))


def require_fit(model, X, weights, folder):
    """Fit a model; fail unless its labels, joint and file are right."""
    model.fit(X, sample_weight=weights)
    require_labels(model, X, weights)
    require_joint(model, X, weights)
    require_same(model, X, weights, folder)


def check_map(rng, folder):
    component, X, weights = drawn_table(rng)
    model = MAPDPM(
        component=component,
        alpha=problems.alpha(rng),
        prior=problems.prior(rng, component, X),
        init=str(rng.choice(["auto", "single", "singletons", "random", "sequential", "search"])),
        split_merge=bool(rng.random() < 0.8),
        n_init=int(rng.choice([1, 1, 2])),
        max_sweeps=200,
        random_state=0,
    )
    rows = problems.in_another_layout(rng, X, component)
    model.fit(rows, sample_weight=weights)
    require_labels(model, X, weights)
    require_joint(model, X, weights)
    require_trace(model)
    require_same(model, rows, weights, folder)


def check_default(rng, folder):
    X = problems.table(rng, "normal-gamma")
    weights = problems.weights(rng, len(X))
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.2] = np.nan
    model = MAPDPM(
        allow_missing=bool(np.isnan(X).any()),
        robustness="auto" if rng.random() < 0.7 else problems.robustness(rng),
        join=[True, False, "auto"][rng.integers(3)],
        max_clusters=[None, 2][rng.integers(2)],
        component="auto" if rng.random() < 0.5 else "normal-inverse-wishart",
        random_state=0,
    )
    model.fit(X, sample_weight=weights)
    require_labels(model, X, weights)
    require_trace(model)
    require_same(model, X, weights, folder)


def check_mixed(rng, folder):
    frame, component = problems.mixed(rng)
    prior = "paper" if "known" in frame or rng.random() < 0.5 else "auto"
    weights = problems.weights(rng, len(frame))
    model = MAPDPM(component=component or "auto", prior=prior, random_state=0)
    model.fit(frame, sample_weight=weights)
    require_labels(model, frame, weights)
    require_trace(model)
    require_same(model, frame, weights, folder)
    model.explain(0)
    if model.n_clusters_ < 10:  # the time of a summary grows with their square
        model.summary()


def check_search(rng, folder):
    component, X, weights = drawn_table(rng)
    model = DPSearch(
        component=component,
        alpha=problems.alpha(rng),
        prior=problems.prior(rng, component, X),
        scoring=str(rng.choice(["trivial", "tight", "inadmissible"])),
        beam=[None, 1, 10][rng.integers(3)],
        max_queue=200,
        refine=[True, False, "quick"][rng.integers(3)],
        random_state=0,
    )
    require_fit(model, X, weights, folder)
    require_trace(model)


def check_tree(rng, folder):
    component, X, weights = drawn_table(rng)
    model = BayesianHierarchicalClustering(
        component=component,
        alpha=problems.alpha(rng),
        prior=problems.prior(rng, component, X),
        approximate=[None, "bayes-kmeans", "map-dpm"][rng.integers(3)],
        alternative_trees=bool(rng.integers(2)),
        random_state=0,
    )
    require_fit(model, X, weights, folder)


def check_samples(rng, folder):
    component, X, weights = drawn_table(rng)
    model = CollapsedGibbs(
        component=component,
        alpha=problems.alpha(rng),
        alpha_prior=[None, (1.0, 1.0)][rng.integers(2)],
        prior=problems.prior(rng, component, X),
        n_samples=4,
        split_merge=[None, "random", "restricted", "interleaved"][rng.integers(4)],
        random_state=0,
    )
    require_fit(model, X, weights, folder)


def check_variational(rng, folder):
    component = str(rng.choice(problems.COMPONENTS))
    X = problems.table(rng, component)
    method = str(rng.choice(["vb", "collapsed-stick", "collapsed-dirichlet"]))
    model = VariationalDPM(
        component=component,
        method=method,
        alpha=problems.alpha(rng),
        prior=problems.prior(rng, component, X),
        n_components=int(rng.integers(1, 6)),
        init="random",
        max_iter=20,
        reorder=bool(rng.integers(2)),
        random_state=0,
    )
    weights = problems.weights(rng, len(X))
    model.fit(X, sample_weight=weights)
    trace = model.lower_bound_trace_
    assert np.isfinite(trace).all()
    if method == "vb":
        n = len(X) if weights is None else weights.sum()
        size = max(np.abs(trace).max(), n * X.shape[1], counts_of(model, X, weights))
        assert (np.diff(trace) >= -1e-9 * size).all(), trace
    assert np.isfinite(model.predict_proba(X)).all()


def check_means(rng, folder):
    X = problems.table(rng, "normal-gamma")
    model = DPMeans(lam=problems.log_uniform(rng, (1e-3, 1e3)) * (np.var(X) or 1.0), random_state=0)
    model.fit(X, sample_weight=problems.weights(rng, len(X)))
    distances, rows = model.transform(X), np.arange(len(X))
    for labels in (model.labels_, model.predict(X)):  # they may differ in ties
        np.testing.assert_allclose(
            distances[rows, labels], distances.min(axis=1), rtol=1e-9, atol=1e-12 * np.abs(X).max()
        )


def check_stream(rng, folder):
    component = str(rng.choice(problems.COMPONENTS))
    X = problems.table(rng, component)
    cuts = sorted(rng.integers(1, len(X) + 1, size=2))
    prior = problems.prior(rng, component, X)
    if component in ("normal-gamma", "normal-inverse-wishart") and rng.random() < 0.3:
        X[rng.random(X.shape) < 0.2] = np.nan
    gaps = bool(np.isnan(X).any())
    model = MAPDPM(component=component, prior=prior, allow_missing=gaps, random_state=0)
    for batch in np.split(X, cuts):
        if len(batch):
            model.partial_fit(batch)
            assert np.isfinite(model.neg_log_joint_)
            model.save(folder / "model.npz")
            again = MAPDPM.load(folder / "model.npz")
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
            model = again
    assert model.n_samples_seen_ == len(X)


def check_merge(rng, folder):
    component = str(rng.choice(problems.COMPONENTS))
    X = problems.table(rng, component)
    if len(X) < 4:
        return
    half = len(X) // 2
    prior = problems.prior(rng, component, X)
    alpha = problems.alpha(rng)
    parts = [
        MAPDPM(component=component, prior=prior, alpha=alpha, random_state=0).fit(rows)
        for rows in (X[:half], X[half:])
    ]
    model = merge_models(*parts)
    require_labels(model, X, None, all_rows=True)
    require_joint(model, X, None)


CHECKS = {
    "map": check_map,
    "default": check_default,
    "mixed": check_mixed,
    "search": check_search,
    "tree": check_tree,
    "samples": check_samples,
    "variational": check_variational,
    "means": check_means,
    "stream": check_stream,
    "merge": check_merge,
}


def require_labels(model, X, weights, all_rows=False):
    """Clusters are numbered by decreasing weight, from 0, and none is empty."""
    labels = np.asarray(model.labels_)
    assert labels.shape == (len(X),)
    assert labels.min() >= 0
    assert labels.max() < model.n_clusters_
    used = np.ones(len(X), dtype=bool) if weights is None else weights > 0.0
    assert set(labels[used]) == set(range(model.n_clusters_))
    sizes = model.weights_
    assert (np.diff(sizes) <= 1e-12).all(), sizes


def require_joint(model, X, weights):
    """The joint is that of the equations."""
    weights = np.ones(len(X)) if weights is None else np.asarray(weights)
    used = weights > 0.0
    if used.sum() > EXACT_ROWS:
        return
    expected = exact_joints.neg_log_joint(
        X[used], model.labels_[used], weights[used], model.alpha_, model.component_, model.prior_
    )
    size = max(abs(expected), weights.sum() * X.shape[1])
    error = abs(model.neg_log_joint_ - expected)
    # Gamma functions of counts, and determinants of nu0, cancel: docs/guide/ranges.md says how much
    # of them remains.
    of_counts = 1e-15 * counts_of(model, X, weights) * np.log(2.0 + X.max())
    of_nu0 = 1e-15 * model.n_clusters_ * model.prior_.get("nu0", 0.0)
    assert error <= max(1e-9 * size, of_counts, of_nu0), (model.neg_log_joint_, expected, model)


def counts_of(model, X, weights):
    """The sum of all counts; 0 of families without counts."""
    if model.component_ != "dirichlet-multinomial":
        return 0.0
    return float((np.ones(len(X)) if weights is None else weights) @ X.sum(axis=1))


def require_trace(model):
    """The objective never rises, and ends where the model is."""
    trace = model.neg_log_joint_trace_
    assert np.isfinite(trace).all()
    assert (np.diff(trace) <= 1e-9 * np.abs(trace).max()).all(), trace


def require_same(model, X, weights, folder):
    """Training rows can be predicted, files keep the model, and neither seed nor threads matter."""
    scores = model.score_samples(X)
    assert np.isfinite(scores).all()
    labels = model.predict(X)
    assert labels.max() < model.n_clusters_
    model.save(folder / "model.npz")
    again = type(model).load(folder / "model.npz")
    np.testing.assert_array_equal(again.score_samples(X), scores)
    np.testing.assert_array_equal(again.predict(X), labels)
    if hasattr(model, "n_jobs"):
        again.set_params(n_jobs=2)
    again.fit(X, sample_weight=weights)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert again.neg_log_joint_ == model.neg_log_joint_
