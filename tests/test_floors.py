"""The defaults find partitions of well-known tables at least as good as the best known before.

`uci_tables.py` says where the floors are from, and how to get the tables.
"""

import pytest
from uci_tables import FLOORS, MissingTableError, load

import dpmlite
from dpmlite import MAPDPM


@pytest.mark.parametrize("random_state", range(3))
@pytest.mark.parametrize("name", FLOORS)
def test_the_default_reaches_the_floor(name, random_state):
    if dpmlite.implementation == "python" and name != "iris":
        pytest.skip("DPMLITE_PURE=1: the plain twin takes minutes for this table")
    try:
        X, _ = load(name)
    except MissingTableError as error:
        pytest.skip(str(error))
    model = MAPDPM(random_state=random_state).fit(X)
    assert model.neg_log_joint_ < FLOORS[name] + 0.05
    assert model.converged_
