"""Missing cells of rows given the known ones, in a cluster of full covariance.

Rows of a cluster with the posterior NIW(m, kappa, nu, Psi) have a multivariate Student-t
predictive (Murphy 2007, section 9). Given the known cells y of a row, its b missing ones are again
of one, with nu - b + 1 degrees of freedom,

    mean   m_b + Psi_by Psi_yy^-1 (y - m_y)   and
    scale  ((kappa + 1) / kappa + q) / (nu - b + 1) (Psi_bb - Psi_by Psi_yy^-1 Psi_yb),

where q = (y - m_y)^T Psi_yy^-1 (y - m_y): the regression on the known cells. With the known cells
first, the Cholesky factor of Psi has all of it: L_yy w = y - m_y gives q = |w|^2 and the mean
m_b + L_by w, and L_bb is the factor of the last matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, pi
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Floats, Indices

# Elements of the matrices that are factorised at once, at most.
MAX_ELEMENTS = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class MissingCells:
    """The missing cells of rows that lack equally many.

    Attributes
    ----------
    rows : ndarray of int, shape (n, 1)
    columns : ndarray of int, shape (n, b)
        Where the missing cells are.
    means : ndarray, shape (n, b)
        What is expected of them, given the known cells.
    factors : ndarray, shape (n, b, b)
        L_bb.
    scales : ndarray, shape (n,)
        By which these are multiplied, but for the degrees of freedom.
    degrees : float
    """

    rows: Indices
    columns: Indices
    means: Floats
    factors: Floats
    scales: Floats
    degrees: float

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Drawn cells, shape (n, b), and the log density of those of each row, shape (n,)."""
        (n, b), degrees = self.columns.shape, self.degrees
        t = rng.standard_normal((n, b))
        t /= np.sqrt(rng.chisquare(degrees, (n, 1)) / degrees)
        scales = np.sqrt(self.scales / degrees)
        drawn = self.means + scales[:, None] * np.einsum("nij,nj->ni", self.factors, t)
        constant = lgamma(0.5 * (degrees + b)) - lgamma(0.5 * degrees)
        constant -= 0.5 * b * log(degrees * pi)
        diagonals = np.diagonal(self.factors, axis1=1, axis2=2)
        log_scales = np.log(diagonals).sum(axis=1) + b * np.log(scales)
        tails = np.log1p(np.square(t).sum(axis=1) / degrees)
        return drawn, constant - log_scales - 0.5 * (degrees + b) * tails


def missing_cells(X: Floats, prior: Prior) -> Iterator[MissingCells]:
    """The missing cells of rows of a cluster; rows that lack none are left out.

    Parameters
    ----------
    X : ndarray, shape (N, D)
        NaN is a missing cell.
    prior : dict
        The posterior of the cluster, with the keys of a prior.
    """
    missing = np.isnan(X)
    n_missing, size = missing.sum(axis=1), max(MAX_ELEMENTS // X.shape[1] ** 2, 1)
    for b in np.unique(n_missing[n_missing > 0]):
        rows = np.flatnonzero(n_missing == b)
        for few in np.split(rows, range(size, len(rows), size)):
            yield _missing_cells(
                few, X[few], np.argsort(missing[few], axis=1, kind="stable"), prior
            )


def _missing_cells(rows: Indices, X: Floats, order: Indices, prior: Prior) -> MissingCells:
    """Those of some rows; `order` has their known columns, then their missing ones."""
    m, psi = np.asarray(prior["m0"]), np.asarray(prior["psi0"])
    n_known = X.shape[1] - int(np.isnan(X[0]).sum())
    known, columns = order[:, :n_known], order[:, n_known:]
    L = np.linalg.cholesky(psi[order[:, :, None], order[:, None]])
    w = _solved(L[:, :n_known, :n_known], np.take_along_axis(X - m, known, axis=1))
    means = m[columns] + np.einsum("nij,nj->ni", L[:, n_known:, :n_known], w)
    kappa = float(prior["kappa0"])
    scales = (kappa + 1.0) / kappa + np.square(w).sum(axis=1)
    degrees = float(prior["nu0"]) - columns.shape[1] + 1.0
    return MissingCells(rows[:, None], columns, means, L[:, n_known:, n_known:], scales, degrees)


def _solved(L: Floats, x: Floats) -> Floats:
    """W with L w = x, of lower triangular matrices, shape (n, k, k), and vectors, shape (n, k)."""
    w = np.empty_like(x)
    for i in range(x.shape[1]):
        w[:, i] = (x[:, i] - np.einsum("nj,nj->n", L[:, i, :i], w[:, :i])) / L[:, i, i]
    return w
