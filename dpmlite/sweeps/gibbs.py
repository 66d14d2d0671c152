"""Collapsed Gibbs sampling of labels (Neal 2000, Algorithm 3)."""

from math import exp, inf

from dpmlite.core.constants import MAX_COST_GAP, UNPLACED
from dpmlite.core.protocols import Values
from dpmlite.partition.partition import Partition


def gibbs_sweep(partition: Partition, uniforms: Values) -> int:
    """Draw a new label for every row, one row after the other, given the labels of all others.

    Row i gets slot k with probability proportional to exp(-costs[k]), `Partition.costs` of the row:
    Neal's eq. (3.7). A row without a label is placed by the same draw.

    Parameters
    ----------
    partition : Partition
        Changed in place.
    uniforms : sequence of float, length n_rows
        Uniform i, in [0, 1), chooses the label of row i.

    Returns
    -------
    int
        Number of clusters that lost their last row.

    Raises
    ------
    ValueError
        If there are not as many uniforms as rows, or one is not in [0, 1).

    Notes
    -----
    One empty slot stands for the new cluster: the row's own slot if it is alone there, else the
    lowest empty slot.
    """
    if len(uniforms) != partition.n_rows:
        raise ValueError(f"uniforms must have {partition.n_rows} values, got {len(uniforms)}")
    check_uniforms(uniforms, partition.n_rows)
    emptied, moved = partition.n_emptied, False
    for i, u in enumerate(uniforms):
        own = partition.labels[i]
        costs = _open_costs(partition, i)
        k = _draw(costs, own, u)
        if k != own:
            partition.move(i, k, costs[k] - (0.0 if own == UNPLACED else costs[own]))
            moved = True
    if moved:
        partition.tidy()
    return partition.n_emptied - emptied


def check_uniforms(uniforms: Values, n: int) -> None:
    """Raise ValueError unless there are `n` uniforms at least, the first `n` of them in [0, 1)."""
    if len(uniforms) < n:
        raise ValueError(f"uniforms must have at least {n} values, got {len(uniforms)}")
    for i in range(n):
        if not 0.0 <= uniforms[i] < 1.0:
            raise ValueError(f"uniforms must be in [0, 1), got {float(uniforms[i])}")


def _open_costs(partition: Partition, i: int) -> list[float]:
    """Costs of row `i`; infinite in empty slots, except the one that stands for a new cluster."""
    costs, own, sizes = partition.costs(i), partition.labels[i], partition.sizes
    alone = own != UNPLACED and sizes[own] == 1
    new = own if alone else sizes.index(0)
    return [
        q if n > 0 or k == new else inf for k, (q, n) in enumerate(zip(costs, sizes, strict=True))
    ]


def _draw(costs: list[float], own: int, u: float) -> int:
    """Invert the distribution function of the slots at `u`: own slot first, the others in order.

    Any order draws each slot with the same probability.
    """
    least = min(costs)
    weights = [exp(least - q) if q <= least + MAX_COST_GAP else 0.0 for q in costs]
    rest, last = u * sum(weights), own
    for k in sorted(range(len(weights)), key=lambda k: k != own):
        if weights[k] > 0.0:
            rest, last = rest - weights[k], k
        if rest < 0.0:
            break
    return last  # also if rounding has left a rest
