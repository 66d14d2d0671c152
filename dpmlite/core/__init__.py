"""Numbers and machinery: special functions, rows of a table, linear algebra, threads, constants."""

from typing import TYPE_CHECKING

from dpmlite.core.implementation import PURE, needing_kernels

if TYPE_CHECKING or PURE:
    from dpmlite.core.moments import column_moments
    from dpmlite.core.rows import Rows
    from dpmlite.core.special import (
        digamma,
        digammas,
        log_gamma,
        log_gamma_half_step,
        log_gammas,
        log_rising,
        multivariate_log_gamma,
    )
else:
    with needing_kernels():  # the first of all kernels that are imported
        from dpmlite.core._moments import column_moments
        from dpmlite.core._rows import Rows
        from dpmlite.core._special import (
            digamma,
            digammas,
            log_gamma,
            log_gamma_half_step,
            log_gammas,
            log_rising,
            multivariate_log_gamma,
        )

__all__ = [
    "Rows",
    "column_moments",
    "digamma",
    "digammas",
    "log_gamma",
    "log_gamma_half_step",
    "log_gammas",
    "log_rising",
    "multivariate_log_gamma",
]
