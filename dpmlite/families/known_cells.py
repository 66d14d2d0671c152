"""The density of the known cells of a row, the others of which are missing.

With W Psi W^T = diag(d), z = W (u - m) and q = sum of z_i^2 / d_i, a row's density depends on its
cells by q alone. Over the missing cells it integrates to the density of the known ones, which is a
multivariate Student-t again. It has

    q_known = min over the missing cells of q,
    det Psi_known = det Psi det (Psi^-1)_missing,   nu_known = nu - number of missing cells

(Schur complements; Murphy 2007, section 9). A missing cell moves z along a column a of W, so that
(Psi^-1)_missing is A^T diag(d)^-1 A, and q is least where z is orthogonal to all of them.
"""

from math import log

from dpmlite.core.protocols import Values


def project_out(z: Values, d: Values, columns: Values) -> tuple[list[float], float]:
    """The part of z that no missing cell can change, by Gram and Schmidt.

    Parameters
    ----------
    z : sequence of float, length D
        Residuals of the row, whatever its missing cells are taken to be.
    d : sequence of float, length D
        1 / d weighs the squares.
    columns : sequence of sequences, each of length D
        How z moves with each missing cell; at most D, and independent.

    Returns
    -------
    z : list of float, length D
        The residuals where q is least.
    log_det : float
        Log of the determinant of A^T diag(d)^-1 A, with the columns as A.
    """
    rest, log_det = [list(map(float, column)) for column in columns], 0.0
    left = list(map(float, z))
    while rest:
        a = rest.pop()
        square = _product(a, a, d)
        log_det += log(square)
        for x in (*rest, left):
            share = _product(a, x, d) / square
            for i, a_i in enumerate(a):
                x[i] -= share * a_i
    return left, log_det


def _product(x: Values, y: Values, d: Values) -> float:
    return float(sum(x_i * y_i / d_i for x_i, y_i, d_i in zip(x, y, d, strict=True)))
