"""The base class of `MAPDPM` that knows its parameters: checks, search, model, concentration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from dpmlite.estimators.bases.joined_mixture import JoinedMixture
from dpmlite.estimators.column_families.by_rule import AUTO
from dpmlite.estimators.default_model.choose_prior import ScaledPrior, draw_sample
from dpmlite.estimators.default_model.model import SATURATION
from dpmlite.estimators.inputs.choices import AlphaChoice, AlphaPrior, PriorOrScales, VisitOrder
from dpmlite.estimators.inputs.domain import ROBUSTNESS
from dpmlite.estimators.inputs.folds import check_cv, folds_of
from dpmlite.estimators.inputs.given_labels import check_labels
from dpmlite.estimators.inputs.limits import Limited
from dpmlite.estimators.inputs.parameters import (
    check_alpha,
    check_alphas,
    check_bool,
    check_choice,
    check_count,
    check_discount,
    check_jobs,
    check_positive,
    check_starts,
)
from dpmlite.estimators.inputs.shown import shown
from dpmlite.search import alpha as choose_alpha
from dpmlite.search.alpha import ALPHAS
from dpmlite.search.context import coarsened_alpha
from dpmlite.search.search import Search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from dpmlite.estimators.default_model.model import Model, Seeds
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data
    from dpmlite.estimators.priors.moments import Moments
    from dpmlite.search.alpha import AlphaResult
    from dpmlite.search.context import Problem
    from dpmlite.search.progress import Progress

INITS = ("auto", "single", "unreinforced", "singletons", "random", "sequential", "search")
ORDERS: tuple[str, ...] = get_args(VisitOrder)
ALPHA_CHOICES: tuple[str, ...] = get_args(AlphaChoice)
ALPHA_PRIORS: tuple[str, ...] = get_args(AlphaPrior)
PRIOR_CHOICES: tuple[str, ...] = get_args(PriorOrScales)

# Rows, drawn at random, on which ``prior="nll"`` chooses scales at most.
SAMPLE_ROWS = 2000


class MapParameters(Limited, JoinedMixture):
    """A mixture with the parameters of `MAPDPM`; its docstring says what they are."""

    prior_choices = PRIOR_CHOICES

    robustness: float | str | None
    alpha_prior: tuple[float, float] | str
    alphas: Sequence[float] | npt.NDArray[Any] | None
    cv: Any
    init: Any
    order: str
    split_merge: bool
    n_init: int
    max_sweeps: int
    memory: int | None
    n_jobs: int | None

    def _check_parameters(self) -> None:
        self._check_model_parameters()
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ALPHA_CHOICES, "a positive number or ")
        else:
            check_alpha("alpha", self.alpha)
        if isinstance(self.robustness, str):
            check_choice("robustness", self.robustness, (AUTO,), "a positive number, None or ")
        elif self.robustness is not None:
            check_positive("robustness", self.robustness, ROBUSTNESS)
        check_discount(self.discount, self._without_discount())
        self._check_joining()
        self._check_alpha_prior()
        self._grid()
        check_cv(self.cv)
        if isinstance(self.init, str):
            check_choice("init", self.init, INITS)
        check_choice("order", self.order, ORDERS)
        check_starts(self.n_init)
        check_count("max_sweeps", self.max_sweeps)
        if self.memory is not None:
            check_count("memory", self.memory, least=2)
        check_bool("split_merge", self.split_merge)
        self._check_limits()
        check_jobs(self.n_jobs)

    def _without_discount(self) -> Iterator[str]:
        """Parameters that exclude a discount, with their values."""
        if self._is_automatic():
            yield "prior='auto'"
        if self._saturation() is not None:
            yield "robustness"
        if self.alpha in ("map", "mode"):
            yield f"alpha={self.alpha!r}"

    def _check_alpha_prior(self) -> None:
        if isinstance(self.alpha_prior, str):
            check_choice("alpha_prior", self.alpha_prior, ALPHA_PRIORS, "two numbers or ")
        elif np.shape(self.alpha_prior) != (2,):
            raise ValueError(
                f"alpha_prior must be two numbers or 'inverse-gamma', got {shown(self.alpha_prior)}"
            )
        else:
            check_alpha("shape of alpha_prior", self.alpha_prior[0])
            check_alpha("rate of alpha_prior", self.alpha_prior[1])

    def _grid(self) -> npt.NDArray[np.float64]:
        """Candidates for alpha, in ascending order."""
        return ALPHAS if self.alphas is None else check_alphas(self.alphas)

    def _search(self, data: Data, progress: Progress) -> Search:
        """The search among the rows that have weight."""
        if isinstance(self.init, str):
            return self._search_from(self.init, progress)
        labels = check_labels(self.init, data.shape[0], "init")
        return self._search_from(labels[data.has_weight()], progress)

    def _search_from(self, init: str | npt.NDArray[np.intp], progress: Progress) -> Search:
        return Search(
            init,
            bool(self.split_merge),
            self.max_sweeps,
            progress,
            shuffled=self.order == "random",
        )

    def _saturation(self) -> float | None:
        """Rows up to which evidence grows; None if there is no limit."""
        if self.robustness == AUTO:
            return SATURATION if self._is_automatic() else None
        return None if self.robustness is None else float(self.robustness)

    def _given_model(
        self, search: Search, table: Data, moments: Moments, seeds: Seeds, power: float
    ) -> Model:
        """The model of the parameters, with a power for the likelihood of rows."""
        family = self._family_of(table)
        if self.prior == "nll" and not family.width:
            raise ValueError(
                "prior 'nll' needs one family for all columns, got several: see 'auto'"
            )
        model = self._model(family, table, {}, power)
        if isinstance(self.prior, str) and self.prior == "nll":
            return _with_scaled_prior(search, table, moments, model, seeds)
        given = None if isinstance(self.prior, str) else self.prior
        return replace(model, prior=family.prior(given, table, moments))

    def _choose_alpha(self, search: Search, table: Data, model: Model, seeds: Seeds) -> AlphaResult:
        """What the search finds under the concentration that the parameter `alpha` chooses."""
        problem = model.problem(table)
        if self.alpha in ("map", "mode"):
            weight, of_log = model.power * table.total_weight, self.alpha == "map"
            return choose_alpha.by_posterior(
                search, problem, seeds, weight, self.alpha_prior, of_log
            )
        if self.alpha == "nll":
            return choose_alpha.by_joint(search, problem, seeds, self._grid())
        if self.alpha == "loo":
            return choose_alpha.by_leave_one_out(search, problem, seeds, self._grid())
        return self._alpha_by_folds(search, table, model, seeds)

    def _alpha_by_folds(
        self, search: Search, table: Data, model: Model, seeds: Seeds
    ) -> AlphaResult:
        """What is found under the concentration that predicts held-out rows best.

        Densities of held-out rows are those of components whose rows have the power as weights;
        then the concentration has it, too.
        """
        grid = self._grid()
        weighed = [model.power * coarsened_alpha(alpha, model.power) for alpha in grid]
        found = choose_alpha.by_cross_validation(
            search,
            lambda chosen: model.problem(table.take(chosen)),
            lambda chosen: table.take(chosen).unweighted().rows(),
            table.row_weights(),
            seeds,
            np.array(weighed),
            folds_of(self.cv, table.shape[0], np.random.default_rng(seeds)),
        )
        return replace(found, alpha=float(grid[weighed.index(found.alpha)]))


def _with_scaled_prior(
    search: Search, table: Data, moments: Moments, model: Model, seeds: Seeds
) -> Model:
    """A model with the default prior times the factors of least joint on a sample of a table."""
    chosen = draw_sample(table, SAMPLE_ROWS, np.random.default_rng(seeds))
    scaled = ScaledPrior(model.family, table, moments, table.take(chosen))

    def problem_of(rows: Data, prior: Prior) -> Problem:
        return replace(model, prior=prior).problem(rows)

    return replace(model, prior=scaled.choose(search.of_rows(chosen), problem_of, seeds)[0])
