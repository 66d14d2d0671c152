"""The state of the learner for boards, `micropython/mapdpm_int.py`: nothing but ints."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpmlite.boards.quantized import LIMIT

#: Slots for clusters that a learner has at most.
MOST_CLUSTERS = 127
#: Columns that it has at most, for each part that the denominator of c0 counts.
COLUMNS_PER_PART = 5
#: It forgets when p + q n reaches MOST_WEIGHT, c0 = p / q, or a column's sum of squares reaches
#: MOST_SQUARES.
MOST_WEIGHT = 16000
MOST_SQUARES = 500_000_000

# Ranges of the prior.
MOST_B0 = 2**22
MOST_PART = 32
LEAST_A0, MOST_A0 = 0.5, 64.0
ALPHA_STEPS, MOST_ALPHA = 1024, 1023


@dataclass(frozen=True)
class LearnerPrior:
    """A prior as the learner takes it: `m0` and `b0` per column, and ratios of two ints."""

    m0: tuple[int, ...]
    b0: tuple[int, ...]
    c0: tuple[int, int]
    a0: tuple[int, int]
    alpha: tuple[int, int]


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
        """`n`, and for each column both sums."""
        pairs = zip(self.sums, self.squares, strict=True)
        return (self.n, *(number for pair in pairs for number in pair))

    def about(self, origin: tuple[int, ...]) -> "Cluster":
        """The statistics of x - origin."""
        columns = list(zip(self.sums, self.squares, origin, strict=True))
        return Cluster(
            self.n,
            tuple(s - self.n * o for s, _, o in columns),
            tuple(w - 2 * o * s + self.n * o**2 for s, w, o in columns),
        )

    def room(self, least_part: int) -> float:
        """What part of its rows the learner can hold, with a c0 of such a denominator at least."""
        # Rounding of n and of the sums, by a half each, must not pass the limits either.
        over = [w for w in self.squares if w >= MOST_SQUARES]
        parts = [(MOST_SQUARES - 4 * LIMIT) / w - 0.5 / self.n for w in over]
        return min(1.0, (MOST_WEIGHT - 1 - MOST_PART) // least_part / self.n, *parts)

    def scaled(self, part: float) -> "Cluster":
        """A part of the rows, at least one, with the same means and variances."""
        n = max(1, round(part * self.n))
        sums, squares = [], []
        for s, w in zip(self.sums, self.squares, strict=True):
            mean = Fraction(s, self.n)
            total = round(n * mean)
            scatter = n * (Fraction(w, self.n) - mean**2)
            sums.append(total)
            squares.append(round(scatter + Fraction(total**2, n)))
        return Cluster(n, tuple(sums), tuple(squares))


@dataclass(frozen=True)
class Learner:
    """A learner that has seen rows: its clusters, about ``prior.m0``, fill the first slots."""

    prior: LearnerPrior
    n_slots: int
    clusters: list[Cluster]

    @property
    def dim(self) -> int:
        """D."""
        return len(self.prior.m0)


def learner_of(
    prior: Mapping[str, Any], alpha: float, n_slots: int, clusters: list[Cluster]
) -> Learner:
    """The learner that is nearest to a fitted model.

    If it could not hold a cluster, all are scaled down alike, so that their shares stay.

    Parameters
    ----------
    prior : mapping
        Of the family "normal-gamma", in units of the ints that the learner sees.
    alpha : float
    n_slots : int
    clusters : list of Cluster
        Statistics of these ints.

    Raises
    ------
    ValueError
        If the prior is out of the learner's range.
    """
    m0 = tuple(_whole("m0", m, -LIMIT, LIMIT) for m in prior["m0"])
    centred = [cluster.about(m0) for cluster in clusters]
    least_part = _least_part(len(m0))
    part = min(cluster.room(least_part) for cluster in centred)
    if part < 1.0:
        centred = [cluster.scaled(part) for cluster in centred]
    ints = LearnerPrior(
        m0=m0,
        b0=tuple(max(1, _whole("b0", b, 0, MOST_B0)) for b in prior["b0"]),
        c0=_weight(float(prior["c0"]), least_part, max(cluster.n for cluster in centred)),
        a0=_shape(float(prior["a0"])),
        alpha=_concentration(alpha),
    )
    return Learner(ints, n_slots, centred)


def _whole(name: str, value: float, least: int, most: int) -> int:
    if not least <= round(value) <= most:
        raise ValueError(
            f"prior {name} must be from {least} to {most} on a board, in units of its ints, "
            f"got {value:g}"
        )
    return round(value)


def _least_part(dim: int) -> int:
    """The least denominator of c0 with which the learner takes so many columns."""
    if dim > COLUMNS_PER_PART * MOST_PART:
        raise ValueError(
            f"model must have {COLUMNS_PER_PART * MOST_PART} columns at most, got {dim}"
        )
    return -(-dim // COLUMNS_PER_PART)


def _weight(c0: float, least_part: int, largest: int) -> tuple[int, int]:
    """The nearest p / q, p and q up to 32, with which the learner holds the largest cluster."""
    if c0 > MOST_PART / least_part:
        raise ValueError(
            f"prior c0 must be at most {MOST_PART / least_part:g} on a board, got {c0:g}"
        )
    most = min(MOST_PART, (MOST_WEIGHT - 1 - MOST_PART) // largest)
    ratios = itertools.product(range(1, MOST_PART + 1), range(least_part, most + 1))
    return min(ratios, key=lambda ratio: abs(math.log(ratio[0] / ratio[1] / c0)))


def _shape(a0: float) -> tuple[int, int]:
    if not LEAST_A0 <= a0 <= MOST_A0:
        raise ValueError(
            f"prior a0 must be from {LEAST_A0:g} to {MOST_A0:g} on a board, got {a0:g}"
        )
    return Fraction(round(2.0 * a0), 2).as_integer_ratio()


def _concentration(alpha: float) -> tuple[int, int]:
    """The nearest multiple of 1/1024, which is how the learner holds it."""
    if not 1 / ALPHA_STEPS <= alpha <= MOST_ALPHA:
        raise ValueError(
            f"alpha must be from 1/{ALPHA_STEPS} to {MOST_ALPHA} on a board, got {alpha:g}"
        )
    return Fraction(round(ALPHA_STEPS * alpha), ALPHA_STEPS).as_integer_ratio()
