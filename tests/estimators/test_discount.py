"""Estimators with a discount against lists of all partitions, and what they refuse."""

import naive
import numpy as np
import pytest
from cases import blobs, empirical_prior

from dpmlite import (
    MAPDPM,
    CollapsedGibbs,
    crp_log_prob,
    crp_sample,
    exact_posterior,
    log_evidence_exact,
    merge_models,
    neg_log_joint,
    to_micropython,
)

X8 = np.array([[0.0], [0.3], [0.5], [4.0], [4.1], [9.0], [9.2], [20.0]])
PRIOR = {"m0": 5.0, "c0": 0.05, "a0": 1.0, "b0": 0.2}


def listed(X, alpha, prior, discount):
    """The joint of every partition."""
    full = {key: np.full(X.shape[1], v) if key in ("m0", "b0") else v for key, v in prior.items()}
    return {
        tuple(z): naive.neg_log_joint(X, z, alpha, full, discount) for z in naive.partitions(len(X))
    }


@pytest.mark.parametrize("discount", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("alpha", [0.2, 3.0])
def test_the_least_joint_of_all_partitions_is_found(alpha, discount):
    joints = listed(X8, alpha, PRIOR, discount)
    best = min(joints, key=joints.get)
    model = MAPDPM(alpha=alpha, discount=discount, prior=PRIOR, random_state=0).fit(X8)
    assert model.neg_log_joint_ == pytest.approx(joints[best], rel=1e-9)
    assert naive.canonical(model.labels_) == list(best)
    given = {"alpha": alpha, "prior": PRIOR, "discount": discount}
    exact = exact_posterior(X8, **given)
    assert exact.neg_log_joint == pytest.approx(joints[best], rel=1e-9)
    assert neg_log_joint(X8, exact.labels, **given) == pytest.approx(exact.neg_log_joint, rel=1e-9)
    all_joints = np.array([*joints.values()])
    evidence = np.logaddexp.reduce(-all_joints)
    assert log_evidence_exact(X8, **given) == pytest.approx(evidence, rel=1e-9)


def test_samples_are_of_the_posterior():
    X, n_samples = X8[[0, 2, 3, 5, 7]] / 4.0, 4000
    exact = exact_posterior(X, alpha=1.0, discount=0.5, prior=PRIOR)
    chain = CollapsedGibbs(
        discount=0.5, prior=PRIOR, n_samples=n_samples, split_merge="interleaved", random_state=0
    ).fit(X)
    found = np.bincount(chain.n_clusters_samples_, minlength=6)[1:] / n_samples
    # Samples of a chain are not independent: five standard errors of a fourth as many.
    error = 5.0 * np.sqrt(exact.n_clusters_proba * (1.0 - exact.n_clusters_proba) / (n_samples / 4))
    assert np.all(np.abs(found - exact.n_clusters_proba) <= error + 1e-3)
    assert exact.n_clusters_proba[:4].max() < 0.9
    assert np.abs(chain.co_clustering() - exact.co_clustering).max() < 0.1


def test_predictions_have_the_weights_of_the_process(tmp_path):
    X, _ = blobs(n_rows=60, n_clusters=4, seed=1)
    prior, new = empirical_prior(X), np.array([[0.3, -0.2], [40.0, 40.0]])
    model = MAPDPM(alpha=0.5, discount=0.6, prior="paper", random_state=0).fit(X)
    clusters = [X[model.labels_ == k] for k in range(model.n_clusters_)]
    weights = [len(rows) - 0.6 for rows in clusters] + [0.5 + 0.6 * len(clusters)]
    logs = [
        [np.log(w / 60.5) + naive.log_student(x, rows, prior) for x in new]
        for w, rows in zip(weights, [*clusters, X[:0]], strict=True)
    ]
    density = np.logaddexp.reduce(logs)
    np.testing.assert_allclose(model.score_samples(new), density, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(new), np.exp(logs - density)[:-1].T, rtol=1e-8)
    assert model.predict(new)[1] == -1
    assert np.mean(model.sample(4000, random_state=0)[1] == -1) == pytest.approx(
        weights[-1] / 60.5, abs=0.02
    )
    model.save(tmp_path / "model")
    again = MAPDPM.load(tmp_path / "model")
    assert (again.discount, again.discount_) == (0.6, 0.6)
    np.testing.assert_array_equal(again.score_samples(new), model.score_samples(new))
    assert again.set_params(discount=0.0).fit(X).discount_ == 0.0


def test_the_search_lowers_the_joint_under_the_discount_and_threads_change_nothing():
    X, _ = blobs(n_rows=300, n_clusters=6, seed=3)
    fits = [
        MAPDPM(discount=0.7, prior="paper", n_jobs=n_jobs, random_state=0).fit(X)
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    full = empirical_prior(X)
    joint = naive.neg_log_joint(X, fits[0].labels_, 1.0, full, 0.7)
    assert fits[0].neg_log_joint_ == pytest.approx(joint, rel=1e-9)
    plain = MAPDPM(prior="paper", random_state=0).fit(X)
    assert joint <= naive.neg_log_joint(X, plain.labels_, 1.0, full, 0.7) + 1e-6


def test_batches_and_merged_models_keep_the_discount():
    X, _ = blobs(n_rows=120, seed=5)
    prior = empirical_prior(X)
    model = MAPDPM(discount=0.4, prior=prior, random_state=0).fit(X[:80])
    halves = model, MAPDPM(discount=0.4, prior=prior, random_state=0).fit(X[80:])
    merged = merge_models(*halves)
    expected = naive.neg_log_joint(X, merged.labels_, 1.0, prior, 0.4)
    assert merged.neg_log_joint_ == pytest.approx(expected, rel=1e-9)
    # A model continues from absorbed groups after `fit`; the other one fits its first rows again.
    first = MAPDPM(discount=0.4, prior=prior, random_state=0)
    for each in (model, first.partial_fit(X[:80])):
        each.partial_fit(X[80:])
        labels = np.concatenate([each.predict(X[:80]), each.labels_])
        joint = naive.neg_log_joint(X, labels, 1.0, prior, 0.4)
        assert each.neg_log_joint_ == pytest.approx(joint, rel=1e-9)
    assert hasattr(first, "first_rows_")
    assert not hasattr(model, "first_rows_")
    other = MAPDPM(discount=0.5, prior=prior, random_state=0).fit(X[80:])
    with pytest.raises(ValueError, match="discount_"):
        merge_models(model, other)


def test_alpha_is_chosen_under_the_discount():
    X, _ = blobs(n_rows=60, seed=6)
    alphas = [0.1, 1.0, 10.0]
    model = MAPDPM(alpha="nll", alphas=alphas, discount=0.5, prior="paper", random_state=0).fit(X)
    prior = empirical_prior(X)
    joint = naive.neg_log_joint(X, model.labels_, model.alpha_, prior, 0.5)
    assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-9)
    assert model.neg_log_joint_ == pytest.approx(model.alpha_scores_.min(), rel=1e-9)
    chosen = MAPDPM(alpha="cv", alphas=alphas, discount=0.5, prior="paper", random_state=0).fit(X)
    assert chosen.alpha_ in alphas


def test_functions_take_a_discount():
    labels = [0, 0, 1, 0, 2]
    assert crp_log_prob(labels, 0.5, discount=0.3) == pytest.approx(
        naive.log_pitman_yor(labels, 0.5, 0.3), rel=1e-12
    )
    n_clusters = [len(set(crp_sample(4000, 1.0, 0, discount=d))) for d in (0.0, 0.5)]
    assert n_clusters[1] > 5 * n_clusters[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"discount": 1.0}, r"discount must be a number of at least 0 and below 1, got 1\.0"),
        ({"discount": "a"}, "discount must be a number of at least 0 and below 1, got 'a'"),
        ({"prior": "auto"}, r"discount must be 0 with prior='auto', got 0\.5"),
        ({"robustness": 100.0}, r"discount must be 0 with robustness, got 0\.5"),
        ({"alpha": "map"}, r"discount must be 0 with alpha='map', got 0\.5"),
    ],
)
def test_what_a_discount_excludes(parameters, message):
    with pytest.raises(ValueError, match=message):
        MAPDPM(**{"discount": 0.5, "prior": "paper", **parameters}).fit(X8)


def test_chains_chunks_boards_and_light_rows_take_no_discount(tmp_path):
    with pytest.raises(ValueError, match="discount must be 0 with alpha_prior"):
        CollapsedGibbs(discount=0.5, prior="paper", alpha_prior=(1.0, 1.0)).fit(X8)
    with pytest.raises(ValueError, match="discount must be 0 with prior='auto'"):
        CollapsedGibbs(discount=0.5).fit(X8)
    with pytest.raises(ValueError, match="discount must be 0 for rows in chunks"):
        MAPDPM(discount=0.5, prior="paper").fit_chunks([X8])
    model = MAPDPM(discount=0.5, prior="paper", random_state=0).fit(X8)
    with pytest.raises(ValueError, match="model must have discount 0"):
        to_micropython(model, tmp_path / "model.py")
    with pytest.raises(ValueError, match=r"discount must be below the weight of every row"):
        model.fit(X8, sample_weight=[0.4] * 8)
