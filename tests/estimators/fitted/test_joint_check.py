"""The joint that moves keep may differ from the recomputed one by rounding, and by no more."""

import numpy as np
import pytest

from dpmlite import families
from dpmlite.estimators.fitted.joint_check import JOINT_RTOL, verify_joint
from dpmlite.estimators.inputs.data import Data
from dpmlite.moves import merge_change
from dpmlite.partition import Partition
from tests.helpers.exact_joints import neg_log_joint

PRIOR = {"m0": [0.0, 0.0], "kappa0": 1.0, "nu0": 3.0, "psi0": np.eye(2) * 2.9e-3}
ALPHA = 1.0


@pytest.fixture
def copies():
    """Two columns of which one follows from the other: a Psi that is nearly singular."""
    column = np.arange(877.0) - 438.0
    return np.column_stack([column, 1.8 * column])


@pytest.fixture
def joints(copies):
    """The joint of one cluster: kept by a merge of every other row with the rest, and exact."""
    labels = np.arange(len(copies)) % 2
    halves = Partition(copies, labels, families.NormalInverseWishart(**PRIOR), ALPHA)
    halves.merge(0, 1, merge_change(halves, 0, 1))
    one = np.zeros(len(copies), dtype=np.intp)
    weights = np.ones(len(copies))
    exact = neg_log_joint(copies, one, weights, ALPHA, "normal-inverse-wishart", PRIOR)
    return halves.neg_log_joint, exact


def whole(copies):
    labels = np.zeros(len(copies), dtype=np.intp)
    return Partition(copies, labels, families.NormalInverseWishart(**PRIOR), ALPHA)


def test_a_merge_of_columns_that_follow_from_others_may_lose_digits(copies, joints):
    kept, exact = joints
    final = whole(copies)
    assert final.neg_log_joint == pytest.approx(exact, rel=1e-12)
    assert abs(kept - exact) > JOINT_RTOL * abs(exact)
    verify_joint(kept, final, Data(copies.shape, copies))


def test_a_joint_further_off_than_rounding_is_an_error(copies, joints):
    kept, exact = joints
    with pytest.raises(ArithmeticError, match="kept incrementally"):
        verify_joint(exact + 10.0 * abs(kept - exact), whole(copies), Data(copies.shape, copies))
