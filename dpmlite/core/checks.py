"""Checks of parameters, shared by plain twins and kernels."""

from math import sqrt

from dpmlite.core.protocols import Values


def check_positive(name: str, values: Values) -> None:
    """Raise ValueError unless every value of a family's parameter is positive.

    Parameters
    ----------
    name : str
        Name of the parameter.
    values : sequence of float
        Its values.
    """
    for value in values:
        if not value > 0.0:
            raise ValueError(f"{name} must be positive, got {float(value)}")


def check_power(power: float) -> None:
    """Raise ValueError unless the power of a family's likelihood is above 0 and at most 1.

    Parameters
    ----------
    power : float
    """
    if not 0.0 < power <= 1.0:
        raise ValueError(f"power must be above 0 and at most 1, got {float(power)}")


def check_discount(discount: float, power: float = 1.0) -> None:
    """Raise ValueError unless the discount of a Pitman-Yor process is at least 0 and below 1.

    Parameters
    ----------
    discount : float
    power : float, default 1.0
        Power of the likelihood; below 1 there is no discount.
    """
    if not 0.0 <= discount < 1.0:
        raise ValueError(f"discount must be at least 0 and below 1, got {float(discount)}")
    if discount > 0.0 and power != 1.0:
        raise ValueError(
            f"discount must be 0 where the likelihood has a power below 1, got {float(discount)}"
        )


def check_least_weight(discount: float, least_weight: float) -> None:
    """Raise ValueError unless a positive discount is below the least weight of a row or group.

    A cluster of weight n has n - discount in the prior, which must be positive.

    Parameters
    ----------
    discount : float
    least_weight : float
    """
    if discount > 0.0 and not discount < least_weight:
        raise ValueError(
            f"discount must be below the weight of every row, got {float(discount)} and a row of "
            f"weight {float(least_weight)}"
        )


def check_same_length(name: str, values: Values, other_name: str, other: Values) -> None:
    """Raise ValueError unless two parameters of a family have the same number of columns.

    Parameters
    ----------
    name, other_name : str
        Names of the parameters.
    values, other : sequence
        Their values.
    """
    if len(values) != len(other):
        raise ValueError(
            f"{name} and {other_name} must have the same length, got {len(values)} and {len(other)}"
        )


def check_normal_inverse_wishart(m0: Values, kappa0: float, nu0: float, psi0: Values) -> None:
    """Raise ValueError unless the parameters are in their ranges.

    A singular `psi0` is not found.

    Parameters
    ----------
    m0, kappa0, nu0, psi0
        As in `NormalInverseWishart`.
    """
    D = len(m0)
    check_same_length("m0", m0, "psi0", psi0)
    check_positive("kappa0", [kappa0])
    if not nu0 > D - 1:
        raise ValueError(f"nu0 must be above D - 1 = {D - 1}, got {float(nu0)}")
    for i, row in enumerate(psi0):
        if len(row) != D:
            raise ValueError(f"psi0 must have {D} values in row {i}, got {len(row)}")
        if not row[i] > 0.0:
            raise ValueError(f"psi0 must be positive definite, got {float(row[i])} at ({i}, {i})")
    for i in range(D):
        for j in range(i):
            below, above = float(psi0[i][j]), float(psi0[j][i])
            if not abs(below - above) <= 1e-9 * sqrt(psi0[i][i]) * sqrt(psi0[j][j]):
                raise ValueError(
                    f"psi0 must be symmetric, got {below} at ({i}, {j}) and {above} at ({j}, {i})"
                )


def require_bound(ready: bool) -> None:
    """Raise ValueError unless `bound_over` was called before `log_bound`.

    Parameters
    ----------
    ready : bool
        Whether it was.
    """
    if not ready:
        raise ValueError("bound_over must be called before log_bound")


def check_levels(name: str, columns: Values) -> None:
    """Raise ValueError unless every column of a parameter has values, and all are positive.

    Parameters
    ----------
    name : str
        Name of the parameter.
    columns : sequence of sequences of float
        A value for each level of each column.
    """
    for d, values in enumerate(columns):
        if len(values) == 0:
            raise ValueError(f"{name} must have a level in every column, got none in column {d}")
        check_positive(name, values)


def check_order(order: Values, n_rows: int) -> None:
    """Raise ValueError unless an order has each number from 0 to `n_rows` - 1 once.

    Parameters
    ----------
    order : sequence of int
    n_rows : int
    """
    if sorted(order) != list(range(n_rows)):
        raise ValueError(f"order must have each number from 0 to {n_rows - 1} once")
