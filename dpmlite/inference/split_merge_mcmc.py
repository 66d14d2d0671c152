"""Split-merge Metropolis-Hastings moves (Jain & Neal 2004).

Two rows are drawn. If they share a cluster a split of it is proposed, else the merge of their
two. Their paper's samplers are made of these: random splits (`n_scans` None), restricted Gibbs
splits, and the latter in turn with full sweeps, `gibbs_sweep`.
"""

from math import exp, log, log1p

from dpmlite._types import Values
from dpmlite.inference.division import joint_of, members_of, two_of
from dpmlite.inference.gibbs import check_uniforms
from dpmlite.inference.merging import merge_change
from dpmlite.models.partition import UNPLACED, Partition

# Uniforms for the two rows and for the acceptance; those for the proposal come after them.
N_LEADING = 3


def propose_split_merge(partition: Partition, n_scans: int | None, uniforms: Values) -> bool:
    """Propose to split the cluster of two random rows, or to merge their two clusters.

    The rows of these clusters, the members, are divided into two sides: the first drawn row stays
    on one, the second on the other, fair coins put the others to either. `n_scans` restricted
    Gibbs scans of the others then give the launch state, and one more scan the proposed split. Of
    a merge the same is done, to know how probable it is that the last scan would undo it.

    Parameters
    ----------
    partition : Partition
        Changed in place, if the proposal is accepted.
    n_scans : int or None
        Restricted Gibbs scans before the last. None: the coins are the proposal, without scans.
    uniforms : sequence of float
        Numbers of [0, 1), at least ``3 + (n_scans + 2) * n_members``, or ``3 + n_members`` if
        `n_scans` is None. ``two_of(n_rows, uniforms[0], uniforms[1])`` are the two rows,
        ``uniforms[2]`` decides about acceptance, then come one number a member, in the order of
        rows, for the coins and as many for each scan. What is left over is not used.

    Returns
    -------
    bool
        Whether it was accepted. False if there is but one row.

    Raises
    ------
    ValueError
        If `n_scans` is negative, a row has no label, there are too few uniforms, or one that is
        used is not in [0, 1).
    """
    if n_scans is not None and n_scans < 0:
        raise ValueError(f"n_scans must not be negative, got {n_scans}")
    if UNPLACED in list(partition.labels):
        raise ValueError("every row must have a label")
    check_uniforms(uniforms, N_LEADING)
    if partition.n_rows < 2:
        return False
    i, j = two_of(partition.n_rows, uniforms[0], uniforms[1])
    home, away = partition.labels[i], partition.labels[j]
    slots = [home] if home == away else [home, away]
    members = members_of(partition, slots)
    n = len(members)
    n_used = N_LEADING + n * (1 if n_scans is None else n_scans + 2)
    check_uniforms(uniforms, n_used)
    blocks = [[uniforms[b + r] for r in range(n)] for b in range(N_LEADING, n_used, n)]
    now = None if home == away else [int(partition.labels[m] == away) for m in members]
    fixed = (members.index(i), members.index(j))
    division, log_q = _divide(partition, members, fixed, blocks, now)

    # The Metropolis-Hastings ratio. Two rows in two clusters propose their merge for certain.
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


def _divide(
    partition: Partition,
    members: list[int],
    fixed: tuple[int, int],
    blocks: list[list[float]],
    now: list[int] | None,
) -> tuple[Partition, float]:
    """A proposed division and its log probability, that of the division `now` if there is one."""
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
    """Draw the side of every row but the fixed ones anew, given all others.

    Returns the log probability of what was drawn. If `sides` are given, they are what is drawn.
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
