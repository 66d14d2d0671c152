"""Dirichlet-multinomial components."""

from collections.abc import Iterable, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

from mpmath import fsum, log, mpf

from generators.components import (
    Cluster,
    Family,
    Row,
    Weighted,
    component_case,
    log_gamma,
    log_rising,
)
from generators.format import agree, vectors, within
from generators.quadrature import log_beta_integral

URN_WORDS = 40  # Polya's urn is played for rows of at most so many words


class Prior(NamedTuple):
    """The words of a cluster have probabilities that are Dirichlet(beta0)."""

    beta0: list[float]


def words(cluster: Cluster, prior: Prior) -> list[mpf]:
    """How many there are of each; a row counts as often as it weighs."""
    return [fsum(mpf(w) * row[d] for row, w in cluster) for d in range(len(prior.beta0))]


def log_predictive(row: Weighted, cluster: Cluster, prior: Prior) -> mpf:
    """Product of rising factorials; it must be what word after word gives, out of Polya's urn."""
    x = words([row], prior)
    urn = [mpf(b) + n for b, n in zip(prior.beta0, words(cluster, prior), strict=True)]
    value = fsum(log_rising(b, n) for b, n in zip(urn, x, strict=True) if n)
    value -= log_rising(fsum(urn), fsum(x))
    if fsum(x) <= URN_WORDS and all(n == int(n) for n in x):
        agree(value, fsum(map(log, drawn_in_turn(urn, x))))
    return value


def drawn_in_turn(urn: Sequence[mpf], x: Sequence[mpf]) -> Iterable[mpf]:
    """Probability of each word of x; it goes back into the urn together with one more."""
    total = fsum(urn)
    for b, n in zip(urn, x, strict=True):
        for i in range(int(n)):
            yield (b + i) / total
            total += 1


def log_marginal(cluster: Cluster, prior: Prior) -> mpf:
    """Ratio of the Dirichlet's normalising constants."""
    beta0 = [mpf(b) for b in prior.beta0]
    beta = [b + n for b, n in zip(beta0, words(cluster, prior), strict=True)]
    return log_constant(beta) - log_constant(beta0)


def log_constant(beta: Sequence[mpf]) -> mpf:
    return fsum(map(log_gamma, beta)) - log_gamma(fsum(beta))


def log_quadrature(cluster: Cluster, prior: Prior) -> float:
    """Over the probability of the first of two words."""
    first, second = map(float, words(cluster, prior))
    return log_beta_integral(first, second, *prior.beta0)


FAMILY = Family(log_predictive, log_marginal, log_quadrature)


def dirichlet_multinomial() -> dict:
    """Polya's urn."""
    return vectors(
        "dirichlet_multinomial",
        "Johnson, Kotz & Balakrishnan (1997), Discrete multivariate distributions, chapter 40",
        within(1e-12, 1e-11),
        [*ordinary_cases(), *extreme_cases(), *weighted_cases()],
    )


def ordinary_cases() -> Iterable[dict]:
    rng = Random(41)
    for n_words, share in ((1, 1.0), (2, 1.0), (5, 0.6), (200, 0.04)):
        prior = Prior([(0.1, 0.5, 1.0, 2.5)[i % 4] for i in range(n_words)])
        for n in (0, 1, 2, 10, 30):
            rows = [counts(rng, n_words, share) for _ in range(n)]
            yield asked(f"W = {n_words}, n = {n}", prior, rows, counts(rng, n_words, share))


def counts(rng: Random, n_words: int, share: float) -> list[float]:
    """From 1 to 8 of some of the words, about `share` of them all."""
    return [float(1 + int(8 * rng.random()) if rng.random() < share else 0) for _ in range(n_words)]


def extreme_cases() -> Iterable[dict]:
    rng = Random(42)
    rows = [counts(rng, 4, 0.6) for _ in range(8)]
    query = [0.0, 3.0, 1.0, 7.0]
    plain = Prior([0.5, 1.0, 0.25, 2.0])
    two = [row[:2] for row in rows]
    yield asked("two words, to integrate", Prior([0.5, 1.25]), two, query[:2], integrate=True)
    for beta0 in ([1e-6] * 4, [1e-12] * 4, [1e6] * 4, [1e12] * 4, [1e-6, 1.0, 1e6, 1e-3]):
        yield asked(f"beta0 = {beta0}", Prior(beta0), rows, query)
    yield asked("rows without words", plain, [[0.0] * 4] * 3, query)
    yield asked("a row without words among others", plain, [[0.0] * 4, *rows], query)
    yield asked("a query without words", plain, rows, [0.0] * 4)
    yield asked("words that no row has", plain, [[0.0, 2.0, 0.0, 1.0]] * 5, [4.0, 0.0, 1.0, 0.0])
    yield asked("ten duplicates", plain, [query] * 10, query)
    for size in (1e4, 1e6, 1e9):
        large = [[size * x for x in row] for row in rows]
        yield asked(f"counts in units of {size}", plain, large, query)
        yield asked(f"a query in units of {size}", plain, rows, [size * x for x in query])
    tenths = [[x / 10 for x in row] for row in rows]
    yield asked("counts in tenths", plain, tenths, [x / 10 for x in query])
    yield asked("counts near 0", plain, [[x / 1e6 for x in row] for row in rows], query)


def weighted_cases() -> Iterable[dict]:
    rng = Random(43)
    rows = [counts(rng, 4, 0.6) for _ in range(4)]
    prior, query = Prior([0.5, 1.0, 0.25, 2.0]), [0.0, 3.0, 1.0, 7.0]
    given = partial(asked, prior=prior, rows=rows, query=query)
    yield given("whole weights", weights=[2.0, 1.0, 5.0, 3.0])
    yield given("fractional weights", weights=[0.5, 2.25, 0.125, 1.5])
    yield given("weights near 0", weights=[1e-6, 1e-3, 0.01, 1e-6])
    yield given("weights of a million", weights=[1e6, 2e6, 3.5e5, 4e5])
    two = [row[:2] for row in rows]
    yield asked(
        "two words, fractional weights",
        Prior([0.5, 1.25]),
        two,
        query[:2],
        weights=[0.5, 2.25, 0.125, 1.5],
        integrate=True,
    )


def asked(
    what: str,
    prior: Prior,
    rows: list[list[float]],
    query: Row,
    weights: Sequence[float] = (),
    integrate: bool = False,
) -> dict:
    """Scores of a cluster; its first row is the other cluster's too, with one word of each."""
    other = [*rows[:1], [1.0] * len(prior.beta0)]
    return component_case(FAMILY, what, prior, rows, other, query, weights, integrate=integrate)
