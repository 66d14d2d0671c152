"""What a fitted model expects in missing cells."""

import numpy as np
import pandas as pd
import pytest
from cases import needs_kernels
from mixed_tables import customers
from scipy import stats

from dpmlite import MAPDPM

pytestmark = needs_kernels


def test_missing_cells_are_what_the_clusters_of_the_row_expect():
    X, _ = customers()
    gaps = X.copy()
    gaps.loc[::5, "city"] = None
    gaps.loc[1::5, "age"] = np.nan
    model = MAPDPM(random_state=0, allow_missing=True).fit(gaps)
    filled = model.impute(gaps)
    assert list(filled.columns) == list(X.columns)
    assert (filled.index == X.index).all()
    pd.testing.assert_frame_equal(filled[gaps.notna()].dropna(), gaps.dropna(), check_dtype=False)
    assert (filled["city"][::5] == X["city"][::5]).mean() > 0.8
    of_new = model.new_cluster_proba(gaps) * model.prior_["normal-gamma"]["m0"][0]
    expected = (model.predict_proba(gaps) @ model.means_[:, 0] + of_new)[1::5]
    np.testing.assert_allclose(filled["age"][1::5].astype(float), expected, rtol=1e-9)


def test_drawn_cells_have_the_distribution_of_the_cluster():
    X, _ = customers()
    model = MAPDPM(random_state=0, allow_missing=True).fit(X)
    row = X[:1].assign(shoes=np.nan)
    drawn = model.impute(row, n_samples=2000, random_state=0)[:, 0, 3].astype(float)
    assert stats.kstest(drawn, stats.norm(42.0, 2.0).cdf).statistic < 0.1


def test_imputation_needs_a_model_that_takes_missing_values():
    X, _ = customers()
    model = MAPDPM(random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"impute needs a model .* allow_missing=True"):
        model.impute(X)
    with pytest.raises(ValueError, match="not fitted"):
        MAPDPM(allow_missing=True).impute(X)
