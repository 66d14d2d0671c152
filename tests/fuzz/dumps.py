"""Damaged dumps of boards: a computer reads those that a board reads, and can use them."""

import functools
import itertools
import struct
import tempfile
import zlib
from pathlib import Path

import mapdpm_batch
import mapdpm_int
import numpy as np
from mutations import of_bytes
from seeds import try_each
from use import is_clear, use

from dpmlite import from_micropython

# A dump that takes longer than this, in seconds, hangs.
MAX_SECONDS = 30

N_HEAD = 8  # numbers before m0
N_LEARNERS = 60

LEAST, MOST = -(2**31), 2**31 - 1
NUMBERS = (LEAST, -2048, -2047, -1, 0, 1, 2, 64, 127, 2047, 4095, 16384, 2**22, 499999999, MOST)


def run(first, last, seconds):
    """Try the dumps of seeds from `first` up to `last`, as long as there is time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try_each(first, last, seconds, MAX_SECONDS, lambda seed: tried(seed, folder))


def tried(seed, folder):
    """Read one mutant and use the model: how it ended, and what is wrong."""
    rng = np.random.default_rng(seed)
    content, rows = dump(seed % N_LEARNERS)
    damaged = mutant(content, rng, rows.shape[1])
    if not board_reads(damaged):
        return "refused", refusal_failures(damaged)
    try:
        model = from_micropython(damaged)
    except ValueError as error:  # a learner without rows is no model
        return "empty", [] if "learned rows" in str(error) else [repr(error)]
    failures = use(model, from_micropython(content), rows.astype(float), folder, rng)
    return "read", [f"{method}: {text}" for method, text in failures.items()]


@functools.cache
def dump(number):
    """A dump of a learner, and the rows that it has learned."""
    rng = np.random.default_rng(number)
    dim, slots = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    centres = rng.integers(-1500, 1500, (3, dim))
    rows = centres[rng.integers(3, size=60)] + rng.integers(-90, 90, (60, dim))
    memory = int(rng.choice([64, 16384]))
    learner = mapdpm_int.MAPDPM(
        dim, slots, (10,) * dim, (30000,) * dim, (1, 10), (8, 1), (3, 2), memory
    )
    for row in rows.tolist():
        learner.learn(row)
    return mapdpm_batch.dump(learner), rows


def mutant(content, rng, dim):
    """Bytes of a damaged dump; numbers are changed as if it were meant, under a new checksum."""
    if rng.random() < 0.15:
        return of_bytes(content, rng)
    numbers = list(struct.unpack(f"<{len(content) // 4 - 1}i", content[:-4]))
    head = N_HEAD + 2 * dim
    if rng.random() < 0.2:
        numbers = other_order(numbers, head, 2 + 2 * dim, rng)
    first = head if rng.random() < 0.7 else int(rng.integers(2))
    n_changes = int(rng.choice([0, 1, 1, 2, 3]))
    for i in rng.integers(min(first, len(numbers) - 1), len(numbers), n_changes):
        if rng.random() < 0.6:
            numbers[i] += int(rng.integers(-40, 41))
        else:
            numbers[i] = NUMBERS[rng.integers(len(NUMBERS))]
        numbers[i] = min(max(numbers[i], LEAST), MOST)
    if rng.random() < 0.05:
        numbers += numbers[-1 - int(rng.integers(9)) :]
    body = struct.pack(f"<{len(numbers)}i", *numbers)
    return body + struct.pack(">I", zlib.adler32(body))


def other_order(numbers, head, width, rng):
    """The clusters in another order, one of them twice, one less or one empty; or numbers lost."""
    slots = [numbers[i : i + width] for i in range(head, len(numbers), width)]
    i, j, kind = *rng.integers(len(slots), size=2), rng.integers(5)
    if kind == 0:
        slots[i], slots[j] = slots[j], slots[i]
    elif kind == 1:
        slots[i] = slots[j]
    elif kind == 2:
        del slots[i]
    elif kind == 3:
        slots[i] = [0] * width
    else:
        return numbers[: rng.integers(1, len(numbers))]
    return [*numbers[:head], *itertools.chain(*slots)]


def board_reads(content):
    try:
        mapdpm_batch.load(content)
    except ValueError:
        return False
    return True


def refusal_failures(content):
    """What is wrong with how a computer refuses a dump."""
    try:
        from_micropython(content)
    except Exception as error:
        clear = is_clear(error) and type(error) is ValueError
        return [] if clear else [f"from_micropython: {error!r}"]
    return ["from_micropython reads what a board refuses"]
