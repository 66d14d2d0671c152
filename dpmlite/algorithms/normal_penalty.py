"""Minus the log density of normal priors of variables, and its gradient."""

from dpmlite.core.protocols import Buffer, Values


def normal_penalty(x: Values, means: Values, deviations: Values, gradient: Buffer) -> float:
    """Minus the log density of independent normals, but for a constant; writes its gradient.

    Parameters
    ----------
    x : sequence of float, length P
    means, deviations : sequence of float, length P
        Of the normals.
    gradient : sequence of float, length P
        OUT.

    Returns
    -------
    float
        In nats, 0 at the means.
    """
    total = 0.0
    for i in range(len(x)):
        unit = (x[i] - means[i]) / deviations[i]
        gradient[i] = unit / deviations[i]
        total += 0.5 * unit * unit
    return total
