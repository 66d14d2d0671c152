"""What people call: fit and predict by scikit-learn's conventions, without scikit-learn."""

from dpmlite.estimators.base import NotFittedError
from dpmlite.estimators.functions import crp_log_prob, crp_sample, neg_log_joint, neg_log_loo
from dpmlite.estimators.mapdpm import MAPDPM

__all__ = [
    "MAPDPM",
    "NotFittedError",
    "crp_log_prob",
    "crp_sample",
    "neg_log_joint",
    "neg_log_loo",
]
