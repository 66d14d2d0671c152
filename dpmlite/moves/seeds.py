"""Starts from two random rows: seeds that the other rows of a cluster join."""

from math import inf

from dpmlite.core.constants import TIE, UNPLACED
from dpmlite.partition.partition import Partition


def two_of(n: int, u: float, v: float) -> tuple[int, int]:
    """Two different numbers of 0..n-1, chosen by two uniforms.

    Parameters
    ----------
    n : int
        At least 2.
    u, v : float
        Numbers of [0, 1).

    Returns
    -------
    tuple of two int

    Raises
    ------
    ValueError
        If `n` is less than 2, or a uniform is not in [0, 1).
    """
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    if not (0.0 <= u < 1.0 and 0.0 <= v < 1.0):
        raise ValueError(f"uniforms must be in [0, 1), got {float(u)} and {float(v)}")
    first, second = int(u * n), int(v * (n - 1))
    return first, second + (second >= first)


def nearest_seed_labels(partition: Partition, members: list[int], u: float, v: float) -> list[int]:
    """Labels 0 and 1 of some rows: of the seed whose row predicts each of them better.

    The first seed is any row. The second is drawn with probability proportional to the gap between
    the score of each row and the best score under the first seed, as in k-means++ (Arthur &
    Vassilvitskii 2007): of two separate clusters, it is mostly in the one without the first seed.

    Parameters
    ----------
    partition : Partition
    members : sequence of int
        Positions of two rows or more.
    u, v : float
        Numbers of [0, 1) that choose the first and the second seed.

    Returns
    -------
    list of int
        The label of each member.
    """
    first, any_other = two_of(len(members), u, v)
    first_scores = partition.scores_with(members[first], members)
    weights = [partition.weight(i) for i in members]
    second = _second_seed(first_scores, weights, first, v, any_other)
    second_scores = partition.scores_with(members[second], members)
    labels = [int(b > a + TIE) for a, b in zip(first_scores, second_scores, strict=True)]
    labels[first], labels[second] = 0, 1
    return labels


def lone_seed_labels(n: int, u: float, v: float) -> list[int]:
    """Labels with two random rows alone in clusters 0 and 1; the other rows have none.

    Parameters
    ----------
    n : int
        The number of rows, at least 2.
    u, v : float
        Numbers of [0, 1) that choose the two rows.

    Returns
    -------
    list of int
    """
    labels = [UNPLACED] * n
    first, second = two_of(n, u, v)
    labels[first], labels[second] = 0, 1
    return labels


def check_n_slots(partition: Partition, n_slots: int) -> None:
    """Raise ValueError unless there are uniforms for each slot of a partition."""
    if n_slots != partition.component.n_slots:
        raise ValueError(
            f"uniforms must be given for {partition.component.n_slots} slots, got {n_slots}"
        )


def _second_seed(
    scores: list[float], weights: list[float], first: int, v: float, if_none: int
) -> int:
    """The row that `v` draws from the gaps to the best score; `if_none` if all gaps are zero."""
    best = max(scores)
    gaps = [w * (best - score) for score, w in zip(scores, weights, strict=True)]
    gaps[first] = 0.0
    total = sum(gaps)
    if not 0.0 < total < inf:
        return if_none
    left = v * total
    candidates = [i for i, gap in enumerate(gaps) if gap > 0.0]
    for i in candidates:
        left -= gaps[i]
        if left < 0.0:
            return i
    return candidates[-1]
