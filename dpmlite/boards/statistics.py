"""Exact sums of the ints in each cluster of a fitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.boards.learner import Cluster
from dpmlite.boards.quantized import LIMIT
from dpmlite.estimators.priors.moments import Moments

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite import families
    from dpmlite.boards.quantized import Quantized
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Floats
    from dpmlite.estimators.mapdpm import MAPDPM

# Tolerance of sums of ints for rounding: absolute, and relative to the sum of squares.
ATOL = 1e-3
RTOL = 1e-11

NOT_INTS = (
    f"model must be fitted to ints from -{LIMIT} to {LIMIT}: fit it to dpmlite.quantize(X).rows, "
    "or pass quantized=dpmlite.quantize(X)"
)


def recovered(model: MAPDPM, mixture: families.Component) -> list[Cluster]:
    """Sums of the ints in each cluster, from the posteriors: eq. (13) solved for the sums.

    Raises
    ------
    ValueError
        If they are not sums of ints from -2047 to 2047.
    """
    if np.abs(model.means_).max() > LIMIT:
        raise ValueError(f"{NOT_INTS}; got a cluster with mean {_farthest(model.means_):g}")
    m0, c0, b0 = (model.prior_[key] for key in ("m0", "c0", "b0"))
    found = []
    for k in range(model.n_clusters_):
        posterior = mixture.posterior(k)
        n, shift = posterior["n"], np.array(posterior["m"]) - m0
        # The sums of x - m0 and its square, and then those of x.
        sums = (c0 + n) * shift
        squares = 2.0 * (np.array(posterior["b"]) - b0) + sums * shift
        squares += m0 * (2.0 * sums + n * m0)
        sums += n * m0
        numbers = np.stack([np.full_like(sums, n), sums, squares])
        with np.errstate(invalid="ignore"):  # sums of an extreme prior may be infinite
            off = ~(np.abs(numbers - np.rint(numbers)) <= ATOL + RTOL * squares)
        if off.any():
            raise ValueError(f"{NOT_INTS}; got a sum of {numbers[off][0]} in cluster {k}")
        found.append(Cluster(round(n), *(tuple(map(round, row.tolist())) for row in numbers[1:])))
    return found


def counted(
    model: MAPDPM, mixture: families.Component, quantized: Quantized
) -> tuple[Prior, list[Cluster]]:
    """The model's prior in units of the ints, and sums of the quantised rows by their labels.

    The model may have been fitted to the ints or to the values for which they stand; its means
    tell which.

    Raises
    ------
    ValueError
        If they are not the rows that the model was fitted to, or it does not know their labels.
    """
    members = members_of_clusters(model, mixture, quantized)
    found = [
        Cluster(len(x), tuple(x.sum(axis=0).tolist()), tuple((x * x).sum(axis=0).tolist()))
        for x in members
    ]
    if np.allclose(_means(model.prior_, found), model.means_, rtol=0.0, atol=ATOL):
        return model.prior_, found
    scale, offset = quantized.scale, quantized.offset
    with np.errstate(over="ignore"):  # the board refuses an infinite prior
        m0 = (model.prior_["m0"] - offset) / scale
        b0 = model.prior_["b0"] / scale**2
    prior = {**model.prior_, "m0": m0, "b0": b0}
    # The error of a mean of rounded values is a half at most; clipped values have no bound.
    clipped = np.array([(np.abs(x) == LIMIT).any(axis=0) for x in members])
    off = np.abs(_means(prior, found) - (model.means_ - offset) / scale) > 0.5 + ATOL
    if (off & ~clipped).any():
        k, d = np.argwhere(off & ~clipped)[0]
        raise ValueError(
            "quantized must have the rows that the model was fitted to, "
            f"got another mean of cluster {k}, column {d}"
        )
    return prior, found


def members_of_clusters(
    model: MAPDPM, mixture: families.Component, quantized: Quantized
) -> list[npt.NDArray[np.int64]]:
    """The quantised rows of each cluster.

    Raises
    ------
    ValueError
        If the model does not know the labels of all its rows, or they are other rows.
    """
    if len(model.labels_) < model.n_samples_seen_:
        raise ValueError(
            f"model must have the labels of all {model.n_samples_seen_} rows it has seen, got "
            f"those of the last {len(model.labels_)}: let it learn quantized.rows, and write it "
            "without quantized"
        )
    rows, shape = quantized.rows.astype(np.int64), (len(model.labels_), model.n_features_in_)
    if rows.shape != shape:
        raise ValueError(f"quantized must have the model's rows, shape {shape}, got {rows.shape}")
    members = [rows[model.labels_ == k] for k in range(model.n_clusters_)]
    if [len(x) for x in members] != list(mixture.counts[: model.n_clusters_]):
        raise ValueError(
            "model must be fitted without sample_weight, or to quantized.rows and be written "
            "without quantized"
        )
    return members


def statistics_of(prior: Prior, clusters: list[Cluster]) -> Floats:
    """Statistics of clusters as a `NormalGamma` holds them, eq. (13); their sums are about m0."""
    n = np.array([[cluster.n] for cluster in clusters], dtype=float)
    mean = np.array([cluster.sums for cluster in clusters]) / n / np.sqrt(prior["b0"])
    scatter = np.array([cluster.scatters for cluster in clusters]) / prior["b0"]
    c = prior["c0"] + n
    return np.hstack([n, n * mean / c, 1.0 + 0.5 * (scatter + prior["c0"] * n / c * mean**2)])


def moments_of(m0: Floats, clusters: list[Cluster]) -> Moments:
    """Moments of the rows of all clusters, whose sums are about m0."""
    n = sum(cluster.n for cluster in clusters)
    sums = zip(*(cluster.sums for cluster in clusters), strict=True)
    squares = zip(*(cluster.squares for cluster in clusters), strict=True)
    everything = Cluster(n, tuple(map(sum, sums)), tuple(map(sum, squares)))
    return Moments(
        n_rows=n,
        weight=float(n),
        cells=np.full(len(m0), float(n)),
        mean=m0 + np.array(everything.sums) / n,
        variance=np.array(everything.scatters) / n,
    )


def _means(prior: Prior, clusters: list[Cluster]) -> Floats:
    """Posterior means of the clusters, eq. (13), shape (K, D)."""
    n = np.array([[cluster.n] for cluster in clusters])
    sums = np.array([cluster.sums for cluster in clusters])
    return np.asarray((prior["c0"] * prior["m0"] + sums) / (prior["c0"] + n))


def _farthest(means: Floats) -> float:
    return float(means.flat[np.abs(means).argmax()])
