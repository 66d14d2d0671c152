"""A column that follows from others makes no clusters, or a warning names it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cases import needs_kernels

from dpmlite import MAPDPM

pytestmark = needs_kernels


def people(n_rows, seed):
    """Weight, height and what follows from them, of men and women, and their age."""
    rng = np.random.default_rng(seed)
    is_man = rng.random(n_rows) < 0.5
    height = rng.normal(np.where(is_man, 1.79, 1.66), 0.07).round(2)
    weight = (rng.normal(24.0, 3.5, n_rows) * height**2).round(1)
    return pd.DataFrame(
        {
            "age": rng.uniform(20.0, 80.0, n_rows).round(),
            "weight": weight,
            "height": height,
            "bmi": (weight / height**2).round(1),
            "sex": np.where(is_man, "m", "f"),
        }
    )


@pytest.mark.parametrize(
    "columns", [["weight", "height", "bmi"], ["age", "weight", "height", "bmi"]]
)
def test_tiles_of_a_surface_are_one_cluster(columns):
    model = MAPDPM(random_state=0).fit(people(1000, 0)[columns])
    assert len(model.component_counts_) > 3
    assert model.n_clusters_ == 1


def test_a_mixed_table_is_warned_of():
    table = people(1000, 0)
    with pytest.warns(UserWarning, match=r"columns weight, height, bmi lie on a curved surface"):
        MAPDPM(random_state=0).fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MAPDPM(random_state=0).fit(table.drop(columns="bmi"))
    assert model.n_clusters_ == 2


def test_columns_without_names_are_numbered():
    angle = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 1000)
    X = np.column_stack([np.sin(angle), np.cos(angle)])
    with pytest.warns(UserWarning, match="columns 0, 1 lie on a curved surface"):
        MAPDPM(random_state=0).fit(X)
