"""Split-merge Metropolis-Hastings moves (Jain & Neal 2004).

Two rows are drawn. If they share a cluster, its split is proposed, else the merge of their two
clusters. The paper's samplers are random splits (`n_scans` None), restricted Gibbs splits, and the
latter in turn with full sweeps, `gibbs_sweep`.
"""

from math import exp, log, log1p

from dpmlite.core.constants import N_LEADING_UNIFORMS, UNPLACED
from dpmlite.core.protocols import Values
from dpmlite.moves.division import joint_of, members_of
from dpmlite.moves.merges import merge_change
from dpmlite.moves.seeds import two_of
from dpmlite.partition.partition import Partition
from dpmlite.sweeps.gibbs import check_uniforms


def propose_split_merge(partition: Partition, n_scans: int | None, uniforms: Values) -> bool:
    """Propose to split the cluster of two random rows, or to merge their two clusters.

    The rows of these clusters, the members, are divided into two sides. The first drawn row stays
    on one side, the second on the other; a fair coin chooses the side of each other member.
    `n_scans` restricted Gibbs scans of the other members give the launch state, and one more scan
    gives the proposed split. For a merge, the scans give the probability of the split that would
    undo it.

    Parameters
    ----------
    partition : Partition
        Changed in place, if the proposal is accepted.
    n_scans : int or None
        Restricted Gibbs scans before the last. None: the coins alone make the proposal.
    uniforms : sequence of float
        Numbers of [0, 1), at least ``3 + (n_scans + 2) * n_members``, or ``3 + n_members`` if
        `n_scans` is None. ``two_of(n_rows, uniforms[0], uniforms[1])`` are the two rows, and
        ``uniforms[2]`` decides on acceptance. Then come the coins, one number for each member in
        the order of rows, and as many numbers for each scan. Further numbers are not used.

    Returns
    -------
    bool
        Whether the proposal was accepted. False if there is only one row.

    Raises
    ------
    ValueError
        If `n_scans` is negative, a row has no label, there are too few uniforms, or one that is
        used is not in [0, 1).
    """
    _check_arguments(partition, n_scans, uniforms)
    if partition.n_rows < 2:
        return False
    i, j = two_of(partition.n_rows, uniforms[0], uniforms[1])
    home, away = partition.labels[i], partition.labels[j]
    slots = [home] if home == away else [home, away]
    members = members_of(partition, slots)
    n = len(members)
    n_used = N_LEADING_UNIFORMS + n * (1 if n_scans is None else n_scans + 2)
    check_uniforms(uniforms, n_used)
    blocks = [[uniforms[b + r] for r in range(n)] for b in range(N_LEADING_UNIFORMS, n_used, n)]
    now = None if home == away else [int(partition.labels[m] == away) for m in members]
    fixed = (members.index(i), members.index(j))
    division, log_q = _divide(partition, members, fixed, blocks, now)

    # The Metropolis-Hastings ratio. The proposal of a merge has probability 1.
    if home == away:
        change = division.neg_log_joint - joint_of(partition, slots)
        log_ratio = -change - log_q
    else:
        change = merge_change(partition, home, away)
        log_ratio = -change + log_q
    if not uniforms[2] < exp(min(0.0, log_ratio)):
        return False
    if home == away:
        partition.replace(slots, members, division, change)
    else:
        partition.merge(home, away, change)
    partition.tidy()
    return True


def _check_arguments(partition: Partition, n_scans: int | None, uniforms: Values) -> None:
    if n_scans is not None and n_scans < 0:
        raise ValueError(f"n_scans must not be negative, got {n_scans}")
    if UNPLACED in list(partition.labels):
        raise ValueError("every row must have a label")
    check_uniforms(uniforms, N_LEADING_UNIFORMS)


def _divide(
    partition: Partition,
    members: list[int],
    fixed: tuple[int, int],
    blocks: list[list[float]],
    now: list[int] | None,
) -> tuple[Partition, float]:
    """A proposed division and its log probability; if `now` is given, that of `now`."""
    sides = [int(u >= 0.5) for u in blocks[0]]
    sides[fixed[0]], sides[fixed[1]] = 0, 1
    division = partition.part(members, sides)
    if len(blocks) == 1:
        return division, -(len(members) - 2) * log(2.0)
    for block in blocks[1:-1]:
        _scan(division, fixed, block)
    return division, _scan(division, fixed, blocks[-1], now)


def _scan(
    division: Partition, fixed: tuple[int, int], uniforms: Values, sides: Values | None = None
) -> float:
    """Draw the side of every row except the fixed ones, given all other rows.

    Returns the log probability of the sides drawn. If `sides` are given, these take their place.
    """
    log_q = 0.0
    for r, u in enumerate(uniforms):
        if r in fixed:
            continue
        costs, own = division.costs(r)[:2], division.labels[r]
        log_shares = [_log_share(costs[0], costs[1]), _log_share(costs[1], costs[0])]
        side = int(u >= exp(log_shares[0])) if sides is None else sides[r]
        log_q += log_shares[side]
        if side != own:
            division.move(r, side, costs[side] - costs[own])
    division.tidy()
    return log_q


def _log_share(cost: float, other: float) -> float:
    """Log of exp(-cost) / (exp(-cost) + exp(-other))."""
    gap = cost - other
    return -log1p(exp(gap)) if gap < 0.0 else -gap - log1p(exp(-gap))
