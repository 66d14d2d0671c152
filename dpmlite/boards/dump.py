"""The format of `micropython/mapdpm_batch.py` for a learner, a dump: written and read.

It consists of little-endian ints of four bytes: the head; columns, slots, numerator and denominator
of c0, 2 a0, 1024 alpha, memory, m0 and b0; for every slot its weight, its rows and the two sums of
every column. The last four bytes are the Adler-32 of those before, big-endian.
"""

import struct
import zlib

from dpmlite.boards.learner import (
    ALPHA_STEPS,
    COLUMNS_PER_PART,
    LEAST_MEMORY,
    MAX_ALPHA_STEPS,
    MAX_B0,
    MAX_CLUSTERS,
    MAX_EXCESS,
    MAX_MEMORY,
    MAX_PART,
    MAX_SHAPE,
    MAX_SQUARES,
    MAX_WEIGHT,
    Cluster,
    Learner,
    LearnerPrior,
    least_squares,
)
from dpmlite.boards.quantized import LIMIT

#: "DPM" and the version of the format.
HEAD = 0x034D5044

# Numbers between the head and m0.
N_SCALARS = 7


def dump(learner: Learner) -> bytes:
    """A dump of a learner whose clusters weigh what they have rows, for ``mapdpm_batch.load``."""
    prior = learner.prior
    numbers = [HEAD, learner.dim, learner.n_slots, *prior.c0]
    numbers += [2 * prior.a0[0] // prior.a0[1], ALPHA_STEPS * prior.alpha[0] // prior.alpha[1]]
    numbers += [prior.memory, *prior.m0, *prior.b0]
    for cluster in learner.clusters:
        numbers += [cluster.n, *cluster.flat]
    numbers += [0] * ((learner.n_slots - len(learner.clusters)) * (2 * learner.dim + 2))
    content = struct.pack(f"<{len(numbers)}i", *numbers)
    return content + struct.pack(">I", zlib.adler32(content))


def read_dump(content: bytes) -> Learner:
    """The learner of which ``mapdpm_batch.dump`` wrote a dump.

    Its clusters are those of the slots that are not free, in their order. Each has as many rows as
    it weighs: where a board has forgotten some, the sums are scaled.

    Raises
    ------
    ValueError
        Where ``mapdpm_batch.load`` raises it, too; the message states the rule.
    """
    numbers = _whole_numbers(content)
    dim, n_slots = numbers[:2]
    if dim < 1 or not 1 <= n_slots <= MAX_CLUSTERS:
        raise ValueError(
            f"dump must have a column or more and 1 to {MAX_CLUSTERS} slots, "
            f"got {dim} and {n_slots}"
        )
    start, width = N_SCALARS + 2 * dim, 2 + 2 * dim
    if len(numbers) != start + n_slots * width:
        raise ValueError(
            f"dump of {dim} columns and {n_slots} slots must have {start + n_slots * width} "
            f"numbers, got {len(numbers)}"
        )
    prior = _prior(numbers[:start])
    slots = [numbers[i : i + width] for i in range(start, len(numbers), width)]
    for k, slot in enumerate(slots):
        _check_slot(k, slot, prior)
    weight = sum(slot[0] for slot in slots)
    if weight > MAX_MEMORY:
        raise ValueError(f"dump must have clusters that weigh {MAX_MEMORY} at most, got {weight}")
    return Learner(prior, n_slots, [_weighted(slot) for slot in slots if slot[0]])


def _whole_numbers(content: bytes) -> tuple[int, ...]:
    """The numbers after the head of a dump whose bytes are as they were written."""
    n_numbers, rest = divmod(len(content), 4)
    if n_numbers < 2 + N_SCALARS or rest:
        raise ValueError(f"dump must have a multiple of 4 bytes, at least 36, got {len(content)}")
    head, *numbers = struct.unpack_from(f"<{n_numbers - 1}i", content)
    if head != HEAD:
        raise ValueError(
            f"dump must begin with {HEAD.to_bytes(4, 'little')!r}, got {content[:4]!r}"
        )
    if content[-4:] != struct.pack(">I", zlib.adler32(content[:-4])):
        raise ValueError("dump is damaged: its checksum is not that of its contents")
    return tuple(numbers)


def _prior(numbers: tuple[int, ...]) -> LearnerPrior:
    """The prior of a dump, checked."""
    dim, _, p, q, shape, alpha, memory, *columns = numbers
    m0, b0 = tuple(columns[:dim]), tuple(columns[dim:])
    for name, values, least, most in (
        ("m0", m0, -LIMIT, LIMIT),
        ("b0", b0, 1, MAX_B0),
        ("both parts of c0", (p, q), 1, MAX_PART),
        ("2 a0", (shape,), 1, MAX_SHAPE),
        ("1024 alpha", (alpha,), 1, MAX_ALPHA_STEPS),
        ("memory", (memory,), LEAST_MEMORY, MAX_MEMORY),
    ):
        for value in values:
            if not least <= value <= most:
                raise ValueError(f"dump must have {name} from {least} to {most}, got {value}")
    if dim > COLUMNS_PER_PART * q:
        raise ValueError(f"dump must have at most {COLUMNS_PER_PART * q} columns, got {dim}")
    return LearnerPrior(m0, b0, (p, q), (shape, 2), (alpha, ALPHA_STEPS), memory)


def _check_slot(k: int, slot: tuple[int, ...], prior: LearnerPrior) -> None:
    """Raise ValueError unless there are rows that have the sums of slot `k`."""
    weight, n, *sums = slot
    if weight < 0:
        raise ValueError(f"dump must have weights of 0 or more, got {weight} in slot {k}")
    p, q = prior.c0
    most = min((MAX_WEIGHT - 1 - p) // q, weight + MAX_EXCESS) if weight else 0
    if not min(weight, 1) <= n <= most:
        raise ValueError(
            f"dump must have {min(weight, 1)} to {most} rows in slot {k}, which weighs {weight}, "
            f"got {n}"
        )
    for d, m in enumerate(prior.m0):
        total, squares = sums[2 * d : 2 * d + 2]
        if not _some_rows_have(n, total, squares, m):
            raise ValueError(
                f"dump must have sums that {n} rows can have, got {total} and {squares} in slot "
                f"{k}, column {d}"
            )


def _some_rows_have(n: int, total: int, squares: int, m0: int) -> bool:
    """Whether n values of a sensor can have these sums of x - m0 and of its square."""
    if not n:
        return total == squares == 0
    within = n * (-LIMIT - 1 - m0) <= total <= n * (LIMIT - m0)
    return within and least_squares(n, total) <= squares < MAX_SQUARES


def _weighted(slot: tuple[int, ...]) -> Cluster:
    """The cluster of a slot, of as many rows as it weighs."""
    weight, n, *sums = slot
    cluster = Cluster(n, tuple(sums[::2]), tuple(sums[1::2]))
    return cluster if weight == n else cluster.of_rows(weight)
