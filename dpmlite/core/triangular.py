"""Factorisation of a scatter matrix: W A W^T = diag(d), W unit lower triangular.

If A is the scatter of some columns, row i of W subtracts from column i its regression on the
columns before it, and d[i] is the scatter of the residuals. So det A is the product of d, and x^T
A^-1 x the sum of (W x)_i^2 / d_i: no equations need to be solved. W is the inverse of L in A = L
diag(d) L^T, the square-root-free Cholesky factorisation.
"""

from dpmlite.core.protocols import Buffer, Values


def factorise(A: Values, least: float) -> tuple[list[list[float]], list[float]]:
    """W and d of a symmetric matrix, by elimination.

    Parameters
    ----------
    A : sequence of rows, (D, D)
        Only the diagonal and what is below it are read.
    least : float
        A positive number: smaller values of d are set to it.

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
    """W x: the residual of each value after its regression on the values before it.

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
    """Update W and d, in place, to those of A + weight x x^T.

    This is method C1 of Gill, Golub, Murray & Saunders (1974), for W in place of its inverse. It
    takes O(D^2) operations.

    Parameters
    ----------
    W : list of rows, (D, D)
    d : list of float, length D
    z : sequence of float, length D
        W x.
    weight : float
        Negative to subtract; the result must be positive definite.
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
    """Ratios of the determinants of the leading blocks of A + weight x x^T to those of A.

    Parameters
    ----------
    d : sequence of float, length D
    z : sequence of float, length D
        W x.
    weight : float

    Returns
    -------
    list of float, length D
        1 + weight x^T A^-1 x of the first column, of the first two, ...; the last is of A itself.
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
