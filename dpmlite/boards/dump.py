"""A fitted model as bytes in the format of `micropython/mapdpm_batch.py`, a dump."""

import struct
import zlib

from dpmlite.boards.learner import ALPHA_STEPS, Learner

#: "DPM" and the version of the format.
HEAD = 0x034D5044


def dump(learner: Learner) -> bytes:
    """A dump of a learner, for ``mapdpm_batch.load``.

    It consists of little-endian ints of four bytes: the head; columns, slots, numerator and
    denominator of c0, 2 a0, 1024 alpha, memory, m0 and b0; for every slot its weight, its rows and
    the two sums of every column. The last four bytes are the Adler-32 of those before, big-endian.
    """
    prior = learner.prior
    numbers = [HEAD, learner.dim, learner.n_slots, *prior.c0]
    numbers += [2 * prior.a0[0] // prior.a0[1], ALPHA_STEPS * prior.alpha[0] // prior.alpha[1]]
    numbers += [prior.memory, *prior.m0, *prior.b0]
    for cluster in learner.clusters:
        numbers += [cluster.n, *cluster.flat]
    numbers += [0] * ((learner.n_slots - len(learner.clusters)) * (2 * learner.dim + 2))
    content = struct.pack(f"<{len(numbers)}i", *numbers)
    return content + struct.pack(">I", zlib.adler32(content))
