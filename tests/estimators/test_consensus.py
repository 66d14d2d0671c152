"""One partition for samples of partitions, against all partitions and the losses' definitions."""

import naive
import numpy as np
import pytest
from cases import blobs

from dpmlite import CollapsedGibbs, NotFittedError, consensus_partition


def entropy(labels):
    share = np.unique(labels, return_counts=True)[1] / len(labels)
    return -(share * np.log(share)).sum()


def vi(one, other):
    """Variation of information: H(one | other) + H(other | one)."""
    return 2.0 * entropy(one * 100 + other) - entropy(one) - entropy(other)


def binder(one, other):
    """The share of ordered pairs of rows that only one of both puts together."""
    return ((one[:, None] == one) != (other[:, None] == other)).mean()


LOSSES = {"vi": vi, "binder": binder}


def noisy_samples(n_samples, n_rows, seed, noise=0.35):
    rng = np.random.default_rng(seed)
    base = rng.integers(3, size=n_rows)
    other = rng.integers(5, size=(n_samples, n_rows))
    return np.where(rng.random((n_samples, n_rows)) < noise, other, base)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_rows", [1, 2, 5, 8])
def test_the_consensus_is_the_best_of_all_partitions(loss, n_rows):
    for seed in range(3):
        samples = noisy_samples(9, n_rows, seed)
        found = consensus_partition(samples, loss, random_state=seed)
        least = min(
            np.mean([LOSSES[loss](np.array(each), labels) for labels in samples])
            for each in naive.partitions(n_rows)
        )
        assert found.expected_loss == pytest.approx(least, abs=1e-12)
        distances = [LOSSES[loss](found.labels, labels) for labels in samples]
        np.testing.assert_allclose(found.distances, distances, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("level", [0.3, 0.9, 1.0])
def test_the_ball_holds_its_share_and_has_its_bounds(loss, level):
    samples = noisy_samples(40, 12, seed=7)
    found = consensus_partition(samples, loss, level=level, random_state=0)
    inside = found.distances <= found.radius
    assert inside.mean() >= level
    assert (found.distances < found.radius).mean() < level
    n_clusters = np.array([len(set(labels)) for labels in samples])
    for bound, chosen in (
        (found.horizontal, inside),
        (found.upper, inside & (n_clusters == n_clusters[inside].min())),
        (found.lower, inside & (n_clusters == n_clusters[inside].max())),
    ):
        distance = LOSSES[loss](found.labels, bound)
        assert distance == pytest.approx(found.distances[chosen].max(), abs=1e-12)
        members = [naive.canonical(labels) for labels in samples[chosen]]
        assert naive.canonical(bound) in members


def test_only_which_labels_are_equal_matters():
    samples = noisy_samples(15, 10, seed=1)
    names = np.array(["e", "a", "d", "b", "c"])
    numbers = np.array([-7, 40, 3, 0, 11])
    found = [
        consensus_partition(each, random_state=0)
        for each in (samples, names[samples], numbers[samples], samples.tolist())
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels, found[0].labels)
        np.testing.assert_array_equal(other.distances, found[0].distances)


def test_the_largest_cluster_is_0():
    found = consensus_partition([[0, 1, 1, 1, 2, 2]], random_state=0)
    assert found.labels.tolist() == [2, 0, 0, 0, 1, 1]
    assert found.expected_loss == found.radius == 0.0


def test_a_consensus_may_have_more_clusters_than_any_sample():
    """Rows that are together in less than half of the samples are apart: all of these are."""
    samples = [[0, 0, 1], [0, 1, 0], [0, 1, 1]]
    found = consensus_partition(samples, "binder", random_state=0)
    assert found.labels.tolist() == [0, 1, 2]


def test_a_chain_has_its_consensus():
    X, truth = blobs(n_rows=90, seed=3)
    chain = CollapsedGibbs(prior="paper", n_samples=60, random_state=0).fit(X)
    found = chain.consensus(random_state=0)
    same = consensus_partition(chain.labels_samples_, random_state=0)
    np.testing.assert_array_equal(found.labels, same.labels)
    assert naive.canonical(found.labels) == naive.canonical(truth)
    assert len(found.distances) == 60
    with pytest.raises(NotFittedError):
        CollapsedGibbs().consensus()


@pytest.mark.parametrize(
    ("samples", "given", "message"),
    [
        ([0, 1], {}, r"samples must be of shape \(S, N\), neither of them 0, got shape \(2,\)"),
        (np.zeros((0, 3), int), {}, r"neither of them 0, got shape \(0, 3\)"),
        (np.zeros((3, 0), int), {}, r"neither of them 0, got shape \(3, 0\)"),
        ([[0.0, 1.0], [0.0, np.nan]], {}, r"samples\[1\] must be finite, got nan"),
        (np.ma.masked_equal([[0, 1]], 1), {}, r"samples\[0\] must have no masked values"),
        ([[0, 1]], {"loss": "vl"}, "loss must be one of 'vi', 'binder', got 'vl'"),
        ([[0, 1]], {"level": 0.0}, "level must be positive, got 0.0"),
        ([[0, 1]], {"level": 1.5}, "level must be at most 1, got 1.5"),
        ([[0, 1]], {"n_init": 0}, "n_init must be a whole number of at least 1, got 0"),
    ],
)
def test_errors_state_the_rule_and_the_value(samples, given, message):
    with pytest.raises(ValueError, match=message):
        consensus_partition(samples, **given)
