"""The parameter `cv`: rows to learn from, and rows that are left out, fold by fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.parameters import check_count
from dpmlite.estimators.inputs.shown import shown

if TYPE_CHECKING:
    import numpy.typing as npt

    Chosen = npt.NDArray[np.bool_]


def check_cv(cv: Any) -> None:
    """Raise ValueError unless `cv` is a number of folds or one of scikit-learn's splitters."""
    if not hasattr(cv, "split"):
        check_count("cv", cv, least=2)


def folds_of(cv: Any, n_rows: int, rng: np.random.Generator) -> list[tuple[Chosen, Chosen]]:
    """Masks of the rows to learn from and of those left out, for each fold.

    Parameters
    ----------
    cv : int or splitter
        A number of folds, of rows at random; or what has a method `split`.
    n_rows : int
    rng : Generator

    Raises
    ------
    ValueError
        If there are more folds than rows, or a splitter leaves no row out or none to learn from.
    """
    if not hasattr(cv, "split"):
        if cv > n_rows:
            raise ValueError(f"cv must be at most the number of rows, {n_rows}, got {cv}")
        fold = rng.permutation(n_rows) % cv
        return [(fold != i, fold == i) for i in range(cv)]
    folds = [
        (_mask(learned, n_rows), _mask(left_out, n_rows))
        for learned, left_out in cv.split(np.zeros((n_rows, 1)))
    ]
    if not folds or not all(learned.any() and left_out.any() for learned, left_out in folds):
        raise ValueError(f"cv must give rows to learn from and rows to leave out, got {shown(cv)}")
    return folds


def _mask(rows: npt.ArrayLike, n_rows: int) -> Chosen:
    mask = np.zeros(n_rows, dtype=bool)
    mask[np.asarray(rows)] = True
    return mask
