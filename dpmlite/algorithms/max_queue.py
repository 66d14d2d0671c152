"""A double-ended priority queue of scored items: the Q of Daumé (2007).

Scores are rounded to multiples of 2^-26, so that mathematically equal scores are equal in spite of
rounding, and both twins take items in the same order. Among items of equal score the one with the
greater depth is better, then the one that was pushed first.
"""

from bisect import insort

from dpmlite.core.constants import SCORE_STEPS_PER_NAT


class MaxQueue:
    """Items from which the best and the worst can be removed."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, int, int]] = []  # the best last
        self._n_pushed = 0

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, score: float, depth: int, item: int) -> None:
        """Add an item.

        Parameters
        ----------
        score : float
        depth : int
        item : int
            The caller's number of the item.
        """
        self._n_pushed += 1
        insort(self._entries, (_rounded(score), depth, -self._n_pushed, item))

    def pop_best(self) -> int:
        """Remove the best item, and return it.

        Raises
        ------
        IndexError
            If there is none.
        """
        self._require_items()
        return self._entries.pop()[-1]

    def pop_worst(self) -> int:
        """Remove the worst item, and return it.

        Raises
        ------
        IndexError
            If there is none.
        """
        self._require_items()
        return self._entries.pop(0)[-1]

    def beats_worst(self, score: float, depth: int) -> bool:
        """Tell whether an item, if pushed, would be better than the worst item.

        Parameters
        ----------
        score : float
        depth : int

        Returns
        -------
        bool

        Raises
        ------
        IndexError
            If there is none.
        """
        self._require_items()
        return (_rounded(score), depth) > self._entries[0][:2]

    def _require_items(self) -> None:
        if not self._entries:
            raise IndexError("the queue is empty")


def _rounded(score: float) -> float:
    """A score, in whole steps."""
    return float(round(score * SCORE_STEPS_PER_NAT))
