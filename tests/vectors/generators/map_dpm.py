"""MAP-DPM."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from random import Random

from mpmath import fsum, log, mpf, nstr, pi

from generators.components import Weighted, draw, log_gamma, log_marginal
from generators.crp import log_partition
from generators.format import agree, case, decimal, vectors, within
from generators.normal_gamma import NORMAL_GAMMA, Prior, Theta, posterior

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
        self.marginals: dict[tuple[int, ...], mpf] = {}
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
        clusters = [self.members(k) for k in used]
        value = -log_partition([len(members) for members in clusters], self.alpha)
        return value - fsum(map(self.log_marginal, clusters))

    def log_marginal(self, members: tuple[int, ...]) -> mpf:
        if members not in self.marginals:
            value = log_marginal(NORMAL_GAMMA, self.cluster(members), self.prior)
            self.marginals[members] = value
        return self.marginals[members]

    def members(self, k: int, without: int = -1) -> tuple[int, ...]:
        return tuple(i for i, label in enumerate(self.labels) if label == k and i != without)

    def thetas(self, members: tuple[int, ...]) -> list[Theta]:
        if members not in self.known:
            self.known[members] = posterior(self.cluster(members), self.prior)
        return self.known[members]

    def cluster(self, members: Sequence[int]) -> list[Weighted]:
        return [Weighted(self.rows[i]) for i in members]

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


def blobs(
    rng: Random, centres: Sequence[Sequence[float]], n: int, spread: float = 2.0
) -> list[list[float]]:
    """`n` rows around the centres in turn, all of them multiples of 1/4."""
    around = [centres[i % len(centres)] for i in range(n)]
    return [
        [m + e for m, e in zip(c, draw(rng, len(c), spread=spread), strict=True)] for c in around
    ]
