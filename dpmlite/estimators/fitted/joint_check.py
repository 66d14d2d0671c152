"""Whether the joint that moves have kept is that of the labels, but for rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Data
    from dpmlite.partition import Partition

# The joint kept by moves may differ from the recomputed one by this part of the joint, of the
# number of cells or of their weight; for counts also by this part of their sum, whose log-gammas
# are large and cancel.
JOINT_RTOL = 1e-9


COUNTS_RTOL = 1e-10


# Where weights differ by more than this factor, heavy rows that left a cluster leave roundings in
# its weight, which light rows then show. The kept joint, which is only compared, may differ by this
# number of nats. The joint that is reported is the recomputed one.
UNLIKE_WEIGHTS = 2.0**10


UNLIKE_WEIGHTS_ATOL = 1e-6


# Relative rounding error of sums to which rows came and from which rows went, one by one.
ROUNDING = 2.0**-49


# Families of counts of words and events.
COUNTING = (families.DirichletMultinomial, families.PoissonGamma, families.ExposedPoissonGamma)


def verify_joint(kept: float, final: Partition, table: Data) -> None:
    """Raise ArithmeticError if the joint kept by the moves is not that of the labels."""
    drift = abs(final.neg_log_joint - kept)
    size = max(sum(final.component.counts), table.shape[0]) * table.shape[1]
    slack = JOINT_RTOL * max(abs(final.neg_log_joint), size)
    slack += COUNTS_RTOL * _sum_of_counts(final.component)
    slack += _rounding_of_determinants(final.component)
    if table.weights is not None and table.weights.max() > UNLIKE_WEIGHTS * table.weights.min():
        slack += UNLIKE_WEIGHTS_ATOL
    if not drift <= slack:
        raise ArithmeticError(
            f"the joint kept incrementally is {kept!r}, recomputed it is {final.neg_log_joint!r}: "
            "unless X was changed during the fit, please report this as a bug of dpmlite"
        )


def _sum_of_counts(component: families.Component) -> float:
    """Sum of all counts of words and events in a component, or in the parts of a product."""
    return sum(
        sum(part.statistics(k)[1 : 1 + part.n_columns])
        for part in _parts(component)
        if isinstance(part, COUNTING)
        for k in range(part.n_slots)
    )


def _rounding_of_determinants(component: families.Component) -> float:
    """Nats that the joint of full covariances loses to rounding, where columns follow from others.

    A pivot of Psi is what is left of a column's squares beside the columns before it. It has the
    rounding errors of the squares, and counts (nu0 + n) / 2 times in log p(rows).
    """
    total = 0.0
    for part in _parts(component):
        if isinstance(part, families.NormalInverseWishart):
            D = part.n_columns
            on_diagonal = np.cumsum(np.arange(1, D + 1)) + 2 * D
            for k in range(part.n_slots):
                statistics = np.asarray(part.statistics(k))
                pivots, squares = statistics[1 + D : 1 + 2 * D], statistics[on_diagonal]
                total += 0.5 * part.posterior(k)["nu"] * ROUNDING * float(sum(squares / pivots))
    return total


def _parts(component: families.Component) -> list[Any]:
    """The parts of a product, or the component alone."""
    return getattr(component, "parts", [component])
