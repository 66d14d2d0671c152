"""Densities of columns under a mixture of clusters."""

import numpy as np
import pytest
from cases import needs_kernels
from mixed_tables import planted

from dpmlite import MAPDPM
from dpmlite.estimators.fitted.partitions import fitted_family

pytestmark = needs_kernels


@pytest.mark.parametrize("with_zeros", [False, True])
def test_the_density_of_a_mixture_is_the_sum_of_its_clusters(with_zeros):
    rng = np.random.default_rng(0)
    X, _, _ = planted(300, 3, 0, 0.1)
    if with_zeros:
        X["money 0"] = X["money 0"].where(rng.random(300) < 0.6, 0.0)
    model = MAPDPM(random_state=0, allow_missing=True).fit(X)
    family, weights = fitted_family(model), np.array([0.5, 0.3, 0.2])
    theta = family.draw_parameters(model.prior_, 3, rng)
    rows = family.draw_rows(theta, rng.integers(3, size=50), None, rng)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    found = family.mixture_column_log_density(rows, theta, weights)
    densities = np.exp(family.column_log_density(rows, theta))
    expected = np.log(np.einsum("nkd,k->nd", densities, weights))
    assert {"categorical", "normal-gamma", "poisson-gamma"} <= set(model.component_.values())
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
