"""Normal-gamma components of rows with missing cells: each column has rows of its own."""

from collections.abc import Iterable, Sequence
from functools import partial
from math import sqrt
from random import Random

from mpmath import fsum, mpf

from generators import normal_gamma
from generators.components import Cluster, Family, Row, Weighted, component_case, draw, with_gaps
from generators.format import vectors, within
from generators.normal_gamma import Prior


def column(cluster: Cluster, d: int) -> list[Weighted]:
    """The cells of a column that are there, as rows of one column."""
    return [Weighted([row[d]], weight) for row, weight in cluster if row[d] is not None]


def priors(prior: Prior) -> list[Prior]:
    """The prior of each column."""
    return [prior._replace(m0=[m0], b0=[b0]) for m0, b0 in zip(prior.m0, prior.b0, strict=True)]


def log_predictive(row: Weighted, cluster: Cluster, prior: Prior) -> mpf:
    """Eq. (11) of the cells that are there."""
    return fsum(
        normal_gamma.log_predictive(cell, column(cluster, d), own)
        for d, own in enumerate(priors(prior))
        for cell in column([row], d)
    )


def log_marginal(cluster: Cluster, prior: Prior) -> mpf:
    return fsum(
        normal_gamma.log_marginal(column(cluster, d), own) for d, own in enumerate(priors(prior))
    )


FAMILY = Family(log_predictive, log_marginal)


def incomplete_normal_gamma() -> dict:
    """Predictives and marginals of what was observed."""
    return vectors(
        "incomplete_normal_gamma",
        "Raykov, Boukouvalas & Little (2014), equations (11), (12) and (13) of each column",
        within(1e-12, 1e-12),
        [*ordinary_cases(), *extreme_cases(), *weighted_cases()],
    )


def ordinary_cases() -> Iterable[dict]:
    rng = Random(11)
    strengths = [(0.1, 1.0), (1.0, 2.5), (0.05, 0.5), (10.0, 1.0)]
    for n_columns, (c0, a0) in zip((1, 2, 5, 40), strengths, strict=True):
        b0 = [0.5 + abs(x) for x in draw(rng, n_columns)]
        prior = Prior(draw(rng, n_columns), c0, a0, b0)
        for n in (0, 1, 2, 10, 30):
            rows = with_gaps(rng, [draw(rng, n_columns) for _ in range(n)])
            yield asked(f"D = {n_columns}, n = {n}", prior, rows)


def extreme_cases() -> Iterable[dict]:
    rng = Random(12)
    complete = [draw(rng, 3) for _ in range(8)]
    rows = with_gaps(rng, complete)
    plain = Prior([0.25, -1.0, 0.0], 0.1, 1.0, [1.5, 0.75, 2.0])
    yield asked("no cell is missing", plain, complete)
    yield asked("a column that nobody saw", plain, [[*row[:2], None] for row in rows])
    yield asked("the query shows only a column that nobody saw", plain, *unseen(rows))
    yield asked("rows without any cell", plain, [[None] * 3] * 4)
    yield asked("a row without any cell among others", plain, [[None] * 3, *rows])
    yield asked("a query without any cell", plain, rows, [None] * 3)
    yield asked(
        "each row has one cell", plain, [one_cell(row, i) for i, row in enumerate(complete)]
    )
    yield asked("ten duplicates", plain, [[2.0, None, -0.5]] * 10)
    for c0, a0 in ((0.001, 1.0), (1000.0, 1.0), (0.1, 0.01), (0.1, 500.0)):
        yield asked(f"c0 = {c0}, a0 = {a0}", plain._replace(c0=c0, a0=a0), rows)
    narrow, wide = [1e-9, 1e-6, 1e-12], [1e24, 1e12, 1e6]
    yield asked("a prior far narrower than the rows", plain._replace(b0=narrow), rows)
    yield asked("a prior far wider than the rows", plain._replace(b0=wide), rows)
    there = [[x if x is None else x + 1e6 for x in row] for row in rows]
    yield asked("rows and m0 at 1e6", plain._replace(m0=[m + 1e6 for m in plain.m0]), there)
    yield asked("rows at 1e6, m0 is not", plain, there)
    yield asked("a row outside at 1e8", plain, rows, [1e8, None, -1e8])
    yield asked("the last member at 1e8", plain, [*rows, [1e8, None, -1e8]])


def unseen(rows: list[Row]) -> tuple[list[Row], Row]:
    """Rows that miss their last cell, and a query that has no other."""
    return [[*row[:-1], None] for row in rows], [None] * (len(rows[0]) - 1) + [0.5]


def one_cell(row: Row, i: int) -> Row:
    return [x if d == i % len(row) else None for d, x in enumerate(row)]


def weighted_cases() -> Iterable[dict]:
    rng = Random(13)
    rows = with_gaps(rng, [draw(rng, 3) for _ in range(5)])
    given = partial(asked, prior=Prior([0.25, -1.0, 0.0], 0.1, 1.0, [1.5, 0.75, 2.0]), rows=rows)
    yield given("whole weights", weights=[2.0, 1.0, 5.0, 3.0, 4.0])
    yield given("fractional weights", weights=[0.5, 2.25, 0.125, 1.5, 0.7])
    yield given("weights near 0", weights=[1e-6, 1e-3, 1e-9, 0.01, 1e-6])
    yield given("weights of a million", weights=[1e6, 2e6, 3.5e5, 1.0, 4e5])


def asked(
    what: str,
    prior: Prior,
    rows: list[Row],
    query: Row = (),
    weights: Sequence[float] = (),
) -> dict:
    """Scores of a cluster; its first row is the other cluster's too, with the prior mean."""
    query = list(query) or [m + sqrt(b) / 2 for m, b in zip(prior.m0, prior.b0, strict=True)]
    other = [*rows[:1], [*prior.m0[:-1], None], prior.m0]
    return component_case(FAMILY, what, prior, rows, other, query, weights)
