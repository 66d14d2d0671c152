"""A fitted model as bytes: what `micropython/mapdpm_batch.py` calls a dump."""

import struct
import zlib

from dpmlite.boards.learner import ALPHA_STEPS, Learner

#: "DPM" and the version of the format.
HEAD = 0x024D5044


def dump(learner: Learner) -> bytes:
    """The bytes that ``mapdpm_batch.load`` reads.

    Ints of four bytes, the lowest first: the head; columns, slots, both parts of c0, 2 a0,
    1024 alpha, m0 and b0; for every slot its rows and the two sums of every column. The last four
    bytes are the Adler-32 of those before, the highest first.
    """
    prior = learner.prior
    numbers = [HEAD, learner.dim, learner.n_slots, *prior.c0]
    numbers += [2 * prior.a0[0] // prior.a0[1], ALPHA_STEPS * prior.alpha[0] // prior.alpha[1]]
    numbers += [*prior.m0, *prior.b0]
    for cluster in learner.clusters:
        numbers += cluster.flat
    numbers += [0] * ((learner.n_slots - len(learner.clusters)) * (2 * learner.dim + 1))
    content = struct.pack(f"<{len(numbers)}i", *numbers)
    return content + struct.pack(">I", zlib.adler32(content))
