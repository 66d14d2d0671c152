"""The state of the learner for boards, `micropython/mapdpm_int.py`, in ints."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpmlite.boards.quantized import LIMIT

#: Clusters of a learner at most.
MAX_CLUSTERS = 127
#: Columns at most for each unit of the denominator of c0.
COLUMNS_PER_PART = 5
#: A learner halves a cluster's sums when p + q n reaches MAX_WEIGHT, where c0 = p / q, or when a
#: column's sum of squares reaches MAX_SQUARES.
MAX_WEIGHT = 16000
MAX_SQUARES = 500_000_000

#: A learner halves the weights of all clusters when they reach its memory, a number of this range.
LEAST_MEMORY, MAX_MEMORY = 64, 16384
#: A cluster has at most so many more rows than it weighs.
MAX_EXCESS = 9

# The memory by default is not less.
MIN_MEMORY = 2048

# Ranges of the parameters of the prior.
MAX_B0 = 2**22
MAX_PART = 32
MIN_A0, MAX_A0 = 0.5, 64.0
ALPHA_STEPS, MAX_ALPHA = 1024, 1023

#: Those of 2 a0 and 1024 alpha as the learner keeps them, from 1 on.
MAX_SHAPE, MAX_ALPHA_STEPS = 128, 2**20 - 1


@dataclass(frozen=True)
class LearnerPrior:
    """A prior of the learner: `m0` and `b0` of each column, c0, a0 and alpha as ratios; its memory.

    The memory, in rows, is that from which on it forgets.
    """

    m0: tuple[int, ...]
    b0: tuple[int, ...]
    c0: tuple[int, int]
    a0: tuple[int, int]
    alpha: tuple[int, int]
    memory: int


@dataclass(frozen=True)
class Cluster:
    """A cluster's sufficient statistics.

    Attributes
    ----------
    n : int
        Rows.
    sums : tuple of int
        For each column the sum of its values x.
    squares : tuple of int
        For each column the sum of x^2.
    """

    n: int
    sums: tuple[int, ...]
    squares: tuple[int, ...]

    @property
    def flat(self) -> tuple[int, ...]:
        """`n`, and then the sum and the sum of squares of each column."""
        pairs = zip(self.sums, self.squares, strict=True)
        return (self.n, *(number for pair in pairs for number in pair))

    @property
    def scatters(self) -> tuple[float, ...]:
        """For each column the sum of squares around its mean."""
        pairs = zip(self.sums, self.squares, strict=True)
        return tuple((self.n * squares - total**2) / self.n for total, squares in pairs)

    def about(self, origin: tuple[int, ...]) -> "Cluster":
        """Statistics of x - origin."""
        columns = list(zip(self.sums, self.squares, origin, strict=True))
        return Cluster(
            self.n,
            tuple(s - self.n * o for s, _, o in columns),
            tuple(w - 2 * o * s + self.n * o**2 for s, w, o in columns),
        )

    def room(self, least_part: int) -> float:
        """Part of the rows that the learner can hold if the denominator of c0 is `least_part`."""
        # The limits must hold after rounding of n and of the sums, by a half each.
        over = [w for w in self.squares if w >= MAX_SQUARES]
        parts = [(MAX_SQUARES - 4 * LIMIT) / w - 0.5 / self.n for w in over]
        return min(1.0, (MAX_WEIGHT - 1 - MAX_PART) // least_part / self.n, *parts)

    def scaled(self, part: float) -> "Cluster":
        """A cluster of a part of the rows, at least one, with equal means and variances."""
        return self.of_rows(max(1, round(part * self.n)))

    def of_rows(self, n: int) -> "Cluster":
        """A cluster of `n` rows with equal means and variances; its sums are rounded."""
        sums, squares = [], []
        for s, w in zip(self.sums, self.squares, strict=True):
            mean = Fraction(s, self.n)
            total = round(n * mean)
            scatter = n * (Fraction(w, self.n) - mean**2)
            sums.append(total)
            squares.append(max(least_squares(n, total), round(scatter + Fraction(total**2, n))))
        return Cluster(n, tuple(sums), tuple(squares))


def least_squares(n: int, total: int) -> int:
    """The least sum of squares that n ints of this sum have: they differ by one at most."""
    floor = total // n
    return floor * (2 * total - floor * n) + total - floor * n


@dataclass(frozen=True)
class Learner:
    """A learner that has seen rows: its clusters, in terms of x - m0, fill the first slots."""

    prior: LearnerPrior
    n_slots: int
    clusters: list[Cluster]

    @property
    def dim(self) -> int:
        """Number of columns, D."""
        return len(self.prior.m0)


def learner_of(
    prior: Mapping[str, Any],
    alpha: float,
    n_slots: int,
    clusters: list[Cluster],
    memory: int | None = None,
) -> Learner:
    """The learner nearest to a fitted model.

    If a cluster is too large, or all are together, all are scaled down by one factor, which keeps
    their shares.

    Parameters
    ----------
    prior : mapping
        Of the family "normal-gamma", in units of the ints that the learner sees.
    alpha : float
    n_slots : int
    clusters : list of Cluster
        Statistics of these ints.
    memory : int, optional
        Default: twice the rows of the clusters.

    Raises
    ------
    ValueError
        If the prior or the memory is out of the learner's range.
    """
    m0 = tuple(_whole("m0", m, -LIMIT, LIMIT) for m in prior["m0"])
    centred = [cluster.about(m0) for cluster in clusters]
    least_part = _least_part(len(m0))
    # Rounding may add a row, a half each, to every two clusters.
    together = (MAX_MEMORY - MAX_CLUSTERS) / sum(cluster.n for cluster in centred)
    part = min(together, *(cluster.room(least_part) for cluster in centred))
    if part < 1.0:
        centred = [cluster.scaled(part) for cluster in centred]
    ints = LearnerPrior(
        m0=m0,
        b0=tuple(max(1, _whole("b0", b, 0, MAX_B0)) for b in prior["b0"]),
        c0=_weight(float(prior["c0"]), least_part, max(cluster.n for cluster in centred)),
        a0=_shape(float(prior["a0"])),
        alpha=_concentration(alpha),
        memory=_memory(memory, sum(cluster.n for cluster in centred)),
    )
    return Learner(ints, n_slots, centred)


def _whole(name: str, value: float, least: int, most: int) -> int:
    if not least - 0.5 <= value <= most + 0.5:  # which is false for infinity and NaN
        raise ValueError(
            f"prior {name} must be from {least} to {most} on a board, in units of its ints, "
            f"got {value:g}"
        )
    return round(value)


def _least_part(dim: int) -> int:
    """The least denominator of c0 that the learner allows for `dim` columns."""
    if dim > COLUMNS_PER_PART * MAX_PART:
        raise ValueError(
            f"model must have {COLUMNS_PER_PART * MAX_PART} columns at most, got {dim}"
        )
    return -(-dim // COLUMNS_PER_PART)


def _weight(c0: float, least_part: int, largest: int) -> tuple[int, int]:
    """c0 as the nearest (p, q), both up to 32, with which the largest cluster fits."""
    if c0 > MAX_PART / least_part:
        raise ValueError(
            f"prior c0 must be at most {MAX_PART / least_part:g} on a board, got {c0:g}"
        )
    most = min(MAX_PART, (MAX_WEIGHT - 1 - MAX_PART) // largest)
    ratios = itertools.product(range(1, MAX_PART + 1), range(least_part, most + 1))
    return min(ratios, key=lambda ratio: abs(math.log(ratio[0] / ratio[1] / c0)))


def _shape(a0: float) -> tuple[int, int]:
    if not MIN_A0 <= a0 <= MAX_A0:
        raise ValueError(f"prior a0 must be from {MIN_A0:g} to {MAX_A0:g} on a board, got {a0:g}")
    return Fraction(round(2.0 * a0), 2).as_integer_ratio()


def _concentration(alpha: float) -> tuple[int, int]:
    """Alpha as the nearest multiple of 1/1024, a ratio."""
    if not 1 / ALPHA_STEPS <= alpha <= MAX_ALPHA:
        raise ValueError(
            f"alpha must be from 1/{ALPHA_STEPS} to {MAX_ALPHA} on a board, got {alpha:g}"
        )
    return Fraction(round(ALPHA_STEPS * alpha), ALPHA_STEPS).as_integer_ratio()


def _memory(given: int | None, n_rows: int) -> int:
    """The rows from which on a learner that has seen `n_rows` forgets."""
    if given is None:
        return min(MAX_MEMORY, max(MIN_MEMORY, 2 * n_rows))
    if not LEAST_MEMORY <= given <= MAX_MEMORY:
        raise ValueError(
            f"memory must be from {LEAST_MEMORY} to {MAX_MEMORY} on a board, got {given}"
        )
    return int(given)
