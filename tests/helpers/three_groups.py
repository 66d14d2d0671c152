"""Tables of every family in which nobody could take a cluster for another."""

import numpy as np

import dpmlite


def table(component, n_rows=90, seed=0):
    """Three groups of rows that nobody could take for another, in random order."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_rows) % 3)
    if component == "dirichlet-multinomial":
        return rng.poisson(np.kron(np.eye(3), np.full(3, 20.0))[labels] + 0.1).astype(float)
    if component == "beta-bernoulli":
        shares = np.kron(np.eye(3), np.full(3, 0.98)) + 0.01
        return (rng.random((n_rows, 9)) < shares[labels]).astype(float)
    centres = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 30.0]]) + 1e4
    return centres[labels] + rng.normal(size=(n_rows, 2))


def joint_of(model, X, labels, **arguments):
    """The objective under a model's own prior."""
    return dpmlite.neg_log_joint(
        X,
        labels,
        alpha=model.alpha_,
        component=model.component_,
        prior=model.prior_,
        allow_missing=model.allow_missing_,
        **arguments,
    )
