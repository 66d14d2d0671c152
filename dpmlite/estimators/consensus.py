"""One partition that stands for samples of partitions, and the ball around it that holds most."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.inputs.given_labels import check_labels
from dpmlite.estimators.inputs.parameters import (
    check_choice,
    check_count,
    check_positive,
    check_random_state,
)
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.sampling.expected_loss import least_expected_loss

if TYPE_CHECKING:
    import numpy.typing as npt

    Labels = npt.NDArray[np.intp]

LOSSES = ("vi", "binder")


@dataclass(frozen=True, eq=False)
class Consensus:
    """The result of `consensus_partition`.

    Attributes
    ----------
    labels : ndarray of int, shape (N,)
        The partition with the least expected loss that was found, the largest cluster first.
    expected_loss : float
        The mean of `distances`.
    distances : ndarray, shape (S,)
        The loss between the partition and each sample: nats for "vi", for "binder" the share of
        ordered pairs of rows that are together in one of both only. Both are metrics.
    radius : float
        Radius of the credible ball: the least distance up to which at least `level` of the samples
        are.
    upper, lower, horizontal : ndarray of int, shape (N,)
        Bounds of the credible ball: of the samples in it with the fewest clusters, with the most
        clusters, and of all, the one that is farthest from `labels`.

    See Also
    --------
    consensus_partition : Its function.

    Examples
    --------
    >>> from dpmlite import consensus_partition
    >>> samples = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 2]]
    >>> found = consensus_partition(samples, random_state=0)
    >>> found.upper.tolist(), found.lower.tolist()
    ([0, 0, 0, 1], [1, 2, 0, 0])
    """

    labels: Labels
    expected_loss: float
    distances: npt.NDArray[np.float64]
    radius: float
    upper: Labels
    lower: Labels
    horizontal: Labels


def consensus_partition(
    samples: npt.ArrayLike,
    loss: str = "vi",
    *,
    level: float = 0.95,
    n_init: int = 10,
    random_state: Any = None,
) -> Consensus:
    """The partition with the least expected loss over samples of partitions.

    Parameters
    ----------
    samples : array-like of int, shape (S, N)
        Labels of N rows in each of S samples; only which of them are equal matters.
    loss : {"vi", "binder"}, default "vi"
        Variation of information [1]_, or Binder's loss, which tends to have more small clusters.
    level : float, default 0.95
        The share of the samples that the credible ball holds at least.
    n_init : int, default 10
        Descents, of which the best counts: they start from a random sample, or from rows that are
        placed in random order, in turn. The search is that of [2]_.
    random_state : None, int, Generator or RandomState, default None
        Source of chance.

    Returns
    -------
    Consensus

    Raises
    ------
    ValueError
        If an argument breaks its rule; the message states it.

    See Also
    --------
    CollapsedGibbs : Draws such samples.
    exact_posterior : The posterior of few rows, without samples.

    Notes
    -----
    A visit of a row takes time in proportion to the samples and to the clusters. Of many samples of
    many rows, every tenth will do.

    References
    ----------
    .. [1] Wade & Ghahramani, "Bayesian cluster analysis: point estimation and credible balls",
       Bayesian Analysis 13, 2018.
    .. [2] Dahl, Johnson & Mueller, "Search algorithms and loss functions for Bayesian clustering",
       Journal of Computational and Graphical Statistics 31, 2022.

    Examples
    --------
    >>> from dpmlite import consensus_partition
    >>> samples = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 2]]
    >>> consensus_partition(samples, random_state=0).labels.tolist()
    [0, 0, 1, 1]
    """
    check_choice("loss", loss, LOSSES)
    check_count("n_init", n_init)
    if not check_positive("level", level) <= 1.0:
        raise ValueError(f"level must be at most 1, got {shown(level)}")
    rng = check_random_state(random_state)
    table = check_samples(samples)
    found = least_expected_loss(table, loss, n_init, rng)
    distances = found.distances()
    radius = float(np.sort(distances)[ceil(level * len(table)) - 1])
    in_ball = np.flatnonzero(distances <= radius)
    n_clusters = table[in_ball].max(axis=1) + 1

    def farthest(chosen: npt.NDArray[np.intp]) -> Labels:
        return largest_first(table[chosen[distances[chosen].argmax()]])

    return Consensus(
        labels=largest_first(found.labels),
        expected_loss=float(distances.mean()),
        distances=distances,
        radius=radius,
        upper=farthest(in_ball[n_clusters == n_clusters.min()]),
        lower=farthest(in_ball[n_clusters == n_clusters.max()]),
        horizontal=farthest(in_ball),
    )


def check_samples(samples: npt.ArrayLike) -> Labels:
    """Labels 0, 1, ... of each sample; ValueError if `samples` are none."""
    shape = np.shape(samples)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"samples must be of shape (S, N), neither of them 0, got shape {shape}")
    table = samples if isinstance(samples, np.ndarray) else np.asarray(samples)
    return np.array([check_labels(row, shape[1], f"samples[{s}]") for s, row in enumerate(table)])
