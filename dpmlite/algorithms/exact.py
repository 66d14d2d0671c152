"""Exact inference for a few rows: sums over all partitions (Xu, Heller & Ghahramani 2009, eq. 5).

The joint of data and partition is a product over blocks, f(B) = alpha Gamma(n_B) p(x_B | theta_0).
So the block that holds the first row of a set can be split off, which leaves a smaller set:

    Z(S) = sum over blocks B of S with its first row of f(B) Z(S - B),   Z({}) = 1.

Every partition is counted exactly once, in 3^N / 2 steps: 265,720 for the 4,213,597 partitions of
12 rows. The recursion with a maximum in place of the sum gives the most probable partition.

With a discount d, f(B) = alpha Gamma(n_B - d) / Gamma(1 - d) p(x_B | theta_0), and block j + 1 in
the order of first rows has the factor 1 + j d / alpha, the log of which is its gain. So sums depend
on how many blocks were split off before: Z_j(S) is a sum of (1 + j d / alpha) f(B) Z_{j+1}(S - B).

Sets of rows are numbers: row i of N is bit N - 1 - i, so a set's first row is its highest bit.
"""

from collections.abc import Iterator
from math import exp, log, log1p

from dpmlite.core.checks import check_discount, check_least_weight
from dpmlite.core.constants import MAX_EXACT_ROWS, TIE
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.core.special import log_gamma, log_rising
from dpmlite.families.component import Component


def sum_over_partitions(
    X: Rows | Values,
    component: Component,
    alpha: float,
    labels: Buffer,
    n_clusters_proba: Buffer,
    co_clustering: Values,
    discount: float = 0.0,
) -> tuple[float, float]:
    """Compute the posterior of the partitions of a few rows, by exact sums.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        From 1 to 13 rows. A row of weight w stands for w equal rows that share a label; partitions
        that separate these are not in the sums.
    component : Component
        The family and its prior; whatever it holds is replaced.
    alpha : float
        Concentration of the Dirichlet process.
    labels : mutable sequence of int, length N
        OUT: the most probable partition, numbered in the order in which clusters appear. Among
        partitions closer than 1e-8 nats, the first row gets the cluster with the earliest rows,
        then the first row that is left does, and so on.
    n_clusters_proba : mutable sequence of float, length N
        OUT: P(K = 1 | x), ..., P(K = N | x).
    co_clustering : sequence of mutable sequences of float, (N, N)
        OUT: P(z_i = z_j | x).
    discount : float, default 0.0
        Discount of the Pitman-Yor process.

    Returns
    -------
    log_evidence : float
        log p(x | alpha, theta_0), eq. (5) of Xu, Heller & Ghahramani (2009), in nats.
    neg_log_joint : float
        -log p(x, z) of `labels`, every constant included.

    Raises
    ------
    ValueError
        If there is no row or more than 13, rows have the wrong width, `alpha` is not positive,
        `discount` is out of range or not below the weight of every row, or an output has the wrong
        shape.
    """
    rows = as_rows(X)
    n = len(rows)
    if not 1 <= n <= MAX_EXACT_ROWS:
        raise ValueError(f"X must have from 1 to {MAX_EXACT_ROWS} rows, got {n}")
    component._check_rows(rows)
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {float(alpha)}")
    check_discount(discount)
    check_least_weight(discount, min(rows.weight(i) for i in range(n)))
    _check_shapes(n, labels, n_clusters_proba, co_clustering)
    log_f = _log_blocks(rows, component, alpha, discount)
    gains = [log1p(j * discount / alpha) for j in range(n if discount > 0.0 else 1)]
    log_z, proba = _sums(log_f, n, gains)
    for k in range(n):
        n_clusters_proba[k] = proba[0][-1][k + 1]
    _co_cluster(log_f, log_z, co_clustering)
    log_best = _best_partition(log_f, gains, labels)
    log_denominator = log_rising(alpha, sum(rows.weight(i) for i in range(n)))  # of eq. (5)
    return log_z[0][-1] - log_denominator, log_denominator - log_best


def _log_blocks(rows: Rows, component: Component, alpha: float, discount: float) -> list[float]:
    """Log f of every set of rows.

    Sets are visited in the order of their numbers. For each bit j of the present number, slot j
    holds the rows of bit j and of all higher bits; only the slot of the lowest bit has changed.
    """
    n = len(rows)
    of_one = log_gamma(1.0 - discount) if discount > 0.0 else 0.0
    component.resize(0)
    component.resize(n)
    log_f = [0.0]
    for block in range(1, 2**n):
        low, others = _lowest_bit(block), block & (block - 1)
        if others:
            component.copy(low, component, _lowest_bit(others))
        else:
            component.clear(low)
        component.add(rows.values(n - 1 - low), low, rows.weight(n - 1 - low))
        prior = log(alpha) + log_gamma(component.counts[low] - discount) - of_one
        log_f.append(prior + component.log_marginal(low))
    return log_f


