"""Exchanges: two neighbouring clusters are pooled, and their rows divided anew."""

from dpmlite.core.constants import MAX_PROBE_GAP, POOL_PROBES
from dpmlite.core.protocols import Values
from dpmlite.moves.division import adopt, divided, member_lists, trial_step
from dpmlite.moves.merges import nearest
from dpmlite.moves.seeds import check_n_slots, nearest_seed_labels
from dpmlite.moves.split_memory import split_memory_of
from dpmlite.partition.partition import Partition


def exchange(partition: Partition, uniforms: Values) -> int:
    """Pool each cluster with its nearest clusters, in turn, and divide each pool anew.

    The nearest clusters are those whose merge raises the joint least. A division is adopted if it
    lowers the joint; its two clusters are then in no further pool of this pass. Two clusters that
    both look normal are not pooled. Nor are two large ones between which hardly a row hesitates:
    another division would cut one of them, which is what `split` tries.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    uniforms : sequence of float, (n_slots, n_neighbours, n_proposals, 2)
        Numbers of [0, 1) that choose the seeds.

    Returns
    -------
    int
        Pools whose new division was adopted.

    Raises
    ------
    ValueError
        If `uniforms` are for another number of slots.
    """
    check_n_slots(partition, len(uniforms))
    pools = _pools(partition, uniforms)
    lists = member_lists(partition, {slot for pool in pools for slot in pool})
    near = [pool for pool in pools if _are_near(partition, pool, lists)]
    divided_slots: set[int] = set()
    for pool in near:
        if divided_slots.isdisjoint(pool) and _divide_pool(partition, pool, lists, pools[pool]):
            divided_slots.update(pool)
    if divided_slots:
        partition.tidy()
    return len(divided_slots) // 2


def _pools(partition: Partition, uniforms: Values) -> dict[tuple[int, int], Values]:
    """Pairs of neighbouring slots with the uniforms of each pair, every pair once."""
    normal = split_memory_of(partition).looked_normal
    pools: dict[tuple[int, int], Values] = {}
    for j, neighbours in nearest(partition, len(uniforms[0])).items():
        for k, seeds in zip(neighbours, uniforms[j], strict=False):
            if (k, j) not in pools and not (normal[j] and normal[k]):
                pools[j, k] = seeds
    return pools


def _are_near(partition: Partition, pool: tuple[int, int], lists: dict[int, list[int]]) -> bool:
    """Whether a pool is small, or a probed row costs about the same in both slots."""
    j, k = pool
    step = (len(lists[j]) + len(lists[k])) // POOL_PROBES
    if step <= 1:
        return True
    probes = map(partition.costs, lists[j][::step] + lists[k][::step])
    return any(abs(costs[j] - costs[k]) < MAX_PROBE_GAP for costs in probes)


def _divide_pool(
    partition: Partition, pool: tuple[int, int], lists: dict[int, list[int]], seeds: Values
) -> bool:
    """Whether the rows of two slots were divided anew."""
    members = sorted(lists[pool[0]] + lists[pool[1]])
    if len(members) < 2:
        return False
    step = trial_step(len(members), power=partition.component.power)
    starts = [nearest_seed_labels(partition, members[::step], u, v) for u, v in seeds]
    division = divided(partition, pool, members, starts, step)
    if division is not None:
        adopt(partition, pool, members, division)
    return division is not None
