"""The first sweep from one cluster, without the reinforcement that keeps rows in it.

From one cluster of all N rows, Algorithm 1 of Raykov, Boukouvalas & Little (2014) seldom leaves it:
it weighs N rows, a new cluster alpha. The program of these authors counts it as one row in the
first sweep, a rule that the paper does not print.
"""

from dpmlite.core.constants import TIE, UNPLACED
from dpmlite.core.special import log_rising
from dpmlite.partition.partition import Partition


def unreinforced_sweep(partition: Partition) -> int:
    """Visit every row of a single cluster once; in the prior, this cluster counts as one row.

    A row leaves for the cluster that is best by eq. (15), if that is better than to stay with the
    weight of one row. Clusters that rows have left for count as always. So the joint may rise.

    Parameters
    ----------
    partition : Partition
        All rows in one cluster. Changed in place.

    Returns
    -------
    int
        Rows that moved.

    Raises
    ------
    ValueError
        If there is not exactly one cluster, or a row is in none.
    """
    if partition.n_clusters != 1 or UNPLACED in partition.labels:
        raise ValueError(
            f"all rows must be in one cluster, got {partition.n_clusters} clusters and "
            f"{list(partition.labels).count(UNPLACED)} rows without one"
        )
    moves = 0
    for i in range(partition.n_rows):
        costs = partition.costs(i)
        stay = costs[0] + _reinforcement(partition, i)
        best = min(costs[1:])
        if best < stay - TIE:
            k = next(k for k, q in enumerate(costs) if k and q <= best + TIE)
            partition.move(i, k, costs[k] - costs[0])
            moves += 1
    partition.tidy()
    return moves


def _reinforcement(partition: Partition, i: int) -> float:
    """What the initial cluster weighs beyond a cluster of one row, for row `i`; 0 if it is alone.

    Weights are logs, as of `Partition.costs`.
    """
    power = partition.component.power
    if partition.sizes[0] == 1:
        return 0.0
    one = log_rising(power - partition.discount, power * partition.weight(i)) / power
    return partition.member_log_weight(i) - one
