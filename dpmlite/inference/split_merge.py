"""Moves of whole clusters that only ever lower the joint: hill-climbing past single-row moves.

`merge` joins pairs of clusters, `split` divides one, `exchange` pools two neighbours and divides
the pool anew. A division is MAP-DPM itself, run on the rows of the pool from a proposed start;
the best of several is kept if the exact joint falls.
"""

from collections.abc import Sequence
from math import log

from dpmlite._types import Buffer, Values
from dpmlite.inference.map_dpm import converge
from dpmlite.models.crp import log_prob_counts
from dpmlite.models.partition import TIE, UNPLACED, Partition
from dpmlite.models.special import log_gamma

# Sweeps that a proposed division gets to settle.
SETTLE_SWEEPS = 10

# The parts of a cluster, least typical rows first, that `split` proposes as clusters.
ATYPICAL_PARTS = (0.5, 0.1)

# Proposals settle on so many rows of a cluster at most, evenly spread; the best of them is then
# settled on all rows.
TRIAL_ROWS = 1000


def merge(partition: Partition) -> int:
    """Merge the pair of clusters that lowers the joint most, until no merge lowers it.

    Parameters
    ----------
    partition : Partition
        Changed in place.

    Returns
    -------
    int
        Merges done.
    """
    merges = 0
    while True:
        used = _used(partition)
        pairs = [(merge_change(partition, j, k), j, k) for j in used for k in used if j < k]
        best = min((change for change, _, _ in pairs), default=0.0)
        if not best < -partition.least_gain:
            break
        change, j, k = next(pair for pair in pairs if pair[0] <= best + TIE)
        partition.merge(j, k, change)
        merges += 1
    if merges:
        partition.tidy()
    return merges


def merge_change(partition: Partition, j: int, k: int) -> float:
    """What a merge of the clusters in slots `j` and `k` adds to the joint.

    Parameters
    ----------
    partition : Partition
    j, k : int
        Different slots that hold rows.

    Returns
    -------
    float
        The change of eq. (1) and of the marginals; below 0 if the merge lowers the joint.

    Raises
    ------
    ValueError
        If the slots are the same, or one is empty.
    """
    component = partition.component
    nj, nk = component.counts[j], component.counts[k]
    if j == k or nj == 0.0 or nk == 0.0:
        raise ValueError(f"slots must be different and hold rows, got {j} and {k}")
    prior = log_gamma(nj + nk) - log_gamma(nj) - log_gamma(nk) - log(partition.alpha)
    apart = component.log_marginal(j) + component.log_marginal(k)
    return apart - component.log_marginal_merged(j, k) - prior


def split(partition: Partition, uniforms: Values) -> int:
    """Try to split every cluster that changed since it was last tried.

    Proposals: two random members as seeds, each of the other members joining them one by one;
    and the least typical tenth and half of the members as a cluster of their own.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    uniforms : sequence of float, (n_slots, n_proposals, 2)
        Numbers of [0, 1) that choose the seeds.

    Returns
    -------
    int
        Clusters that were split.

    Raises
    ------
    ValueError
        If `uniforms` are for another number of slots.
    """
    _check_uniforms(partition, uniforms)
    splits = 0
    for k in range(partition.component.n_slots):
        if partition.changed[k] and partition.sizes[k] > 1:
            members = members_of(partition, [k])
            trial = members[:: _step(len(members))]
            starts = [_seeded(u, v, len(trial)) for u, v in uniforms[k]]
            starts += _atypical(partition, k, trial)
            if _divide(partition, [k], members, starts):
                splits += 1
            else:
                partition.mark_unchanged(k)
    if splits:
        partition.tidy()
    return splits


def exchange(partition: Partition, uniforms: Values) -> int:
    """Pool each cluster with the clusters nearest to it, in turn, and divide the pools anew.

    Nearest are those whose merge would raise the joint least. A cluster that took part in a
    kept exchange is left alone for the rest of the pass.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    uniforms : sequence of float, (n_slots, n_neighbours, n_proposals, 2)
        Numbers of [0, 1) that choose the seeds.

    Returns
    -------
    int
        Pools that were divided in a better way.

    Raises
    ------
    ValueError
        If `uniforms` are for another number of slots.
    """
    _check_uniforms(partition, uniforms)
    exchanges, done = 0, set()
    tried: set[tuple[int, int]] = set()
    for j in _used(partition):
        if j in done:
            continue
        for rank, k in enumerate(_neighbours(partition, j, len(uniforms[j]))):
            if k in done or (k, j) in tried:
                continue
            tried.add((j, k))
            members = members_of(partition, [j, k])
            n_trial = len(members[:: _step(len(members))])
            starts = [_seeded(u, v, n_trial) for u, v in uniforms[j][rank]]
            if _divide(partition, [j, k], members, starts):
                done |= {j, k}
                exchanges += 1
                break
    if exchanges:
        partition.tidy()
    return exchanges


