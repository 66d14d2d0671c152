"""``prior="nll"``: the default prior with the scales that a search finds best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.user_warnings import warn
from dpmlite.estimators.priors.moments import constant_columns
from dpmlite.search.prior_scales import MIN_FACTOR, STEPS, ScaleSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data
    from dpmlite.estimators.priors.base import Family
    from dpmlite.estimators.priors.moments import Moments
    from dpmlite.search.context import Problem
    from dpmlite.search.prior_scales import Factors, Method


def draw_sample(table: Data, size: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Which rows of a table are drawn: `size` of them, or all if there are fewer."""
    chosen = np.zeros(table.shape[0], dtype=bool)
    chosen[rng.choice(len(chosen), min(size, len(chosen)), replace=False, shuffle=False)] = True
    return chosen


@dataclass(eq=False, repr=False)
class ScaledPrior:
    """A family's default prior for a table, times factors that are chosen on a sample of it.

    Constant columns keep the default, for they would gain from any prior that is narrower.
    """

    family: Family
    table: Data
    moments: Moments
    sample: Data

    def __post_init__(self) -> None:
        self.default = self.family.prior(None, self.table, self.moments)
        self.constant = None if self.sample.values is None else constant_columns(self.sample)

    def choose(
        self,
        method: Method,
        problem_of: Callable[[Data, Prior], Problem],
        seeds: npt.NDArray[np.int64],
        width: float = 1.0,
    ) -> tuple[Prior, float]:
        """The prior with the best factors, and its objective.

        The factor of the width starts from `width`, the others from 1.
        """
        search = ScaleSearch(
            method,
            lambda factors: problem_of(self.sample, self.times(factors)),
            self._is_possible,
            seeds,
            {**dict.fromkeys(self.family.scales, 1.0), self.family.width: width},
        )
        objective = search.run()
        self._warn_of_the_least(search.factors[self.family.width])
        return self.times(search.factors), objective

    def times(self, factors: Factors) -> Prior:
        """The default with the keys of each group multiplied by its factor."""
        prior = dict(self.default)
        for keys, factor in factors.items():
            for key in keys:
                prior[key] = self._spared(factor * prior[key], prior[key])
        return prior

    def _spared(self, value: Any, default: Any) -> Any:
        """A value of the prior, or the default where a column is constant."""
        if self.constant is None or np.ndim(value) == 0:
            return value
        spared = self.constant if np.ndim(value) == 1 else self.constant[:, None] | self.constant
        return np.where(spared, default, value)

    def _is_possible(self, factors: Factors) -> bool:
        try:
            self.family.check_reach(self.table, self.times(factors), self.moments)
        except ValueError:
            return False
        return True

    def _warn_of_the_least(self, factor: float) -> None:
        if factor < MIN_FACTOR * STEPS[-1]:
            warn(
                f"prior 'nll' ended at the least {' and '.join(self.family.width)} that is tried, "
                f"{MIN_FACTOR:.0e} of the default: where many rows or cells are equal, the joint "
                "improves as long as the prior narrows; rather give the prior"
            )
