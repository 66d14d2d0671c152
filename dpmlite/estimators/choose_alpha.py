"""Choosing the concentration: appendix A.3 of Raykov, Boukouvalas & Little (2014)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import inference, models
from dpmlite.estimators.problem import first_of_best

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from dpmlite.estimators.climb import Climb
    from dpmlite.estimators.data import Data
    from dpmlite.estimators.problem import Problem
    from dpmlite.estimators.search import Search

    Floats = npt.NDArray[np.float64]
    Seeds = npt.NDArray[np.int64]

#: Concentrations that are tried by default.
ALPHAS = np.geomspace(0.01, 100.0, 13)

# Alternations of labels and alpha, which fall into place after a few.
MOST_ROUNDS = 50

# A change of alpha, relative, that changes nothing.
SAME_ALPHA = 1e-9

# Mean densities, in nats, that differ by no more are equal.
SAME_SCORE = 1e-9

# `alpha_mode`'s power, rate and inverse rate of Rasmussen's prior, eq. (25).
INVERSE_GAMMA = (-0.5, 0.0, 0.5)


@dataclass(eq=False, repr=False)
class Choice:
    """The best climb with the concentration that was chosen, and what it was chosen by.

    Attributes
    ----------
    climb : Climb
    alpha : float
    scores : ndarray or None
        Of each concentration that was tried.
    """

    climb: Climb
    alpha: float
    scores: Floats | None = None


def by_posterior(
    search: Search,
    problem: Problem,
    seeds: Seeds,
    n_rows: float,
    alpha_prior: tuple[float, float] | str,
) -> Choice:
    """The mode of labels and log alpha together, eq. (25) and (26), one given the other in turn.

    Neither step raises -log p(x, z | alpha) - log p(log alpha), and there are finitely many
    partitions, so that it ends.

    Raises
    ------
    ValueError
        If eq. (25) has no mode: the rows weigh less than there are clusters.
    """
    prior = INVERSE_GAMMA if isinstance(alpha_prior, str) else (*alpha_prior, 0.0)
    climb = search.best(problem, seeds)
    for _ in range(MOST_ROUNDS):
        n_clusters = climb.partition.n_clusters
        if isinstance(alpha_prior, str) and not n_clusters + prior[0] < n_rows:
            raise ValueError(
                f"alpha_prior={alpha_prior!r} needs rows of a total weight above K - 1/2, got "
                f"{n_rows:g} for K = {n_clusters} clusters: raise sample_weight or give two numbers"
            )
        alpha = models.alpha_mode(n_clusters, n_rows, *prior)
        if abs(alpha - problem.alpha) <= SAME_ALPHA * alpha:
            break
        problem = replace(problem, alpha=alpha)
        climb = search.climb_on(problem, climb.labels(), int(seeds[0]), "alpha")
    return Choice(climb, problem.alpha)


def by_joint(search: Search, problem: Problem, seeds: Seeds, alphas: Floats) -> Choice:
    """The concentration of a grid under which labels are found with the least joint."""
    climbs = climbs_of_grid(search, problem, seeds, alphas)
    scores = np.array([min(_joint_at(climb, alpha) for climb in climbs) for alpha in alphas])
    slack = climbs[0].partition.least_gain
    i = first_of_best(scores.tolist(), slack)
    best = climbs[first_of_best([_joint_at(climb, alphas[i]) for climb in climbs], slack)]
    problem = replace(problem, alpha=float(alphas[i]))
    return Choice(
        search.climb_on(problem, best.labels(), int(seeds[0]), "alpha"), problem.alpha, scores
    )


def by_cross_validation(
    search: Search,
    problem_of: Callable[[Data], Problem],
    table: Data,
    seeds: Seeds,
    alphas: Floats,
    n_folds: int,
) -> Choice:
    """The concentration of a grid with the greatest mean log density of rows left out, eq. (17)."""
    weights = np.ones(table.shape[0]) if table.weights is None else table.weights
    sums = np.zeros(len(alphas))
    for held_out in _folds(table.shape[0], n_folds, np.random.default_rng(seeds)):
        rows = table.take(held_out).unweighted().rows()
        problem, part = problem_of(table.take(~held_out)), search.on(~held_out)
        climbs = climbs_of_grid(part, problem, seeds, alphas)
        for j, climb in enumerate(climbs):
            density = np.empty(len(rows))
            inference.log_density(rows, climb.partition.component, float(alphas[j]), density)
            sums[j] += weights[held_out] @ density
    scores = sums / weights.sum()
    best = first_of_best((-scores).tolist(), SAME_SCORE)
    problem = replace(problem_of(table), alpha=float(alphas[best]))
    return Choice(search.best(problem, seeds), problem.alpha, scores)


def climbs_of_grid(search: Search, problem: Problem, seeds: Seeds, alphas: Floats) -> list[Climb]:
    """A climb for each concentration, the first from a search, the others from a neighbour's end.

    The search is for the one next to the problem's; from there it goes both ways.
    """
    first = int(np.argmin(np.abs(np.log(alphas / problem.alpha))))
    climbs: dict[int, Climb] = {}
    for i in [*range(first, len(alphas)), *range(first - 1, -1, -1)]:
        at = replace(problem, alpha=float(alphas[i]))
        if i == first:
            climbs[i] = search.best(at, seeds)
        else:
            neighbour = climbs[i - 1 if i > first else i + 1]
            climbs[i] = search.climb_on(
                at, neighbour.labels(), int(seeds[0]), f"alpha {at.alpha:g}"
            )
    return [climbs[i] for i in range(len(alphas))]


def _joint_at(climb: Climb, alpha: float) -> float:
    """The joint of the labels of a climb under another concentration."""
    counts = [n for n in climb.partition.component.counts if n > 0.0]
    change = models.log_prob_counts(counts, climb.problem.alpha) - models.log_prob_counts(
        counts, alpha
    )
    return climb.partition.neg_log_joint + change


def _folds(n_rows: int, n_folds: int, rng: np.random.Generator) -> Iterator[npt.NDArray[np.bool_]]:
    """Which rows are left out, for each fold."""
    fold = rng.permutation(n_rows) % n_folds
    for i in range(n_folds):
        yield fold == i
