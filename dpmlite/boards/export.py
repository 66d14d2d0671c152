"""Export of fitted models to files for boards."""

import os
from keyword import iskeyword
from pathlib import Path

import numpy as np

from dpmlite import families
from dpmlite.boards.dump import dump
from dpmlite.boards.learner import MAX_CLUSTERS, learner_of
from dpmlite.boards.module import module_text
from dpmlite.boards.quantized import Quantized
from dpmlite.boards.statistics import counted, recovered
from dpmlite.estimators.fitted.partitions import fitted_mixture
from dpmlite.estimators.inputs.parameters import check_count
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.estimators.model_files.replacing import replacing

# By default there are at least MIN_SLOTS slots, of which at least MIN_FREE_SLOTS are free.
MIN_SLOTS, MIN_FREE_SLOTS = 8, 4

# The learner's module on the board, which an exported module imports.
LEARNER = "mapdpm_int.py"


def to_micropython(
    model: MAPDPM,
    path: str | os.PathLike[str],
    *,
    quantized: Quantized | None = None,
    clusters: int | None = None,
) -> None:
    """Write a fitted model to a file with which a board predicts or continues to learn.

    Parameters
    ----------
    model : MAPDPM
        Fitted with ``component="normal-gamma"`` and without missing values, either to ints such as
        ``quantize(X).rows``, or to the table `X` of which `quantized` holds the ints.
    path : path-like
        File to write. A name that ends with ``.py`` becomes a module with

        - ``model()``: a new ``mapdpm_int.MAPDPM`` that has seen the model's rows,
        - ``quantize(reading)``: a list of D numbers as ints, which the learner takes,
        - ``OFFSET``, ``SCALE``: the numbers that it uses for each column.

        Any other file becomes a dump for ``mapdpm_batch.load``, without the scale: the board must
        convert readings to ints itself. An older file is replaced only when the new one is
        complete.
    quantized : Quantized, optional
        The rows that the model was fitted to, as ints with their scale. Default: the model was
        fitted to ints, and readings are such ints too; so it must be after `partial_fit`, which
        keeps the labels of the last rows only.
    clusters : int, optional
        Slots for clusters, from the model's number to 127. Free ones are for clusters that the
        board finds. Default: 8, or the model's number and 4 if that is more.

    Raises
    ------
    ValueError, TypeError
        If the model or an argument breaks its rule; the message states it.
    NotFittedError
        If the model is not fitted.

    See Also
    --------
    quantize : The ints that a board takes.
    from_micropython : The way back.
    MAPDPM : The model to write.

    Notes
    -----
    Slots on the board are numbered as the model's labels are: the largest cluster first. A board
    has the exact sums of its clusters' ints, but a prior of small numbers:

    - ``m0`` and ``b0`` are rounded to ints, ``b0`` to at least 1.
    - ``c0`` becomes the nearest p / q with both from 1 to 32, q at least a fifth of the columns,
      and so small that the learner can hold the largest cluster whole: p + q n < 16,000. So the
      paper's value, 10 / N, is out of reach for more than 320 rows: on the board, small
      clusters are drawn to ``m0`` further, and rows far from all clusters found new ones more
      often. Fit with ``prior={"c0": 1.0}`` to have the same prior on both.
    - ``a0`` becomes a multiple of 1/2 from 0.5 to 64, alpha one of 1/1024 from 1/1024 to 1023.

    If a cluster has more than 15,967 rows, over a fifth of the columns where there are more than
    five, or all have more than 16,257, or a column's sum of (x - m0)^2 is 500,000,000 or more (see
    `quantize`), all clusters are scaled down alike until they fit: shares, means and variances
    stay, but clusters are held to be less certain than they are.

    The learner's `memory`, the rows from which on it forgets, is the model's, 64 to 16,384. If the
    model has none, it is twice the rows that the learner has seen, from 2,048 to 16,384.

    Examples
    --------
    >>> import dpmlite
    >>> from dpmlite.datasets import load_sensors
    >>> q = dpmlite.quantize(load_sensors()[0])
    >>> model = dpmlite.MAPDPM(prior="paper", random_state=0).fit(q.rows)
    >>> dpmlite.to_micropython(model, "sensors.py", quantized=q)
    """
    mixture, target = _checked(model), Path(path)
    if not isinstance(quantized, Quantized | None):
        raise TypeError(f"quantized must be a Quantized or None, got a {type(quantized).__name__}")
    if target.suffix == ".py" and (not target.stem.isidentifier() or iskeyword(target.stem)):
        raise ValueError(f"path must name a module that can be imported, got {target.name!r}")
    if target.name == LEARNER:
        raise ValueError(f"path must not be that of the learner on the board, got {target.name!r}")
    if quantized is None:
        prior, found = model.prior_, recovered(model, mixture)
        scale, offset = np.ones(model.n_features_in_), np.zeros(model.n_features_in_)
    else:
        prior, found = counted(model, mixture, quantized)
        scale, offset = quantized.scale, quantized.offset
    slots = _slots(model.n_clusters_, clusters)
    learner = learner_of(prior, model.alpha_, slots, found, model.memory)
    if target.suffix == ".py":
        content = module_text(target.stem, learner, scale, offset).encode()
    else:
        content = dump(learner)
    with replacing(target) as file:
        file.write(content)


def _checked(model: MAPDPM) -> families.Component:
    """The mixture of a model, which must be a MAPDPM of normal-gamma clusters."""
    if not isinstance(model, MAPDPM):
        raise TypeError(f"model must be a MAPDPM, got a {type(model).__name__}")
    mixture = fitted_mixture(model)
    if model.component_ != "normal-gamma":
        raise ValueError(f"model must have component 'normal-gamma', got {model.component_!r}")
    if model.power_ != 1.0:
        raise ValueError(
            "model must count each row whole, as on the board: fit it with prior='paper', or a "
            f"dict, got robustness={model.robustness!r} with prior={model.prior!r}"
        )
    if model.discount_ > 0.0:
        raise ValueError(f"model must have discount 0, as on the board, got {model.discount_}")
    if model.allow_missing_:
        raise ValueError("model must have allow_missing=False, got True")
    return mixture


def _slots(n_clusters: int, clusters: int | None) -> int:
    if n_clusters > MAX_CLUSTERS:
        raise ValueError(f"model must have {MAX_CLUSTERS} clusters at most, got {n_clusters}")
    if clusters is None:
        return min(max(MIN_SLOTS, n_clusters + MIN_FREE_SLOTS), MAX_CLUSTERS)
    if not n_clusters <= check_count("clusters", clusters) <= MAX_CLUSTERS:
        raise ValueError(
            f"clusters must be from {n_clusters}, which the model has, to {MAX_CLUSTERS}, "
            f"got {clusters}"
        )
    return int(clusters)
