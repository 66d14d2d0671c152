"""Types that name choices have the names that are checked, no more and no fewer."""

from typing import get_args

import pytest

from dpmlite.estimators.bases.family_estimator import FamilyEstimator
from dpmlite.estimators.column_families.by_rule import COLUMN_FAMILIES, COMPLETE_FAMILIES
from dpmlite.estimators.inputs import choices
from dpmlite.estimators.priors import COMPONENTS
from dpmlite.estimators.sampling.gibbs_chain import VARIANTS
from dpmlite.search.prefix_starts import ORDERS


@pytest.mark.parametrize(
    ("type_", "names"),
    [
        (choices.Component, {"auto", *COMPONENTS, *COLUMN_FAMILIES}),
        (choices.VariationalComponent, {*COMPONENTS, *COMPLETE_FAMILIES}),
        (choices.PriorChoice, set(FamilyEstimator.prior_choices)),
        (choices.Order, set(ORDERS)),
        (choices.SplitMerge, set(VARIANTS) - {None}),
    ],
)
def test_types_have_the_names_that_are_checked(type_, names):
    assert set(get_args(type_)) == names
    assert len(get_args(type_)) == len(names)
