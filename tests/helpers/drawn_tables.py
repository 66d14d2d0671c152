"""A table of every component family, drawn from a Dirichlet process mixture with a known prior."""

from cases import PURE

from dpmlite.datasets import dpm_sample

PRIORS = {
    "normal-gamma": {"m0": 1.0, "c0": 0.05, "a0": 3.0, "b0": 4.0},
    "normal-inverse-wishart": {
        "m0": 1.0,
        "kappa0": 0.02,
        "nu0": 6.0,
        "psi0": [[3.0, 1.0], [1.0, 2.0]],
    },
    "normal-known-variance": {"m0": 1.0, "sigma2": 0.5, "tau2": 50.0},
    "dirichlet-multinomial": {"beta0": 0.3},
    "beta-bernoulli": {"a0": 0.3, "b0": 0.4},
}
N_COLUMNS = {
    "normal-gamma": 2,
    "normal-inverse-wishart": 2,
    "normal-known-variance": 2,
    "dirichlet-multinomial": 12,
    "beta-bernoulli": 8 if PURE else 20,
}


def table(component, n_rows=80, seed=0):
    """Rows, and the labels that drew them."""
    return dpm_sample(
        n_rows,
        N_COLUMNS[component],
        component=component,
        prior=PRIORS[component],
        row_total=30,
        random_state=seed,
    )
