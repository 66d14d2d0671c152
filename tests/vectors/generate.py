"""Write the test vectors: inputs, and what the equations say about them.

    python tests/vectors/generate.py            rewrites every file
    python tests/vectors/generate.py --check    fails if a file is not what would be written

The truths come from the equations of Raykov, Boukouvalas & Little (2014), evaluated naively with
50 digits. Nothing of the library is imported, and what can be derived twice is: the generator
stops if the two ways disagree.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import groupby
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from mpmath import chop, fsum, log, loggamma, mp, mpf, nstr, pi, psi

HERE = Path(__file__).parent
DIGITS = 30  # of an expected value
AGREE = mpf(10) ** -33  # two derivations of one number differ by less than this part of it

mp.dps = 50

Row = Sequence[float]


# The file format


def vectors(name: str, source: str, tolerance: dict, cases: Iterable[dict]) -> dict:
    """A file of numbered cases."""
    numbered = [{"id": i, **case} for i, case in enumerate(cases, 1)]
    return {"schema": 1, "name": name, "source": source, "tolerance": tolerance, "cases": numbered}


def case(comment: str, given: dict, expected: dict, tolerance: dict | None = None) -> dict:
    """One case; a tolerance of its own replaces the file's."""
    own = {} if tolerance is None else {"tolerance": tolerance}
    return {"comment": comment, **own, "input": given, "expected": expected}


def within(relative: float, absolute: float) -> dict:
    """|result - expected| <= absolute + relative |expected|."""
    return {"relative": relative, "absolute": absolute}


def decimal(value: mpf) -> str:
    """An expected value as a decimal string."""
    value = chop(value, tol=mpf(10) ** -35)
    return nstr(value, DIGITS, strip_zeros=False) if value else "0.0"


