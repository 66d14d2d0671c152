"""Splits: the rows of one cluster are divided anew."""

from collections.abc import Sequence

from dpmlite.core.constants import (
    ATYPICAL_FRACTIONS,
    JOINING_PROBE_STEP,
    MAX_FOUNDING_FRACTION,
    MIN_CHANGED_FRACTION,
    MIN_JOINING_PROBES,
    MIN_THOROUGH_FRACTION,
    TIE,
    UNPLACED,
)
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.quickselect import value_of_rank
from dpmlite.moves.division import (
    adopt,
    division_of_all,
    member_lists,
    trial_division,
    trial_step,
)
from dpmlite.moves.normality import look_normal
from dpmlite.moves.runs import best_runs
from dpmlite.moves.seeds import check_n_slots, lone_seed_labels, nearest_seed_labels
from dpmlite.moves.split_memory import split_memory_of
from dpmlite.partition.partition import Partition
from dpmlite.sweeps.map_dpm import sweep


def split(partition: Partition, uniforms: Values, thorough: bool = False) -> int:
    """Try to split every cluster that has changed since it was last tried.

    A cluster that looks normal is only marked as such (`normality.look_normal`). Divisions start
    from two random seeds, and from the least typical rows of the cluster against the others. Rows
    join the seed that predicts them better, which finds separate clusters under a wide prior; and
    they join one by one, which may find more than two clusters. The best division is adopted if it
    lowers the joint. If it was found on a part of the rows, its parts are split in turn.

    A thorough split tries the best runs of rows along a column first (`runs.best_runs`). Then rows
    of a large cluster join two seeds one by one, and these starts are compared on more rows, unless
    nearly each row would found a cluster.
    Clusters are not asked whether they look normal: a thorough split is for those that do not, and
    that other splits have left whole.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    uniforms : sequence of float, (n_slots, n_proposals, 2)
        Numbers of [0, 1) that choose the seeds.
    thorough : bool, default False
        Whether splits are thorough.

    Returns
    -------
    int
        Clusters that were split.

    Raises
    ------
    ValueError
        If `uniforms` are for another number of slots.
    """
    check_n_slots(partition, len(uniforms))
    lists = member_lists(partition, range(len(uniforms)))
    slots = [k for k, members in lists.items() if _has_changed(partition, k, len(members))]
    if not thorough:
        slots = _not_normal(partition, slots)
    n_splits = 0
    for k in slots:
        n_splits += _split_slot(partition, k, lists[k], uniforms[k], thorough)
    if n_splits:
        partition.tidy()
    return n_splits


def _has_changed(partition: Partition, k: int, n_members: int) -> bool:
    """Whether enough of a slot's rows have come or gone since it was last tried."""
    n_changed = split_memory_of(partition).n_changed[k]
    return n_members > 1 and n_changed > MIN_CHANGED_FRACTION * n_members


def _not_normal(partition: Partition, slots: Sequence[int]) -> list[int]:
    """The slots that do not look normal; the others are marked as normal."""
    others = []
    for k, normal in zip(slots, look_normal(partition, slots), strict=True):
        if normal:
            split_memory_of(partition).mark_tried(k, looked_normal=True)
        else:
            others.append(k)
    return others


def _split_slot(
    partition: Partition,
    k: int,
    members: list[int],
    uniforms: Values,
    thorough: bool = False,
    is_part: bool = False,
) -> bool:
    """Whether a slot was split. It may be a part of a cluster that is being split."""
    on_more_rows = thorough and len(members) > MIN_THOROUGH_FRACTION * partition.n_rows
    step = trial_step(len(members), on_more_rows, partition.component.power)
    trial = members[::step]
    division = None
    runs = best_runs(partition, trial, step) if thorough else None
    if runs is not None:
        division = _division_from([runs], partition, k, members, step, uniforms, is_part)
    if division is None:
        starts = _starts(partition, k, trial, step, uniforms, only_lone_seeds=on_more_rows)
        division = _division_from(starts, partition, k, members, step, uniforms, is_part)
    if division is None:
        split_memory_of(partition).mark_tried(k)
        return False
    adopt(partition, [k], members, division)
    return True


def _starts(
    partition: Partition,
    k: int,
    trial: list[int],
    step: int,
    uniforms: Values,
    only_lone_seeds: bool,
) -> list[Buffer]:
    """Labels of a slot's rows from which their divisions start."""
    if only_lone_seeds and _rows_found_clusters(partition, trial, step):
        return []
    lone: list[Buffer] = [lone_seed_labels(len(trial), u, v) for u, v in uniforms]
    if only_lone_seeds:
        return lone
    nearest = [nearest_seed_labels(partition, trial, u, v) for u, v in uniforms]
    return [*nearest, *lone, *_atypical_labels(partition, k, trial)]


def _rows_found_clusters(partition: Partition, trial: list[int], step: int) -> bool:
    """Whether rows of a trial that join one by one would found a cluster each, nearly all."""
    probes = trial[::JOINING_PROBE_STEP]
    if len(probes) < MIN_JOINING_PROBES:
        return False
    joining = partition.part(probes, [UNPLACED] * len(probes), (), step)
    sweep(joining)
    return joining.n_clusters > MAX_FOUNDING_FRACTION * len(probes)


def _atypical_labels(partition: Partition, k: int, members: list[int]) -> list[list[int]]:
    """Labels with the least typical rows of a slot in cluster 1, for each of some fractions.

    A row's typicality is its score in the slot without itself.
    """
    typical = [partition.per_copy(i, -partition.costs(i)[k]) for i in members]
    ranks = [int(fraction * len(members)) for fraction in ATYPICAL_FRACTIONS]
    cuts = [value_of_rank(typical, rank) + TIE for rank in ranks]
    return [[int(score <= cut) for score in typical] for cut in cuts]


def _division_from(
    starts: Sequence[Buffer],
    partition: Partition,
    k: int,
    members: list[int],
    step: int,
    uniforms: Values,
    is_part: bool,
) -> Partition | None:
    """The best division that any of the starts leads to; None if none lowers the joint."""
    division = _if_divided(trial_division(partition, [k], members, starts, step))
    if division is None:
        return None
    if is_part or step > 1:  # parts of a small cluster wait until rows have moved
        _split_parts(division, uniforms)
    division = _if_divided(division_of_all(partition, [k], members, division, step))
    if division is not None and step > 1:
        _split_parts(division, uniforms)
    return division


def _if_divided(division: Partition | None) -> Partition | None:
    """The division; None if it has one cluster, whose joint only rounding made lower."""
    return division if division is not None and division.n_clusters > 1 else None


def _split_parts(division: Partition, uniforms: Values) -> None:
    """Try to split each part of a division."""
    lists = member_lists(division, range(division.component.n_slots))
    slots = [k for k, members in lists.items() if len(members) > 1]
    for k in _not_normal(division, slots):
        _split_slot(division, k, lists[k], uniforms, is_part=True)
