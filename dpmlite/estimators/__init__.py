"""What people call: fit and predict by scikit-learn's conventions, without scikit-learn."""

from dpmlite.estimators.base import NotFittedError
from dpmlite.estimators.bhc import BayesianHierarchicalClustering
from dpmlite.estimators.collapsed_gibbs import CollapsedGibbs
from dpmlite.estimators.dpmeans import DPMeans
from dpmlite.estimators.dpsearch import DPSearch
from dpmlite.estimators.exact import ExactPosterior, exact_posterior, log_evidence_exact
from dpmlite.estimators.functions import crp_log_prob, crp_sample, neg_log_joint, neg_log_loo
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.estimators.merged import merge_models
from dpmlite.estimators.variational import VariationalDPM

__all__ = [
    "MAPDPM",
    "BayesianHierarchicalClustering",
    "CollapsedGibbs",
    "DPMeans",
    "DPSearch",
    "ExactPosterior",
    "NotFittedError",
    "VariationalDPM",
    "crp_log_prob",
    "crp_sample",
    "exact_posterior",
    "log_evidence_exact",
    "merge_models",
    "neg_log_joint",
    "neg_log_loo",
]