def render(value: Any, indent: str = "") -> str:
    """JSON with every list of plain values on one line."""
    items = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(items, list) or not any(isinstance(item, dict | list) for item in items):
        return json.dumps(value)
    inner = indent + " "
    keys = (
        [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(items)
    )
    lines = [inner + key + render(item, inner) for key, item in zip(keys, items, strict=True)]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return f"{left}\n" + ",\n".join(lines) + f"\n{indent}{right}"


def agree(x: mpf, y: mpf) -> mpf:
    """`x`, which another derivation found to be `y`."""
    if abs(x - y) > AGREE * max(1, abs(x)):
        raise AssertionError(f"two derivations disagree: {nstr(x, DIGITS)} and {nstr(y, DIGITS)}")
    return x


# Special functions

POINTS = (
    *(1e-8, 1e-6, 1e-4, 0.001, 0.01, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9999999, 1.0, 1.0000001),
    *(1.25, 1.4616321449683623, 1.5, 1.9999999, 2.0, 2.0000001, 2.5, 3.0, 3.141592653589793),
    *(5.0, 7.25, 9.5, 9.999999999999998, 10.0, 10.5, 20.0, 50.5, 100.0, 171.5, 1000.0),
    *(12345.678, 1e6, 1e7, 1e9, 1e12, 1e15),
)
ABOVE_THE_BOUND = (2.0**-20, 0.01, 0.5, 1.0, 7.25, 100.0, 12345.5, 1e9, 1e15)


def special() -> dict:
    """log-gamma and its relatives."""
    return vectors(
        "special",
        "Abramowitz & Stegun (1964), 6.1 and 6.3; Muirhead (1982), theorem 2.1.12",
        within(2e-14, 2e-14),
        [*map(special_case, POINTS), *multivariate_cases()],
    )


def special_case(x: float) -> dict:
    gamma = loggamma(mpf(x))
    expected = {
        "log_gamma": gamma,
        "log_gamma_half_step": loggamma(mpf(x) + 0.5) - gamma,
        "digamma": psi(0, mpf(x)),
    }
    return case(f"x = {x}", {"x": x}, {name: decimal(y) for name, y in expected.items()})


def multivariate_cases() -> Iterable[dict]:
    for p in (1, 2, 3, 5, 10, 40):
        yield from (multivariate_case(0.5 * (p - 1) + x, p) for x in ABOVE_THE_BOUND)


def multivariate_case(x: float, p: int) -> dict:
    value = mpf(p * (p - 1)) / 4 * log(pi) + fsum(loggamma(mpf(x) - mpf(j) / 2) for j in range(p))
    given = {"x": x, "p": p}
    return case(f"dimension {p}, x = {x}", given, {"multivariate_log_gamma": decimal(value)})


# The Chinese restaurant process

ALPHAS = (1e-6, 0.01, 0.5, 1.0, 3.0, 100.0, 1e6)
PARTITIONS = {
    "one item": [7],
    "two items together": [0, 0],
    "two items apart": [0, 1],
    "sizes 3, 2 and 1, labels not in order": [5, 0, 5, 2, 0, 5],
    "ten singletons": list(range(10)),
    "one cluster of ten": [4] * 10,
    "sizes 50, 25, 10, 1 and 1": [0] * 50 + [1] * 25 + [2] * 10 + [3, 4],
    "a hundred singletons": list(range(100)),
}
COUNTS = {
    "one cluster of a million": [1_000_000],
    "two big clusters and a singleton": [123_456, 1, 654_321],
}
# Eq. (1) of huge clusters is a difference of huge log-gammas: doubles lose what these share.
CANCELLING = within(1e-13, 1e-8)
CHAIN_ITEMS = 1000  # the chain rule is walked for partitions of at most so many items


def crp() -> dict:
    """Partition probabilities and the predictive rule."""
    labelled = [crp_case(c, sizes(z), a, z) for c, z in PARTITIONS.items() for a in ALPHAS]
    counted = [crp_case(c, counts, a) for c, counts in COUNTS.items() for a in ALPHAS]
    return vectors(
        "crp",
        "Raykov, Boukouvalas & Little (2014), equations (1) and (2)",
        within(1e-13, 1e-11),
        labelled + counted,
    )


def sizes(labels: Sequence[int]) -> list[int]:
    """Cluster sizes, in the order in which the clusters appear."""
    return list(Counter(labels).values())


def crp_case(what: str, counts: list[int], alpha: float, labels: list[int] | None = None) -> dict:
    value = log_partition(counts, mpf(alpha))
    total = sum(counts) + mpf(alpha)
    given: dict[str, Any] = {"alpha": alpha, "counts": counts}
    expected: dict[str, Any] = {"log_prob_counts": decimal(value)}
    if labels is not None:
        given["labels"] = labels
        expected["log_prob"] = decimal(value)
    expected["predictive"] = [decimal(n / total) for n in [*counts, mpf(alpha)]]
    tolerance = CANCELLING if sum(counts) > 1e5 else None
    return case(f"{what}, alpha = {alpha}", given, expected, tolerance)


def log_partition(counts: Sequence[int], alpha: mpf) -> mpf:
    """Eq. (1), log p(z | alpha); it must be the product of eq. (2) over the items."""
    n = sum(counts)
    value = loggamma(alpha) - loggamma(n + alpha) + len(counts) * log(alpha)
    value += fsum(loggamma(mpf(count)) for count in counts)
    if n <= CHAIN_ITEMS:
        agree(value, fsum(log(p) for p in seatings(counts, alpha)))
    return value


def seatings(counts: Sequence[int], alpha: mpf) -> Iterable[mpf]:
    """Eq. (2) of each item in turn, one cluster after the other."""
    seated = 0
    for count in counts:
        for n in range(count):
            yield (mpf(n) if n else alpha) / (alpha + seated)
            seated += 1


# Normal-gamma components


class Prior(NamedTuple):
    """theta_0 of eq. (8)."""

    m0: list[float]
    c0: float
    a0: float
    b0: list[float]


class Theta(NamedTuple):
    """One column of eq. (13)."""

    m: mpf
    c: mpf
    a: mpf
    b: mpf


def posterior(rows: Sequence[Row], prior: Prior) -> list[Theta]:
    """Eq. (13) as printed, for every column."""
    n, c0 = len(rows), mpf(prior.c0)
    thetas = []
    for d, (m0, b0) in enumerate(zip(map(mpf, prior.m0), map(mpf, prior.b0), strict=True)):
        xs = [mpf(row[d]) for row in rows]
        mean = fsum(xs) / n if n else m0
        squares = fsum((x - mean for x in xs), squared=True)
        m = (c0 * m0 + n * mean) / (c0 + n)
        b = b0 + squares / 2 + c0 * n * (mean - m0) ** 2 / (2 * (c0 + n))
        thetas.append(Theta(m, c0 + n, mpf(prior.a0) + mpf(n) / 2, b))
    return thetas


def log_student_t(x: mpf, mean: mpf, precision: mpf, freedom: mpf) -> mpf:
    """Student-t density with location, precision and degrees of freedom, as in eq. (11)."""
    half = freedom / 2
    norm = log_gamma(half + mpf(0.5)) - log_gamma(half) + log(precision / (freedom * pi)) / 2
    return norm - (half + mpf(0.5)) * log(1 + precision * (x - mean) ** 2 / freedom)


def log_predictive(row: Row, rows: Sequence[Row], prior: Prior) -> mpf:
    """Eq. (11), and eq. (12) where there are no rows."""
    return fsum(
        log_student_t(mpf(x), m, a * c / (b * (c + 1)), 2 * a)
        for x, (m, c, a, b) in zip(row, posterior(rows, prior), strict=True)
    )


def log_marginal(rows: Sequence[Row], prior: Prior) -> mpf:
    """Ratio of normalising constants; it must be the product of the predictives in turn."""
    value = log_constant(posterior(rows, prior)) - log_constant(posterior([], prior))
    value -= mpf(len(rows) * len(prior.m0)) / 2 * log(2 * pi)
    return agree(value, fsum(log_predictive(row, rows[:i], prior) for i, row in enumerate(rows)))


def log_constant(thetas: Sequence[Theta]) -> mpf:
    """Log of the integral of the unnormalised normal-gamma density, all columns."""
    return fsum(log_gamma(a) - a * log(b) + log(2 * pi / c) / 2 for _, c, a, b in thetas)


@cache
def log_gamma(x: mpf) -> mpf:
    """`loggamma`, remembered: few different arguments occur, but very often."""
    return loggamma(x)


def normal_gamma() -> dict:
    """Student-t predictives and marginals."""
    return vectors(
        "normal_gamma",
        "Raykov, Boukouvalas & Little (2014), equations (11), (12), (13) and (16)",
        within(1e-12, 1e-12),
        [*ordinary_cases(), *extreme_cases()],
    )


def ordinary_cases() -> Iterable[dict]:
    rng = Random(1)
    strengths = [(0.1, 1.0), (1.0, 2.5), (0.05, 0.5), (10.0, 1.0)]
    for n_columns, (c0, a0) in zip((1, 2, 5, 40), strengths, strict=True):
        m0 = draw(rng, n_columns)
        b0 = [0.5 + abs(x) for x in draw(rng, n_columns)]
        for n in (0, 1, 2, 10, 200):
            rows = [draw(rng, n_columns) for _ in range(n)]
            yield component_case(f"D = {n_columns}, n = {n}", Prior(m0, c0, a0, b0), rows)


def extreme_cases() -> Iterable[dict]:
    rng = Random(2)
    rows = [draw(rng, 2) for _ in range(10)]
    plain = Prior([0.25, -1.0], 0.1, 1.0, [1.5, 0.75])
    for c0, a0 in ((0.001, 1.0), (1000.0, 1.0), (0.1, 0.01), (0.1, 500.0), (0.001, 0.01)):
        yield component_case(f"c0 = {c0}, a0 = {a0}", plain._replace(c0=c0, a0=a0), rows)
    yield component_case(
        "a prior far narrower than the rows", plain._replace(b0=[1e-9, 1e-6]), rows
    )
    yield component_case("a prior far wider than the rows", plain._replace(b0=[1e24, 1e12]), rows)
    for offset in (1e8, -1e8):
        there = [[x + offset for x in row] for row in rows]
        moved = plain._replace(m0=[m + offset for m in plain.m0])
        yield component_case(f"rows and m0 at {offset}", moved, there)
        yield component_case(f"rows at {offset}, m0 is not", plain, there)
    for scales in ((1e-12, 1e-12), (1e12, 1e12), (1e-12, 1e12)):
        yield scaled_case(plain, rows, scales)
    yield component_case("ten duplicates", plain, [[2.0, -0.5]] * 10)
    yield component_case("two hundred duplicates, all at m0", plain, [plain.m0] * 200)
    for distance in (1e2, 1e4, 1e6, 1e8):
        outlier = [distance, -distance]
        yield component_case(f"a row outside at {distance}", plain, rows, query=outlier)
        yield component_case(f"the last member at {distance}", plain, [*rows, outlier])
    wide = Prior([0.0] * 40, 0.1, 1.0, [1.0] * 40)
    rows = [draw(rng, 40) for _ in range(10)]
    yield component_case("D = 40, a row outside at 4e8", wide, rows, query=[4e8] * 40)
    yield component_case("D = 40, every row at 1e8", wide, [[x + 1e8 for x in row] for row in rows])


def scaled_case(prior: Prior, rows: list[list[float]], scales: Sequence[float]) -> dict:
    """The same rows in other units."""
    m0 = [m * s for m, s in zip(prior.m0, scales, strict=True)]
    b0 = [b * s * s for b, s in zip(prior.b0, scales, strict=True)]
    scaled = [[x * s for x, s in zip(row, scales, strict=True)] for row in rows]
    return component_case(f"columns in units of {scales}", prior._replace(m0=m0, b0=b0), scaled)


def component_case(what: str, prior: Prior, rows: list[list[float]], query: Row = ()) -> dict:
    """Scores of a cluster; its first row is the other cluster's too, with the prior mean."""
    query = list(query) or [m + sqrt(b) / 2 for m, b in zip(prior.m0, prior.b0, strict=True)]
    other = [*rows[:1], prior.m0, prior.m0]
    left_out = sorted({0, len(rows) - 1}) if rows else []
    expected = {
        "log_predictive_empty": decimal(log_predictive(query, [], prior)),
        "log_predictive": decimal(log_predictive(query, rows, prior)),
        "log_predictive_member": [
            decimal(log_predictive(rows[i], rows[:i] + rows[i + 1 :], prior)) for i in left_out
        ],
        "log_marginal": decimal(log_marginal(rows, prior)),
        "log_marginal_merged": decimal(log_marginal(rows + other, prior)),
    }
    given = {"prior": prior._asdict(), "rows": rows, "other": other}
    return case(what, given | {"query": query, "left_out": left_out}, expected)


def draw(rng: Random, n: int, step: float = 0.25, spread: float = 3.0) -> list[float]:
    """Bell-shaped multiples of `step`; `random()` is the same in every version of Python."""
    return [
        round((sum(rng.random() for _ in range(4)) - 2) * spread / step) * step for _ in range(n)
    ]


# MAP-DPM

TIE = mpf("1e-8")
CLEAR, EQUAL = mpf("1e-6"), mpf("1e-10")  # no decision may depend on a margin between these
UNPLACED = -1
RULES = {
    "moves to another cluster",
    "opens a cluster in a slot at the end",
    "opens a cluster in a slot that was emptied before",
    "leaves a cluster empty",
    "stays although another cluster is as good",
    "takes the lowest of equally good slots",
}


class MapDPM:
    """Algorithm 1 at its plainest: nothing is updated, everything is computed anew."""

    def __init__(
        self, rows: list[list[float]], prior: Prior, alpha: float, labels: list[int]
    ) -> None:
        self.rows, self.prior, self.alpha = rows, prior, mpf(alpha)
        self.labels = renumbered(labels)
        self.known: dict[tuple[int, ...], list[Theta]] = {}
        self.rules: set[str] = set()

    def run(self) -> list[dict]:
        """The start and every sweep, to the one that moves nothing."""
        states = [self.state()]
        while not states[1:] or states[-1]["moves"]:
            before = self.neg_log_joint()
            steps = [step for i in range(len(self.rows)) for step in self.visit(i)]
            agree(self.neg_log_joint(), before + fsum(steps))
            self.labels = renumbered(self.labels)
            states.append({"moves": len(steps), **self.state()})
        return states

    def state(self) -> dict:
        return {"neg_log_joint": decimal(self.neg_log_joint()), "labels": self.labels[:]}

    def visit(self, i: int) -> list[mpf]:
        """Eq. (15) for row `i`: what its move adds to the joint, or nothing if it stays."""
        own = self.labels[i]
        costs = [self.cost(i, k) for k in range(max(self.labels) + 2)]
        others = {k: q for k, q in enumerate(costs) if k != own}
        best = min(others.values())
        equals = [k for k, q in others.items() if not clear(q - best)]
        if own != UNPLACED and not (clear(costs[own] - best) and best < costs[own]):
            self.note_stay(i, [k for k, q in others.items() if not clear(q - costs[own])])
            return []
        self.note_move(i, equals)
        self.labels[i] = equals[0]
        return [best - costs[own] if own != UNPLACED else self.placed(best)]

    def cost(self, i: int, k: int) -> mpf:
        """Eq. (22); eq. (23) where the slot holds no other row."""
        others = self.members(k, without=i)
        thetas = self.thetas(others)
        _, c, a, _ = thetas[0]
        q = len(thetas) * (log_gamma(a) - log_gamma(a + mpf(0.5)) - log(c / (c + 1)) / 2)
        for x, (m, _, _, b) in zip(self.rows[i], thetas, strict=True):
            q += log(b) / 2 + (a + mpf(0.5)) * log(1 + c / (2 * b * (c + 1)) * (mpf(x) - m) ** 2)
        return q - log(len(others) or self.alpha)

    def placed(self, q: mpf) -> mpf:
        """Of a row that had no label: q, and what eq. (22) and (23) omit."""
        n_placed = sum(k != UNPLACED for k in self.labels) - 1
        return q + mpf(len(self.prior.m0)) / 2 * log(2 * pi) + log(self.alpha + n_placed)

    def neg_log_joint(self) -> mpf:
        """-log p(z | alpha) - sum_k log p(x_k | theta_0) of the rows that have labels."""
        used = sorted(set(self.labels) - {UNPLACED})
        clusters = [[self.rows[i] for i in self.members(k)] for k in used]
        value = -log_partition([len(cluster) for cluster in clusters], self.alpha)
        return value - fsum(log_marginal(cluster, self.prior) for cluster in clusters)

    def members(self, k: int, without: int = -1) -> tuple[int, ...]:
        return tuple(i for i, label in enumerate(self.labels) if label == k and i != without)

    def thetas(self, members: tuple[int, ...]) -> list[Theta]:
        if members not in self.known:
            self.known[members] = posterior([self.rows[i] for i in members], self.prior)
        return self.known[members]

    def note_stay(self, i: int, equals: list[int]) -> None:
        if self.members(self.labels[i], without=i) and equals:
            self.rules.add("stays although another cluster is as good")

    def note_move(self, i: int, equals: list[int]) -> None:
        own, slot = self.labels[i], equals[0]
        if self.members(slot):
            self.rules.add("moves to another cluster")
        elif slot < max(self.labels):
            self.rules.add("opens a cluster in a slot that was emptied before")
        else:
            self.rules.add("opens a cluster in a slot at the end")
        if own != UNPLACED and not self.members(own, without=i):
            self.rules.add("leaves a cluster empty")
        if any(self.members(k) for k in equals[1:]):
            self.rules.add("takes the lowest of equally good slots")


def clear(margin: mpf) -> bool:
    """Whether two costs differ by more than `TIE`, which must be beyond doubt."""
    if EQUAL < abs(margin) < CLEAR:
        raise AssertionError(
            f"a decision hangs on a margin of {nstr(margin, 5)}: choose other rows"
        )
    return abs(margin) > TIE


def renumbered(labels: Sequence[int]) -> list[int]:
    """Slots 0, 1, ... in the order of the old ones; -1 stays."""
    used = [k for k, _ in groupby(sorted(labels)) if k != UNPLACED]
    return [used.index(k) if k != UNPLACED else UNPLACED for k in labels]


def map_dpm() -> dict:
    """Whole runs, sweep by sweep."""
    cases, rules = [], set()
    for what, rows, prior, alpha, labels in runs():
        algorithm = MapDPM(rows, prior, alpha, labels)
        start, *sweeps = algorithm.run()
        given = {"rows": rows, "prior": prior._asdict(), "alpha": alpha, "labels": labels}
        cases.append(case(what, given, {"start": start, "sweeps": sweeps}))
        rules |= algorithm.rules
    if rules != RULES:
        raise AssertionError(f"no run uses these rules: {RULES - rules}")
    return vectors(
        "map_dpm",
        "Raykov, Boukouvalas & Little (2014), algorithm 1, equations (1), (15), (22) and (23)",
        within(1e-11, 1e-11),
        cases,
    )


def runs() -> Iterable[tuple[str, list[list[float]], Prior, float, list[int]]]:
    """What, rows, prior, alpha, labels to start from."""
    for name, rows, prior, alpha in tables():
        n = len(rows)
        yield f"{name}, from one cluster", rows, prior, alpha, [0] * n
        yield f"{name}, from singletons", rows, prior, alpha, list(range(n))
        yield f"{name}, row after row", rows, prior, alpha, [UNPLACED] * n
    _, rows, prior, alpha = next(tables())
    n = len(rows)
    yield "labels with gaps", rows, prior, alpha, [(7, 0, 3)[i % 3] for i in range(n)]
    yield "some rows without a label", rows, prior, alpha, [(-1, 2, -1, 0)[i % 4] for i in range(n)]
    rows = column(8, 7, 8, 9, 8.5, -9, -8, -8.5, -9, 5000)
    prior = Prior([0.0], 0.25, 1.0, [1.0])
    yield "an outlier opens a slot that was emptied", rows, prior, 1.0, [0, *[1] * 4, *[2] * 5]
    rows = column(2**28, 2, -7.5, -4, -7, -4, -4, 6, 2, 4.5, 6, -4.5, 2, 4, 1.5, -4.5, 1)
    start = [0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0]
    yield "an outlier at 2^28 leaves a cluster of many", rows, prior, 1.0, start
    yield "one row", [[3.0, -0.5]], Prior([1.0, 0.0], 0.5, 1.0, [1.0, 2.0]), 1.0, [0]
    yield "one row without a label", [[3.0]], Prior([1.0], 0.5, 1.0, [1.0]), 1.0, [UNPLACED]


def tables() -> Iterable[tuple[str, list[list[float]], Prior, float]]:
    """Name, rows, prior, alpha."""
    rng = Random(3)
    line = Prior([0.0], 0.25, 1.0, [1.0])
    plane = Prior([0.0, 0.0], 0.125, 1.0, [2.0, 2.0])
    yield "two groups on a line", column(-9, -8, 7, 8, -8.5, 9, -7.5, 8.5), line, 1.0
    yield "a mirror image with the middle", column(-6, -5, -4, 4, 5, 6, 0, 0), line, 0.5
    yield "duplicates of one row", column(*[2.5] * 10), line, 1.0
    yield "duplicates in pairs", column(*[-20, 20, 0, 60] * 4), line, 2.0
    square = [[float(x), float(y)] for x in (-2, -1, 1, 2) for y in (-2, -1, 1, 2)]
    yield "a square lattice", square, plane, 1.0
    corners = [[x, y] for x in (-16.0, 16.0) for y in (-16.0, 16.0)] * 4
    yield "four corners and the centre", [*corners, [0.0, 0.0]], plane, 1.0
    groups = blobs(rng, [[-8.0, 0.0], [6.0, 6.0], [4.0, -8.0]], 40)
    yield "three groups in the plane", groups, plane, 1.0
    yield "three groups, alpha = 1e-6", groups, plane, 1e-6
    yield "three groups, alpha = 1000", groups, plane, 1000.0
    strong = plane._replace(c0=1000.0, a0=0.01)
    yield "three groups, c0 = 1000, a0 = 0.01", groups[:24], strong, 1.0
    yield "three groups, c0 = 0.001", groups[:24], plane._replace(c0=0.001), 1.0
    yield "one wide group", blobs(rng, [[0.0, 0.0]], 30, spread=6.0), plane, 3.0
    space = Prior([1.0, 0.0, 5.0], 0.25, 1.0, [4.0, 1.0, 0.125])
    inside = blobs(rng, [[-4.0, 0.0], [4.0, 2.0], [0.0, -6.0], [9.0, 9.0]], 32)
    yield "four groups, one column constant", [[*row, 5.0] for row in inside], space, 1.0
    far = [[2.0**27 + x, 2.0**-30 * y] for x, y in groups[:20]]
    units = Prior([2.0**27, 0.0], 0.5, 1.0, [4.0, 2.0**-59])
    yield "groups at an offset of 2^27, and in units of 2^-30", far, units, 1.0
    outliers = [*groups[:15], [1000.0, -1000.0], [0.0, 4096.0]]
    yield "two outliers", outliers, plane, 1.0


def column(*values: float) -> list[list[float]]:
    return [[float(x)] for x in values]


def blobs(rng: Random, centres: Sequence[Row], n: int, spread: float = 2.0) -> list[list[float]]:
    """`n` rows around the centres in turn, all of them multiples of 1/4."""
    around = [centres[i % len(centres)] for i in range(n)]
    return [
        [m + e for m, e in zip(c, draw(rng, len(c), spread=spread), strict=True)] for c in around
    ]


# The files

FILES: dict[str, Callable[[], dict]] = {
    "special": special,
    "crp": crp,
    "normal_gamma": normal_gamma,
    "map_dpm": map_dpm,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description="Write the test vectors.")
    parser.add_argument(
        "--check", action="store_true", help="compare with the files, write nothing"
    )
    check = parser.parse_args(arguments).check
    differing = []
    for name, build in FILES.items():
        path, text = HERE / f"{name}.json", (render(build()) + "\n").encode()
        if check and not (path.exists() and path.read_bytes() == text):
            differing.append(path.name)
        elif not check:
            path.write_bytes(text)
    if differing:
        print(f"not what generate.py writes: {', '.join(differing)}", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
