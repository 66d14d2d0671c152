"""Moves that divide clusters anew, and only ever lower the joint: hill-climbing past single rows.

`split` divides one cluster, `exchange` pools two neighbours and divides the pool.
"""

from dpmlite._types import Values
from dpmlite.inference.division import divide, member_lists, trial_step, two_of
from dpmlite.inference.merging import nearest, used_slots
from dpmlite.models.partition import TIE, UNPLACED, Partition

# The parts of a cluster, least typical rows first, that `split` proposes as clusters.
ATYPICAL_PARTS = (0.5, 0.1)

# A cluster is tried again when more than this part of its rows came or went.
MUCH = 0.01


def split(partition: Partition, uniforms: Values) -> int:
    """Try to split every cluster that changed much since it was last tried.

    Proposals: two random members as seeds, each of the other members joining them one by one;
    and the least typical tenth and half of the members as a cluster of their own. Where a cluster
    has so many rows that proposals settle on some of them, what it is split into is tried in turn.

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
    for k, members in enumerate(member_lists(partition)):
        if partition.changed[k] > MUCH * len(members):
            splits += _split_slot(partition, k, members, uniforms[k])
    if splits:
        partition.tidy()
    return splits


def _split_slot(partition: Partition, k: int, members: list[int], uniforms: Values) -> int:
    if len(members) < 2:
        return 0
    trial = members[:: trial_step(len(members))]
    starts = [_seeded(u, v, len(trial)) for u, v in uniforms]
    starts += _atypical(partition, k, trial)
    if not divide(partition, [k], members, starts):
        partition.mark_unchanged(k)
        return 0
    splits = 1
    if len(trial) < len(members):
        for j in sorted({partition.labels[i] for i in members}):
            part = [i for i in members if partition.labels[i] == j]
            splits += _split_slot(partition, j, part, uniforms)
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
    exchanges, members = 0, member_lists(partition)
    untouched = set(used_slots(partition))  # by this pass
    tried: set[tuple[int, int]] = set()
    for j in sorted(untouched):
        if j not in untouched:
            continue
        for rank, k in enumerate(nearest(partition, j, len(uniforms[j]))):
            if k not in untouched or (k, j) in tried or len(members[j]) + len(members[k]) < 2:
                continue
            tried.add((j, k))
            pool = sorted(members[j] + members[k])
            n_trial = len(pool[:: trial_step(len(pool))])
            starts = [_seeded(u, v, n_trial) for u, v in uniforms[j][rank]]
            if divide(partition, [j, k], pool, starts):
                untouched -= {j, k}
                exchanges += 1
                break
    if exchanges:
        partition.tidy()
    return exchanges


def _check_uniforms(partition: Partition, uniforms: Values) -> None:
    if len(uniforms) != partition.component.n_slots:
        raise ValueError(
            f"uniforms must be given for {partition.component.n_slots} slots, got {len(uniforms)}"
        )


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
