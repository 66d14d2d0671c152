"""The Chinese restaurant process."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from mpmath import fsum, log, loggamma, mpf

from generators.format import agree, case, decimal, vectors, within

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
