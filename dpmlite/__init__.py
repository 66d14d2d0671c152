"""dpmlite: clustering without being told the number of clusters.

MAP inference in Dirichlet process mixtures, as fast as k-means. Start with `MAPDPM`.
"""

from dpmlite._implementation import implementation, require_kernels

require_kernels()

from dpmlite.boards import Quantized, quantize, to_micropython  # noqa: E402
from dpmlite.estimators import (  # noqa: E402
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPMeans,
    DPSearch,
    ExactPosterior,
    NotFittedError,
    VariationalDPM,
    crp_log_prob,
    crp_sample,
    exact_posterior,
    log_evidence_exact,
    merge_models,
    neg_log_joint,
    neg_log_loo,
)

__version__ = "0.1.0"

__all__ = [
    "MAPDPM",
    "BayesianHierarchicalClustering",
    "CollapsedGibbs",
    "DPMeans",
    "DPSearch",
    "ExactPosterior",
    "NotFittedError",
    "Quantized",
    "VariationalDPM",
    "crp_log_prob",
    "crp_sample",
    "exact_posterior",
    "implementation",
    "log_evidence_exact",
    "merge_models",
    "neg_log_joint",
    "neg_log_loo",
    "quantize",
    "to_micropython",
]
