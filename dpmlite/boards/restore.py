"""A board's dump as a fitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.boards.dump import read_dump
from dpmlite.boards.statistics import moments_of, statistics_of
from dpmlite.distributed.statistics import load
from dpmlite.estimators.fitted.partitions import cluster_attributes, final_partition_of_groups
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.estimators.priors import FAMILIES

if TYPE_CHECKING:
    from dpmlite.boards.learner import LearnerPrior
    from dpmlite.estimators.inputs.choices import Prior

FAMILY = FAMILIES["normal-gamma"]


def from_micropython(dump: bytes | bytearray | memoryview | str) -> MAPDPM:
    """Read what a board has learned as a fitted model.

    Parameters
    ----------
    dump : bytes-like or str
        What ``mapdpm_batch.dump`` returned on the board, or what `to_micropython` wrote to a file
        that is no module. A str has these bytes as hexadecimal digits: a line that came over a
        serial port.

    Returns
    -------
    MAPDPM
        A model of the board's ints, with its prior, concentration and memory as parameters. All
        that needs no rows works: `predict`, `score_samples`, `sample`, pictures, `save`,
        `partial_fit` with the rows that follow, `merge_models`, `to_micropython`. `counts_` are the
        weights of the board's clusters; there are no `labels_`.

    Raises
    ------
    TypeError
        If `dump` is neither bytes nor a str.
    ValueError
        If it is damaged, of another version, not what a learner can hold, or of a learner that has
        learned no row; the message states the rule.

    See Also
    --------
    to_micropython : The way to the board.
    quantize : The ints that a board takes.

    Notes
    -----
    Clusters are numbered by decreasing weight, as always; a board's labels are its slots.

    As long as a board has not forgotten, its model is exact: the clusters' rows, sums and joint are
    those that the board has counted. A learner that forgets halves a cluster's weight and its sums,
    and not always both: the model's sums are then scaled to the weights, so that shares, means and
    variances are the board's, but for rounding.

    Examples
    --------
    >>> import dpmlite
    >>> from dpmlite.datasets import load_sensors
    >>> q = dpmlite.quantize(load_sensors()[0])
    >>> model = dpmlite.MAPDPM(prior={"c0": 1.0}, random_state=0).fit(q.rows)
    >>> dpmlite.to_micropython(model, "sensors.bin")
    >>> with open("sensors.bin", "rb") as file:
    ...     back = dpmlite.from_micropython(file.read())
    >>> bool((back.predict(q.rows) == model.labels_).all())
    True
    """
    learner = read_dump(_bytes_of(dump))
    if not learner.clusters:
        raise ValueError("dump must be of a learner that has learned rows, got none")
    given = _given_prior(learner.prior)
    prior = FAMILY.full_prior(given, learner.dim)
    numerator, denominator = learner.prior.alpha
    model = MAPDPM(
        component="normal-gamma",
        alpha=numerator / denominator,
        prior=given,
        memory=learner.prior.memory,
    )
    groups = FAMILY.component(prior, allow_missing=False)
    load(groups, statistics_of(prior, learner.clusters))
    final = final_partition_of_groups(model.alpha, groups, np.arange(len(learner.clusters)))
    counts = np.array(final.component.counts[: final.n_clusters]).round().astype(np.intp)
    vars(model).update(
        cluster_attributes(final, FAMILY, prior, allow_missing=False),
        counts_=counts,
        component_counts_=counts,
        moments_=moments_of(prior["m0"], learner.clusters).numbers(),
        n_samples_seen_=int(counts.sum()),
        n_features_in_=learner.dim,
        power_=1.0,
    )
    return model


def _bytes_of(dump: bytes | bytearray | memoryview | str) -> bytes:
    if isinstance(dump, str):
        try:
            return bytes.fromhex(dump)
        except ValueError:
            raise ValueError(f"dump must be hexadecimal digits, got {shown(dump)}") from None
    if not isinstance(dump, bytes | bytearray | memoryview):
        raise TypeError(f"dump must be bytes or a str, got a {type(dump).__name__}")
    return bytes(dump)


def _given_prior(prior: LearnerPrior) -> Prior:
    """A learner's prior as the parameter `prior` of a model."""
    return {
        "m0": np.array(prior.m0, dtype=float),
        "c0": prior.c0[0] / prior.c0[1],
        "a0": prior.a0[0] / prior.a0[1],
        "b0": np.array(prior.b0, dtype=float),
    }
