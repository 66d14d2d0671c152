"""Scatter matrices held by what is left of each column: W A W^T = diag(d), W unit lower triangular.

If A is a scatter of columns, row i of W takes from column i its regression on the columns before
it, and d[i] is the scatter that is left. So det A is the product of d, and x^T A^-1 x the sum of
(W x)_i^2 / d_i: no equations need to be solved. W is the inverse of L in A = L diag(d) L^T, the
square-root-free Cholesky factorisation.
"""

from dpmlite.core.types import Buffer, Values


def factorise(A: Values, least: float) -> tuple[list[list[float]], list[float]]:
    """W and d of a symmetric matrix, by elimination.

    Parameters
    ----------
    A : sequence of rows, (D, D)
        What is above the diagonal is not read.
    least : float
        A positive number: a value of d that comes out below it is set to it.

    Returns
    -------
    W : list of rows, (D, D)
        Unit lower triangular.
    d : list of float, length D
    """
    n = len(A)
    rest = [[float(A[i][j]) for j in range(i + 1)] for i in range(n)]
    W = identity(n)
    for j in range(n):
        rest[j][j] = max(rest[j][j], least)
        for i in range(j + 1, n):
            factor = rest[i][j] / rest[j][j]
            for c in range(j + 1, i + 1):
                rest[i][c] -= factor * rest[c][j]
            for c in range(j + 1):
                W[i][c] -= factor * W[j][c]
    return W, [rest[j][j] for j in range(n)]


def residuals(W: Values, x: Values) -> list[float]:
    """W x: what is left of each value after its regression on those before it.

    Parameters
    ----------
    W : sequence of rows, (D, D)
    x : sequence of float, length D

    Returns
    -------
    list of float, length D
    """
    return [sum(W[i][j] * x[j] for j in range(i + 1)) for i in range(len(x))]


def update(W: Values, d: Buffer, z: Values, weight: float) -> None:
    """Make W and d, in place, those of A + weight x x^T.

    It is method C1 of Gill, Golub, Murray & Saunders (1974), for W in place of its inverse, in
    O(D^2).

    Parameters
    ----------
    W : list of rows, (D, D)
    d : list of float, length D
    z : sequence of float, length D
        W x.
    weight : float
        Negative to take x x^T away; A must stay positive definite.
    """
    taken = [0.0] * len(d)
    before = 1.0
    for i, after in enumerate(determinant_ratios(d, z, weight)):
        slope = weight * z[i] / (d[i] * after)
        for j in range(i + 1):
            W[i][j] -= z[i] * taken[j]
            taken[j] += slope * W[i][j]
        d[i] *= after / before
        before = after


def determinant_ratios(d: Values, z: Values, weight: float) -> list[float]:
    """By what the determinants of A's leading blocks are multiplied in A + weight x x^T.

    Parameters
    ----------
    d : sequence of float, length D
    z : sequence of float, length D
        W x.
    weight : float

    Returns
    -------
    list of float, length D
        1 + weight x^T A^-1 x for the first column, the first two, ...: the last is of A itself.
    """
    ratio, ratios = 1.0, []
    for z_i, d_i in zip(z, d, strict=True):
        ratio += weight * z_i * z_i / d_i
        ratios.append(ratio)
    return ratios


def identity(n: int) -> list[list[float]]:
    """The identity matrix.

    Parameters
    ----------
    n : int

    Returns
    -------
    list of rows, (n, n)
    """
    return [[float(i == j) for j in range(n)] for i in range(n)]