def _sums(
    log_f: list[float], n: int, gains: list[float]
) -> tuple[list[list[float]], list[list[list[float]]]]:
    """Log Z_j of every set of rows, and the probabilities that it has 0, 1, ..., N blocks."""
    log_z = [[0.0] * len(log_f) for _ in gains]
    proba = [[[1.0] + [0.0] * n for _ in log_f] for _ in gains]
    for j, after, gain in _levels(gains):
        for rows in _sets(log_f, n - j):
            blocks = list(_first_blocks(rows))
            terms = [gain + log_f[block] + log_z[after][left] for block, left in blocks]
            most = max(terms)
            log_z[j][rows] = most + log(sum(exp(term - most) for term in terms))
            proba[j][rows] = [0.0] * (n + 1)
            for term, (_, left) in zip(terms, blocks, strict=True):
                part = exp(term - log_z[j][rows])
                for k in range(n):
                    proba[j][rows][k + 1] += part * proba[after][left][k]
    return log_z, proba


def _co_cluster(log_f: list[float], log_z: list[list[float]], co_clustering: Values) -> None:
    """P(z_i = z_j | x): f(B) Z_1(other rows) / Z(all), summed over blocks B that hold both rows."""
    n, everyone = len(co_clustering), len(log_f) - 1
    after = log_z[min(1, len(log_z) - 1)]
    for i in range(n):
        for j in range(n):
            co_clustering[i][j] = 0.0
    for block in range(1, everyone + 1):
        p = exp(log_f[block] + after[everyone ^ block] - log_z[0][everyone])
        members = [i for i in range(n) if block >> (n - 1 - i) & 1]
        for i in members:
            for j in members:
                co_clustering[i][j] += p


def _best_partition(log_f: list[float], gains: list[float], labels: Buffer) -> float:
    """Write the most probable partition to `labels`; return the sum of its log f and gains."""
    n = len(labels)
    log_best = [[0.0] * len(log_f) for _ in gains]
    for j, after, gain in _levels(gains):
        for rows in _sets(log_f, n - j):
            log_best[j][rows] = max(
                gain + log_f[block] + log_best[after][left] for block, left in _first_blocks(rows)
            )
    rows, k, total, last = len(log_f) - 1, 0, 0.0, len(gains) - 1
    while rows:
        now, after = min(k, last), min(k + 1, last)
        gain, best = gains[now], log_best[now][rows]
        block, left = next(
            (block, left)
            for block, left in _first_blocks(rows)
            if gain + log_f[block] + log_best[after][left] >= best - TIE
        )
        for i in range(n):
            if block >> (n - 1 - i) & 1:
                labels[i] = k
        total += gain + log_f[block]
        rows, k = left, k + 1
    return total


def _levels(gains: list[float]) -> Iterator[tuple[int, int, float]]:
    """Yield numbers of blocks split off before, the next such number, and the gain; last first."""
    for j in reversed(range(len(gains))):
        yield j, min(j + 1, len(gains) - 1), gains[j]


def _sets(log_f: list[float], most: int) -> Iterator[int]:
    """Yield the sets of 1 to `most` rows, subsets first."""
    for rows in range(1, len(log_f)):
        if rows.bit_count() <= most:
            yield rows


def _first_blocks(rows: int) -> Iterator[tuple[int, int]]:
    """Yield every block that holds the first of some rows, and the rows left; early rows first."""
    first = 1 << (rows.bit_length() - 1)
    others = rows ^ first
    chosen = others
    while chosen:
        yield first | chosen, others ^ chosen
        chosen = (chosen - 1) & others
    yield first, others


def _lowest_bit(rows: int) -> int:
    return (rows & -rows).bit_length() - 1


def _check_shapes(n: int, labels: Buffer, n_clusters_proba: Buffer, co_clustering: Values) -> None:
    if len(labels) != n:
        raise ValueError(f"labels must have {n} values, got {len(labels)}")
    if len(n_clusters_proba) != n:
        raise ValueError(f"n_clusters_proba must have {n} values, got {len(n_clusters_proba)}")
    n_columns = len(co_clustering[0]) if len(co_clustering) else 0
    if len(co_clustering) != n or n_columns != n:
        raise ValueError(
            f"co_clustering must have shape ({n}, {n}), got ({len(co_clustering)}, {n_columns})"
        )
