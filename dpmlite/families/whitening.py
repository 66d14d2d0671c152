"""Units of a prior of columns that vary together: u = R (x - m0), with R psi0 R^T = 1.

R is lower triangular. In these units the prior is the same for all data: m0 is 0, and psi0 the
identity.
"""

from math import sqrt

from dpmlite.core.constants import MAX_PRIOR_UNITS, MIN_PIVOT
from dpmlite.core.protocols import Values
from dpmlite.core.triangular import factorise, residuals


def whitening(psi0: Values) -> list[list[float]]:
    """Lower triangular R with R psi0 R^T = 1.

    Parameters
    ----------
    psi0 : sequence of rows, (D, D)
        Symmetric, with a positive diagonal.

    Returns
    -------
    list of rows, (D, D)

    Raises
    ------
    ValueError
        If `psi0` is not positive definite, or all but singular.
    """
    scale = [sqrt(row[i]) for i, row in enumerate(psi0)]
    correlation = [
        [p / s / t for p, t in zip(row, scale, strict=True)]
        for row, s in zip(psi0, scale, strict=True)
    ]
    W, d = factorise(correlation, MIN_PIVOT)
    for i, d_i in enumerate(d):
        if not d_i > MIN_PIVOT:
            raise ValueError(
                f"psi0 must be positive definite, got {psi0[i][: i + 1]} at the start of row {i}"
            )
    return [
        [w / s / sqrt(d_i) for w, s in zip(row, scale, strict=True)]
        for row, d_i in zip(W, d, strict=True)
    ]


def whiten(R: Values, m0: Values, row: Values) -> list[float]:
    """A row in units of the prior.

    Parameters
    ----------
    R : sequence of rows, (D, D)
        Lower triangular, as of `whitening`.
    m0, row : sequence of float, length D

    Returns
    -------
    list of float, length D
        R (row - m0); a value further than 2^29 from 0 counts as lying there.
    """
    shift = [x - m for x, m in zip(row, m0, strict=True)]
    return [min(max(u, -MAX_PRIOR_UNITS), MAX_PRIOR_UNITS) for u in residuals(R, shift)]


def restore(R: Values, u: Values) -> list[float]:
    """A difference of rows in the data's units, from one in units of the prior.

    Parameters
    ----------
    R : sequence of rows, (D, D)
        Lower triangular, as of `whitening`.
    u : sequence of float, length D

    Returns
    -------
    list of float, length D
        x with R x = u.
    """
    x: list[float] = []
    for i, row in enumerate(R):
        x.append((u[i] - sum(row[j] * x[j] for j in range(i))) / row[i])
    return x
