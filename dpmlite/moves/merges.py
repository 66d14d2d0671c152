"""Merges: two clusters become one, while that lowers the joint."""

from math import log

from dpmlite.core.constants import TIE
from dpmlite.core.special import log_gamma
from dpmlite.partition.partition import Partition


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
        used = used_slots(partition)
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
    """The change of the joint by a merge of the clusters in slots `j` and `k`.

    Parameters
    ----------
    partition : Partition
    j, k : int
        Different slots that hold rows.

    Returns
    -------
    float
        Nats: the change of the prior, eq. (1), and of the marginals. Negative if the merge helps.

    Raises
    ------
    ValueError
        If the slots are the same, or one is empty.
    """
    component = partition.component
    nj, nk = component.counts[j], component.counts[k]
    if j == k or nj == 0.0 or nk == 0.0:
        raise ValueError(f"slots must be different and hold rows, got {j} and {k}")
    power, d = component.power, partition.discount
    prior = log_gamma(power * (nj + nk) - d) - log_gamma(power * nj - d) - log_gamma(power * nk - d)
    prior = (prior - _log_founding(partition)) / power
    apart = component.log_marginal(j) + component.log_marginal(k)
    return apart - component.log_marginal_merged(j, k) - prior


def _log_founding(partition: Partition) -> float:
    """Log of what the last of the clusters adds to eq. (1) besides log Gamma(n - discount)."""
    power, discount = partition.component.power, partition.discount
    log_new = log(partition.alpha * power + (partition.n_clusters - 1) * discount)
    return log_new - log_gamma(1.0 - discount) if discount > 0.0 else log_new


def nearest(partition: Partition, n_nearest: int) -> dict[int, list[int]]:
    """For each slot in use, at most `n_nearest` others by the change of a merge, least first."""
    used = used_slots(partition)
    return {
        j: _first_of_best({k: merge_change(partition, j, k) for k in used if k != j}, n_nearest)
        for j in used
    }


def _first_of_best(changes: dict[int, float], n: int) -> list[int]:
    """The `n` slots with the least changes, ascending; of equal changes the first slot."""
    found: list[int] = []
    while changes and len(found) < n:
        least = min(changes.values())
        found.append(next(k for k, change in changes.items() if change <= least + TIE))
        del changes[found[-1]]
    return found


def used_slots(partition: Partition) -> list[int]:
    """The slots of clusters, ascending."""
    return [k for k, n in enumerate(partition.component.counts) if n > 0.0]
