"""Moves that divide clusters anew, and only ever lower the joint: hill-climbing past single rows.

`split` divides one cluster, `exchange` pools two neighbours and divides the pool.
"""

from collections.abc import Sequence
from math import inf

from dpmlite._types import Buffer, Values
from dpmlite.inference.division import (
    TRIAL_ROWS,
    adopt,
    divided,
    division_of_all,
    member_lists,
    trial_division,
    trial_step,
    two_of,
)
from dpmlite.inference.map_dpm import check_n_threads, sweep
from dpmlite.inference.merging import merge, nearest
from dpmlite.inference.normality import look_normal
from dpmlite.inference.prediction import assign
from dpmlite.inference.runs import best_runs
from dpmlite.models.partition import TIE, UNPLACED, Partition
from dpmlite.models.ranks import value_of_rank

# The parts of a cluster, least typical rows first, that `split` proposes as clusters.
ATYPICAL_PARTS = (0.5, 0.1)

# Thorough are trials of clusters that hold more than such a part of all rows: they may be many.
THOROUGH_PART = 1 / 16

# Thorough exchanges settle on so many times the rows, of pools up to this size: in a
# table of a million they would take a tenth of a fit.
MORE_ROWS = 2
MOST_POOLED = 16_000

# Runs are sought in so many times the rows that proposals settle on.
RUNS_OF = 4

# A cluster that is so large that it may hold many is also divided by a descent from cells around
# so many rows, of so many sweeps.
DESCENT_SEEDS = 128
DESCENT_SWEEPS = 2

# A cluster is tried again when more than this part of its rows came or went.
MUCH = 0.01

# What is left of a cluster is tried again, from other seeds, when it was split into that part of
# its rows and few others: proposals are random, and may miss where a large cluster falls into many.
NEARLY_ALL = 0.9

# Two clusters are pooled if at least this part of their rows would cost about the same, to so many
# nats, in the other of them.
HESITATING = 0.02
ABOUT = 6.0
# So many of their rows, evenly spread, are asked first: if none hesitates, too few of all will.
FIRST_ASKED = 160


def split(
    partition: Partition, uniforms: Values, n_threads: int = 1, thorough: bool = False
) -> int:
    """Try to split every cluster that changed much since it was last tried.

    One that looks normal is only marked as such: see `normality.look_normal`.

    Proposals: two members that are apart as seeds, each with the others that it predicts better
    than the other seed does; and any two, which the others join one by one. The first find clusters
    that are apart where the prior is wide, for there the first of two broad clusters that grows
    takes all; the second may find more than two. Where a cluster may hold many, a short descent
    from the cells of more rows. And the least typical tenth and half of the members as a cluster of
    their own. Where a cluster has so many rows that proposals settle on some of them, what it is
    split into is tried in turn, first by these, then by all; what is left of it counts as changed
    if it lost few rows. If trials are thorough, the best runs of the members along a column come
    before all these (`runs.best_runs`), and no cluster is asked whether it looks normal: for those
    that do not, and are to be tried again.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    uniforms : sequence of float, (n_slots, n_proposals, 2)
        Numbers of [0, 1) that choose the seeds.
    n_threads : int, default 1
        Threads that share the clusters.
    thorough : bool, default False
        Whether the best runs come first, and proposals settle on more of the rows of clusters that
        hold a large part of all.

    Returns
    -------
    int
        Clusters that were split.

    Raises
    ------
    ValueError
        If `uniforms` are for another number of slots, or `n_threads` is not positive.
    """
    _check_uniforms(partition, uniforms)
    check_n_threads(n_threads)
    lists, changed = member_lists(partition, range(len(uniforms))), partition.changed
    slots = [
        k for k, members in lists.items() if len(members) > 1 and changed[k] > MUCH * len(members)
    ]
    splits = 0
    for k in slots if thorough else _not_normal(partition, lists, slots):
        splits += _split_slot(partition, k, lists[k], uniforms[k], thorough)
    if splits:
        partition.tidy()
    return splits


def _not_normal(
    partition: Partition, lists: dict[int, list[int]], slots: Sequence[int]
) -> list[int]:
    """Those of several rows that do not look normal; the others are marked."""
    several = [k for k in slots if len(lists[k]) > 1]
    others = []
    for k, normal in zip(several, look_normal(partition, several), strict=True):
        if normal:
            partition.mark_unchanged(k, normal=True)
        else:
            others.append(k)
    return others


