"""Missing cells of rows given the known ones, in a cluster of full covariance.

Rows of a cluster with the posterior NIW(m, kappa, nu, Psi) have a multivariate Student-t
predictive (Murphy 2007, section 9). Given the known cells y of a row, its b missing ones are again
of one, with nu - b + 1 degrees of freedom,

    mean   m_b + Psi_by Psi_yy^-1 (y - m_y)   and
    scale  ((kappa + 1) / kappa + q) / (nu - b + 1) (Psi_bb - Psi_by Psi_yy^-1 Psi_yb),

where q = (y - m_y)^T Psi_yy^-1 (y - m_y): the regression on the known cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, pi
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Floats, Indices


@dataclass(frozen=True, eq=False, repr=False)
class Conditional:
    """The missing cells of rows that lack the same columns.

    Attributes
    ----------
    missing, known : ndarray of int
        Columns.
    m : ndarray, shape (D,)
    slopes : ndarray, shape (known, missing)
        Psi_yy^-1 Psi_yb.
    whitening : ndarray, shape (known, known)
        Lower triangular, with q the squared length of whitening (y - m_y).
    factor : ndarray, shape (missing, missing)
        Lower Cholesky factor of Psi_bb - Psi_by Psi_yy^-1 Psi_yb.
    kappa, degrees : float
    """

    missing: Indices
    known: Indices
    m: Floats
    slopes: Floats
    whitening: Floats
    factor: Floats
    kappa: float
    degrees: float

    @classmethod
    def of(cls, missing: npt.NDArray[np.bool_], prior: Prior) -> Conditional:
        """Given a mask of the missing columns, and a posterior with the keys of a prior."""
        b, y = np.flatnonzero(missing), np.flatnonzero(~missing)
        psi = np.asarray(prior["psi0"])
        whitening = np.linalg.inv(np.linalg.cholesky(psi[np.ix_(y, y)]))
        across = whitening @ psi[np.ix_(y, b)]
        factor = np.linalg.cholesky(psi[np.ix_(b, b)] - across.T @ across)
        degrees = float(prior["nu0"]) - len(b) + 1.0
        slopes, kappa = whitening.T @ across, float(prior["kappa0"])
        return cls(b, y, np.asarray(prior["m0"]), slopes, whitening, factor, kappa, degrees)

    def means(self, X: Floats) -> Floats:
        """Expected missing cells of rows, shape (N, missing)."""
        return np.asarray(self.m[self.missing] + self._shifts(X) @ self.slopes)

    def draw(self, X: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Drawn missing cells of rows, and the logs of their densities."""
        b, degrees = len(self.missing), self.degrees
        q = np.square(self._shifts(X) @ self.whitening.T).sum(axis=1)
        scale = np.sqrt(((self.kappa + 1.0) / self.kappa + q) / degrees)
        t = rng.standard_normal((len(X), b))
        t /= np.sqrt(rng.chisquare(degrees, (len(X), 1)) / degrees)
        drawn = self.means(X) + scale[:, None] * (t @ self.factor.T)
        constant = lgamma(0.5 * (degrees + b)) - lgamma(0.5 * degrees)
        constant -= 0.5 * b * log(degrees * pi) + np.log(np.diag(self.factor)).sum()
        tails = np.log1p(np.square(t).sum(axis=1) / degrees)
        return drawn, constant - b * np.log(scale) - 0.5 * (degrees + b) * tails

    def _shifts(self, X: Floats) -> Floats:
        return X[:, self.known] - self.m[self.known]


def by_missing_cells(X: Floats, prior: Prior) -> Iterator[tuple[Indices, Conditional]]:
    """Rows that lack the same columns, and their missing cells; rows that lack none are left out.

    Parameters
    ----------
    X : ndarray, shape (N, D)
    prior : dict
        The posterior of a cluster, with the keys of a prior.
    """
    missing = np.isnan(X)
    lacking = np.flatnonzero(missing.any(axis=1))
    patterns, which = np.unique(missing[lacking], axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    groups = np.split(lacking[order], np.cumsum(np.bincount(which.ravel()))[:-1])
    for pattern, rows in zip(patterns, groups, strict=True):
        yield rows, Conditional.of(pattern, prior)
