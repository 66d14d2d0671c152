"""What describes clusters, from what describes their components."""

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import MAPDPM, Table

pytestmark = needs_kernels  # fits of the default model


@pytest.fixture
def rows():
    """Two clusters, of which only the second has values of `spend` that are not 0 or missing."""
    rng = np.random.default_rng(0)
    is_second = np.arange(400) >= 150
    place = np.where(is_second, 20.0, 0.0) + rng.normal(size=400)
    spend = np.where(is_second, rng.lognormal(3.0, 0.3, size=400), 0.0)
    return place, spend


@pytest.mark.parametrize("nothing", [0.0, np.nan])
def test_a_cluster_without_values_leaves_the_centres_of_others(rows, nothing):
    place, spend = rows
    table = Table({"place": place, "spend": np.where(spend > 0.0, spend, nothing)})
    kind = "zero-inflated-log-normal" if nothing == 0.0 else "log-normal"
    model = MAPDPM(
        random_state=0, allow_missing=True, component={"place": "normal-gamma", "spend": kind}
    ).fit(table)
    assert model.n_clusters_ == 2
    second, first = model.cluster_centers_
    assert np.isnan(first[1])
    geometric_mean = np.exp(np.log(spend[spend > 0.0]).mean())
    np.testing.assert_allclose(second, [place[spend > 0.0].mean(), geometric_mean], rtol=1e-6)
    assert "- ×÷ -" not in str(model.explain(0))
