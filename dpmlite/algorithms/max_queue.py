"""A queue of scored items that can lose its best one and its worst one: the Q of Daumé (2007).

Scores are rounded to multiples of 2^-26, so that mathematically equal ones are equal whatever
rounding made of them, and every implementation takes items in the same order. Of equals, the one
with the greater depth is better, then the one that was pushed first.
"""

from bisect import insort

from dpmlite.core.constants import GRID


class MaxQueue:
    """Items in the order of their scores."""

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
            A number of the caller's.
        """
        self._n_pushed += 1
        insort(self._entries, (float(round(score * GRID)), depth, -self._n_pushed, item))

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
        """Whether an item, if pushed, would be better than the worst there is.

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
        return (float(round(score * GRID)), depth) > self._entries[0][:2]

    def _require_items(self) -> None:
        if not self._entries:
            raise IndexError("the queue is empty")