def members_of(partition: Partition, slots: Sequence[int]) -> list[int]:
    """Positions of the rows in one slot or two, in ascending order."""
    for k in slots:
        partition.component._check_slot(k)
    return [i for i, k in enumerate(partition.labels) if k in slots]


def joint_of(partition: Partition, slots: Sequence[int]) -> float:
    """The joint of the rows in some slots as they are divided now, as if there were no others."""
    for k in slots:
        partition.component._check_slot(k)
    counts = [partition.component.counts[k] for k in slots]
    log_marginals = [partition.component.log_marginal(k) for k in slots]
    return -log_prob_counts(counts, partition.alpha) - sum(log_marginals)


def two_of(n: int, u: float, v: float) -> tuple[int, int]:
    """Two different numbers of 0..n-1, chosen by two uniforms."""
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    if not (0.0 <= u < 1.0 and 0.0 <= v < 1.0):
        raise ValueError(f"uniforms must be in [0, 1), got {float(u)} and {float(v)}")
    first, second = int(u * n), int(v * (n - 1))
    return first, second + (second >= first)


def _check_uniforms(partition: Partition, uniforms: Values) -> None:
    if len(uniforms) != partition.component.n_slots:
        raise ValueError(
            f"uniforms must be given for {partition.component.n_slots} slots, got {len(uniforms)}"
        )


def _divide(
    partition: Partition, slots: list[int], members: list[int], starts: Sequence[Buffer]
) -> bool:
    """Divide the rows of some slots anew from the best of several starts, if that is better.

    The starts are labels of every `_step`-th member.
    """
    step = _step(len(members))
    best = None
    for labels in starts:
        division = _settled(partition, members[::step], labels)
        if best is None or division.neg_log_joint < best.neg_log_joint - TIE:
            best = division
    if best is None:
        return False
    if step > 1:
        everyone = [UNPLACED] * len(members)
        everyone[::step] = list(best.labels)
        best = _settled(partition, members, everyone)
    change = best.neg_log_joint - joint_of(partition, slots)
    if not change < -partition.least_gain:
        return False
    partition.replace(slots, members, best, change)
    return True


def _step(n: int) -> int:
    return -(-n // TRIAL_ROWS)


def _settled(partition: Partition, members: list[int], labels: Buffer) -> Partition:
    division = partition.part(members, labels)
    converge(division, SETTLE_SWEEPS)
    return division


def _seeded(u: float, v: float, n: int) -> list[int]:
    """Labels with two random rows in clusters 0 and 1 and the others unplaced."""
    labels = [UNPLACED] * n
    first, second = two_of(n, u, v)
    labels[first], labels[second] = 0, 1
    return labels


def _atypical(partition: Partition, k: int, members: list[int]) -> list[list[int]]:
    """Labels with the least typical rows of a cluster in cluster 1, one for each part."""
    typical = [-partition.costs(i)[k] for i in members]
    ranked = sorted(typical)
    cuts = [ranked[int(part * len(members))] + TIE for part in ATYPICAL_PARTS]
    return [[int(score <= cut) for score in typical] for cut in cuts]


def _neighbours(partition: Partition, j: int, n_neighbours: int) -> list[int]:
    """Up to so many slots whose merge with slot `j` is best for the joint, the best first."""
    changes = {k: merge_change(partition, j, k) for k in _used(partition) if k != j}
    nearest: list[int] = []
    while changes and len(nearest) < n_neighbours:
        least = min(changes.values())
        nearest.append(next(k for k, change in changes.items() if change <= least + TIE))
        del changes[nearest[-1]]
    return nearest


def _used(partition: Partition) -> list[int]:
    return [k for k, n in enumerate(partition.component.counts) if n > 0.0]