def _split_slot(
    partition: Partition,
    k: int,
    members: list[int],
    uniforms: Values,
    thorough: bool = False,
    in_turn: bool = False,
) -> bool:
    """Whether the slot was split."""
    asks_runs = thorough
    thorough = thorough and len(members) > THOROUGH_PART * partition.n_rows
    step = trial_step(len(members), thorough)
    run_step = step // RUNS_OF if step % RUNS_OF == 0 else 1
    runs = best_runs(partition, members[::run_step]) if asks_runs else None
    division = None
    if runs is not None:
        starts: list[Buffer] = [runs[:: step // run_step]]
        division = _division_from(partition, k, members, starts, step, uniforms, in_turn)
    if division is None:
        starts = _starts(partition, k, members[::step], uniforms, thorough)
        division = _division_from(partition, k, members, starts, step, uniforms, in_turn)
    if division is None:
        partition.mark_unchanged(k)
        return False
    _try_again(division)
    adopt(partition, [k], members, division)
    return True


def _division_from(
    partition: Partition,
    k: int,
    members: list[int],
    starts: Sequence[Buffer],
    step: int,
    uniforms: Values,
    in_turn: bool,
) -> Partition | None:
    """What the best of some starts leads to; None if to no lower joint."""
    division = _if_divided(trial_division(partition, [k], members, starts, step))
    if division is not None:
        if in_turn or step > 1:  # parts of a small cluster wait until rows have moved
            _split_parts(division, uniforms)
        division = _if_divided(division_of_all(partition, [k], members, division, step))
    if division is not None and step > 1:
        _split_parts(division, uniforms)
    return division


def _starts(
    partition: Partition, k: int, trial: list[int], uniforms: Values, thorough: bool
) -> list[Buffer]:
    """Labels that a cluster's trial may begin with; of thorough ones, those that find several."""
    starts: list[Buffer] = []
    for u, v in uniforms:
        if not thorough:
            starts.append(_cells(partition, trial, u, v))
        starts.append(_seeds(len(trial), u, v))
        if len(trial) > TRIAL_ROWS:
            starts.append(_descent(partition, trial, u))
    return starts if thorough else [*starts, *_atypical(partition, k, trial)]


def _if_divided(division: Partition | None) -> Partition | None:
    """None if it is one cluster.

    Rounding can make its joint the lower one; to split it in turn would never end.
    """
    return division if division is not None and division.n_clusters > 1 else None


def _try_again(division: Partition) -> None:
    """What is left of a cluster that lost few rows counts as changed, unless it looks normal."""
    for k, part in member_lists(division, range(division.component.n_slots)).items():
        if len(part) > NEARLY_ALL * division.n_rows and not division.normal[k]:
            division.mark_changed(k)


def _split_parts(division: Partition, uniforms: Values) -> None:
    """Try to split what a slot was split into."""
    parts = member_lists(division, range(division.component.n_slots))
    for k in _not_normal(division, parts, list(parts)):
        _split_slot(division, k, parts[k], uniforms, in_turn=True)


def exchange(
    partition: Partition, uniforms: Values, n_threads: int = 1, thorough: bool = False
) -> int:
    """Pool each cluster with the clusters nearest to it, in turn, and divide the pools anew.

    Nearest are those whose merge would raise the joint least. A cluster that took part in a
    kept exchange is left alone for the rest of the pass. So are two between which hardly a row
    hesitates: any other division of their pool would have to cut one of them, which is what `split`
    tries. And two that both looked normal when `split` tried them.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    uniforms : sequence of float, (n_slots, n_neighbours, n_proposals, 2)
        Numbers of [0, 1) that choose the seeds.
    n_threads : int, default 1
        Threads that share the pools.
    thorough : bool, default False
        Settle on more rows of the pools of which proposals settle on a part, and leave out others:
        under a wide prior a part of the rows may not tell what all do.

    Returns
    -------
    int
        Pools that were divided in a better way.

    Raises
    ------
    ValueError
        If `uniforms` are for another number of slots, or `n_threads` is not positive.
    """
    _check_uniforms(partition, uniforms)
    check_n_threads(n_threads)
    pairs = _neighbours(partition, uniforms)
    lists = member_lists(partition, {slot for pair in pairs for slot in pair})
    touched: set[int] = set()
    exchanges = 0
    for (j, k), seeds in pairs.items():
        members = sorted(lists[j] + lists[k])
        if {j, k} & touched or len(members) < 2:
            continue
        step = _pool_step(len(members), thorough)
        if thorough and step == trial_step(len(members)):
            continue
        if not _hesitate(partition, lists[j], lists[k], j, k):
            continue
        starts = [_cells(partition, members[::step], u, v) for u, v in seeds]
        division = divided(partition, [j, k], members, starts, step)
        if division is not None:
            adopt(partition, [j, k], members, division)
            touched |= {j, k}
            exchanges += 1
    if exchanges:
        partition.tidy()
    return exchanges


def _pool_step(n: int, thorough: bool) -> int:
    """Of a pool of n rows, an exchange settles on every so many-th."""
    return trial_step(-(-n // MORE_ROWS) if thorough and n <= MOST_POOLED else n)


def _hesitate(partition: Partition, first: list[int], second: list[int], j: int, k: int) -> bool:
    """Whether enough rows do between two slots with these rows; some tell."""
    n = len(first) + len(second)
    few, most = n // FIRST_ASKED, trial_step(n)
    if few > most and _part_hesitating(partition, first, second, j, k, few) == 0.0:
        return False
    return _part_hesitating(partition, first, second, j, k, most) >= HESITATING


def _part_hesitating(
    partition: Partition, first: list[int], second: list[int], j: int, k: int, step: int
) -> float:
    """The part of every `step`-th row of two slots that hesitates."""
    some = first[::step] + second[::step]
    return n_indifferent(partition, some, j, k, ABOUT) / len(some)


def n_indifferent(
    partition: Partition, members: Sequence[int], j: int, k: int, within: float
) -> int:
    """How many rows of two slots would cost about the same in the other of them.

    Parameters
    ----------
    partition : Partition
    members : sequence of int
        Rows of slots `j` and `k`.
    j, k : int
    within : float
        About the same: to so many nats.

    Returns
    -------
    int
    """
    costs = [partition.costs(i) for i in members]
    return sum(abs(cost[j] - cost[k]) < within for cost in costs)


def _neighbours(partition: Partition, uniforms: Values) -> dict[tuple[int, int], Values]:
    """Pairs of slots that are near each other, every pair once, and their uniforms.

    Without those that both look normal.
    """
    pairs: dict[tuple[int, int], Values] = {}
    for j, others in nearest(partition, len(uniforms[0])).items():
        for k, seeds in zip(others, uniforms[j], strict=False):
            if (k, j) not in pairs and not (partition.normal[j] and partition.normal[k]):
                pairs[j, k] = seeds
    return pairs


def _check_uniforms(partition: Partition, uniforms: Values) -> None:
    if len(uniforms) != partition.component.n_slots:
        raise ValueError(
            f"uniforms must be given for {partition.component.n_slots} slots, got {len(uniforms)}"
        )


def _cells(partition: Partition, members: list[int], u: float, v: float) -> list[int]:
    """Labels with two rows apart in clusters 0 and 1, the others with what predicts them better."""
    first, any_other = two_of(len(members), u, v)
    one = partition.scores_with(members[first], members)
    weights = [partition.weight(i) for i in members]
    second = _one_apart(one, weights, first, v, any_other)
    other = partition.scores_with(members[second], members)
    labels = [int(theirs > ours + TIE) for ours, theirs in zip(one, other, strict=True)]
    labels[first], labels[second] = 0, 1
    return labels


def _one_apart(
    scores: list[float], weights: list[float], first: int, v: float, if_none: int
) -> int:
    """A row that `v` chooses, each with the chance of what it is predicted worse than the best.

    All its equal rows together, as k-means++ does (Arthur & Vassilvitskii 2007): of two clusters
    that are apart, it is mostly in the one that `first` is not in.
    """
    best = max(scores)
    worse = [w * (best - score) for score, w in zip(scores, weights, strict=True)]
    worse[first] = 0.0
    total = sum(worse)
    if not 0.0 < total < inf:
        return if_none
    total *= v
    candidates = [i for i, each in enumerate(worse) if each > 0.0]
    for i in candidates:
        total -= worse[i]
        if total < 0.0:
            return i
    return candidates[-1]


def _seeds(n: int, u: float, v: float) -> list[int]:
    """Labels with two random rows in clusters 0 and 1, which the others are to join one by one."""
    labels = [UNPLACED] * n
    first, second = two_of(n, u, v)
    labels[first], labels[second] = 0, 1
    return labels


def _descent(partition: Partition, members: list[int], u: float) -> Buffer:
    """Labels that a short descent ends with, from the cells around some rows, evenly spread."""
    n = len(members)
    seeds = [int((u + i / DESCENT_SEEDS) % 1.0 * n) for i in range(DESCENT_SEEDS)]
    alone = partition.part([members[i] for i in seeds], list(range(DESCENT_SEEDS)))
    labels = [UNPLACED] * n
    rows = partition.rows_of(members)
    assign(partition.X, alone.component, partition.alpha, labels, rows=rows)
    for i, k in zip(seeds, alone.labels, strict=True):
        labels[i] = k
    descent = partition.part(members, labels)
    merge(descent)
    for _ in range(DESCENT_SWEEPS):
        sweep(descent)
        merge(descent)
    return descent.labels


def _atypical(partition: Partition, k: int, members: list[int]) -> list[list[int]]:
    """Labels with the least typical rows of a cluster in cluster 1, one for each part."""
    typical = [partition.per_copy(i, -partition.costs(i)[k]) for i in members]
    cuts = [value_of_rank(typical, int(part * len(members))) + TIE for part in ATYPICAL_PARTS]
    return [[int(score <= cut) for score in typical] for cut in cuts]
