"""A fitted model as the source text of a module that a board imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpmlite.boards.learner import Learner
    from dpmlite.estimators.inputs.data import Floats

TEXT = """\
# {n_clusters} cluster(s) of {dim} column(s), found by dpmlite. On a board, beside mapdpm_int.py:
#
#     from {name} import model, quantize
#     m = model()
#     label = m.predict(quantize(reading))  # or m.learn, m.surprise

# A reading becomes the ints round((reading - OFFSET) / SCALE), clipped to -2047..2047.
OFFSET = {offset}
SCALE = {scale}


def quantize(reading):
    r = range({dim})
    return [max(-2047, min(2047, round((reading[d] - OFFSET[d]) / SCALE[d]))) for d in r]


# Of the class `MAPDPM`, by default that of mapdpm_int.
def model(MAPDPM=None):
    if MAPDPM is None:
        from mapdpm_int import MAPDPM
    m0 = {m0}
    m = MAPDPM({dim}, {n_slots}, m0, {b0}, {c0}, {a0}, {alpha}, {memory})
    # For each cluster its rows, and for each column the sums of x - m0 and of its square.
    for c in (
{clusters}
    ):
        i = m.k * {width} + 2
        m.counts[m.k] = m._slots[i] = c[0]
        for d in range({dim}):
            m._slots[i + 3 * d + 1] = c[2 * d + 1]
            m._slots[i + 3 * d + 2] = c[2 * d + 2]
        m.update(m0, m.k, 0)
        m.k += 1
    return m
"""


def module_text(name: str, learner: Learner, scale: Floats, offset: Floats) -> str:
    """Source of the module `name`, with functions ``model`` and ``quantize``."""
    return TEXT.format(
        **vars(learner.prior),
        name=name,
        dim=learner.dim,
        n_slots=learner.n_slots,
        width=3 * learner.dim + 4,
        n_clusters=len(learner.clusters),
        clusters="\n".join(f"        {cluster.flat}," for cluster in learner.clusters),
        scale=tuple(scale.tolist()),
        offset=tuple(offset.tolist()),
    )
