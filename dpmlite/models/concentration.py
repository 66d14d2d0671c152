"""The concentration given the number of clusters (Escobar & West 1995)."""

from math import inf


def alpha_given_eta(
    n_clusters: int, n_rows: float, shape: float, rate: float, log_eta: float, uniform: float
) -> tuple[float, float]:
    """The gamma distribution to draw the next concentration from, section 6 of the paper.

    Under a Gamma(shape, rate) prior, p(alpha | K, n) is the first marginal of a joint density of
    alpha and eta. Given alpha, eta is Beta(alpha + 1, n); given eta, alpha is a mixture of two
    gamma distributions, eq. (13). A Gibbs sampler draws one after the other.

    Parameters
    ----------
    n_clusters : int
        K, at least 1.
    n_rows : float
        n, the total weight of the rows.
    shape, rate : float
        Of the prior of alpha, whose mean is shape / rate.
    log_eta : float
        Log of a draw of Beta(alpha + 1, n), alpha being the present concentration.
    uniform : float
        A number of [0, 1) that chooses one of the two.

    Returns
    -------
    shape, rate : float
        Of the chosen part: draw alpha from it.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if not n_clusters >= 1:
        raise ValueError(f"n_clusters must be at least 1, got {n_clusters}")
    for name, value in (("n_rows", n_rows), ("shape", shape), ("rate", rate)):
        if not 0.0 < value < inf:
            raise ValueError(f"{name} must be positive and finite, got {float(value)}")
    if not -inf < log_eta <= 0.0:
        raise ValueError(f"log_eta must be finite and not above 0, got {float(log_eta)}")
    if not 0.0 <= uniform < 1.0:
        raise ValueError(f"uniform must be in [0, 1), got {float(uniform)}")
    rate -= log_eta
    shape += n_clusters
    odds = (shape - 1.0) / (n_rows * rate)  # of the part with the larger shape, eq. (14)
    return (shape if uniform * (1.0 + odds) < odds else shape - 1.0), rate
